package io.musabench.results.tpot.answers;

import com.fasterxml.jackson.core.JsonLocation;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.musabench.results.report.JsonText;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/**
 * What a question of {@code musabench tpot} printed with {@code --json}, read again.
 *
 * @param path where it is
 * @param answer which of {@link AnswerSchema#NAMES} it answers
 * @param root the document, with all fields of its schema
 */
public record AnswerFile(Path path, String answer, JsonNode root) {
  private static final String READ =
      "report reads run directories, what musabench tpot --json printed and, with --serving, files"
          + " of serving benchmarks";

  private static final String COMMAND = "command";
  private static final ObjectMapper JSON =
      new ObjectMapper().enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS);

  /**
   * Reads a file and finds out by its fields what it answers.
   *
   * @throws IllegalArgumentException in one line, if it cannot be read, is no answer, is of a
   *     version that is not known, or lacks a field of its schema
   */
  public static AnswerFile read(Path path) {
    JsonNode root;
    try {
      root = JSON.readTree(Files.readString(path));
    } catch (JsonProcessingException e) {
      JsonLocation at = e.getLocation();
      throw new IllegalArgumentException(
          "%s is not JSON: damaged at line %d, column %d; %s"
              .formatted(path, at.getLineNr(), at.getColumnNr(), READ),
          e);
    } catch (IOException e) {
      throw new IllegalArgumentException("Cannot read " + path + " as text in UTF-8: " + e, e);
    }
    JsonNode version = root.path("schema_version");
    if (version.isNumber() && !AnswerSchema.VERSIONS.contains(version.asText())) {
      throw new IllegalArgumentException(
          path
              + " is of schema version "
              + version.asText()
              + "; this musabench reads "
              + String.join(", ", AnswerSchema.VERSIONS));
    }
    Optional<String> answer = AnswerSchema.recognise(root);
    if (answer.isEmpty()) {
      throw new IllegalArgumentException(path + " is of another kind; " + READ);
    }
    Optional<String> problem = AnswerSchema.problem(answer.get(), root);
    if (problem.isPresent()) {
      throw new IllegalArgumentException(
          path + " is no whole answer of tpot " + answer.get() + ": " + problem.get());
    }
    return new AnswerFile(path, answer.get(), root);
  }

  /** The command that printed it; null if it does not say. */
  public String command() {
    return root.path(COMMAND).asText(null);
  }

  /** A document that says by which command it was printed, before all else. */
  public static String withCommand(String json, String command) {
    try {
      ObjectNode said = JSON.createObjectNode().put(COMMAND, command);
      said.setAll((ObjectNode) JSON.readTree(json));
      return JsonText.print(said);
    } catch (JsonProcessingException e) {
      throw new IllegalArgumentException("Not a document of ours: " + e.getOriginalMessage(), e);
    }
  }
}
