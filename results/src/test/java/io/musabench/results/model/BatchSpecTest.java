package io.musabench.results.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.musabench.results.model.BatchSpec.Request;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class BatchSpecTest {
  @Test
  void readsAPrefill() {
    BatchSpec batch = BatchSpec.parse("q2k");
    assertThat(batch.requests()).containsExactly(new Request(2048, 2048));
    assertThat(batch.isPrefill()).isTrue();
    assertThat(batch.isDecode()).isFalse();
  }

  @Test
  void readsDecodes() {
    BatchSpec batch = BatchSpec.parse("64q1s4k");
    assertThat(batch.size()).isEqualTo(64);
    assertThat(batch.requests()).containsOnly(new Request(1, 4096));
    assertThat(batch.isDecode()).isTrue();
    assertThat(batch.isPrefill()).isFalse();
    assertThat(batch).isEqualTo(BatchSpec.decode(64, 4096));
  }

  @Test
  void readsChunksAfterCachedTokens() {
    BatchSpec batch = BatchSpec.parse("2q1ks4k");
    assertThat(batch.requests()).containsExactly(new Request(1024, 4096), new Request(1024, 4096));
    assertThat(batch.isDecode()).isFalse();
    assertThat(batch.isPrefill()).isFalse();
  }

  @Test
  void readsAMixedBatchAndAddsItUp() {
    BatchSpec batch = BatchSpec.parse("2q1k_3q1s2k");
    assertThat(batch.qLens()).containsExactly(1024, 1024, 1, 1, 1);
    assertThat(batch.kvLens()).containsExactly(1024, 1024, 2048, 2048, 2048);
    assertThat(batch.cuSeqlensQ()).containsExactly(0, 1024, 2048, 2049, 2050, 2051);
    assertThat(batch.totalQ()).isEqualTo(2051);
    assertThat(batch.totalKv()).isEqualTo(2 * 1024 + 3 * 2048);
    assertThat(batch.maxQ()).isEqualTo(1024);
    assertThat(batch.maxKv()).isEqualTo(2048);
    assertThat(batch.isDecode()).isFalse();
    assertThat(batch.isPrefill()).isFalse();
  }

  @Test
  void readsOddLengths() {
    assertThat(BatchSpec.parse("q257_2q1s1057").requests())
        .containsExactly(new Request(257, 257), new Request(1, 1057), new Request(1, 1057));
  }

  @Test
  void aPromptOfOneTokenIsAPrefill() {
    Request one = BatchSpec.parse("q1").requests().get(0);
    assertThat(one.isPrefill()).isTrue();
    assertThat(one.isDecode()).isFalse();
  }

  @Test
  void printsTheShortestForm() {
    assertThat(BatchSpec.parse("1q2048s2048")).hasToString("q2k");
    assertThat(BatchSpec.parse("q1s4096_q1s4k_2q1s4k")).hasToString("4q1s4k");
    assertThat(BatchSpec.parse("q257_7q1s1057_q257")).hasToString("q257_7q1s1057_q257");
    assertThat(BatchSpec.prefill(3, 1500)).hasToString("3q1500");
    assertThat(BatchSpec.uniform(2, 1024, 4096)).hasToString("2q1ks4k");
  }

  @Property
  void printedTextIsReadBackAsTheSameBatch(@ForAll("batches") BatchSpec batch) {
    assertThat(BatchSpec.parse(batch.toString())).isEqualTo(batch);
  }

  @Property
  void totalsAreTheSumsOfTheRequests(@ForAll("batches") BatchSpec batch) {
    int[] sums = batch.cuSeqlensQ();
    assertThat(sums[batch.size()]).isEqualTo(batch.totalQ());
    assertThat(batch.maxKv()).isGreaterThanOrEqualTo(batch.maxQ());
    assertThat(batch.totalKv()).isGreaterThanOrEqualTo(batch.totalQ());
  }

  @Provide
  Arbitrary<BatchSpec> batches() {
    Arbitrary<Integer> lengths =
        Arbitraries.oneOf(
            Arbitraries.integers().between(1, 9000),
            Arbitraries.integers().between(1, 64).map(k -> 1024 * k));
    // Few different requests, so that runs of equal ones occur.
    Arbitrary<Request> requests =
        net.jqwik.api.Combinators.combine(lengths, lengths)
            .as((a, b) -> new Request(Math.min(a, b), Math.max(a, b)));
    return requests
        .list()
        .ofMinSize(1)
        .ofMaxSize(4)
        .flatMap(few -> Arbitraries.of(few).list().ofMinSize(1).ofMaxSize(12))
        .map(BatchSpec::new);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "_",
        "q1_",
        "_q1",
        "2k",
        "q",
        "qk",
        "q1s",
        "q1sk",
        "s1k",
        "q1s1k2",
        "Q1",
        "q1K",
        "q-1",
        "q 1",
        "q1.5",
        "q1__q2",
        "q1m",
        "99999999q1",
        "q9999999999"
      })
  void refusesWhatItCannotReadAndShowsRightForms(String wrong) {
    assertThatThrownBy(() -> BatchSpec.parse(wrong))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("Batch spec \"" + wrong + "\"")
        .hasMessageContaining("64q1s4k");
  }

  @Test
  void namesTheSegmentThatIsWrong() {
    assertThatThrownBy(() -> BatchSpec.parse("q2k_8q1x1k"))
        .hasMessageContaining("cannot read \"8q1x1k\"");
    assertThatThrownBy(() -> BatchSpec.parse("q2k_q4s2"))
        .hasMessageContaining("in \"q4s2\" the KV length 2 is shorter than the query length 4");
  }

  @Test
  void refusesZeroes() {
    assertThatThrownBy(() -> BatchSpec.parse("q0")).hasMessageContaining("at least 1 query token");
    assertThatThrownBy(() -> BatchSpec.parse("0q1")).hasMessageContaining("number of requests");
    assertThatThrownBy(() -> new BatchSpec(List.of())).hasMessageContaining("at least one request");
  }

  @Test
  void equalRequestsAreCountedAsThoseOfAText() {
    for (int count : new int[] {0, -1, 1048577}) {
      assertThatThrownBy(() -> BatchSpec.decode(count, 4096))
          .hasMessageContaining("Batch spec \"" + count + "q1s4096\"")
          .hasMessageContaining("between 1 and 1048576");
    }
    assertThat(BatchSpec.decode(1, 4096)).hasToString("q1s4k");
    assertThat(BatchSpec.decode(1048576, 4096).size()).isEqualTo(1048576);
  }

  @Test
  void cachedTokensAreTakenAwayAndNewOnesToo() {
    BatchSpec chunks = BatchSpec.parse("2q1ks4k");
    assertThat(chunks.withoutCached()).hasToString("2q1k");
    assertThat(chunks.asDecode()).hasToString("2q1s4k");
    BatchSpec mixed = BatchSpec.parse("q1ks4k_q1s100_q7");
    assertThat(mixed.withoutCached()).hasToString("q1k_q1_q7");
    assertThat(mixed.asDecode()).hasToString("q1s4k_q1s100_q1s7");
  }

  @Test
  void theRequestsEqualAnyListOfTheSame() {
    BatchSpec batch = BatchSpec.parse("q7_q1s100");
    assertThat(batch.requests().equals(List.of(new Request(7, 7), new Request(1, 100)))).isTrue();
    assertThat(batch.requests().equals(List.of(new Request(7, 7), new Request(1, 101)))).isFalse();
  }

  @Test
  void refusesLengthsAndCountsBeyondReason() {
    assertThatThrownBy(() -> BatchSpec.parse("q999999999k")).hasMessageContaining("too large");
    assertThatThrownBy(() -> BatchSpec.parse("1048577q1"))
        .hasMessageContaining("between 1 and 1048576");
    assertThat(BatchSpec.parse("1048576q1").size()).isEqualTo(1048576);
    assertThatThrownBy(() -> BatchSpec.parse("1048576q1_q1"))
        .hasMessageContaining("between 1 and 1048576");
    assertThatThrownBy(() -> BatchSpec.parse("1048576q2k"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("A batch of 2147483648 query tokens is too large");
    assertThat(BatchSpec.parse("1048575q2k").totalQ()).isEqualTo(1048575 * 2048);
  }

  @Test
  void aListThatChangesLaterDoesNotChangeTheBatch() {
    List<Request> list = new java.util.ArrayList<>(List.of(new Request(1, 2)));
    BatchSpec batch = new BatchSpec(list);
    list.clear();
    assertThat(batch.size()).isEqualTo(1);
  }

  @Test
  void batchesAreJoinedAndPicked() {
    BatchSpec mixed = BatchSpec.parse("2q1k_3q1s2k");
    assertThat(BatchSpec.parse("q1k").plus(BatchSpec.parse("q1k_3q1s2k"))).isEqualTo(mixed);
    assertThat(BatchSpec.parse("2q1k").plus(BatchSpec.parse("3q1s2k"))).isEqualTo(mixed);
    assertThat(mixed.only(BatchSpec.Request::isDecode)).isEqualTo(BatchSpec.parse("3q1s2k"));
    assertThat(mixed.only(r -> true)).isEqualTo(mixed);
    assertThat(mixed.hashCode()).isEqualTo(new BatchSpec(mixed.requests()).hashCode());
    assertThat(mixed.plus(mixed).totalQ()).isEqualTo(2 * mixed.totalQ());
    assertThatThrownBy(() -> mixed.only(r -> false)).hasMessageContaining("at least one request");
    BatchSpec large = BatchSpec.decode(1 << 20, 2);
    assertThatThrownBy(() -> large.plus(mixed)).hasMessageContaining("number of requests");
  }
}
