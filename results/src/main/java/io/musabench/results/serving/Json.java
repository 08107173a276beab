package io.musabench.results.serving;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonLocation;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.core.io.JsonEOFException;
import com.fasterxml.jackson.core.json.JsonReadFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import java.io.IOException;
import java.io.InputStream;
import java.math.BigDecimal;
import org.yaml.snakeyaml.LoaderOptions;

/**
 * Reads JSON as tools write it: bare {@code NaN} and {@code Infinity}, numbers in quotes, several
 * documents one after the other. Numbers that are missing, null or no numbers come out as NaN or
 * {@link Long#MIN_VALUE}.
 */
final class Json {
  /** A prompt of a million tokens fits; a file that is one endless string does not. */
  private static final int MAX_STRING = 16 << 20;

  static final JsonFactory FACTORY =
      JsonFactory.builder()
          .enable(JsonReadFeature.ALLOW_NON_NUMERIC_NUMBERS)
          .enable(StreamReadFeature.USE_FAST_DOUBLE_PARSER)
          .disable(StreamReadFeature.INCLUDE_SOURCE_IN_LOCATION)
          .streamReadConstraints(
              StreamReadConstraints.builder()
                  .maxStringLength(MAX_STRING)
                  .maxNestingDepth(200)
                  .build())
          .build();

  private static final YAMLFactory YAML =
      YAMLFactory.builder().loaderOptions(yamlOptions()).build();

  private static LoaderOptions yamlOptions() {
    LoaderOptions options = new LoaderOptions();
    // The default of 3 MB is less than one run with its requests.
    options.setCodePointLimit(Integer.MAX_VALUE);
    return options;
  }

  static final ObjectMapper MAPPER = new ObjectMapper(FACTORY);

  private Json() {}

  static JsonParser parser(InputStream in) throws IOException {
    return FACTORY.createParser(in);
  }

  /** A parser of JSON or of YAML, by the first character. The caller closes {@code in} too. */
  static JsonParser parserOfEither(InputStream in) throws IOException {
    in.mark(64);
    int first = in.read();
    for (int i = 0; i < 63 && first >= 0 && Character.isWhitespace(first); i++) {
      first = in.read();
    }
    in.reset();
    return first == '{' || first == '[' ? parser(in) : YAML.createParser(in);
  }

  /** What is wrong with a JSON or YAML text and where, in one line. */
  static String damage(JsonProcessingException e) {
    JsonLocation at = e.getLocation();
    String where = at == null ? "" : " at line " + at.getLineNr() + ", column " + at.getColumnNr();
    String what = String.valueOf(e.getOriginalMessage());
    if (e instanceof JsonEOFException || what.startsWith("Unexpected end-of-input")) {
      return "it breaks off in the middle" + where;
    }
    what = what.lines().findFirst().orElse("").replaceFirst("[:;]? ?(\\(|at )?\\[Source: .*", "");
    return "damaged" + where + ": " + what;
  }

  /** What to do with one field; returns false to have its value skipped. */
  interface Field {
    boolean value(String name, JsonParser p) throws IOException;
  }

  /** What to do with one element; the parser is at its first token. False skips it. */
  interface Element {
    boolean value(JsonParser p) throws IOException;
  }

  /** Walks over an object whose START_OBJECT is the current token. Anything else is skipped. */
  static void object(JsonParser p, Field field) throws IOException {
    if (p.currentToken() != JsonToken.START_OBJECT) {
      p.skipChildren();
      return;
    }
    while (p.nextToken() == JsonToken.FIELD_NAME) {
      String name = p.currentName();
      p.nextToken();
      if (!field.value(name, p)) {
        p.skipChildren();
      }
    }
    closed(p, JsonToken.END_OBJECT);
  }

  /** Walks over an array whose START_ARRAY is the current token. Anything else is skipped. */
  static void array(JsonParser p, Element element) throws IOException {
    if (p.currentToken() != JsonToken.START_ARRAY) {
      p.skipChildren();
      return;
    }
    while (p.nextToken() != JsonToken.END_ARRAY) {
      if (p.currentToken() == null) {
        throw new ServingFormatException("the file ends in the middle of an array");
      }
      if (!element.value(p)) {
        p.skipChildren();
      }
    }
  }

  private static void closed(JsonParser p, JsonToken expected) throws IOException {
    if (p.currentToken() != expected) {
      throw new ServingFormatException("the file ends in the middle of an object");
    }
  }

  /** The current value as a tree; for values that are small by nature. */
  static JsonNode tree(JsonParser p) throws IOException {
    JsonNode node = MAPPER.readTree(p);
    return node == null ? MAPPER.missingNode() : node;
  }

  /** The current scalar as a number; containers are skipped. */
  static double number(JsonParser p) throws IOException {
    return switch (p.currentToken()) {
      case VALUE_NUMBER_INT, VALUE_NUMBER_FLOAT -> p.getDoubleValue();
      case VALUE_STRING -> number(p.getText());
      case START_OBJECT, START_ARRAY -> {
        p.skipChildren();
        yield Double.NaN;
      }
      default -> Double.NaN;
    };
  }

  /** The number in a text; thousands separators and {@code inf} are understood. */
  static double number(String text) {
    String t = text.strip();
    if (t.isEmpty() || t.length() > 40) {
      return Double.NaN;
    }
    char last = t.charAt(t.length() - 1);
    if (last == 'd' || last == 'D' || last == 'f' && !t.endsWith("inf") || last == 'F') {
      return Double.NaN;
    }
    try {
      return Double.parseDouble(t.indexOf(',') < 0 ? t : t.replace(",", ""));
    } catch (NumberFormatException e) {
      return switch (t.toLowerCase(java.util.Locale.ROOT)) {
        case "inf", "+inf", ".inf", "infinity" -> Double.POSITIVE_INFINITY;
        case "-inf", "-.inf", "-infinity" -> Double.NEGATIVE_INFINITY;
        default -> Double.NaN;
      };
    }
  }

  static double number(JsonNode node) {
    if (node.isNumber()) {
      return node.doubleValue();
    }
    return node.isTextual() ? number(node.textValue()) : Double.NaN;
  }

  /** The current scalar as a count; {@link Request#MISSING} if it is none. */
  static int count(JsonParser p) throws IOException {
    return count(number(p));
  }

  static int count(JsonNode node) {
    return count(number(node));
  }

  static int count(double value) {
    return value >= 0 && value <= Integer.MAX_VALUE ? (int) Math.round(value) : Request.MISSING;
  }

  /** The current scalar as 64-bit nanoseconds, exactly; {@link Request#NO_START} if it is none. */
  static long nanoseconds(JsonParser p) throws IOException {
    if (p.currentToken() == JsonToken.VALUE_NUMBER_INT) {
      if (p.getNumberType() == JsonParser.NumberType.BIG_INTEGER) {
        return Request.NO_START;
      }
      return p.getLongValue();
    }
    if (p.currentToken() != null && p.currentToken().isScalarValue()) {
      return nanoseconds(p.getText(), 0);
    }
    p.skipChildren();
    return Request.NO_START;
  }

  /** The current scalar, in seconds, as nanoseconds without a detour over doubles. */
  static long secondsAsNanoseconds(JsonParser p) throws IOException {
    if (p.currentToken() != null && p.currentToken().isScalarValue()) {
      return nanoseconds(p.getText(), 9);
    }
    p.skipChildren();
    return Request.NO_START;
  }

  /** {@code text} · 10^{@code scale}, rounded down to a long; {@link Request#NO_START} if none. */
  static long nanoseconds(String text, int scale) {
    String t = text.strip();
    if (t.isEmpty() || t.length() > 40) {
      return Request.NO_START;
    }
    try {
      BigDecimal value = new BigDecimal(t);
      // A huge exponent would make a huge integer.
      if (Math.abs((long) value.precision() - value.scale() + scale) > 19) {
        return value.signum() == 0 ? 0 : Request.NO_START;
      }
      BigDecimal ns = value.scaleByPowerOfTen(scale).setScale(0, java.math.RoundingMode.HALF_EVEN);
      return ns.longValueExact();
    } catch (ArithmeticException | NumberFormatException e) {
      return Request.NO_START;
    }
  }

  /** Milliseconds from {@code from} to {@code to}; NaN if either is missing. */
  static double elapsedMs(long from, long to) {
    if (from == Request.NO_START || to == Request.NO_START) {
      return Double.NaN;
    }
    return (to - from) / 1e6;
  }

  /** The current value as text, null for null and for containers, which are skipped. */
  static String text(JsonParser p) throws IOException {
    if (p.currentToken() == null || !p.currentToken().isScalarValue()) {
      p.skipChildren();
      return null;
    }
    return p.currentToken() == JsonToken.VALUE_NULL ? null : p.getText();
  }
}
