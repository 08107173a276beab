package io.musabench.results.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.musabench.results.model.KernelCall.AllReduce;
import io.musabench.results.model.KernelCall.FmhaPrefill;
import io.musabench.results.model.KernelCall.FusedExperts;
import io.musabench.results.model.KernelCall.Gemm;
import io.musabench.results.model.KernelCall.KvCacheWrite;
import io.musabench.results.model.KernelCall.TopK;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class KernelCallReaderTest {
  private static void readBack(KernelCall call) {
    assertThat(KernelCall.parse(call.kernel(), call.shape())).isEqualTo(call);
  }

  @ParameterizedTest
  @ValueSource(strings = {"q1s1k", "2q1k", "q512s2k", "4q1k_16q1s2k"})
  void everyKernelOfEveryModelIsReadBack(String batch) {
    for (String model : Models.names()) {
      for (Operation op :
          ModelOperations.of(Models.find(model).layout(2), BatchSpec.parse(batch), 16)) {
        KernelCall call = op.call();
        KernelCall read = KernelCall.parse(call.kernel(), call.shape());
        assertThat(read.key()).isEqualTo(call.key());
        assertThat(read.work(Precision.BF16)).isEqualTo(call.work(Precision.BF16));
      }
    }
  }

  @Test
  void soAreTheRest() {
    readBack(new Gemm(8, 64, 32, true));
    readBack(new FmhaPrefill(BatchSpec.parse("q1k"), new HeadGeometry(8, 2, 192, 128), Mask.FULL));
    readBack(new KvCacheWrite(8, new HeadGeometry(2, 2, 192, 128)));
    readBack(new TopK(8, 128, 4));
    readBack(new FusedExperts(8, 2048, 768, 128, 4));
    readBack(new AllReduce(1L << 40, 8));
  }

  @Test
  void aWrongShapeIsSaidWithTheRightOne() {
    for (List<String> wrong :
        List.of(
            List.of("gemn", "m=1 n=2 k=3", "no kernel is called \"gemn\" (did you mean gemm?)"),
            List.of("gemm", "m=1 n=2", "the shape \"m=1 n=2\" has no k="),
            List.of("gemm", "m=0 n=2 k=3", "m is a whole number from 1 on, not \"0\""),
            List.of("gemm", "m=1 n=2 k=99999999999", "k is a whole number from 1 on"),
            List.of(
                "gemm",
                "m=1 n=2 k=3 j=4",
                "has j, which it does not know; it is written like \"m=1 n=2 k=3\""),
            List.of("gemm", "m=1 n=2 k=3 bias=yes", "bias is true or false, not \"yes\""),
            List.of(
                "fmha_prefill",
                "batch=q1k heads=8:2:128",
                "needs one of the words causal and full"),
            List.of("fmha_prefill", "batch=1k heads=8:2:128 full", "cannot read \"1k\""),
            List.of("all_reduce", "elements=5 ranks=1", "at least 2 ranks, not 1"))) {
      assertThatThrownBy(() -> KernelCall.parse(wrong.get(0), wrong.get(1)))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining(wrong.get(2));
    }
  }

  @Test
  void communicationCountsWhatOneRankSends() {
    // A ring of 4: three quarters out, reduced, and three quarters out again.
    assertThat(new AllReduce(1000, 4).work(2)).isEqualTo(new Work(0, 3000));
    assertThat(new KernelCall.AllGather(1000, 4).work(2)).isEqualTo(new Work(0, 1500));
    assertThat(new AllReduce(1000, 4).communicates()).isTrue();
    assertThat(new Gemm(1, 2, 3).communicates()).isFalse();
  }
}
