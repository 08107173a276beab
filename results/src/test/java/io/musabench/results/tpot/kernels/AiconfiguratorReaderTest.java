package io.musabench.results.tpot.kernels;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.musabench.results.model.BatchSpec;
import io.musabench.results.model.ElementType;
import io.musabench.results.model.HeadGeometry;
import io.musabench.results.model.KernelCall;
import io.musabench.results.model.KernelCall.AllGather;
import io.musabench.results.model.KernelCall.AllReduce;
import io.musabench.results.model.KernelCall.FmhaPrefill;
import io.musabench.results.model.KernelCall.FusedAddRmsNorm;
import io.musabench.results.model.KernelCall.FusedExperts;
import io.musabench.results.model.KernelCall.Gemm;
import io.musabench.results.model.KernelCall.KvCacheWrite;
import io.musabench.results.model.KernelCall.PagedAttention;
import io.musabench.results.model.Mask;
import io.musabench.results.model.Precision;
import io.musabench.results.tpot.Mode;
import io.musabench.results.tpot.Provenance;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class AiconfiguratorReaderTest {
  private static final String GEMM =
      "framework,version,device,op_name,kernel_source,gemm_dtype,m,n,k,latency\n";
  private static final String ATTENTION =
      "framework,version,device,op_name,kernel_source,batch_size,isl,num_heads,num_key_value_heads,"
          + "head_dim,beam_width,attn_dtype,kv_cache_dtype,step,latency\n";
  private static final String ALL_REDUCE =
      "framework,version,device,op_name,kernel_source,allreduce_dtype,num_gpus,message_size,latency,backend\n";
  private static final String NCCL =
      "framework,version,device,op_name,kernel_source,nccl_dtype,num_gpus,message_size,latency\n";
  private static final String MOE =
      "framework,version,device,op_name,kernel_source,moe_dtype,num_tokens,hidden_size,inter_size,"
          + "topk,num_experts,moe_tp_size,moe_ep_size,distribution,latency\n";

  /** 1000 GB/s, 100 TFLOP/s in bf16, 200 in fp8. */
  private static final String SYSTEM =
      """
      gpu:
        mem_bw: 1000000000000
        mem_bw_empirical_scaling_factor: 0.5
        mem_empirical_constant_latency: 0.000002
        mem_capacity: 80000000000
        bfloat16_tc_flops: 100000000000000
        fp8_tc_flops: 200000000000000
      node:
        intra_node_bw: 400000000000
      """;

  private static final Precision FP8 =
      new Precision(ElementType.FP8, ElementType.BF16, ElementType.BF16);

  @TempDir Path folder;

  private Path write(String name, String text) throws IOException {
    Path file = folder.resolve(name);
    Files.createDirectories(file.getParent());
    return Files.writeString(file, text);
  }

  private KernelSource open() {
    return KernelSources.open(folder, Mode.GRAPH);
  }

  private static KernelTime time(KernelSource source, KernelCall call) {
    return source.time(call, Precision.BF16).orElseThrow();
  }

  private static String gemm(String type, int m, int n, int k, double ms) {
    return "VLLM,0.1,D,gemm,x," + type + "," + m + "," + n + "," + k + "," + ms + "\n";
  }

  private void refused(String... parts) {
    assertThatThrownBy(this::open)
        .isInstanceOf(KernelSourceException.class)
        .hasMessageNotContaining("\n")
        .satisfies(e -> assertThat(e.getMessage()).contains(parts));
  }

  @Test
  void latenciesAreMillisecondsAndTheSystemGivesRoofs() throws IOException {
    write("gemm.csv", GEMM + gemm("bfloat16", 8, 64, 32, 0.5));
    write("d.yaml", SYSTEM);
    KernelSource source = open();
    assertThat(source.name()).isEqualTo("aiconfigurator d vllm 0.1");
    KernelTime found = time(source, new Gemm(8, 64, 32));
    assertThat(found.seconds()).isEqualTo(0.5 / 1e3);
    assertThat(found.provenance()).isEqualTo(Provenance.MEASURED);
    assertThat(found.from()).isEqualTo("gemm.csv");
    assertThat(source.roofs().readGbPerS()).isEqualTo(1000);
    assertThat(source.roofs().tflopPerS(ElementType.BF16)).isEqualTo(100);
    assertThat(source.roofs().tflopPerS(ElementType.FP16)).isEqualTo(100);
    assertThat(source.roofs().tflopPerS(ElementType.FP8)).isEqualTo(200);
    assertThat(source.roofs().linkGbPerS()).isEqualTo(400);
    assertThat(source.roofs().memoryBytes()).isEqualTo(80e9);
    assertThat(source.roofs().provenance()).isEqualTo(Provenance.DATA_SHEET);
    assertThat(source.launch()).isEmpty();
  }

  @Test
  void theFoldersOfTheRealRepositoryAreRead() throws IOException {
    write("systems/d_sxm.yaml", SYSTEM);
    write(
        "systems/data/d_sxm/gemm/vllm/0.1/gemm_perf.txt", GEMM + gemm("bfloat16", 8, 64, 32, 0.5));
    write("systems/data/d_sxm/gemm/vllm/0.1/notes.txt", "anything else");
    KernelSource source =
        KernelSources.open(folder.resolve("systems/data/d_sxm/gemm/vllm/0.1"), Mode.GRAPH);
    assertThat(source.name()).isEqualTo("aiconfigurator d_sxm vllm 0.1");
    assertThat(source.roofs().readGbPerS()).isEqualTo(1000);
  }

  @Test
  void withoutASystemTheBestRowsAreTheRoofs() throws IOException {
    write(
        "gemm.csv",
        GEMM + gemm("bfloat16", 1, 1000, 1000, 1) + gemm("bfloat16", 1000, 1000, 1000, 10));
    DeviceRoofs roofs = open().roofs();
    assertThat(roofs.readGbPerS()).isCloseTo(2.004, within(1e-9));
    assertThat(roofs.tflopPerS(ElementType.BF16)).isCloseTo(0.2, within(1e-9));
  }

  /** Launching and synchronising do not shrink with the type. */
  @Test
  void noTimeOfAnotherTypeIsBelowTheShortestThatWasMeasured() throws IOException {
    write("d.yaml", SYSTEM);
    write(
        "gemm.csv",
        GEMM + gemm("bfloat16", 8, 1000, 1000, 0.006) + gemm("bfloat16", 8, 8, 8, 0.004));
    KernelSource source = open();
    assertThat(source.time(new Gemm(8, 8, 8), FP8).orElseThrow().seconds())
        .isCloseTo(4e-6, within(1e-15));
    // Half of the bytes of the weights would take 3 us.
    assertThat(source.time(new Gemm(8, 1000, 1000), FP8).orElseThrow().seconds())
        .isCloseTo(4e-6, within(1e-15));
  }

  @Test
  void typesAreKeptApartAndAnotherTypeHoldsTheUtilisation() throws IOException {
    write("d.yaml", SYSTEM);
    write(
        "gemm.csv",
        GEMM
            + gemm("bfloat16", 1000, 1000, 1000, 0.04)
            + gemm("bfloat16", 8, 8, 8, 0.004)
            + gemm("int4_wo", 1, 1, 1, 9));
    KernelTime found = open().time(new Gemm(1000, 1000, 1000), FP8).orElseThrow();
    // Half of the peak in bf16 is half of the peak in fp8.
    assertThat(found.seconds()).isCloseTo(0.02e-3, within(1e-12));
    assertThat(found.provenance()).isEqualTo(Provenance.EXTRAPOLATED);
    assertThat(found.from()).endsWith("; measured in bf16, its share of the roof held");
    assertThat(found.otherTypes()).isEqualTo(new KernelTime.OtherTypes(Precision.BF16, true));

    write(
        "gemm.csv",
        GEMM
            + gemm("bfloat16", 8, 64, 32, 0.04)
            + gemm("fp8_block", 8, 64, 32, 3)
            + gemm("fp8", 8, 64, 32, 2));
    assertThat(open().time(new Gemm(8, 64, 32), FP8).orElseThrow().seconds()).isEqualTo(2e-3);
  }

  @Test
  void withoutTheRateOfATypeTheTimeOfAnotherIsKeptAndFarFromSure() throws IOException {
    write("d.yaml", SYSTEM.replace("  fp8_tc_flops: 200000000000000\n", ""));
    write(
        "gemm.csv",
        GEMM
            + gemm("bfloat16", 1, 1000, 1000, 0.004)
            + gemm("bfloat16", 2, 1000, 1000, 0.004)
            + gemm("bfloat16", 1000, 1000, 1000, 0.04));
    KernelTimes times = new KernelTimes(open());
    KernelTime kept = times.of(new Gemm(1000, 1000, 1000), FP8);
    assertThat(kept.seconds()).isCloseTo(0.04e-3, within(1e-12));
    assertThat(kept.otherTypes()).isEqualTo(new KernelTime.OtherTypes(Precision.BF16, false));
    assertThat(kept.relativeError()).isGreaterThanOrEqualTo(0.5);
    assertThat(times.of(new Gemm(1000, 1000, 1000), Precision.BF16).otherTypes()).isNull();
    assertThat(times.inOtherTypes())
        .containsExactly(
            "gemm: not measured in the types asked for; the times in bf16 count as they are");
  }

  @Test
  void howFarOffAnotherTypeIsNoPointThatIsLeftOutTells() throws IOException {
    StringBuilder rows = new StringBuilder(GEMM);
    for (int n = 1000; n <= 6000; n += 1000) {
      for (int m : new int[] {1000, 2000, 4000}) {
        // Half of 100 TFLOP/s everywhere, so that no look-up in bf16 is off.
        rows.append(gemm("bfloat16", m, n, 1000, 2 * 2e3 * m * n * 1000 / 100e12));
      }
    }
    write("d.yaml", SYSTEM);
    write("gemm.csv", rows.toString());
    KernelSource source = open();
    Gemm call = new Gemm(1000, 1000, 1000);
    assertThat(time(source, new Gemm(8000, 1000, 1000)).relativeError()).isLessThan(0.01);
    assertThat(source.time(call, FP8).orElseThrow().relativeError()).isCloseTo(0.3, within(0.01));
    KernelTime fp16 = source.time(call, Precision.uniform(ElementType.FP16)).orElseThrow();
    assertThat(fp16.seconds()).isCloseTo(time(source, call).seconds(), within(1e-12));
    assertThat(fp16.relativeError()).isCloseTo(0.1, within(0.01));
  }

  @Test
  void theContextOfGenerationIsIslAndStepAndTheCacheWriteIsInIt() throws IOException {
    write("d.yaml", SYSTEM);
    write(
        "a.csv",
        ATTENTION
            + "VLLM,0.1,D,generation_attention,x,8,1,32,4,128,1,bfloat16,bfloat16,1023,0.01\n"
            + "VLLM,0.1,D,generation_attention,x,8,1,32,4,128,1,bfloat16,bfloat16,2047,0.03\n"
            + "VLLM,0.1,D,context_attention,x,8,1024,32,4,128,1,bfloat16,bfloat16,0,7\n");
    KernelSource source = open();
    HeadGeometry heads = new HeadGeometry(32, 4, 128);
    KernelCall decode = new PagedAttention(BatchSpec.parse("8q1s1k"), heads, Mask.CAUSAL, 16);
    assertThat(time(source, decode).seconds()).isEqualTo(0.01 / 1e3);
    assertThat(time(source, decode).provenance()).isEqualTo(Provenance.MEASURED);
    // Linear in the sum of the contexts, whoever has them.
    KernelCall uneven =
        new PagedAttention(BatchSpec.parse("4q1s1k_4q1s2k"), heads, Mask.CAUSAL, 16);
    assertThat(time(source, uneven).seconds()).isCloseTo(0.02e-3, within(1e-12));
    KernelCall prefill = new FmhaPrefill(BatchSpec.parse("8q1k"), heads, Mask.CAUSAL);
    assertThat(time(source, prefill).seconds()).isEqualTo(7e-3);

    KernelTime write = time(source, new KvCacheWrite(8, heads));
    assertThat(write.seconds()).isZero();
    assertThat(write.from()).isEqualTo("contained in attention");

    write("a.csv", Files.readString(folder.resolve("a.csv")).replace("VLLM,0.1,", "VLLM,0.15.1,"));
    assertThat(time(open(), new KvCacheWrite(8, heads)).provenance()).isEqualTo(Provenance.ASSUMED);

    KernelCall mixed = new PagedAttention(BatchSpec.parse("8q1k_8q1s1k"), heads, Mask.CAUSAL, 16);
    assertThat(time(source, mixed).seconds()).isCloseTo(7.01e-3, within(1e-9));
  }

  @Test
  void aShorterEagerRowNeverMakesAKernelOrALaunchLonger() throws IOException {
    String graph =
        "vLLM,0.1,D,all_reduce,x,bfloat16,2,1000,0.004,vllm_graph\n"
            + "vLLM,0.1,D,all_reduce,x,bfloat16,2,1000000,0.030,vllm_graph\n";
    String large = "vLLM,0.1,D,all_reduce,x,bfloat16,2,1000000,0.028,vllm_eager\n";
    write("d.yaml", SYSTEM);
    double[] rows = {0.020, 0.010};
    double[] launches = new double[2];
    double[] times = new double[2];
    for (int i = 0; i < 2; i++) {
      String small = "vLLM,0.1,D,all_reduce,x,bfloat16,2,1000," + rows[i] + ",vllm_eager\n";
      write("ar.csv", ALL_REDUCE + graph + small + large);
      KernelSource source = KernelSources.open(folder, Mode.EAGER);
      launches[i] = source.launch().orElseThrow().perKernelSeconds();
      times[i] = time(source, new AllReduce(1000000, 2)).seconds();
    }
    assertThat(launches[1]).isLessThan(launches[0]);
    assertThat(times[1]).isLessThanOrEqualTo(times[0]);
  }

  @Test
  void aDamagedTableIsAnErrorAndNotAnAbsentOne() throws IOException {
    write("d.yaml", SYSTEM);
    write("allreduce.csv", ALL_REDUCE + "vLLM,0.1,D,all_reduce,x,bfloat16,2,1000,0.004,g\n");
    write("notes.csv", "");
    assertThat(open().name()).contains("vllm");
    write("gemm.csv", "");
    refused("gemm.csv", "is empty");
    write("gemm.csv", "what,ever\n1,2\n");
    refused("gemm.csv", "none of its columns");
    write("gemm.csv", GEMM);
    refused("gemm.csv", "no rows");
    Path gemm = folder.resolve("gemm.csv");
    Files.delete(gemm);
    Files.createSymbolicLink(gemm, Path.of("gone.csv"));
    refused("gemm.csv", "is no file that can be read");
  }

  @Test
  void messagesCountElementsAndTheHostIsNoPartOfThem() throws IOException {
    write("d.yaml", SYSTEM);
    write(
        "ar.csv",
        ALL_REDUCE
            + "vLLM,0.1,D,all_reduce,x,bfloat16,2,1000,0.004,vllm_graph\n"
            + "vLLM,0.1,D,all_reduce,x,bfloat16,2,1000,0.020,vllm_eager\n"
            + "vLLM,0.1,D,all_reduce,x,bfloat16,2,1000000,0.100,vllm_graph\n"
            + "vLLM,0.1,D,all_reduce,x,bfloat16,2,1000000,0.120,vllm_eager\n");
    write(
        "nccl.csv",
        NCCL
            + "TRTLLM,2.29,D,all_gather,NCCL,half,2,500,0.007\n"
            + "TRTLLM,2.29,D,all_reduce,NCCL,half,2,1000,9\n"
            + "TRTLLM,2.29,D,alltoall,NCCL,half,2,1000,9\n");
    KernelSource graph = open();
    assertThat(time(graph, new AllReduce(1000, 2)).seconds()).isEqualTo(0.004 / 1e3);
    assertThat(time(graph, new AllReduce(1000000, 2)).seconds()).isEqualTo(0.1 / 1e3);
    assertThat(time(graph, new AllGather(500, 2)).seconds()).isEqualTo(0.007 / 1e3);
    KernelSource eager = KernelSources.open(folder, Mode.EAGER);
    LaunchCosts costs = eager.launch().orElseThrow();
    assertThat(costs.perKernelSeconds()).isEqualTo(0.02 / 1e3);
    assertThat(costs.replaySeconds()).isNaN();
    assertThat(costs.provenance()).isEqualTo(Provenance.ASSUMED);
    // The host's part of an eager row is a launch, which the engine counts by itself.
    assertThat(time(eager, new AllReduce(1000, 2)).seconds()).isEqualTo(0.004 / 1e3);
    assertThat(time(eager, new AllReduce(1000000, 2)).seconds()).isEqualTo(0.1 / 1e3);
  }

  @Test
  void rowsOfOtherKernelsAreAssumedFromTheSystemsOwnRule() throws IOException {
    write("d.yaml", SYSTEM);
    write("gemm.csv", GEMM + gemm("bfloat16", 8, 64, 32, 0.5));
    KernelCall norm = new FusedAddRmsNorm(100, 5000);
    KernelTime found = time(open(), norm);
    assertThat(found.seconds()).isCloseTo(norm.work(2).bytes() / 0.5e12 + 2e-6, within(1e-12));
    assertThat(found.provenance()).isEqualTo(Provenance.ASSUMED);
    assertThat(found.from()).isEqualTo("d.yaml: bytes / (0.5 of the bandwidth) + 2 us");

    Files.delete(folder.resolve("d.yaml"));
    assertThat(open().time(norm, Precision.BF16)).isEmpty();
    KernelTimes times = new KernelTimes(open());
    assertThat(times.of(norm, Precision.BF16).provenance()).isEqualTo(Provenance.ASSUMED);
    assertThat(times.assumed()).containsExactly("fused_add_rms_norm (its roof)");
  }

  @Test
  void expertsOfOneRankAreFoundByTheirOwnSize() throws IOException {
    write("d.yaml", SYSTEM);
    write(
        "moe.csv",
        MOE
            + "VLLM,0.1,D,moe,x,bfloat16,16,2048,768,8,128,2,1,power_law_1.2,0.05\n"
            + "VLLM,0.1,D,moe,x,bfloat16,16,2048,768,8,128,2,1,balanced,0.04\n"
            + "VLLM,0.1,D,moe,x,bfloat16,16,2048,768,8,128,1,2,balanced,9\n");
    KernelTime found = time(open(), new FusedExperts(16, 2048, 384, 128, 8));
    assertThat(found.seconds()).isCloseTo(0.05e-3, within(1e-15));
    assertThat(found.provenance()).isEqualTo(Provenance.MEASURED);
  }

  @Test
  void aParquetFileIsRefusedWithTheWayToConvertIt() throws IOException {
    write("gemm_perf.parquet", "PAR1\u0000\u0001");
    refused("gemm_perf.parquet is a parquet file", "read_parquet", "gemm_perf.csv");
    write("gemm_perf.csv", GEMM + gemm("bfloat16", 8, 64, 32, 0.5));
    assertThat(time(open(), new Gemm(8, 64, 32)).seconds()).isEqualTo(0.5 / 1e3);
  }

  @Test
  void aGitLfsPointerIsRefused() throws IOException {
    write("gemm_perf.txt", "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n");
    refused("gemm_perf.txt is a Git LFS pointer", "git lfs pull");
  }

  @Test
  void aBlankLineIsNoRow() throws IOException {
    write("gemm.csv", GEMM + "\n" + gemm("bfloat16", 8, 64, 32, 0.5) + "\r\n\n");
    assertThat(time(open(), new Gemm(8, 64, 32)).seconds()).isEqualTo(0.5 / 1e3);
    write("gemm.csv", GEMM + "\n" + gemm("bfloat16", 8, 64, 32, -1));
    refused("gemm.csv, line 3, column latency: \"-1.0\" is not a number above 0");
  }

  @Test
  void damageIsNamedWithFileLineAndColumn() throws IOException {
    write("gemm.csv", GEMM + gemm("bfloat16", 8, 64, 32, 0.5) + gemm("bfloat16", 8, 64, 32, -1));
    refused("gemm.csv, line 3, column latency: \"-1.0\" is not a number above 0");
    write("gemm.csv", GEMM + "VLLM,0.1,D,gemm,x,bfloat16,8.5,64,32,1\n");
    refused("gemm.csv, line 2, column m: \"8.5\" is not a whole number from 1 on");
    write("gemm.csv", GEMM + "VLLM,0.1,D,gemm,x,bfloat16,8,64\n");
    refused("gemm.csv, line 2: 8 cells where the header has 10");
    write("gemm.csv", GEMM.replace(",latency", ",time") + "VLLM,0.1,D,gemm,x,bfloat16,8,64,32,1\n");
    refused("gemm.csv, line 1: there is no column latency; expected are gemm_dtype,m,n,k");
    write("gemm.csv", GEMM + gemm("nvfp4", 8, 64, 32, 0.5));
    refused("gemm.csv", "no row of a type that this program knows");
  }

  @Test
  void theTablesOfTwoVersionsOrSystemsAreNotMixed() throws IOException {
    write("1/gemm.csv", GEMM + gemm("bfloat16", 8, 64, 32, 0.5));
    write("2/gemm.csv", GEMM + gemm("bfloat16", 8, 64, 32, 0.5).replace("0.1", "0.2"));
    refused("Tables of one kind come from vllm 0.1 (", "1/gemm.csv) and vllm 0.2 (", "2/gemm.csv)");
    Files.delete(folder.resolve("2/gemm.csv"));
    write("1/a.yaml", SYSTEM);
    write("2/b.yaml", SYSTEM);
    refused("more than one system", "a.yaml", "b.yaml");
  }

  @Test
  void aDamagedSystemFileIsNamedWithItsFigure() throws IOException {
    write("gemm.csv", GEMM + gemm("bfloat16", 8, 64, 32, 0.5));
    write("d.yaml", SYSTEM.replace("1000000000000", "fast"));
    refused("d.yaml: gpu.mem_bw is a number above 0, not fast");
    write("d.yaml", "gpu: [1\nmem_bw");
    refused("d.yaml is not YAML");
  }
}
