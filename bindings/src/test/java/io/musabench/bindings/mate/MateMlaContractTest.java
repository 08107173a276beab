package io.musabench.bindings.mate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.musabench.bindings.Target;
import io.musabench.bindings.TestTarget.On;
import io.musabench.bindings.ffi.DType;
import io.musabench.bindings.ffi.FfiException;
import io.musabench.bindings.ffi.PreparedCall;
import io.musabench.bindings.ffi.Tensor;
import io.musabench.bindings.kernels.AttentionOptions;
import io.musabench.bindings.kernels.KernelFixture;
import io.musabench.bindings.kernels.KernelFixture.Input;
import io.musabench.bindings.kernels.reference.AttentionReference;
import io.musabench.bindings.kernels.reference.AttentionReference.Vectors;
import io.musabench.bindings.runtime.Attribute;
import io.musabench.bindings.runtime.Graph;
import io.musabench.bindings.runtime.GraphExec;
import java.util.Arrays;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Calls of mate's multi-head latent attention, through the double and against the reference. */
@On(Target.Kind.MUSA)
@Tag("musa-target")
class MateMlaContractTest {
  private static final int WIDTH = MlaTensors.LATENT + MlaTensors.ROPE;
  private static final double SCALE = 0.04;
  private static final int[] KEYS = {1, 130, 64};

  private MlaKernels mla;

  @BeforeEach
  void open() {
    mla = MateDouble.open(getClass()).mla();
  }

  /** Latent and rotary part are two views of one cache, as serving engines keep it. */
  private static final class Case {
    final DType dtype;
    final int batch;
    final int queries;
    final int heads;
    final int[] keys;
    final boolean ragged;
    final int[] pages;
    final int columns;
    final Input q;
    final Input cache;
    final MlaTensors tensors;

    Case(KernelFixture f, DType dtype, int queries, int heads, int[] keys, boolean ragged) {
      this.dtype = dtype;
      this.batch = keys.length;
      this.queries = queries;
      this.heads = heads;
      this.keys = keys;
      this.ragged = ragged;
      columns = 3;
      pages = new int[batch * columns];
      Arrays.setAll(pages, i -> (i * 5 + 2) % (pages.length + 1));
      int tokens = batch * queries;
      q = f.random(dtype, 1, tokens, heads, WIDTH);
      cache = f.random(dtype, 1, pages.length + 1, MlaTensors.PAGE_SIZE, WIDTH);
      int[] cu = new int[batch + 1];
      Arrays.setAll(cu, i -> i * queries);
      Tensor all = ragged ? q.tensor() : q.tensor().reshape(batch, queries, heads, WIDTH);
      int last = ragged ? 2 : 3;
      tensors =
          new MlaTensors(
              all.slice(last, 0, MlaTensors.LATENT),
              all.slice(last, MlaTensors.LATENT, WIDTH),
              cache.tensor().slice(2, 0, MlaTensors.LATENT),
              cache.tensor().slice(2, MlaTensors.LATENT, WIDTH),
              f.ints(pages).reshape(batch, columns),
              f.ints(keys),
              ragged ? f.ints(cu) : null,
              ragged ? queries : null,
              ragged
                  ? f.output(dtype, tokens, heads, MlaTensors.LATENT)
                  : f.output(dtype, batch, queries, heads, MlaTensors.LATENT),
              ragged
                  ? f.output(DType.F32, heads, tokens)
                  : f.output(DType.F32, batch, queries, heads));
    }

    void check(boolean causal) {
      AttentionOptions options = new AttentionOptions(SCALE, causal, -1, -1, 0);
      int tokens = batch * queries;
      double[] out = new double[tokens * heads * MlaTensors.LATENT];
      double[] lse = new double[tokens * heads];
      for (int token = 0; token < tokens; token++) {
        int b = token / queries;
        Vectors k =
            AttentionReference.paged(
                cache.values(), pages, b * columns, MlaTensors.PAGE_SIZE, 1, WIDTH);
        float[] whole = new float[WIDTH];
        Vectors v =
            (position, head, into) -> {
              k.read(position, head, whole);
              System.arraycopy(whole, 0, into, 0, MlaTensors.LATENT);
            };
        for (int h = 0; h < heads; h++) {
          int row = token * heads + h;
          AttentionReference.Row expected =
              AttentionReference.row(
                  Arrays.copyOfRange(q.values(), row * WIDTH, (row + 1) * WIDTH),
                  token % queries,
                  queries,
                  keys[b],
                  0,
                  k,
                  v,
                  MlaTensors.LATENT,
                  options);
          System.arraycopy(expected.out(), 0, out, row * MlaTensors.LATENT, MlaTensors.LATENT);
          lse[ragged ? h * tokens + token : row] = expected.lse();
        }
      }
      KernelFixture.assertClose("out", tensors.out(), out);
      KernelFixture.assertClose("lse", tensors.lse().toFloats(), lse, 2e-3, 1e-3);
    }

    void poison() {
      tensors.out().poison();
      tensors.lse().poison();
    }

    int rows() {
      return queries * heads;
    }
  }

  @Test
  void shouldComputeWithoutASchedule() {
    for (boolean causal : new boolean[] {true, false}) {
      try (KernelFixture f = new KernelFixture(1)) {
        Case c = new Case(f, causal ? DType.BF16 : DType.F16, 2, 8, KEYS, false);
        f.run(mla.mla(c.tensors, SCALE, causal));
        c.check(causal);
      }
    }
  }

  @Test
  void shouldComputeWithAScheduleInBothLayouts() {
    for (boolean ragged : new boolean[] {false, true}) {
      try (KernelFixture f = new KernelFixture(2)) {
        Case c = new Case(f, DType.BF16, 2, 8, KEYS, ragged);
        try (MlaKernels.Schedule schedule = mla.schedule(c.tensors.sequsedK(), c.rows(), c.heads)) {
          assertThat(schedule.metadata().shape(1)).isEqualTo(8);
          assertThat(schedule.numSplits().toInts()).containsExactly(0, 1, 2, 3);
          f.run(mla.withKvCache(c.tensors, schedule, SCALE, true));
          c.check(true);
          assertThat(f.pool.stats().liveTensors()).isEqualTo(2); // the schedule's
        }
        assertThat(f.pool.stats().liveTensors()).isZero();
      }
    }
  }

  @Test
  void shouldComputeWithTheAssemblerKernel() {
    for (boolean ragged : new boolean[] {false, true}) {
      try (KernelFixture f = new KernelFixture(3)) {
        Case c = new Case(f, DType.F16, 1, 128, KEYS, ragged);
        try (MlaKernels.Schedule schedule = mla.schedule(c.tensors.sequsedK(), c.rows(), c.heads)) {
          f.run(mla.asm(c.tensors, schedule, SCALE, false));
          c.check(false);
        }
      }
    }
  }

  @Test
  void shouldUpdateAScheduleInPlaceAndInAGraph() {
    try (KernelFixture f = new KernelFixture(4)) {
      Case c = new Case(f, DType.BF16, 1, 8, KEYS.clone(), false);
      PreparedCall attention;
      try (MlaKernels.Schedule schedule = mla.schedule(c.tensors.sequsedK(), c.rows(), c.heads)) {
        attention = mla.withKvCache(c.tensors, schedule, SCALE, true);
        f.run(attention); // the pool has its blocks now
        long reserved = f.pool.stats().reservedBytes();
        try (Graph graph =
                f.ffi
                    .runtime()
                    .capture(
                        f.stream,
                        () -> {
                          schedule.update().launch();
                          attention.launch();
                        });
            GraphExec exec = graph.instantiate()) {
          int[] lengths = {192, 5, 70};
          System.arraycopy(lengths, 0, c.keys, 0, 3);
          c.tensors.sequsedK().copyFrom(lengths);
          schedule.numSplits().poison();
          c.poison();
          exec.launch(f.stream);
          f.stream.synchronize();
          c.check(true);
          assertThat(schedule.numSplits().toInts()).containsExactly(0, 1, 2, 3);
        }
        assertThat(f.pool.stats().reservedBytes()).isEqualTo(reserved);
      }
      PreparedCall late = attention;
      assertThatThrownBy(late::launch).isInstanceOf(IllegalStateException.class);
    }
  }

  @Test
  void shouldDispatchByHeadsOverAWorkspace() {
    for (int heads : new int[] {8, 128}) {
      try (KernelFixture f = new KernelFixture(5)) {
        Case c = new Case(f, DType.BF16, 1, heads, KEYS, false);
        int multiprocessors =
            f.ffi.runtime().currentDevice().attribute(Attribute.MULTIPROCESSOR_COUNT);
        long bytes = MlaKernels.workspaceBytes(multiprocessors, c.batch, c.rows());
        Tensor workspace = f.output(DType.U8, bytes);
        for (boolean initialized : new boolean[] {false, true}) {
          c.poison();
          f.run(mla.dispatch(c.tensors, workspace, initialized, SCALE, true));
          c.check(true);
        }
        PreparedCall small =
            mla.dispatch(c.tensors, workspace.slice(0, 0, bytes - 1), false, SCALE, true);
        assertThatThrownBy(small::launch)
            .isInstanceOf(FfiException.class)
            .hasMessageContainingAll("InternalError", "workspace is too small");
      }
    }
  }

  @Test
  void shouldRaiseWhatTheKernelsDoNotTake() {
    try (KernelFixture f = new KernelFixture(6)) {
      Case c = new Case(f, DType.BF16, 1, 8, KEYS, false);
      MlaTensors t = c.tensors;
      assertRaises(
          mla.mla(with(t, f.output(DType.F16, 3, 1, 8, 512), t.lse()), SCALE, true), "out");
      assertRaises(mla.mla(with(t, t.out(), f.output(DType.F32, 3, 8, 1)), SCALE, true), "lse");
      assertRaises(mla.mla(with(t, t.out(), f.output(DType.F16, 3, 1, 8)), SCALE, true), "lse");
      try (MlaKernels.Schedule schedule = mla.schedule(t.sequsedK(), 8, 8)) {
        MlaTensors apart =
            new MlaTensors(
                t.qNope(),
                t.qPe(),
                f.output(DType.BF16, 10, 64, 512),
                f.output(DType.BF16, 10, 64, 64),
                t.pageTable(),
                t.sequsedK(),
                null,
                null,
                t.out(),
                t.lse());
        assertRaises(mla.asm(apart, schedule, SCALE, true), "multiple of 576");
        Case ragged = new Case(f, DType.BF16, 1, 8, KEYS, true);
        assertThatThrownBy(() -> mla.mla(ragged.tensors, SCALE, true))
            .isInstanceOf(IllegalArgumentException.class);
      }
    }
  }

  private static MlaTensors with(MlaTensors t, Tensor out, Tensor lse) {
    return new MlaTensors(
        t.qNope(),
        t.qPe(),
        t.ckv(),
        t.kpe(),
        t.pageTable(),
        t.sequsedK(),
        t.cuSeqlensQ(),
        t.maxSeqlenQ(),
        out,
        lse);
  }

  private static void assertRaises(PreparedCall call, String text) {
    assertThatThrownBy(call::launch)
        .isInstanceOf(FfiException.class)
        .hasMessageContainingAll("InternalError", text);
  }
}
