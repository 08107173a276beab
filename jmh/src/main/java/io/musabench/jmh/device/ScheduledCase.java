package io.musabench.jmh.device;

import io.musabench.results.model.Work;
import java.util.List;

/**
 * An attention and what has to run before it when the lengths have changed.
 *
 * @param attention the attention itself; its schedule has been computed
 * @param schedule null if the library has none
 */
public record ScheduledCase(KernelCase attention, AttentionKernels.Schedule schedule) {
  /** The operation of a schedule, in results. */
  public static final String SCHEDULE = "attention_schedule";

  /**
   * The schedule as a kernel of its own. Its content is the library's own affair, so it is right if
   * the attention that reads it is.
   *
   * @throws UnavailableException if there is none
   */
  public KernelCase scheduling(DeviceContext context) {
    if (schedule == null) {
      throw new UnavailableException(
          "there is no scheduler metadata to compute: "
              + (attention.notes().isEmpty()
                  ? "these kernels have none"
                  : String.join("; ", attention.notes()) + " takes none"));
    }
    return scheduling(
        () -> {
          attention.poison();
          attention.call().launch();
          context.synchronize();
          return attention.inspect();
        },
        attention.notes());
  }

  /** As {@link #scheduling(DeviceContext)}, for a step, whose attention is checked on its own. */
  public KernelCase schedulingOfStep() {
    return scheduling(() -> Agreement.NONE, List.of());
  }

  private KernelCase scheduling(KernelCase.Check check, List<String> notes) {
    return new KernelCase(
        SCHEDULE, attention.shape(), Work.NONE, schedule.call(), schedule.written(), check, notes);
  }
}
