package io.musabench.bindings.ffi;

/** Element types, with their DLPack codes. One lane each. */
public enum DType {
  BF16(4, 16),
  F16(2, 16),
  F32(2, 32),
  I32(0, 32),
  I64(0, 64),
  U8(1, 8);

  private final int code;
  private final int bits;

  DType(int code, int bits) {
    this.code = code;
    this.bits = bits;
  }

  /** DLPack's type code: 0 int, 1 unsigned, 2 float, 4 bfloat. */
  public int code() {
    return code;
  }

  /** Bits of an element. */
  public int bits() {
    return bits;
  }

  /** Bytes of an element. */
  public int bytes() {
    return bits / 8;
  }

  /** True for BF16, F16 and F32. */
  public boolean isFloating() {
    return this == BF16 || this == F16 || this == F32;
  }

  /** The type with these DLPack codes; throws {@link IllegalArgumentException} if there is none. */
  public static DType of(int code, int bits) {
    for (DType type : values()) {
      if (type.code == code && type.bits == bits) {
        return type;
      }
    }
    throw new IllegalArgumentException("no dtype with code " + code + " and " + bits + " bits");
  }

  /** The value that {@code value} has after rounding to this floating type (to nearest, even). */
  public float round(float value) {
    return switch (this) {
      case BF16 -> bf16ToFloat(floatToBf16(value));
      case F16 -> f16ToFloat(floatToF16(value));
      case F32 -> value;
      default -> throw new IllegalArgumentException(this + " is not a floating type");
    };
  }

  /** The bits of the nearest bfloat16, ties to even; NaN stays NaN. */
  public static short floatToBf16(float value) {
    int bits = Float.floatToRawIntBits(value);
    if ((bits & 0x7fffffff) > 0x7f800000) {
      return (short) (bits >>> 16 | 0x40); // quiet, and never rounded into an infinity
    }
    return (short) (bits + 0x7fff + (bits >>> 16 & 1) >>> 16);
  }

  /** The value of a bfloat16; exact. */
  public static float bf16ToFloat(short bits) {
    return Float.intBitsToFloat(bits << 16);
  }

  /** The bits of the nearest IEEE binary16, ties to even; too large becomes an infinity. */
  public static short floatToF16(float value) {
    int bits = Float.floatToRawIntBits(value);
    int sign = bits >>> 16 & 0x8000;
    int magnitude = bits & 0x7fffffff;
    if (magnitude > 0x7f800000) {
      return (short) (sign | 0x7e00 | magnitude >>> 13 & 0x1ff);
    }
    if (magnitude >= 0x477ff000) { // 65520 and above round to infinity
      return (short) (sign | 0x7c00);
    }
    if (magnitude < 0x38800000) { // below 2^-14: subnormal, in units of 2^-24
      float scaled = Float.intBitsToFloat(magnitude) * 0x1p24f; // exact
      return (short) (sign | (int) Math.rint(scaled));
    }
    int rounded = magnitude + 0xfff + (magnitude >>> 13 & 1);
    return (short) (sign | rounded - 0x38000000 >>> 13);
  }

  /** The value of an IEEE binary16; exact. */
  public static float f16ToFloat(short half) {
    int sign = (half & 0x8000) << 16;
    int exponent = half >>> 10 & 0x1f;
    int fraction = half & 0x3ff;
    if (exponent == 0) {
      float magnitude = fraction * 0x1p-24f;
      return sign == 0 ? magnitude : -magnitude;
    }
    if (exponent == 31) {
      return Float.intBitsToFloat(sign | 0x7f800000 | fraction << 13);
    }
    return Float.intBitsToFloat(sign | exponent + 112 << 23 | fraction << 13);
  }
}
