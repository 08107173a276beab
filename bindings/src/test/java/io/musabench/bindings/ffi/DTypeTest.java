package io.musabench.bindings.ffi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import net.jqwik.api.EdgeCasesMode;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

class DTypeTest {
  @Test
  void shouldKeepEveryBf16AndF16Value() {
    for (int bits = 0; bits < 1 << 16; bits++) {
      float bf16 = DType.bf16ToFloat((short) bits);
      if (Float.isNaN(bf16)) {
        assertThat(DType.bf16ToFloat(DType.floatToBf16(bf16))).isNaN();
      } else {
        assertThat(DType.floatToBf16(bf16)).isEqualTo((short) bits);
      }
      float f16 = DType.f16ToFloat((short) bits);
      if (Float.isNaN(f16)) {
        assertThat(DType.f16ToFloat(DType.floatToF16(f16))).isNaN();
      } else {
        assertThat(DType.floatToF16(f16)).isEqualTo((short) bits);
      }
    }
  }

  @Property(tries = 2000, edgeCases = EdgeCasesMode.MIXIN)
  void shouldRoundBf16ToNearestEven(@ForAll int bits) {
    float value = Float.intBitsToFloat(bits);
    if (Float.isNaN(value)) {
      assertThat(DType.BF16.round(value)).isNaN();
      return;
    }
    // The neighbours keep the upper 16 bits; adding one unit there is the next away from zero.
    float towardsZero = Float.intBitsToFloat(bits & 0xffff0000);
    float away = Float.intBitsToFloat((bits & 0xffff0000) + 0x10000);
    int rest = bits & 0xffff;
    boolean up = rest > 0x8000 || rest == 0x8000 && (bits & 0x10000) != 0;
    assertThat(DType.BF16.round(value)).isEqualTo(up ? away : towardsZero);
  }

  @Property(tries = 2000, edgeCases = EdgeCasesMode.MIXIN)
  void shouldRoundF16ToNearestEven(@ForAll short half) {
    int magnitude = half & 0x7fff;
    if (magnitude >= 0x7bff) {
      return; // the largest value and infinity have no neighbour above
    }
    float low = DType.f16ToFloat((short) magnitude);
    float high = DType.f16ToFloat((short) (magnitude + 1));
    float middle = (low + high) / 2; // exact in F32
    boolean even = (magnitude & 1) == 0;
    assertThat(DType.F16.round(middle)).isEqualTo(even ? low : high);
    assertThat(DType.F16.round(-middle)).isEqualTo(even ? -low : -high);
    assertThat(DType.F16.round(Math.nextUp(middle))).isEqualTo(high);
    assertThat(DType.F16.round(Math.nextDown(middle))).isEqualTo(low);
  }

  @Test
  void shouldTurnTooLargeValuesIntoInfinity() {
    assertThat(DType.F16.round(65519.99f)).isEqualTo(65504f);
    assertThat(DType.F16.round(65520f)).isEqualTo(Float.POSITIVE_INFINITY);
    assertThat(DType.F16.round(-1e30f)).isEqualTo(Float.NEGATIVE_INFINITY);
    assertThat(DType.BF16.round(Float.MAX_VALUE)).isEqualTo(Float.POSITIVE_INFINITY);
  }

  @Test
  void shouldFindTypesByTheirDlpackCodes() {
    for (DType type : DType.values()) {
      assertThat(DType.of(type.code(), type.bits())).isEqualTo(type);
    }
    assertThatThrownBy(() -> DType.of(10, 8)).isInstanceOf(IllegalArgumentException.class);
  }
}
