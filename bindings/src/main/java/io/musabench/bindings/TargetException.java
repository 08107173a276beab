package io.musabench.bindings;

import io.musabench.bindings.load.LoadAttempt;
import java.util.List;

/** A target, or a part of it, cannot be used. The text ends with what to set. */
public final class TargetException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final Target.Kind kind;
  private final transient List<LoadAttempt> attempts;

  TargetException(
      Target.Kind kind, String what, List<LoadAttempt> attempts, String advice, Throwable cause) {
    super(text(kind, what, attempts, advice), cause);
    this.kind = kind;
    this.attempts = attempts;
  }

  private static String text(
      Target.Kind kind, String what, List<LoadAttempt> attempts, String advice) {
    StringBuilder text = new StringBuilder("target " + kind.id() + ": " + what + ".");
    if (!attempts.isEmpty()) {
      text.append("\nTried:\n").append(Target.describe(attempts));
    }
    if (!advice.isEmpty()) {
      text.append('\n').append(advice);
    }
    return text.toString();
  }

  /** Which kind of target was wanted. */
  public Target.Kind kind() {
    return kind;
  }

  /** What was tried. */
  public List<LoadAttempt> attempts() {
    return attempts;
  }
}
