package io.musabench.results.serving;

import java.util.List;

/**
 * Every choice behind a number that could have been made otherwise. Immutable; each {@code with…}
 * gives a changed copy.
 *
 * @param compat the tool whose numbers are reproduced, or null for the course's
 * @param inclusive whether a request exactly at a limit is good
 */
public record Definitions(
    Compat compat,
    Formula ttft,
    Formula tpot,
    Formula itl,
    Formula e2e,
    PercentileMethod percentile,
    boolean inclusive,
    SingleToken singleToken,
    Failed failed,
    Duration duration) {

  /** What a request of one output token, which has no TPOT, does to goodput. */
  public enum SingleToken {
    /** It is left out of both sides. */
    EXCLUDE,
    /** It is judged by its TTFT alone. */
    PASS,
    /** It is not good. */
    FAIL
  }

  /** What requests that did not end well do to goodput's share. */
  public enum Failed {
    /** Errors are not good; cancelled and cut-off requests are left out of both sides. */
    BAD,
    /** Only answered requests are considered. */
    EXCLUDE,
    /** Whatever was not answered is not good. */
    ALL_BAD
  }

  /** What a rate is divided by. */
  public enum Duration {
    /**
     * First start to last end of the answered requests; the tool's own where there are no times.
     */
    SPAN,
    /** What the tool's file says; the span where it says nothing. */
    TOOL,
    /**
     * From the first end to the last start, without ramp-up and drain: rates and goodput of the
     * requests that end in it, latencies of those that start in it.
     */
    STEADY
  }

  /** The course's definitions, and the project's choice where the course is silent. */
  public static final Definitions COURSE =
      new Definitions(
          null,
          Formula.TTFT_FIRST_TOKEN,
          Formula.TPOT,
          Formula.ITL_CHUNK,
          Formula.E2E_LAST_TOKEN,
          PercentileMethod.LINEAR,
          false,
          SingleToken.PASS,
          Failed.BAD,
          Duration.SPAN);

  /** {@code course}, or the tool whose numbers are reproduced. */
  public String name() {
    return compat == null ? "course" : compat.id();
  }

  /** The choices, as reports print them; the formulas stand beside the numbers. */
  public List<String> lines() {
    return List.of(
        "definitions: " + name(),
        "percentile: " + percentile.id(),
        "slo comparison: " + (inclusive ? "inclusive (at the limit is good)" : "strict (<)"),
        "single-token requests: " + lower(singleToken),
        "failed requests in goodput: " + lower(failed),
        "duration: " + lower(duration));
  }

  Formula formula(Metric metric) {
    return switch (metric) {
      case TTFT -> ttft;
      case TTFO -> Formula.TTFO_FIRST_CONTENT;
      case TPOT -> tpot;
      case ITL -> itl;
      case E2E -> e2e;
    };
  }

  static String lower(Enum<?> e) {
    return e.name().toLowerCase(java.util.Locale.ROOT).replace('_', '-');
  }

  Definitions withFormulas(Formula newTtft, Formula newTpot, Formula newItl, Formula newE2e) {
    return new Definitions(
        compat,
        newTtft,
        newTpot,
        newItl,
        newE2e,
        percentile,
        inclusive,
        singleToken,
        failed,
        duration);
  }

  Definitions withCompat(Compat tool) {
    return new Definitions(
        tool, ttft, tpot, itl, e2e, percentile, inclusive, singleToken, failed, duration);
  }

  /** With another formula for its metric. */
  public Definitions with(Formula f) {
    return withFormulas(
        f.metric() == Metric.TTFT ? f : ttft,
        f.metric() == Metric.TPOT ? f : tpot,
        f.metric() == Metric.ITL ? f : itl,
        f.metric() == Metric.E2E ? f : e2e);
  }

  /** With another percentile method. */
  public Definitions with(PercentileMethod method) {
    return new Definitions(
        compat, ttft, tpot, itl, e2e, method, inclusive, singleToken, failed, duration);
  }

  /** With a limit that includes itself, or not. */
  public Definitions withInclusive(boolean yes) {
    return new Definitions(
        compat, ttft, tpot, itl, e2e, percentile, yes, singleToken, failed, duration);
  }

  /** With another policy for requests of one token. */
  public Definitions with(SingleToken policy) {
    return new Definitions(
        compat, ttft, tpot, itl, e2e, percentile, inclusive, policy, failed, duration);
  }

  /** With another policy for failed requests. */
  public Definitions with(Failed policy) {
    return new Definitions(
        compat, ttft, tpot, itl, e2e, percentile, inclusive, singleToken, policy, duration);
  }

  /** With another duration. */
  public Definitions with(Duration policy) {
    return new Definitions(
        compat, ttft, tpot, itl, e2e, percentile, inclusive, singleToken, failed, policy);
  }
}
