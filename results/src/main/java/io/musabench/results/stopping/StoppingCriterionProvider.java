package io.musabench.results.stopping;

/** Makes the criteria of one name. Found by {@link java.util.ServiceLoader}. */
public interface StoppingCriterionProvider {
  /** Name on the command line: lower-case letters, digits and hyphens. */
  String name();

  /** How to write it and what it means, in one line, for example {@code samples:N: N samples}. */
  String help();

  /**
   * A criterion for one session.
   *
   * @param argument what follows the colon, empty if there is none
   * @throws IllegalArgumentException if it cannot be read; the message says what is allowed
   */
  StoppingCriterion create(String argument);
}
