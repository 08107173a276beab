package io.musabench.results.tpot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class ErrorsTest {
  @Test
  void meansAndTheNinthOfTen() {
    Errors e = Errors.of(List.of(0.1, -0.2, 0.3, -0.4));
    assertThat(e.rows()).isEqualTo(4);
    assertThat(e.mape()).isCloseTo(0.25, within(1e-12));
    assertThat(e.bias()).isCloseTo(-0.05, within(1e-12));
    assertThat(e.p90()).isEqualTo(0.4);
    Errors ten = Errors.of(IntStream.rangeClosed(1, 10).mapToObj(i -> i / 10.0).toList());
    assertThat(ten.p90()).isEqualTo(0.9);
  }

  @Test
  void noneIsNotZero() {
    Errors none = Errors.of(List.of());
    assertThat(none.rows()).isZero();
    assertThat(none.mape()).isNaN();
  }
}
