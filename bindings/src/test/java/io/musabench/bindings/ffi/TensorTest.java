package io.musabench.bindings.ffi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.jna.Pointer;
import io.musabench.bindings.TestTarget;
import io.musabench.bindings.runtime.DeviceMemory;
import org.junit.jupiter.api.Test;

@SuppressWarnings("try") // closes before the end of the block are the point
class TensorTest {
  private final Ffi ffi = TestTarget.open().ffi();

  @Test
  void shouldDescribeItselfAsADlTensor() {
    try (Tensor tensor = ffi.allocate(DType.BF16, 4, 3, 8);
        Tensor view = tensor.slice(1, 1, 3)) {
      Pointer descriptor = new Pointer(view.descriptorAddress());
      assertThat(descriptor.getLong(0)).isEqualTo(tensor.address() + 8 * 2);
      assertThat(descriptor.getInt(8)).isEqualTo(ffi.deviceType());
      assertThat(descriptor.getInt(12)).isZero();
      assertThat(descriptor.getInt(16)).isEqualTo(3);
      assertThat(descriptor.getByte(20)).isEqualTo((byte) 4);
      assertThat(descriptor.getByte(21)).isEqualTo((byte) 16);
      assertThat(descriptor.getShort(22)).isEqualTo((short) 1);
      assertThat(descriptor.getPointer(24).getLongArray(0, 3)).containsExactly(4, 2, 8);
      assertThat(descriptor.getPointer(32).getLongArray(0, 3)).containsExactly(24, 8, 1);
      assertThat(descriptor.getLong(40)).isZero();
    }
  }

  @Test
  void shouldCarryEveryTypeThereAndBack() {
    try (Tensor bf16 = ffi.allocate(DType.BF16, 257);
        Tensor f16 = ffi.allocate(DType.F16, 257);
        Tensor f32 = ffi.allocate(DType.F32, 257);
        Tensor i32 = ffi.allocate(DType.I32, 3);
        Tensor i64 = ffi.allocate(DType.I64, 3);
        Tensor u8 = ffi.allocate(DType.U8, 3)) {
      float[] values = new float[257];
      for (int i = 0; i < values.length; i++) {
        values[i] = i - 128; // exact in all three
      }
      assertThat(bf16.copyFrom(values).toFloats()).isEqualTo(values);
      assertThat(f16.copyFrom(values).toFloats()).isEqualTo(values);
      assertThat(f32.copyFrom(values).toFloats()).isEqualTo(values);
      assertThat(i32.copyFrom(new int[] {1, -2, 3}).toInts()).containsExactly(1, -2, 3);
      assertThat(i64.copyFrom(new long[] {1, -2, 1L << 40}).toLongs())
          .containsExactly(1, -2, 1L << 40);
      assertThat(u8.copyFrom(new byte[] {1, -2, 3}).toBytes()).containsExactly(1, -2, 3);
      assertThatThrownBy(() -> i32.copyFrom(1f, 2f, 3f))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("I32[3]");
      assertThatThrownBy(() -> f32.toInts()).isInstanceOf(IllegalArgumentException.class);
      assertThatThrownBy(() -> i32.copyFrom(1, 2)).isInstanceOf(IllegalArgumentException.class);
    }
  }

  @Test
  void shouldCopyMoreThanOneStagingBuffer() {
    int count = (4 << 20) + 3; // elements of 4 bytes: more than four buffers
    try (Tensor tensor = ffi.allocate(DType.I32, count)) {
      int[] values = new int[count];
      java.util.Arrays.setAll(values, i -> i * 7);
      tensor.copyFrom(values);
      assertThat(tensor.toInts()).isEqualTo(values);
    }
  }

  @Test
  void shouldReadAndWriteThroughViews() {
    try (Tensor tensor = ffi.allocate(DType.I32, 3, 4)) {
      tensor.copyFrom(0, 1, 2, 3, 10, 11, 12, 13, 20, 21, 22, 23);
      assertThat(tensor.slice(1, 1, 3).toInts()).containsExactly(1, 2, 11, 12, 21, 22);
      assertThat(tensor.select(0, 2).toInts()).containsExactly(20, 21, 22, 23);
      assertThat(tensor.select(1, 3).toInts()).containsExactly(3, 13, 23);
      assertThat(tensor.slice(0, 1, 1).toInts()).isEmpty();
      assertThat(tensor.reshape(2, 6).select(0, 1).toInts())
          .containsExactly(12, 13, 20, 21, 22, 23);
      Tensor transposed = tensor.view(0, new long[] {4, 3}, new long[] {1, 4});
      assertThat(transposed.isContiguous()).isFalse();
      assertThat(transposed.toInts()).startsWith(0, 10, 20, 1, 11, 21);
      tensor.slice(1, 1, 3).copyFrom(-1, -2, -3, -4, -5, -6);
      assertThat(tensor.toInts()).containsExactly(0, -1, -2, 3, 10, -3, -4, 13, 20, -5, -6, 23);
      tensor.slice(1, 0, 1).fillBytes((byte) 0);
      assertThat(tensor.toInts()).containsExactly(0, -1, -2, 3, 0, -3, -4, 13, 0, -5, -6, 23);
      assertThatThrownBy(() -> transposed.reshape(12)).isInstanceOf(IllegalArgumentException.class);
      assertThatThrownBy(() -> tensor.slice(0, 1, 4)).isInstanceOf(IndexOutOfBoundsException.class);
      assertThatThrownBy(() -> tensor.select(0, 3)).isInstanceOf(IndexOutOfBoundsException.class);
      assertThatThrownBy(() -> tensor.view(1, new long[] {12}, new long[] {1}))
          .isInstanceOf(IndexOutOfBoundsException.class);
    }
  }

  @Test
  void shouldPoisonFloatsWithNan() {
    for (DType type : new DType[] {DType.BF16, DType.F16, DType.F32}) {
      try (Tensor tensor = ffi.allocate(type, 5)) {
        tensor.poison();
        for (float value : tensor.toFloats()) {
          assertThat(value).isNaN();
        }
      }
    }
  }

  @Test
  void shouldKnowItsSizes() {
    try (Tensor tensor = ffi.allocate(DType.BF16, 2, 0, 3);
        Tensor scalar = ffi.allocate(DType.F32)) {
      assertThat(tensor.elements()).isZero();
      assertThat(tensor.toFloats()).isEmpty();
      assertThat(tensor.isContiguous()).isTrue();
      assertThat(tensor).hasToString("BF16[2, 0, 3]");
      assertThat(tensor.shape(-1)).isEqualTo(3);
      assertThat(scalar.rank()).isZero();
      assertThat(scalar.copyFrom(2f).toFloats()).containsExactly(2f);
      assertThat(scalar.bytes()).isEqualTo(4);
    }
  }

  @Test
  void shouldRefuseUseAfterClose() {
    Tensor tensor = ffi.allocate(DType.F32, 4);
    Tensor view = tensor.slice(0, 0, 2);
    Tensor second = view.slice(0, 0, 1);
    view.close();
    assertThatThrownBy(view::toFloats).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(second::address).isInstanceOf(IllegalStateException.class);
    tensor.copyFrom(1, 2, 3, 4f); // a view's close is not its owner's
    tensor.close();
    tensor.close();
    assertThatThrownBy(tensor::toFloats)
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("F32[4]");
    assertThatThrownBy(() -> tensor.slice(0, 0, 1)).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void shouldWrapPartOfABlock() {
    try (DeviceMemory block = ffi.runtime().allocate(64);
        Tensor part = ffi.wrap(block, 16, DType.I32, 2, 3)) {
      assertThat(part.address()).isEqualTo(block.address() + 16);
      assertThatThrownBy(() -> ffi.wrap(block, 44, DType.I32, 2, 3))
          .isInstanceOf(IndexOutOfBoundsException.class);
      block.close();
      assertThatThrownBy(part::address).isInstanceOf(IllegalStateException.class);
    }
  }

  @Test
  void checksumShouldTellContentsApartWhateverTheStrides() {
    try (Tensor a = ffi.allocate(DType.BF16, 3, 4);
        Tensor wide = ffi.allocate(DType.BF16, 3, 8)) {
      float[] values = new float[12];
      for (int i = 0; i < values.length; i++) {
        values[i] = i;
      }
      a.copyFrom(values);
      Tensor b = wide.slice(1, 2, 6).copyFrom(values);
      assertThat(b.checksum()).isEqualTo(a.checksum());
      b.select(0, 1).slice(0, 3, 4).copyFrom(-7f);
      assertThat(b.checksum()).isNotEqualTo(a.checksum());
    }
  }
}
