package io.musabench.jmh.gemm;

import io.musabench.results.Nearest;
import io.musabench.results.model.BatchSpec;
import io.musabench.results.model.KernelCall;
import io.musabench.results.model.Layout;
import io.musabench.results.model.Operation;
import io.musabench.results.model.StepOperations;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Which weight matrix: one of a model's by its role, or any by its size, {@code <outputs>x<inputs>}
 * as in {@code 4096x1024}.
 *
 * @param role role in a model's step; null for a size
 * @param outputs rows of the matrix; 0 for a role
 * @param inputs columns of the matrix; 0 for a role
 */
public record Projection(String role, int outputs, int inputs) {
  /** The roles. */
  public static final List<String> ROLES = List.of("qkv", "o", "gate_up", "down", "lm_head");

  private static final Pattern SIZE = Pattern.compile("([1-9]\\d{0,8})x([1-9]\\d{0,8})");

  /**
   * Reads a role or a size.
   *
   * @throws IllegalArgumentException that says what is allowed
   */
  public static Projection parse(String text) {
    if (ROLES.contains(text)) {
      return new Projection(text, 0, 0);
    }
    Matcher size = SIZE.matcher(text);
    if (!size.matches()) {
      throw new IllegalArgumentException(
          "it is one of "
              + String.join(", ", ROLES)
              + ", or a size <outputs>x<inputs> as 4096x1024"
              + Nearest.hint(text, ROLES));
    }
    return new Projection(null, Integer.parseInt(size.group(1)), Integer.parseInt(size.group(2)));
  }

  /** The product with {@code tokens} rows of activations; a size asks nothing of the model. */
  KernelCall.Gemm of(Layout layout, int tokens) {
    if (role == null) {
      return new KernelCall.Gemm(tokens, outputs, inputs);
    }
    // A step of one token a request: lm_head has as many rows as the others.
    BatchSpec batch = BatchSpec.decode(tokens, 1);
    for (Operation operation : StepOperations.of(layout, batch, 1).summary()) {
      if (operation.role().equals(role)) {
        return (KernelCall.Gemm) operation.call();
      }
    }
    throw new IllegalStateException("a step has no " + role);
  }
}
