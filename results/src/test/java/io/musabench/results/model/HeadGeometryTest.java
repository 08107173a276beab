package io.musabench.results.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class HeadGeometryTest {
  @Test
  void readsQueryHeadsKvHeadsAndSize() {
    HeadGeometry heads = HeadGeometry.parse("64:8:128");
    assertThat(heads).isEqualTo(new HeadGeometry(64, 8, 128, 128));
    assertThat(heads.group()).isEqualTo(8);
    assertThat(heads).hasToString("64:8:128");
  }

  @Test
  void readsValuesOfAnotherSize() {
    HeadGeometry heads = HeadGeometry.parse("128:128:192/128");
    assertThat(heads).isEqualTo(new HeadGeometry(128, 128, 192, 128));
    assertThat(heads).hasToString("128:128:192/128");
  }

  @Property
  void printedTextIsReadBack(
      @ForAll @IntRange(min = 1, max = 64) int kv,
      @ForAll @IntRange(min = 1, max = 32) int group,
      @ForAll @IntRange(min = 1, max = 512) int qk,
      @ForAll @IntRange(min = 1, max = 512) int v) {
    HeadGeometry heads = new HeadGeometry(kv * group, kv, qk, v);
    assertThat(HeadGeometry.parse(heads.toString())).isEqualTo(heads);
    assertThat(heads.group()).isEqualTo(group);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"", "64", "64:8", "64:8:128:1", "a:8:128", "64:8:", "64:8:128/", "-1:1:1"})
  void refusesAnotherForm(String wrong) {
    assertThatThrownBy(() -> HeadGeometry.parse(wrong))
        .hasMessageContaining("\"" + wrong + "\"")
        .hasMessageContaining("64:8:128");
  }

  @ParameterizedTest
  @ValueSource(strings = {"0:8:128", "64:0:128", "64:8:0", "64:8:128/0"})
  void refusesZero(String wrong) {
    assertThatThrownBy(() -> HeadGeometry.parse(wrong))
        .hasMessageContaining(wrong)
        .hasMessageContaining("below 1");
  }

  @Test
  void refusesQueryHeadsThatCannotShareTheKvHeads() {
    assertThatThrownBy(() -> HeadGeometry.parse("10:4:64"))
        .hasMessageContaining("10 query heads cannot share 4 kv heads");
  }
}
