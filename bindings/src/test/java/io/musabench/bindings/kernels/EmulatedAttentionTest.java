package io.musabench.bindings.kernels;

import io.musabench.bindings.Target;
import io.musabench.bindings.TestTarget.On;
import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;

/** With fewer and shorter cases: a thread of the emulation is a fiber. */
@On(Target.Kind.HOST)
class EmulatedAttentionTest extends AttentionContractTest {
  private static final int TRIES = 25;

  @Override
  PortableKernels kernels() {
    return EmulatedKernels.open(32);
  }

  @Override
  int longest() {
    return 510;
  }

  @Override
  @Property(tries = TRIES)
  void denseShouldMatchTheReference(
      @ForAll("shapes") Shape shape,
      @ForAll @IntRange(max = 3) int batch,
      @ForAll @IntRange(min = 1, max = 70) int queries,
      @ForAll @IntRange(min = 1, max = 90) int keys,
      @ForAll @IntRange(max = 1000) int seed) {
    super.denseShouldMatchTheReference(shape, batch, queries, keys, seed);
  }

  @Override
  @Property(tries = TRIES)
  void varlenShouldMatchTheReference(
      @ForAll("shapes") Shape shape,
      @ForAll @Size(max = 3) List<@IntRange(max = 40) Integer> queries,
      @ForAll @IntRange(max = 1000) int seed) {
    super.varlenShouldMatchTheReference(shape, queries, seed);
  }

  @Override
  @Property(tries = TRIES)
  void decodeShouldMatchTheReference(
      @ForAll("pagedShapes") Shape shape,
      @ForAll @Size(max = 4) List<@IntRange(max = 150) Integer> lengths,
      @ForAll("pageSizes") int pageSize,
      @ForAll("splits") int splits,
      @ForAll boolean workspace,
      @ForAll @IntRange(max = 1000) int seed) {
    super.decodeShouldMatchTheReference(shape, lengths, pageSize, splits, workspace, seed);
  }

  @Override
  @Property(tries = TRIES)
  void chunkedPrefillShouldMatchTheReference(
      @ForAll("pagedShapes") Shape shape,
      @ForAll @Size(max = 3) List<@IntRange(max = 30) Integer> queries,
      @ForAll("pageSizes") int pageSize,
      @ForAll("splits") int splits,
      @ForAll boolean workspace,
      @ForAll @IntRange(max = 1000) int seed) {
    super.chunkedPrefillShouldMatchTheReference(shape, queries, pageSize, splits, workspace, seed);
  }
}
