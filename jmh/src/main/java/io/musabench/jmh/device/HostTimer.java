package io.musabench.jmh.device;

import io.musabench.bindings.ffi.Program;

/** Host time beside the device time: how long the caller is busy, and how long until it is done. */
final class HostTimer {
  // A reading of the host's clock needs no more values than this for a stable median.
  private static final int MOST = 50;
  private static final int LEAST = 3;
  private static final double SHARE_OF_SESSION = 0.2;

  private final DeviceContext context;

  HostTimer(DeviceContext context) {
    this.context = context;
  }

  /**
   * Queues the launch again and again and returns how long each took to return, in nanoseconds,
   * about 20 ns for the clock included.
   *
   * @param nanos device time of one launch, which bounds how many are taken
   */
  double[] submit(Launch launch, double nanos, SessionLimits limits) {
    Program.Builder builder = Program.builder(context.target().ffi());
    launch.addTo(builder);
    Program program = builder.build();
    double[] times = new double[count(nanos, limits)];
    for (int i = 0; i < times.length; i++) {
      times[i] = program.runTimed();
    }
    context.synchronize();
    return times;
  }

  /** Launches and waits; the host time of both together, in nanoseconds. */
  double[] complete(Launch before, Launch launch, double nanos, SessionLimits limits) {
    Program.Builder prologue = Program.builder(context.target().ffi());
    before.addTo(prologue);
    Program cold = prologue.build();
    Program.Builder builder = Program.builder(context.target().ffi());
    launch.addTo(builder);
    Program program = builder.synchronize(context.stream()).build();
    double[] times = new double[count(nanos, limits)];
    for (int i = 0; i < times.length; i++) {
      cold.run();
      context.synchronize();
      times[i] = program.run();
    }
    return times;
  }

  private static int count(double nanos, SessionLimits limits) {
    double wanted = SHARE_OF_SESSION * limits.seconds() * 1e9 / Math.max(nanos, 1);
    return (int) Math.max(LEAST, Math.min(MOST, wanted));
  }
}
