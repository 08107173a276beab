package io.musabench.results.devices;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class DataSheetTest {
  @Test
  void shippedSheetsAreFoundByTheNamesThatPeopleUse() {
    assertThat(DataSheet.find("s5000").name()).isEqualTo("MTT S5000");
    assertThat(DataSheet.find("MTT S4000").value(DataSheet.MEMORY_GB_PER_S)).isEqualTo(768);
    assertThat(DataSheet.find("h100_sxm").value(DataSheet.BF16_TFLOPS)).isEqualTo(989);
    assertThat(DataSheet.find("S4000").value(DataSheet.FP8_TFLOPS)).isNaN();
  }

  @Test
  void everyShippedFigureSaysWhoSaysSo() {
    for (DataSheet sheet : DataSheet.shipped()) {
      assertThat(sheet.figures()).containsKeys("memory_bytes", "memory_gb_per_s", "bf16_tflops");
      assertThat(sheet.figures().values()).allSatisfy(f -> assertThat(f.source()).isNotBlank());
    }
  }

  @Test
  void wrongSheetsAreRefusedByName() {
    assertThatThrownBy(() -> DataSheet.find("S5OOO")).hasMessageContaining("MTT S5000");
    assertThatThrownBy(() -> DataSheet.parse("x.json", "{")).hasMessageContaining("x.json");
    assertThatThrownBy(
            () ->
                DataSheet.parse(
                    "x.json",
                    "{\"schema_version\":1,\"name\":\"x\",\"figures\":{\"l2_bytes\":{\"value\":1}}}"))
        .hasMessageContaining("l2_bytes");
  }
}
