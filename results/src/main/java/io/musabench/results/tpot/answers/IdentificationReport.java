package io.musabench.results.tpot.answers;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.musabench.results.Printable;
import io.musabench.results.report.JsonText;
import io.musabench.results.report.TextTable;
import io.musabench.results.report.Units;
import io.musabench.results.tpot.Provenance;
import io.musabench.results.tpot.answers.Experiments.Outcome;
import io.musabench.results.tpot.answers.Identification.Hypothesis;
import io.musabench.results.tpot.answers.Identification.Point;
import io.musabench.results.tpot.answers.Identification.Range;
import io.musabench.results.tpot.answers.Identification.Service;
import java.util.Locale;

/** An identification as text and as JSON. */
public final class IdentificationReport {
  /** Raised when a field changes its meaning or goes away; new fields do not raise it. */
  public static final int SCHEMA_VERSION = 1;

  private final String file;
  private final Identification found;

  /**
   * A report.
   *
   * @param file name of the table
   */
  public IdentificationReport(String file, Identification found) {
    this.file = file;
    this.found = found;
  }

  /** For a terminal. */
  public String text() {
    StringBuilder out = new StringBuilder("what " + file + " alone lets one know\n");
    out.append("  every range follows from the table's numbers and from what is assumed\n");
    found
        .assumptions()
        .forEach(line -> out.append("  assumed: ").append(Printable.line(line)).append('\n'));
    for (Service s : found.services()) {
      out.append('\n').append(Printable.line(s.name())).append('\n');
      parameters(out, s);
      if (!s.hypotheses().isEmpty()) {
        TextTable table = new TextTable("launch cost if", ">from", ">to");
        for (Hypothesis h : s.hypotheses()) {
          boolean hidden = h.launchUs().high() == 0;
          table.row(
              h.name(),
              hidden ? "hidden" : us(h.launchUs().low()),
              hidden ? Units.NOTHING : us(h.launchUs().high()));
        }
        out.append('\n').append(table);
      }
      if (!s.experiments().isEmpty()) {
        TextTable table =
            new TextTable(
                "experiment, the most narrowing first", ">launch", ">prefill", ">in flight");
        for (Outcome o : s.experiments()) {
          table.row(
              o.name(), left(o.launchLeft()), left(o.prefillLeft()), left(o.concurrencyLeft()));
        }
        out.append("\n  what each would leave of the intervals\n").append(table);
        Outcome best = s.experiments().get(0);
        out.append("  next: ").append(best.name()).append(". It shows ").append(best.learns());
        out.append(".\n");
      }
      s.remarks().forEach(line -> out.append("  note: ").append(Printable.line(line)).append('\n'));
    }
    return out.toString();
  }

  private static void parameters(StringBuilder out, Service s) {
    TextTable table = new TextTable("parameter", ">from", ">to", "how");
    table.row(
        "kernels a decode step",
        Units.number(s.kernels().low()),
        Units.number(s.kernels().high()),
        "from the model");
    table.row("launch cost a kernel", us(s.launchUs().low()), us(s.launchUs().high()), "as below");
    table.row(
        "  if the table is off by its tolerance",
        us(s.launchUsWithTolerance().low()),
        us(s.launchUsWithTolerance().high()),
        "");
    table.row(
        "prefill that decodes wait for",
        ms(s.prefillMs().low()),
        ms(s.prefillMs().high()),
        "estimate from TTFT, if in convoys: "
            + ms(s.convoyMs().low())
            + " to "
            + ms(s.convoyMs().high()));
    table.row(
        "share X P of the time",
        Units.percent(100 * s.interference().low()),
        Units.percent(100 * s.interference().high()),
        "TPOT = step / (1 - X P)");
    for (Point p : s.points()) {
      table.row(
          "in flight, row " + p.row().number(),
          Units.number(p.concurrencyRange().low()),
          Units.number(p.concurrencyRange().high()),
          String.format(
              Locale.ROOT,
              "%.1f by Little's law; %s%s",
              p.concurrency(),
              p.features().mode() == null
                  ? "mode not known"
                  : p.features().mode().name().toLowerCase(Locale.ROOT),
              p.features().split() ? ", prefill apart" : ""));
    }
    out.append(table);
  }

  private static String us(double value) {
    return Units.time(value);
  }

  private static String ms(double value) {
    return Units.time(value * 1e3);
  }

  private static String left(double share) {
    return Double.isNaN(share) ? Units.NOTHING : Units.percent(100 * share);
  }

  /** As JSON: the fields of the first service stand at the top, too. */
  public String json() {
    ObjectNode root = JsonText.root(SCHEMA_VERSION);
    root.put("file", file);
    // There always is an assumption: nothing of a range is only measured.
    root.put("provenance", Provenance.ASSUMED.text());
    JsonText.texts(root, "assumptions", found.assumptions());
    service(root, found.services().get(0));
    ArrayNode all = root.putArray("services");
    found.services().forEach(s -> service(all.addObject(), s));
    return JsonText.print(root);
  }

  private static void service(ObjectNode node, Service s) {
    node.put("service", s.name());
    range(node, "kernels_per_step", s.kernels());
    ObjectNode launch = range(node, "launch_us", s.launchUs());
    JsonText.number(launch, "low_with_tolerance", s.launchUsWithTolerance().low());
    JsonText.number(launch, "high_with_tolerance", s.launchUsWithTolerance().high());
    ArrayNode hypotheses = launch.putArray("hypotheses");
    for (Hypothesis h : s.hypotheses()) {
      ObjectNode one = hypotheses.addObject();
      one.put("name", h.name());
      JsonText.number(one, "low", h.launchUs().low());
      JsonText.number(one, "high", h.launchUs().high());
    }
    ObjectNode interference = node.putObject("interference");
    range(interference, "x_times_p", s.interference());
    range(interference, "prefill_ms", s.prefillMs());
    range(interference, "convoy_estimate_ms", s.convoyMs());
    range(node, "effective_concurrency", s.concurrency());
    ArrayNode rows = node.putArray("rows");
    for (Point p : s.points()) {
      ObjectNode one = rows.addObject();
      one.put("row", p.row().number());
      one.put("config", p.row().label());
      one.put(
          "mode",
          p.features().mode() == null ? null : p.features().mode().name().toLowerCase(Locale.ROOT));
      one.put("prefix_cache", p.features().prefixCache());
      one.put("prefill_apart", p.features().split());
      JsonText.number(one, "requests_per_s", p.requestsPerS());
      ObjectNode flights = range(one, "effective_concurrency", p.concurrencyRange());
      JsonText.number(flights, "value", p.concurrency());
    }
    ArrayNode experiments = node.putArray("experiments");
    s.experiments().forEach(o -> outcome(experiments.addObject(), o));
    if (s.experiments().isEmpty()) {
      node.putNull("next_experiment");
    } else {
      outcome(node.putObject("next_experiment"), s.experiments().get(0));
    }
    JsonText.texts(node, "remarks", s.remarks());
  }

  private static void outcome(ObjectNode node, Outcome o) {
    node.put("name", o.name());
    node.put("learns", o.learns());
    ObjectNode left = node.putObject("interval_left");
    JsonText.number(left, "launch", o.launchLeft());
    JsonText.number(left, "interference", o.prefillLeft());
    JsonText.number(left, "effective_concurrency", o.concurrencyLeft());
    JsonText.number(node, "narrowing", o.narrowing());
  }

  private static ObjectNode range(ObjectNode node, String name, Range range) {
    ObjectNode object = node.putObject(name);
    JsonText.number(object, "low", range.low());
    JsonText.number(object, "high", range.high());
    return object;
  }
}
