package io.musabench.results.report;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class UnitsTest {
  @ParameterizedTest
  @CsvSource({
    "0, 0 us",
    "0.0004, 0.400 ns",
    "0.5, 500 ns",
    "0.9996, 1.00 us",
    "1, 1.00 us",
    "12.345, 12.3 us",
    "12.35, 12.4 us",
    "999.4, 999 us",
    "999.5, 1.00 ms",
    "61234, 61.2 ms",
    "999499, 999 ms",
    "999500, 1.00 s",
    "12345678, 12.3 s",
    "1234567890, 1235 s",
    "-0.704, -704 ns",
    "-1500, -1.50 ms",
    "NaN, -",
    "Infinity, -"
  })
  void timesHaveThreeDigitsAndAUnitThatFits(double us, String text) {
    assertThat(Units.time(us)).isEqualTo(text);
  }

  @ParameterizedTest
  @CsvSource({
    "0, 0",
    "1, 1.00",
    "50, 50.0",
    "100, 100",
    "1234, 1234",
    "1e7, 10000000",
    "0.0123456, 0.0123",
    "0.000123456, 0.000123",
    "9.999, 10.0",
    "-2.5, -2.50",
    "NaN, -"
  })
  void numbersHaveThreeDigitsAndNoExponent(double value, String text) {
    assertThat(Units.number(value)).isEqualTo(text);
  }

  @Test
  void percentagesHaveOneDigitBehindThePoint() {
    assertThat(Units.percent(71.25)).isEqualTo("71.3 %");
    assertThat(Units.percent(Double.NaN)).isEqualTo("-");
    assertThat(Units.change(2.34)).isEqualTo("+2.3 %");
    assertThat(Units.change(0)).isEqualTo("+0.0 %");
    assertThat(Units.change(-2.34)).isEqualTo("-2.3 %");
    assertThat(Units.change(Double.NaN)).isEqualTo("-");
  }

  @Test
  void memoryIsInGib() {
    assertThat(Units.gib(80L << 30)).isEqualTo("80.0 GiB");
    assertThat(Units.gib(3L << 29)).isEqualTo("1.5 GiB");
  }
}
