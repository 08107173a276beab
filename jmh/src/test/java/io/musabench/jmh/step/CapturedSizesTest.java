package io.musabench.jmh.step;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CapturedSizesTest {
  @ParameterizedTest
  @CsvSource({
    "1,1", "2,2", "3,4", "4,4", "5,8", "8,8", "9,16", "24,24", "25,32", "249,256", "256,256",
    "257,272", "500,512", "512,512", "513,513"
  })
  void vllmPadsToTheNextSizeOfItsList(int requests, int captured) {
    assertThat(CapturedSizes.of("vllm", requests)).isEqualTo(captured);
  }

  @Test
  void aNumberIsTakenWhereTheBatchFits() {
    assertThat(CapturedSizes.of("12", 9)).isEqualTo(12);
    assertThat(CapturedSizes.of("9", 9)).isEqualTo(9);
    assertThatThrownBy(() -> CapturedSizes.of("8", 9))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("a graph for 8 requests cannot run 9");
    for (String wrong : new String[] {"0", "-1", "vLLM", "", "1.5", "123456789012"}) {
      assertThatThrownBy(() -> CapturedSizes.parse(wrong))
          .isInstanceOf(IllegalArgumentException.class);
    }
  }
}
