package io.musabench.jmh.device;

import io.musabench.bindings.ffi.Tensor;
import io.musabench.bindings.runtime.HostMemory;
import java.nio.IntBuffer;
import java.nio.LongBuffer;
import java.util.List;

/**
 * The tensors of a step that a server writes before each one, with page-locked memory beside them
 * from which they are copied on the stream of the step.
 *
 * <p>The page-locked memory must not be written while a copy from it is queued.
 */
public final class StepInputs {
  private final DeviceContext context;
  private final List<Tensor> tensors;
  private final List<HostMemory> staging;
  private final IntBuffer ids;
  private final IntBuffer positions;
  private final LongBuffer slots;
  private final IntBuffer pageTable;
  private final IntBuffer lengths;

  /**
   * @param ids I32 [T]
   * @param positions I32 [T]
   * @param slots I64 [T]
   * @param pageTable I32 [B, pages]
   * @param lengths I32 [B]
   */
  public StepInputs(
      DeviceContext context,
      Tensor ids,
      Tensor positions,
      Tensor slots,
      Tensor pageTable,
      Tensor lengths) {
    this.context = context;
    tensors = List.of(ids, positions, slots, pageTable, lengths);
    staging =
        tensors.stream().map(t -> context.target().runtime().allocateHost(t.bytes())).toList();
    this.ids = staging.get(0).buffer().asIntBuffer();
    this.positions = staging.get(1).buffer().asIntBuffer();
    this.slots = staging.get(2).buffer().asLongBuffer();
    this.pageTable = staging.get(3).buffer().asIntBuffer();
    this.lengths = staging.get(4).buffer().asIntBuffer();
  }

  /** Writes the page-locked memory. */
  public void stage(BatchState state) {
    ids.put(0, state.ids());
    positions.put(0, state.positions());
    slots.put(0, state.slots());
    pageTable.put(0, state.pageTable());
    lengths.put(0, state.lengths());
  }

  /** Copies what was staged to the device, one copy a tensor as servers do it. */
  public Launch copies() {
    return program -> {
      for (int i = 0; i < tensors.size(); i++) {
        program.upload(staging.get(i), tensors.get(i), context.stream());
      }
    };
  }

  /** Number of items that {@link #copies} adds to a program. */
  public int copyCount() {
    return tensors.size();
  }

  /** Writes the tensors and waits. */
  public void set(BatchState state) {
    stage(state);
    for (int i = 0; i < tensors.size(); i++) {
      Tensor tensor = tensors.get(i);
      context
          .target()
          .runtime()
          .copyToDeviceAsync(tensor.address(), staging.get(i), tensor.bytes(), context.stream());
    }
    context.synchronize();
  }
}
