package io.musabench.results.report.html;

import io.musabench.results.tpot.Provenance;

/** How a number was got. Each has a colour, a mark and line of its own, and its word beside it. */
enum Kind {
  /** By the run that is reported. */
  MEASURED,
  /** By the base that it is held against. */
  BASE,
  /** From measured times, by a model. */
  PREDICTED,
  /** From figures that a maker publishes. */
  SHEET,
  /** A limit that somebody set. */
  LIMIT;

  /** Whatever is not measured is predicted; of data sheets alone it says so. */
  static Kind of(Provenance provenance) {
    return provenance == Provenance.DATA_SHEET ? SHEET : PREDICTED;
  }
}
