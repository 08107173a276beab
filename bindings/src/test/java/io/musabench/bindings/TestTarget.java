package io.musabench.bindings;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.util.Optional;
import net.jqwik.api.lifecycle.LifecycleContext;
import net.jqwik.api.lifecycle.SkipExecutionHook;
import org.opentest4j.TestAbortedException;

/**
 * The target that this JVM's tests run on: {@code -Dmusabench.target}, else the host. A JVM can use
 * one only, so the tests of the others are skipped and say how to run them.
 */
public final class TestTarget {
  private static final Target.Kind KIND =
      Target.Kind.of(System.getProperty(Target.TARGET_PROPERTY, "host"));
  private static Target target;

  private TestTarget() {}

  /** The kind of target that a test class is for. */
  @Retention(RetentionPolicy.RUNTIME)
  @java.lang.annotation.Target(ElementType.TYPE)
  public @interface On {
    /** The kind. */
    Target.Kind value();
  }

  /** Skips the properties of a class whose kind of target is not this JVM's. */
  public static final class SkipElsewhere implements SkipExecutionHook {
    @Override
    public SkipResult shouldBeSkipped(LifecycleContext context) {
      return context
          .optionalContainerClass()
          .flatMap(TestTarget::reasonToSkip)
          .map(SkipResult::skip)
          .orElseGet(SkipResult::doNotSkip);
    }
  }

  /** The target if the class is for this JVM's kind; otherwise the test is skipped. */
  public static Target require(Class<?> test) {
    reasonToSkip(test)
        .ifPresent(
            reason -> {
              throw new TestAbortedException(reason);
            });
    return open();
  }

  private static Optional<String> reasonToSkip(Class<?> test) {
    On on = test.getAnnotation(On.class);
    if (on == null || on.value() == KIND) {
      return Optional.empty();
    }
    Target.Availability availability = Target.check(on.value());
    return Optional.of(
        availability.available()
            ? "skipped: run with -Dmusabench.target=" + on.value().id()
            : "skipped: no " + on.value().id() + " device: " + availability.reason());
  }

  /** The target of this JVM. */
  public static synchronized Target open() {
    if (target == null) {
      target = Target.open(KIND);
    }
    return target;
  }
}
