package io.musabench.results.tpot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.musabench.results.model.Precision;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ServingRowTest {
  @TempDir Path folder;

  private List<ServingRow> read(String text, String model) throws IOException {
    Path file = Files.writeString(folder.resolve("rows.csv"), text);
    return ServingRow.read(file, model);
  }

  @Test
  void columnsComeInAnyOrderAndOthersAreIgnored() throws IOException {
    List<ServingRow> rows =
        read(
            """
            note,tpot_ms,concurrency,osl,isl,tp,model,ttft_ms
            a,20.5,8.0,256,1024,4.0,Qwen/Qwen3-32B,150

            b,21,16,256,1024,4,,
            """,
            "Qwen3-8B");
    assertThat(rows)
        .containsExactly(
            new ServingRow(2, "Qwen/Qwen3-32B", 4, new Workload(8, 1024, 256), 0.15, 0.0205, null),
            new ServingRow(4, "Qwen3-8B", 4, new Workload(16, 1024, 256), Double.NaN, 0.021, null));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {",", ";", "TAB"})
  void aSpreadsheetsFileIsRead(String given) throws IOException {
    String delimiter = given.equals("TAB") ? "\t" : given;
    String text = "Model,TP,ISL,OSL,Concurrency,TPOT_ms\r\nQwen3-32B,4,1024,256,8,20\r\n";
    assertThat(read("\uFEFF" + text.replace(",", delimiter), null))
        .containsExactly(
            new ServingRow(2, "Qwen3-32B", 4, new Workload(8, 1024, 256), Double.NaN, 0.02, null));
  }

  @Test
  void aRowMayNameItsPrecision() throws IOException {
    String header = "tp,isl,osl,concurrency,tpot_ms,precision\n4,1024,256,8,20,";
    assertThat(read(header + "fp8\n", "M").get(0).precision()).isEqualTo(Precision.FP8);
    assertThat(read(header + "fp8/bf16/fp8\n", "M").get(0).precision()).hasToString("fp8/bf16/fp8");
    assertThat(read(header + "\n", "M").get(0).precision()).isNull();
    assertThatThrownBy(() -> read(header + "bf61\n", "M"))
        .hasMessageContaining("rows.csv, line 2, column precision: Unknown element type \"bf61\"")
        .hasMessageContaining("bf16");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "4,1024,256,8 | line 2, column tpot_ms: \"\" is not a number",
        "4.5,1024,256,8,20 | line 2, column tp: \"4.5\" is not a whole number from 1 on",
        "4,1024,1,8,20 | line 2, column osl: \"1\" is not a whole number from 2 on",
        "4,1024,256,x,20 | line 2, column concurrency: \"x\" is not a number",
        "4,1024,256,8,-1 | line 2, column tpot_ms: \"-1\" is not a number above 0",
        "4,1024,256,8,NaN | line 2, column tpot_ms: \"NaN\" is not a number above 0"
      })
  void aWrongFieldIsNamed(String row, String message) {
    assertThatThrownBy(() -> read("tp,isl,osl,concurrency,tpot_ms\n" + row + "\n", "M"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("rows.csv, " + message);
  }

  @Test
  void aMissingColumnOrModelIsNamed() {
    assertThatThrownBy(() -> read("tp,isl,osl,tpot_ms\n4,1,2,3\n", "M"))
        .hasMessageContaining("there is no column concurrency")
        .hasMessageEndingWith("it has tp, isl, osl, tpot_ms");
    assertThatThrownBy(() -> read("tp,isl,osl,concurrency,tpot_ms\n4,1,2,3,4\n", null))
        .hasMessageContaining("there is no column model");
    assertThatThrownBy(() -> read("tp,isl,osl,concurrency,tpot_ms\n", "M"))
        .hasMessageContaining("there are no rows");
    assertThatThrownBy(() -> read("", "M")).isInstanceOf(IllegalArgumentException.class);
  }
}
