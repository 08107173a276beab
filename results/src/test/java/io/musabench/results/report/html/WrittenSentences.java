package io.musabench.results.report.html;

import com.sun.source.tree.AnnotationTree;
import com.sun.source.tree.AssignmentTree;
import com.sun.source.tree.BinaryTree;
import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.ConditionalExpressionTree;
import com.sun.source.tree.ExpressionTree;
import com.sun.source.tree.IdentifierTree;
import com.sun.source.tree.LiteralTree;
import com.sun.source.tree.MemberSelectTree;
import com.sun.source.tree.MethodInvocationTree;
import com.sun.source.tree.MethodTree;
import com.sun.source.tree.NewClassTree;
import com.sun.source.tree.ParenthesizedTree;
import com.sun.source.tree.SwitchExpressionTree;
import com.sun.source.tree.ThrowTree;
import com.sun.source.tree.Tree;
import com.sun.source.tree.VariableTree;
import com.sun.source.tree.YieldTree;
import com.sun.source.util.JavacTask;
import com.sun.source.util.TreeScanner;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

/**
 * The texts that a source file can write, as the compiler reads it: constants joined by {@code +},
 * by {@code formatted} and {@code String.format}, through local variables, in every branch. What is
 * no constant is a 7. A text that is the part of another is not listed by itself.
 */
final class WrittenSentences extends TreeScanner<Void, Void> {
  static final String UNKNOWN = "7";

  private static final int MOST = 64;
  private static final Pattern CONVERSION = Pattern.compile("%[-+0-9.,]*([a-zA-Z%])");

  private final Map<String, List<ExpressionTree>> variables = new HashMap<>();
  private final Map<String, List<ExpressionTree>> ofClass = new HashMap<>();
  private final Set<String> found = new LinkedHashSet<>();
  private final Set<Tree> parts = new LinkedHashSet<>();

  private final Set<String> methods;
  private final Set<String> reasons;

  private WrittenSentences(Set<String> methods, Set<String> reasons) {
    this.methods = methods;
    this.reasons = reasons;
  }

  /**
   * All texts with a letter in them.
   *
   * @param methods where to look; empty: everywhere; {@code <init>}: constructors; an empty name:
   *     in constants alone
   * @param reasons exceptions whose texts count
   */
  static Set<String> of(Path file, Set<String> methods, Set<String> reasons) throws IOException {
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    try (StandardJavaFileManager files = compiler.getStandardFileManager(null, null, null)) {
      JavacTask task =
          (JavacTask)
              compiler.getTask(
                  null, files, null, List.of("-proc:none"), null, files.getJavaFileObjects(file));
      WrittenSentences scan = new WrittenSentences(methods, reasons);
      for (CompilationUnitTree unit : task.parse()) {
        new Constants(scan.ofClass).scan(unit, null);
        scan.scan(unit, null);
      }
      return scan.found;
    }
  }

  /** Assignments outside of methods. */
  private static final class Constants extends TreeScanner<Void, Void> {
    private final Map<String, List<ExpressionTree>> values;

    Constants(Map<String, List<ExpressionTree>> values) {
      this.values = values;
    }

    @Override
    public Void visitMethod(MethodTree method, Void unused) {
      return null;
    }

    @Override
    public Void visitVariable(VariableTree variable, Void unused) {
      put(values, variable);
      return super.visitVariable(variable, unused);
    }
  }

  private static void put(Map<String, List<ExpressionTree>> values, VariableTree variable) {
    boolean text = variable.getType() != null && variable.getType().toString().equals("String");
    if (text && variable.getInitializer() != null) {
      values
          .computeIfAbsent(variable.getName().toString(), n -> new ArrayList<>())
          .add(variable.getInitializer());
    }
  }

  @Override
  public Void visitMethod(MethodTree method, Void unused) {
    if (!methods.isEmpty() && !methods.contains(method.getName().toString())) {
      return null;
    }
    variables.clear();
    variables.putAll(ofClass);
    new TreeScanner<Void, Void>() {
      @Override
      public Void visitVariable(VariableTree variable, Void none) {
        put(variables, variable);
        return super.visitVariable(variable, none);
      }

      @Override
      public Void visitAssignment(AssignmentTree assignment, Void none) {
        variables.computeIfPresent(
            assignment.getVariable().toString(),
            (n, values) ->
                Stream.concat(values.stream(), Stream.of(assignment.getExpression())).toList());
        return super.visitAssignment(assignment, none);
      }
    }.scan(method, null);
    // A variable that another text takes up is part of that.
    new TreeScanner<Void, Void>() {
      @Override
      public Void visitIdentifier(IdentifierTree name, Void none) {
        return null;
      }

      @Override
      public Void visitBinary(BinaryTree tree, Void none) {
        if (tree.getKind() == Tree.Kind.PLUS) {
          used(tree.getLeftOperand());
          used(tree.getRightOperand());
        }
        return super.visitBinary(tree, none);
      }

      @Override
      public Void visitMethodInvocation(MethodInvocationTree call, Void none) {
        if (format(call) != null) {
          call.getArguments().forEach(this::used);
        }
        return super.visitMethodInvocation(call, none);
      }

      private void used(ExpressionTree tree) {
        if (tree instanceof IdentifierTree name) {
          parts.addAll(variables.getOrDefault(name.getName().toString(), List.of()));
        }
      }
    }.scan(method, null);
    return super.visitMethod(method, unused);
  }

  /** Only a whole text is kept: what it was put together from is not looked at again. */
  @Override
  public Void scan(Tree tree, Void unused) {
    if (tree instanceof ExpressionTree expression && !parts.contains(tree) && isText(expression)) {
      texts(expression, 0).stream()
          .filter(t -> t.matches("(?s).*[a-zA-Z].*"))
          .map(WrittenSentences::filled)
          .forEach(found::add);
      return null;
    }
    return parts.contains(tree) && isText((ExpressionTree) tree) ? null : super.scan(tree, unused);
  }

  /** A format that another method fills. */
  private static String filled(String text) {
    return CONVERSION.matcher(text).replaceAll(m -> m.group(1).equals("%") ? "%" : UNKNOWN);
  }

  private boolean isText(ExpressionTree tree) {
    return switch (tree.getKind()) {
      case STRING_LITERAL -> true;
      case PLUS -> {
        BinaryTree plus = (BinaryTree) tree;
        yield isText(plus.getLeftOperand()) || isText(plus.getRightOperand());
      }
      case PARENTHESIZED -> isText(((ParenthesizedTree) tree).getExpression());
      case CONDITIONAL_EXPRESSION -> {
        ConditionalExpressionTree either = (ConditionalExpressionTree) tree;
        yield isText(either.getTrueExpression()) || isText(either.getFalseExpression());
      }
      case METHOD_INVOCATION -> format((MethodInvocationTree) tree) != null;
      default -> false;
    };
  }

  /** Format and arguments of a call that formats; null of any other. */
  private static List<ExpressionTree> format(MethodInvocationTree call) {
    if (!(call.getMethodSelect() instanceof MemberSelectTree select)) {
      return null;
    }
    List<ExpressionTree> all = new ArrayList<>();
    if (select.getIdentifier().contentEquals("formatted")) {
      all.add(select.getExpression());
      all.addAll(call.getArguments());
      return all;
    }
    if (select.toString().equals("String.format")) {
      all.addAll(call.getArguments());
      all.remove(0); // The locale.
      return all;
    }
    return null;
  }

  private List<String> texts(ExpressionTree tree, int depth) {
    if (depth > 12) {
      return List.of(UNKNOWN);
    }
    if (tree instanceof LiteralTree literal) {
      return List.of(literal.getValue() instanceof String s ? s : UNKNOWN);
    }
    if (tree instanceof ParenthesizedTree inner) {
      return texts(inner.getExpression(), depth + 1);
    }
    if (tree instanceof BinaryTree plus && tree.getKind() == Tree.Kind.PLUS) {
      return joined(
          texts(plus.getLeftOperand(), depth + 1), texts(plus.getRightOperand(), depth + 1));
    }
    if (tree instanceof ConditionalExpressionTree either) {
      List<String> all = new ArrayList<>(texts(either.getTrueExpression(), depth + 1));
      all.addAll(texts(either.getFalseExpression(), depth + 1));
      return all;
    }
    if (tree instanceof SwitchExpressionTree choice) {
      List<String> all = new ArrayList<>();
      new TreeScanner<Void, Void>() {
        @Override
        public Void visitYield(YieldTree yield, Void none) {
          all.addAll(texts(yield.getValue(), depth + 1));
          return null;
        }
      }.scan(choice.getCases(), null);
      choice.getCases().stream()
          .filter(c -> c.getBody() instanceof ExpressionTree)
          .forEach(c -> all.addAll(texts((ExpressionTree) c.getBody(), depth + 1)));
      return all.isEmpty() ? List.of(UNKNOWN) : all;
    }
    if (tree instanceof IdentifierTree name) {
      List<String> all =
          variables.getOrDefault(name.getName().toString(), List.of()).stream()
              .map(v -> texts(v, depth + 1))
              .flatMap(Collection::stream)
              .distinct()
              .limit(MOST)
              .toList();
      return all.isEmpty() ? List.of(UNKNOWN) : all;
    }
    if (tree instanceof MethodInvocationTree call && format(call) != null) {
      return formatted(format(call), depth);
    }
    return List.of(UNKNOWN);
  }

  private List<String> formatted(List<ExpressionTree> call, int depth) {
    List<String> all = new ArrayList<>();
    for (String format : texts(call.get(0), depth + 1)) {
      List<String> made = List.of("");
      int from = 0;
      int argument = 0;
      Matcher m = CONVERSION.matcher(format);
      while (m.find()) {
        made = joined(made, List.of(format.substring(from, m.start())));
        if (m.group(1).equals("%")) {
          made = joined(made, List.of("%"));
        } else {
          argument++;
          made =
              joined(
                  made,
                  m.group(1).equals("s") && argument < call.size()
                      ? texts(call.get(argument), depth + 1)
                      : List.of(UNKNOWN));
        }
        from = m.end();
      }
      all.addAll(joined(made, List.of(format.substring(from))));
    }
    return all;
  }

  private static List<String> joined(List<String> first, List<String> second) {
    List<String> all = new ArrayList<>();
    for (String a : first) {
      for (String b : second) {
        if (all.size() < MOST) {
          all.add(a + b);
        }
      }
    }
    return all;
  }

  /** What is thrown shows in a report only where it is a reason. */
  @Override
  public Void visitThrow(ThrowTree thrown, Void unused) {
    boolean shown =
        !(thrown.getExpression() instanceof NewClassTree made)
            || reasons.contains(made.getIdentifier().toString());
    return shown ? super.visitThrow(thrown, unused) : null;
  }

  @Override
  public Void visitAnnotation(AnnotationTree annotation, Void unused) {
    return null;
  }
}
