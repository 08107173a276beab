package io.musabench.jmh.device;

import io.musabench.bindings.ffi.PreparedCall;
import io.musabench.bindings.ffi.Tensor;
import io.musabench.results.model.Work;
import java.util.List;

/**
 * One kernel with its operands, ready to launch.
 *
 * <p>Launching it again gives the same result: no operand is also an output.
 *
 * @param kernel the operation, as {@link io.musabench.results.model.KernelCall#kernel} names it,
 *     whoever made the kernel
 * @param shape the shape in words, as {@link io.musabench.results.model.KernelCall#shape} prints it
 * @param work FLOPs and bytes of one launch
 * @param call the call
 * @param outputs everything the kernel writes
 * @param check compares the outputs with the reference
 * @param notes what a reader must know, for example which kernels of a library these are
 */
public record KernelCase(
    String kernel,
    String shape,
    Work work,
    PreparedCall call,
    List<Tensor> outputs,
    Check check,
    List<String> notes) {

  /** A kernel whose export has the operation's name. */
  public KernelCase(String shape, Work work, PreparedCall call, List<Tensor> outputs, Check check) {
    this(call.name(), shape, work, call, outputs, check, List.of());
  }

  /** Compares what a kernel wrote with a double-precision reference computed from its operands. */
  @FunctionalInterface
  public interface Check {
    /**
     * Reads back a sample of rows and compares.
     *
     * @return what was compared and how far off it was
     * @throws WrongResultException when a value is off by more than its tolerance
     */
    Agreement compare();
  }

  /** Overwrites the outputs, so that a kernel that writes nothing cannot pass for a right one. */
  public void poison() {
    outputs.forEach(Tensor::poison);
  }

  /**
   * Runs the kernel once over poisoned outputs and checks all of it: a sample against the
   * reference, the rest for being written and finite.
   *
   * @throws WrongResultException when it does not hold
   */
  public Agreement verify(DeviceContext context) {
    poison();
    call.launch();
    context.synchronize();
    return inspect();
  }

  /** Checks what the last launches left in the outputs. */
  public Agreement inspect() {
    requireWritten();
    return check.compare();
  }

  /** Checksum of all outputs, bit for bit. */
  public long checksum() {
    long sum = 0;
    for (Tensor output : outputs) {
      sum = 31 * sum + output.checksum();
    }
    return sum;
  }

  /**
   * Checks that the outputs were written everywhere and hold numbers.
   *
   * @throws WrongResultException when it does not hold
   */
  public void requireWritten() {
    for (Tensor output : outputs) {
      Agreement.requireWritten(call.name(), output);
    }
  }
}
