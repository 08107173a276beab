package io.musabench.results.model;

import io.musabench.results.Nearest;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/** How one number is stored. */
public enum ElementType {
  /** Brain floating point, 8 bits of exponent. */
  BF16(2, "bf16", "bfloat16"),
  /** IEEE half precision; tables that call a type {@code half} mean it. */
  FP16(2, "fp16", "float16", "half"),
  /** Eight bits, with a scale a tensor, channel or block that is not counted. */
  FP8(1, "fp8", "fp8_e4m3", "float8_e4m3fn"),
  /** IEEE single precision. */
  FP32(4, "fp32", "float32", "float");

  private final int bytes;
  private final List<String> names;

  ElementType(int bytes, String... names) {
    this.bytes = bytes;
    this.names = List.of(names);
  }

  /** Bytes of one number. */
  public int bytes() {
    return bytes;
  }

  /**
   * Name in files and on the command line: {@code bf16}, {@code fp16}, {@code fp8}, {@code fp32}.
   */
  public String text() {
    return names.get(0);
  }

  /**
   * The usual type of a size.
   *
   * @param bytes 1 (fp8), 2 (bf16) or 4 (fp32)
   * @throws IllegalArgumentException if it is another
   */
  public static ElementType ofBytes(int bytes) {
    return switch (bytes) {
      case 1 -> FP8;
      case 2 -> BF16;
      case 4 -> FP32;
      default -> throw new IllegalArgumentException("No element type has " + bytes + " bytes");
    };
  }

  /**
   * Reads a name, upper or lower case; PyTorch's names are understood too.
   *
   * @throws IllegalArgumentException that proposes the nearest name
   */
  public static ElementType parse(String name) {
    String lower = name.toLowerCase(Locale.ROOT);
    for (ElementType type : values()) {
      if (type.names.contains(lower)) {
        return type;
      }
    }
    List<String> known = Arrays.stream(values()).map(ElementType::text).toList();
    throw new IllegalArgumentException(
        "Unknown element type \""
            + name
            + "\""
            + Nearest.hint(lower, known)
            + "; known are "
            + String.join(", ", known));
  }
}
