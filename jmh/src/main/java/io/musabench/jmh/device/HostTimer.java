package io.musabench.jmh.device;

import io.musabench.bindings.ffi.Program;

/** Host time beside the device time: how long the caller is busy, and how long until it is done. */
final class HostTimer {
  // A reading of the host's clock needs no more values than this for a stable median.
  private static final int MOST = 50;
  private static final double SHARE_OF_SESSION = 0.2;

  private final DeviceContext context;

  HostTimer(DeviceContext context) {
    this.context = context;
  }

  /**
   * Host times, in nanoseconds, one value a repetition.
   *
   * @param complete from the first call to the end of the work
   * @param submit until the calls have returned, about 20 ns a call for the clock included
   */
  record Times(double[] complete, double[] submit) {}

  /**
   * Launches on an idle device and waits.
   *
   * @param before what is run, and waited for, before each launch
   * @param nanos device time of one launch, which bounds how many are taken
   */
  Times idle(Launch before, Launch launch, double nanos, SessionLimits limits) {
    Program prologue = program(before);
    Program.Builder builder = Program.builder(context.target().ffi());
    launch.addTo(builder);
    Program program = builder.synchronize(context.stream()).build();
    double[] complete = new double[count(nanos, limits)];
    double[] submit = new double[complete.length];
    for (int i = 0; i < complete.length; i++) {
      prologue.run();
      context.synchronize();
      complete[i] = program.runTimed();
      submit[i] = complete[i] - program.hostNanoseconds(program.size() - 1);
    }
    return new Times(complete, submit);
  }

  /**
   * Queues a launch again and again, the device being busy with those before, and returns the host
   * time of each.
   */
  double[] busy(Launch launch, double nanos, SessionLimits limits) {
    Program program = program(launch);
    double[] submit = new double[count(nanos, limits)];
    for (int i = 0; i < submit.length; i++) {
      submit[i] = program.runTimed();
    }
    context.synchronize();
    return submit;
  }

  private Program program(Launch launch) {
    Program.Builder builder = Program.builder(context.target().ffi());
    launch.addTo(builder);
    return builder.build();
  }

  private static int count(double nanos, SessionLimits limits) {
    double wanted = SHARE_OF_SESSION * limits.seconds() * 1e9 / Math.max(nanos, 1);
    return (int) Math.max(1, Math.min(MOST, wanted));
  }
}
