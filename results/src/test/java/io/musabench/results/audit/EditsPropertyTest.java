package io.musabench.results.audit;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.musabench.results.audit.Finding.Level;
import io.musabench.results.audit.TableAudit.RowVerdict;
import java.math.BigDecimal;
import java.math.MathContext;
import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.DoubleRange;
import net.jqwik.api.statistics.Statistics;

/**
 * Whatever is wrong with a row: its edits, as printed, put into the file, make it consistent where
 * the audit says that they do, which it can of most.
 */
class EditsPropertyTest {
  private static final String HEADER =
      "config,ttft_p50_ms,ttft_p99_s,tpot_ms,itl_p99_ms,throughput_req_s,goodput_req_s";

  private static AuditOptions options(double concurrency) {
    return new AuditOptions(null, null, null, null, concurrency, null, null, null, null, 0.1);
  }

  private static String three(double value) {
    return new BigDecimal(value).round(new MathContext(3)).toPlainString();
  }

  @Property(tries = 80)
  void editsAsPrintedMakeARowConsistent(
      @ForAll @DoubleRange(min = 50, max = 1500) double ttft,
      @ForAll @DoubleRange(min = 0.8, max = 3) double ttftSpread,
      @ForAll @DoubleRange(min = 12, max = 100) double tpot,
      @ForAll @DoubleRange(min = 0.8, max = 3) double itlSpread,
      @ForAll @DoubleRange(min = 0.5, max = 10) double rate,
      @ForAll @DoubleRange(min = 0.1, max = 1.1) double good)
      throws Exception {
    List<String> row =
        List.of(
            "x",
            three(ttft),
            three(ttft * ttftSpread / 1e3),
            three(tpot),
            three(tpot * itlSpread),
            three(rate),
            three(rate * good));
    TableAudit audit = audit(row, 64);
    RowVerdict before = audit.rows().get(0);
    JsonNode edits =
        new ObjectMapper().readTree(new AuditReport(audit).json()).at("/rows/0/smallest_edit");
    String[] cells = row.toArray(String[]::new);
    double concurrency = 64;
    for (JsonNode e : edits) {
      if (e.path("field").asText().equals("concurrency")) {
        concurrency = e.path("to").asDouble();
      } else {
        int column = List.of(HEADER.split(",")).indexOf(e.path("field").asText());
        cells[column] = BigDecimal.valueOf(e.path("to").asDouble()).toPlainString();
      }
    }
    assertThat(before.consistent()).isEqualTo(edits.isEmpty() && before.consistentAfter());
    Statistics.label("mended")
        .collect(before.consistentAfter() && !edits.isEmpty())
        .coverage(c -> c.check(true).percentage(p -> p >= 50));
    if (before.consistentAfter()) {
      assertThat(audit(List.of(cells), concurrency).rows().get(0).findings())
          .as(row + " with " + edits)
          .noneMatch(f -> f.level() == Level.WARN);
    }
  }

  private static TableAudit audit(List<String> cells, double concurrency) {
    String csv = HEADER + "\n" + String.join(",", cells) + "\n";
    return TableAudit.of(EndToEndTable.parse("t", csv), options(concurrency));
  }
}
