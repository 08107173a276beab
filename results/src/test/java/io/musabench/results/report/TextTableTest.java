package io.musabench.results.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class TextTableTest {
  @Test
  void columnsAreAlignedAndAsWideAsTheirContent() {
    TextTable table = new TextTable("name", ">time", "");
    table.row("a", "1.00 us", "x");
    table.row("longer", "12.0 us", "");
    assertThat(table)
        .hasToString(
            """
              name       time
              ------  -------  -
              a       1.00 us  x
              longer  12.0 us
            """);
  }

  @Test
  void theWidestTextIsCutWhereTheTableIsTooWide() {
    TextTable table = new TextTable("a", "b", ">n");
    table.row("x".repeat(100), "y".repeat(50), "7");
    String[] lines = table.toString().split("\n");
    assertThat(lines[2]).isEqualTo("  " + "x".repeat(61) + "..  " + "y".repeat(50) + "  7");
    assertThat(lines[2]).hasSize(TextTable.MAX_WIDTH);
  }

  @Test
  void aTableOfExactlyTheWidthIsNotCut() {
    TextTable table = new TextTable("a");
    table.row("x".repeat(118));
    assertThat(table.toString()).contains("x".repeat(118));
    TextTable wider = new TextTable("a");
    wider.row("x".repeat(119));
    assertThat(wider.toString()).contains("x".repeat(116) + "..\n");
  }

  @Test
  void numbersAreNeverCut() {
    TextTable table = new TextTable(">n");
    table.row("1".repeat(130));
    assertThat(table.toString()).contains("1".repeat(130));
  }

  @Test
  void aTextColumnKeepsItsHeader() {
    TextTable table = new TextTable("a header", ">n");
    table.row("text of the row", "1".repeat(130));
    assertThat(table.toString()).contains("a header").contains("text o..");
  }

  @Test
  void aRowHasACellForEachColumn() {
    TextTable table = new TextTable("a", "b");
    assertThatThrownBy(() -> table.row("1")).hasMessageContaining("2 columns, not 1");
    assertThat(table.isEmpty()).isTrue();
    table.row("1", "2");
    assertThat(table.isEmpty()).isFalse();
  }
}
