package io.musabench.results.audit;

import static io.musabench.results.audit.AuditOptions.COURSE_CONCURRENCY;
import static io.musabench.results.audit.AuditOptions.COURSE_DEVICE;
import static io.musabench.results.audit.AuditOptions.COURSE_INPUT;
import static io.musabench.results.audit.AuditOptions.COURSE_MODEL;
import static io.musabench.results.audit.AuditOptions.COURSE_OUTPUT;
import static io.musabench.results.audit.AuditOptions.COURSE_TP;
import static io.musabench.results.audit.AuditOptions.COURSE_TPOT_MS;
import static io.musabench.results.audit.AuditOptions.COURSE_TTFT_MS;

import io.musabench.results.devices.DataSheet;
import io.musabench.results.model.Layout;
import io.musabench.results.model.Models;
import io.musabench.results.model.Precision;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Under which load a row was measured: its columns first, then the options, then, where the table
 * says nothing of any load, the course's test bed. NaN and null are unknown.
 */
public final class Load {
  final String model;
  final int tp;
  final double input;
  final double output;
  final double concurrency;
  final double sloTtftMs;
  final double sloTpotMs;
  final Precision precision;
  final double tolerance;

  /** Null if the model, its ranks or both are unknown; then {@link #noLayout} says which. */
  final Layout layout;

  final String noLayout;

  /** Null if unknown; then {@link #noDevice} says why. */
  final DataSheet device;

  final String noDevice;

  /** What was assumed because neither table nor options say it, in words. */
  final Map<String, String> assumed = new LinkedHashMap<>();

  private final boolean course;

  /**
   * Looks up everything that is known.
   *
   * @throws IllegalArgumentException if an option names what does not exist, or the ranks do not
   *     divide the model
   */
  public Load(EndToEndRow row, EndToEndTable table, AuditOptions given) {
    course = !table.statesLoad();
    output = number(Column.OSL, row.outputTokens(), given.outputTokens(), COURSE_OUTPUT);
    input = number(Column.ISL, row.inputTokens(), given.inputTokens(), COURSE_INPUT);
    concurrency =
        number(Column.CONCURRENCY, row.concurrency(), given.concurrency(), COURSE_CONCURRENCY);
    boolean goodput = row.has(Column.GOODPUT) || row.has(Column.GOODPUT_SHARE);
    sloTtftMs =
        goodput ? limit("slo_ttft_ms", given.sloTtftMs(), COURSE_TTFT_MS, given) : Double.NaN;
    sloTpotMs =
        goodput ? limit("slo_tpot_ms", given.sloTpotMs(), COURSE_TPOT_MS, given) : Double.NaN;
    tp = ranks(row, given);
    model = text(Column.MODEL, row.model(), given.model(), COURSE_MODEL);
    tolerance = given.tolerance();
    boolean named =
        row.model().isEmpty() && given.model() != null
            || Double.isNaN(row.tp()) && given.tp() != null;
    Layout found = null;
    Precision types = given.precision();
    String problem = null;
    if (model == null) {
      problem = "the model is not known; give --model";
    } else if (tp < 0) {
      problem = "the number of ranks is not known; give --tp";
    } else {
      try {
        Layout rank = Models.find(model).layout(tp);
        types = types == null ? rank.model().precision() : types;
        found = rank;
      } catch (IllegalArgumentException e) {
        // What the command line says is the user's mistake; the table may name any model.
        if (named) {
          throw e;
        }
        problem = e.getMessage();
      }
    }
    layout = found;
    precision = types == null ? Precision.BF16 : types;
    noLayout = problem;
    String deviceName = text(Column.DEVICE, row.device(), given.device(), COURSE_DEVICE);
    boolean onCommandLine = row.device().isEmpty() && given.device() != null;
    device =
        deviceName == null
            ? null
            : onCommandLine ? DataSheet.find(deviceName) : DataSheet.named(deviceName).orElse(null);
    noDevice =
        device != null
            ? null
            : deviceName == null
                ? "the device is not known; give --device"
                : "there is no data sheet of " + deviceName;
    if (layout != null && device != null && given.precision() == null) {
      assumed.put("precision", "precision " + precision);
    }
  }

  /** The model's share of one rank; null if the model or its ranks are not known. */
  public Layout layout() {
    return layout;
  }

  /** Why there is no {@link #layout}, in words. */
  public String noLayout() {
    return noLayout;
  }

  /** The model as it was named; null if it was not. */
  public String model() {
    return model;
  }

  /** Tensor-parallel ranks, -1 if unknown. */
  public int tp() {
    return tp;
  }

  /** Tokens of a prompt. */
  public double inputTokens() {
    return input;
  }

  /** Tokens of an answer. */
  public double outputTokens() {
    return output;
  }

  /** Requests in flight that the client kept. */
  public double concurrency() {
    return concurrency;
  }

  /** What was taken for granted, in words. */
  public List<String> assumed() {
    return List.copyOf(assumed.values());
  }

  private int ranks(EndToEndRow row, AuditOptions given) {
    double ranks = number(Column.TP, row.tp(), given.tp(), COURSE_TP);
    return Double.isNaN(ranks) ? -1 : (int) ranks;
  }

  private double number(String name, double inRow, Number option, int ofCourse) {
    if (!Double.isNaN(inRow)) {
      return inRow;
    }
    if (option != null) {
      return option.doubleValue();
    }
    if (course) {
      assumed.put(name, name + " " + ofCourse);
      return ofCourse;
    }
    return Double.NaN;
  }

  /** Limits: those not named beside one that is are no limits. */
  private double limit(String name, Double option, double ofCourse, AuditOptions given) {
    if (option != null) {
      return option;
    }
    if (given.sloTtftMs() != null || given.sloTpotMs() != null) {
      return Double.NaN;
    }
    assumed.put(name, name + " " + (long) ofCourse);
    return ofCourse;
  }

  private String text(String name, String inRow, String option, String ofCourse) {
    if (!inRow.isEmpty()) {
      return inRow;
    }
    if (option != null) {
      return option;
    }
    if (course) {
      assumed.put(name, name + " " + ofCourse);
      return ofCourse;
    }
    return null;
  }
}
