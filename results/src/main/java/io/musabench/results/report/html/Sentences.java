package io.musabench.results.report.html;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The sentences that this suite writes into run directories, comparisons, predictions and serving
 * results, in English and Chinese. Those files hold English, some of them were written long ago or
 * by another process, so a sentence is known again by its form: what {@code sentences.txt} says
 * with names in braces.
 *
 * <p>The page takes the forms that its data uses and the arguments of each sentence, not every
 * sentence twice: thousands of cases with a sentence each do not make it larger.
 */
final class Sentences {
  private static final String FILE = "sentences.txt";
  private static final String PREFIX = "said.";
  private static final Pattern ARGUMENT = Pattern.compile("\\{(\\w+)(#?)}");

  /** As {@code %d}, {@code %g} and people write numbers, and what stands for one not known. */
  private static final String NUMBER =
      "([-+−]?[0-9][0-9.,]*(?:[eE][-+]?[0-9]+)?|NaN|-?Infinity|-|\\?|unknown)";

  private static final String LINES = " | ";

  /** What stands between sentences, the outer first: lines, and sentences of a line. */
  private static final List<String> JOINS = List.of(LINES, "; ");

  private static final List<Sentence> ALL = read(Page.resource(FILE));
  private static final Map<String, Sentence> BY_KEY = new HashMap<>();

  static {
    ALL.forEach(s -> BY_KEY.put(s.key(), s));
  }

  private Sentences() {}

  /**
   * A form in both languages.
   *
   * @param english and {@code chinese}: with arguments as the page replaces them
   * @param anchor its longest part that is no argument: a text without it need not be tried
   * @param weight how much of it is no argument
   * @param words whether any of it is words; else it is a form only of sentences
   */
  record Sentence(
      String key,
      String english,
      String chinese,
      Pattern pattern,
      List<String> names,
      String anchor,
      int weight,
      boolean words) {}

  /** The text as a message, translated as far as it is known; else as it is. */
  static Message of(String text) {
    return find(text).orElseGet(() -> Message.literal(text));
  }

  /** The text as a message, if some of it is known. */
  static Optional<Message> find(String text) {
    Optional<Message> one = form(text);
    return one.isPresent()
        ? one
        : JOINS.stream().flatMap(join -> joined(text, join).stream()).findFirst();
  }

  private static Optional<Message> form(String text) {
    for (Sentence s : ALL) {
      if (!text.contains(s.anchor())) {
        continue;
      }
      Matcher m = s.pattern().matcher(text);
      if (!m.matches()) {
        continue;
      }
      boolean known = s.words();
      Object[] arguments = new Object[2 * s.names().size()];
      for (int i = 0; i < s.names().size(); i++) {
        Message argument = of(m.group(i + 1));
        known |= argument.key() != null;
        arguments[2 * i] = s.names().get(i);
        arguments[2 * i + 1] = argument;
      }
      if (known) {
        return Optional.of(Message.of(s.key(), arguments));
      }
    }
    return Optional.empty();
  }

  /**
   * Several sentences in one text. Some hold the separator themselves, so the longest beginning
   * that is known comes first.
   */
  private static Optional<Message> joined(String text, String join) {
    for (int at = text.lastIndexOf(join); at > 0; at = text.lastIndexOf(join, at - 1)) {
      Optional<Message> first = form(text.substring(0, at));
      if (first.isPresent()) {
        return Optional.of(pair(join, first.get(), of(text.substring(at + join.length()))));
      }
    }
    int at = text.indexOf(join);
    if (at <= 0) {
      return Optional.empty();
    }
    Message first = of(text.substring(0, at));
    Message rest = of(text.substring(at + join.length()));
    return first.key() == null && rest.key() == null
        ? Optional.empty()
        : Optional.of(pair(join, first, rest));
  }

  private static Message pair(String join, Message first, Message rest) {
    return Message.of(
        "join." + (join.equals(LINES) ? "lines" : "sentences"), "a", first, "b", rest);
  }

  /** Adds the forms that the data uses to the page's texts. */
  static void addUsed(ObjectNode texts, JsonNode data) {
    if (data.isObject() && data.path("key").asText().startsWith(PREFIX)) {
      Sentence s = BY_KEY.get(data.get("key").asText());
      texts.withObject("/en").put(s.key(), s.english());
      texts.withObject("/zh").put(s.key(), s.chinese());
    }
    data.forEach(child -> addUsed(texts, child));
  }

  /** All forms, the most particular first. */
  static List<Sentence> all() {
    return ALL;
  }

  /**
   * Reads the catalogue: a line in English, the same in Chinese below it, indented. {@code {name}}
   * stands for any text, {@code {name#}} for a number. Lines that begin with {@code #} and empty
   * ones are for people.
   */
  private static List<Sentence> read(String file) {
    List<Sentence> all = new ArrayList<>();
    String english = null;
    for (String line : file.lines().toList()) {
      if (line.isBlank() || line.startsWith("#")) {
        continue;
      }
      boolean chinese = line.startsWith("  ");
      if (chinese == (english == null)) {
        throw new IllegalStateException(FILE + ": no pair: " + line);
      }
      if (chinese) {
        all.add(sentence(PREFIX + all.size(), english, line.strip()));
      }
      english = chinese ? null : line;
    }
    all.sort(Comparator.comparingInt(s -> -s.weight()));
    return List.copyOf(all);
  }

  private static Sentence sentence(String key, String english, String chinese) {
    // A sentence does not end beyond its line, unless it is one of lines.
    String text = english.contains(LINES) ? "(.+?)" : "((?:(?!" + Pattern.quote(LINES) + ").)+?)";
    StringBuilder pattern = new StringBuilder();
    List<String> names = new ArrayList<>();
    String anchor = "";
    int weight = 0;
    int from = 0;
    Matcher m = ARGUMENT.matcher(english);
    while (from <= english.length()) {
      boolean more = m.find();
      String plain = english.substring(from, more ? m.start() : english.length());
      pattern.append(Pattern.quote(plain));
      anchor = plain.length() > anchor.length() ? plain : anchor;
      weight += plain.length();
      if (!more) {
        break;
      }
      pattern.append(m.group(2).isEmpty() ? text : NUMBER);
      names.add(m.group(1));
      from = m.end();
    }
    return new Sentence(
        key,
        ARGUMENT.matcher(english).replaceAll("{$1}"),
        chinese,
        Pattern.compile(pattern.toString(), Pattern.DOTALL),
        List.copyOf(names),
        anchor,
        weight,
        ARGUMENT.matcher(english).replaceAll("").matches(".*[A-Za-z].*"));
  }
}
