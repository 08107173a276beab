package io.musabench.jmh.samples;

import io.musabench.bindings.Target;
import io.musabench.bindings.ffi.DType;
import io.musabench.bindings.ffi.Ffi;
import io.musabench.bindings.ffi.PooledAllocator;
import io.musabench.bindings.ffi.Tensor;
import io.musabench.bindings.kernels.AttentionOptions;
import io.musabench.bindings.kernels.reference.AttentionReference;
import io.musabench.bindings.runtime.Graph;
import io.musabench.bindings.runtime.GraphExec;
import io.musabench.bindings.runtime.Stream;

/**
 * Paged decode in a graph, as a server runs it: between two replays every sequence grows by a token
 * and a page table changes. Both are device data, which the kernel reads when it runs.
 */
public final class Sample05PagedDecode {
  private static final int BATCH = 2;
  private static final int Q_HEADS = 8;
  private static final int KV_HEADS = 2;
  private static final int HEAD_DIM = 64;
  private static final int PAGE_SIZE = 16;
  private static final int PAGES = 8;
  private static final int SPLITS = 0; // The kernel chooses into how many parts the keys are split.

  private Sample05PagedDecode() {}

  public static void main(String[] args) {
    try (Target target = Target.open()) {
      Ffi ffi = target.ffi();
      Stream stream = target.runtime().createStream();
      ffi.setStream(stream);
      Tensor q = ffi.allocate(DType.BF16, BATCH, Q_HEADS, HEAD_DIM);
      Tensor keys = ffi.allocate(DType.BF16, PAGES, PAGE_SIZE, KV_HEADS, HEAD_DIM);
      Tensor values = ffi.allocate(DType.BF16, PAGES, PAGE_SIZE, KV_HEADS, HEAD_DIM);
      Tensor out = ffi.allocate(DType.BF16, BATCH, Q_HEADS, HEAD_DIM);
      target.kernels().randomFill(q, 1, 1.0).launch();
      target.kernels().randomFill(keys, 2, 1.0).launch();
      target.kernels().randomFill(values, 3, 1.0).launch();
      Tensor pageTable = ffi.allocate(DType.I32, BATCH, PAGES / BATCH);
      Tensor lengths = ffi.allocate(DType.I32, BATCH);

      // The kernel allocates its scratch through TVM-FFI; a pool keeps those blocks alive for the
      // replays.
      AttentionOptions options = AttentionOptions.causal(HEAD_DIM);
      try (PooledAllocator pool = ffi.createPool()) {
        pool.use();
        Runnable decode =
            target
                    .kernels()
                    .pagedAttention(
                        q, keys, values, pageTable, lengths, null, 1, out, null, options, SPLITS,
                        null)
                ::launch;
        pageTable.copyFrom(0, 1, 2, 3, 4, 5, 6, 7);
        lengths.copyFrom(1, 1);
        decode.run(); // Fills the pool before the capture, during which nothing may be allocated.
        stream.synchronize();

        try (Graph graph = target.runtime().capture(stream, decode);
            GraphExec replay = graph.instantiate()) {
          for (int[] length : new int[][] {{40, 7}, {41, 8}, {42, 9}}) {
            int[] pages = {7 - length[0] % 2, 1, 2, 3, 4, 5, 0, 7};
            pageTable.copyFrom(pages);
            lengths.copyFrom(length);
            replay.launch(stream);
            stream.synchronize();
            double[] wanted =
                AttentionReference.paged(
                        q.toFloats(),
                        keys.toFloats(),
                        values.toFloats(),
                        pages,
                        PAGE_SIZE,
                        length,
                        null,
                        new AttentionReference.Heads(Q_HEADS, KV_HEADS, HEAD_DIM, HEAD_DIM),
                        options)
                    .out();
            float[] got = out.toFloats();
            double worst = 0;
            for (int i = 0; i < wanted.length; i++) {
              worst = Math.max(worst, Math.abs(got[i] - wanted[i]));
            }
            System.out.printf(
                "lengths %d and %d, first page %d: off by at most %.4f%n",
                length[0], length[1], pages[0], worst);
          }
        }
      }
    }
  }
}
