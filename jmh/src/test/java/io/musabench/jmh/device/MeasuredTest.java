package io.musabench.jmh.device;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.List;
import org.junit.jupiter.api.Test;

class MeasuredTest {
  @Test
  void shouldMakeTimesLongerByTheInjectedFraction() {
    Measured measured =
        new Measured(
            "gemm",
            "m=1",
            1,
            Measured.Clock.DEVICE,
            new double[] {100, 200},
            1,
            5,
            6,
            7,
            List.of(),
            List.of(),
            List.of(),
            new SessionFacts("", 0, List.of(), List.of(), List.of()));
    Measured slower = measured.slower(0.03);
    assertThat(slower.nanos()).containsExactly(new double[] {103, 206}, within(1e-9));
    assertThat(slower.flops()).isEqualTo(5);
    assertThat(measured.nanos()).containsExactly(100, 200);
  }
}
