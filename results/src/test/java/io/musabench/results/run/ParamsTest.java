package io.musabench.results.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Map;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.AlphaChars;
import net.jqwik.api.constraints.NotEmpty;
import org.junit.jupiter.api.Test;

class ParamsTest {
  @Test
  void pairsAreSortedByName() {
    assertThat(Params.format(Map.of("model", "Qwen3-0.6B", "batch", "8q1s1k", "tp", "1")))
        .isEqualTo("batch=8q1s1k;model=Qwen3-0.6B;tp=1");
    assertThat(Params.format(Map.of())).isEmpty();
    assertThat(Params.parse("")).isEmpty();
  }

  @Test
  void valuesMayHoldAnything() {
    Map<String, String> odd = Map.of("model", "/a b/x=1;y=100%+2 %3B µ");
    assertThat(Params.format(odd)).isEqualTo("model=/a b/x%3D1%3By%3D100%25+2 %253B µ");
    assertThat(Params.parse(Params.format(odd))).isEqualTo(odd);
  }

  @Property
  void whatWasWrittenIsReadBack(@ForAll Map<@AlphaChars @NotEmpty String, String> params) {
    params.values().removeIf(v -> v.chars().anyMatch(c -> Character.isSurrogate((char) c)));
    assertThat(Params.parse(Params.format(params))).isEqualTo(params);
  }

  @Test
  void aPairWithoutEqualsSignIsRefused() {
    assertThatThrownBy(() -> Params.parse("a=1;b")).hasMessageContaining("\"b\"");
    assertThatThrownBy(() -> Params.parse("=1")).hasMessageContaining("\"=1\"");
  }
}
