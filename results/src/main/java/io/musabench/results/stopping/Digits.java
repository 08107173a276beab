package io.musabench.results.stopping;

import java.math.BigDecimal;
import java.math.MathContext;

/** Numbers in messages. */
final class Digits {
  private Digits() {}

  /** Three significant digits without trailing zeros: 0.5, 12.3, 120. */
  static String three(double value) {
    return BigDecimal.valueOf(value).round(new MathContext(3)).stripTrailingZeros().toPlainString();
  }
}
