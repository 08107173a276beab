package io.musabench.results.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.musabench.results.model.KernelCall.Gemm;
import io.musabench.results.model.KernelCall.KvCacheWrite;
import io.musabench.results.model.KernelCall.PagedAttention;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class PrecisionTest {
  private static final Precision FP8 =
      new Precision(ElementType.FP8, ElementType.BF16, ElementType.FP8);

  @ParameterizedTest
  @CsvSource({"bfloat16, BF16", "half, FP16", "FP16, FP16", "fp8_e4m3, FP8", "float32, FP32"})
  void typesHaveTheNamesThatPyTorchAndTablesGiveThem(String name, ElementType type) {
    assertThat(ElementType.parse(name)).isEqualTo(type);
    assertThat(ElementType.parse(type.text())).isEqualTo(type);
  }

  @Test
  void aWrongTypeIsRefusedWithTheNearest() {
    assertThatThrownBy(() -> ElementType.parse("bf61"))
        .hasMessage(
            "Unknown element type \"bf61\" (did you mean bf16?); known are bf16, fp16, fp8, fp32");
    assertThatThrownBy(() -> ElementType.ofBytes(3)).hasMessageContaining("3 bytes");
  }

  @ParameterizedTest
  @ValueSource(strings = {"bf16", "fp8/bf16/fp8", "fp16/fp16/fp8"})
  void aPrecisionIsReadBack(String text) {
    assertThat(Precision.parse(text)).hasToString(text);
  }

  @Test
  void fp8AloneIsWhatAServerMeansByIt() {
    assertThat(Precision.ofServer("FP8")).isSameAs(Precision.FP8);
    assertThat(Precision.ofServer("fp16")).isEqualTo(Precision.uniform(ElementType.FP16));
    assertThat(Precision.ofServer("fp8/bf16/bf16")).hasToString("fp8/bf16/bf16");
  }

  @Test
  void aPrecisionOfTwoTypesIsRefused() {
    assertThatThrownBy(() -> Precision.parse("fp8/bf16"))
        .hasMessageContaining("bf16 or fp8/bf16/fp8 (weights/activations/KV cache)");
  }

  @Test
  void aProductWithFp8WeightsReadsFp8AndWritesActivations() {
    Gemm gemm = new Gemm(3, 5, 7);
    assertThat(gemm.work(FP8).bytes()).isEqualTo(3 * 7 + 5 * 7 + 2 * 3 * 5);
    assertThat(gemm.arithmetic(FP8)).isEqualTo(ElementType.FP8);
    Precision weightsOnly = new Precision(ElementType.FP32, ElementType.BF16, ElementType.BF16);
    assertThat(gemm.work(weightsOnly).bytes()).isEqualTo(2 * 3 * 7 + 4 * 5 * 7 + 2 * 3 * 5);
    assertThat(gemm.arithmetic(weightsOnly)).isEqualTo(ElementType.BF16);
  }

  @Test
  void theCacheIsReadAndWrittenInItsOwnType() {
    HeadGeometry heads = new HeadGeometry(4, 2, 8);
    PagedAttention decode = new PagedAttention(BatchSpec.decode(1, 10), heads, Mask.CAUSAL, 16);
    // Query and output 4 heads of 8 in bf16, keys and values 2 heads of 8 over 10 tokens in fp8.
    assertThat(decode.work(FP8).bytes()).isEqualTo(2 * 2 * 4 * 8 + 2 * 2 * 8 * 10 + 4);
    assertThat(decode.arithmetic(FP8)).isEqualTo(ElementType.BF16);
    assertThat(new KvCacheWrite(3, heads).work(FP8).bytes())
        .isEqualTo(3 * 2 * 16 * (2 + 1) + 3 * 8);
  }

  @Test
  void lmHeadAndRouterStayUnquantised() {
    ModelConfig model = ModelConfigs.of(4, 2, 512, 1000);
    assertThat(model.precision("lm_head", FP8).weights()).isEqualTo(ElementType.BF16);
    assertThat(model.precision("router", FP8).weights()).isEqualTo(ElementType.BF16);
    assertThat(model.precision("o", FP8)).isEqualTo(FP8);
  }
}
