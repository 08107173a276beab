package io.musabench.results.report.html;

import com.fasterxml.jackson.databind.JsonNode;
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

  /** Of a prediction, as an answer of {@code tpot} has it: of data sheets alone it says so. */
  static Kind of(JsonNode provenance) {
    return provenance.asText().equals(Provenance.DATA_SHEET.text()) ? SHEET : PREDICTED;
  }
}
