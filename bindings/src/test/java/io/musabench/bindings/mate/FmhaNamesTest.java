package io.musabench.bindings.mate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.musabench.bindings.ffi.DType;
import io.musabench.bindings.mate.FmhaConfig.Keys;
import io.musabench.bindings.mate.FmhaConfig.Queries;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class FmhaNamesTest {
  private static FmhaConfig.Builder pagedDecode() {
    return FmhaConfig.builder()
        .heads(64, 8)
        .queries(Queries.RAGGED, 1)
        .pagedKeys(16, 64)
        .causal(true)
        .metadata(true);
  }

  private static FmhaConfig.Builder raggedPrefill() {
    return FmhaConfig.builder()
        .heads(48, 8)
        .headDims(256, 256)
        .queries(Queries.RAGGED, 20_000)
        .keys(Keys.RAGGED, 20_000)
        .causal(true);
  }

  // Both computed in Python from a configuration written out by hand.
  @Test
  void shouldHashTheConfigurationAsPythonDoes() {
    assertThat(pagedDecode().build().names().forward())
        .isEqualTo("fmha_fwd_b84b24e9fa56b49bff74397f0bc3382621675a4801cd933998d73c27434c8940");
    assertThat(pagedDecode().metadata(false).build().names().forward())
        .isEqualTo("fmha_fwd_df0f30670b67348537b0b7cf396226881862d35eff3fab69bea548b8d9ef1a3d");
  }

  // The kernels that xLLM's MUSA backend loads by their literal names: attention of head dimension
  // 256, paged decode with metadata and packed heads, dense prefill without either.
  @ParameterizedTest
  @CsvSource({
    "6, 9e4f4b2e6574a7a45a93fef39cf9b0485651e39052d9dfd88c2e1439137a9374,"
        + " 7ee83f6c1e99c1e66180d62c666ae3683127d3e048aeda12e77ee4569f9912c9",
    "8, 94150355c74bdc57b0ec3f0a18926ec238aa401b7a6506ec460120ca8726277b,"
        + " f950a279e338c0aa62c4d285c73cbedc8da55a148c172855ea03b6c08978d029"
  })
  void shouldNameTheKernelsThatADeployedEngineLoads(int ratio, String decode, String prefill) {
    FmhaConfig paged = pagedDecode().heads(ratio * 2, 2).headDims(256, 256).build();
    assertThat(paged.names().forward()).isEqualTo("fmha_fwd_" + decode);
    assertThat(paged.names().metadata())
        .isEqualTo("fmha_get_metadata_" + ratio + "x1_ragged_q_padded_k_causal_packgqa");
    assertThat(raggedPrefill().heads(ratio * 2, 2).build().names().forward())
        .isEqualTo("fmha_fwd_" + prefill);
  }

  @Test
  void shouldHaveTheKeysOfMate() {
    assertThat(pagedDecode().build().names().forwardKeys())
        .hasSize(32)
        .containsEntry("element", "mutlass::bfloat16_t")
        .containsEntry("head_ratio", 8)
        .containsEntry("paged_kv", true)
        .containsEntry("has_seqused_k", true)
        .containsEntry("force_lsu_kv", false)
        .containsEntry("is_even_headdim", true)
        .containsEntry("has_softcap", false);
    assertThat(pagedDecode().dtype(DType.F16).softcap(30).build().names().forwardKeys())
        .containsEntry("element", "mutlass::half_t")
        .containsEntry("has_softcap", true);
    assertThat(pagedDecode().pagedKeys(64, 16).build().names().forwardKeys())
        .containsEntry("force_lsu_kv", true);
    assertThat(pagedDecode().pagedKeys(1024, 1).build().names().forwardKeys())
        .containsEntry("force_lsu_kv", true);
    assertThat(raggedPrefill().headDims(80, 80).build().names().forwardKeys())
        .containsEntry("head_dim_qk", 128)
        .containsEntry("head_dim_vo", 128)
        .containsEntry("is_even_headdim", false)
        .containsEntry("has_cu_seqlens_k", true)
        .containsEntry("has_seqused_k", false)
        .containsEntry("paged_kv", false);
  }

  // Every rule of mate's _get_tile_m and _get_fwd_kernel_config, at both sides of each bound. The
  // columns: head dimensions, query tokens, heads of a KV head, packGqa (empty: mate's rule); then
  // rows of a tile, stages, consumers, and whether heads are packed.
  @ParameterizedTest
  @CsvSource({
    "128, 128,   1,  8,      ,  32, 2, 1, true",
    "128, 128,   4,  8,      ,  32, 2, 1, true",
    "128, 128,   5,  8,      ,  64, 2, 1, true",
    "128, 128,   8,  8,      ,  64, 2, 1, true",
    "128, 128,   9,  8,      , 128, 2, 2, true",
    "128, 128,  16,  8,      , 128, 2, 2, true",
    "128, 128,  17,  8,      , 192, 2, 3, true",
    "128, 128,  24,  8,      , 192, 2, 3, true",
    "128, 128,  25,  8,      , 256, 2, 4, true",
    "128, 128,  32,  8,      , 256, 2, 4, true",
    "128, 128,  33,  8,      ,  64, 2, 1, false",
    "128, 128, 256,  1,      , 256, 2, 4, true",
    "128, 128, 257,  1,      , 256, 2, 4, false",
    "128, 128,   1,  8, false,  32, 2, 1, false",
    "128, 128,  32,  8, false,  32, 2, 1, false",
    "128, 128,  33,  8, false,  64, 2, 1, false",
    "128, 128,  65,  8, false, 128, 2, 2, false",
    "128, 128, 129,  8, false, 192, 2, 3, false",
    "128, 128, 193,  8, false, 256, 2, 4, false",
    "128, 128, 1000, 8,  true, 256, 2, 4, true",
    "64,   64,   1,  4,      ,  32, 2, 1, true",
    "96,   80, 200,  4,      , 256, 2, 4, false",
    "192, 128,   1, 16,      ,  32, 1, 1, true",
    "192, 128, 4096, 1,      , 256, 1, 4, false",
    "256, 256,   1,  8,      ,  32, 2, 1, true",
    "256, 256,  32,  8,      ,  32, 2, 1, true",
    "256, 256,  33,  8,      , 192, 1, 3, false",
    "256, 256,   1,  8, false, 192, 1, 3, false",
    "384, 384,   1,  8,      ,  64, 1, 1, true",
    "384, 384, 999,  8,      ,  64, 1, 1, false",
    "512, 512,   1,  8,      ,  32, 1, 1, true",
    "512, 512, 999,  8,      ,  32, 1, 1, false"
  })
  void shouldChooseTheTileOfMate(
      int qk,
      int v,
      int queries,
      int ratio,
      Boolean pack,
      int tileM,
      int stages,
      int consumers,
      boolean packed) {
    FmhaTiling tiling =
        FmhaConfig.builder()
            .heads(ratio, 1)
            .headDims(qk, v)
            .queries(Queries.RAGGED, queries)
            .keys(Keys.RAGGED, 4096)
            .packGqa(pack)
            .build()
            .tiling();
    assertThat(tiling)
        .isEqualTo(
            new FmhaTiling(
                tileM,
                64,
                stages,
                stages,
                FmhaTiling.rounded(qk),
                FmhaTiling.rounded(v),
                consumers,
                packed));
  }

  @ParameterizedTest
  @CsvSource({
    "1, 64",
    "64, 64",
    "65, 128",
    "128, 128",
    "129, 192",
    "192, 192",
    "193, 256",
    "256, 256",
    "257, 384",
    "384, 384",
    "385, 512",
    "512, 512"
  })
  void shouldRoundHeadDimensionsUp(int dim, int rounded) {
    assertThat(FmhaTiling.rounded(dim)).isEqualTo(rounded);
  }

  @ParameterizedTest
  @CsvSource({"192, 192", "128, 64", "64, 128", "0, 64", "513, 513", "192, 256", "256, 128"})
  void shouldRefuseHeadDimensionsWithoutAKernel(int qk, int v) {
    assertThatThrownBy(() -> FmhaConfig.builder().headDims(qk, v).build())
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(qk + "/" + v);
  }

  // Columns: queries, keys, causal, window, chunk; then causal, local, left, right.
  @ParameterizedTest
  @CsvSource({
    " 10,  50, false,  -1,  -1,  0, false, false, 49, 9",
    " 10,  50,  true,  -1,  -1,  0,  true, false, 49, 0",
    " 10,  50, false,  -1,   0,  0,  true, false, 49, 0",
    "  1,  50, false,  -1,   0,  0, false, false, 49, 0",
    "  1,  50,  true,  -1,  -1,  0,  true, false, 49, 0",
    " 10,  50,  true,   7,  -1,  0, false,  true,  7, 0",
    " 10,  50,  true,  49,  -1,  0,  true, false, 49, 0",
    " 10,  50,  true,  48,  -1,  0, false,  true, 48, 0",
    " 10,  50, false,   7,   9,  0, false,  true,  7, 9",
    " 10,  50, false,   7,   8,  0, false,  true,  7, 8",
    " 10,  50, false,  -1,   3,  0, false,  true, 49, 3",
    " 10,  50,  true,  -1,  -1, 16, false,  true, 15, 0",
    " 10,  50, false,   7,  -1, 16, false,  true,  7, 9"
  })
  void shouldResolveMasks(
      int queries,
      int keys,
      boolean causal,
      int left,
      int right,
      int chunk,
      boolean isCausal,
      boolean isLocal,
      int resolvedLeft,
      int resolvedRight) {
    assertThat(
            FmhaConfig.builder()
                .queries(Queries.RAGGED, queries)
                .keys(Keys.RAGGED, keys)
                .causal(causal)
                .window(left, right)
                .attentionChunk(chunk)
                .build()
                .mask())
        .isEqualTo(new FmhaMask(isCausal, isLocal, resolvedLeft, resolvedRight, chunk));
  }

  @Test
  void shouldIgnoreAChunkOverAWholeDenseBatch() {
    FmhaConfig.Builder dense =
        FmhaConfig.builder().queries(Queries.DENSE, 10).keys(Keys.DENSE, 50).causal(true);
    assertThat(dense.attentionChunk(50).build().mask().causal()).isTrue();
    assertThat(dense.attentionChunk(49).build().mask().local()).isTrue();
    assertThat(dense.keys(Keys.PADDED, 50).attentionChunk(50).build().mask().local()).isTrue();
  }

  @Test
  void shouldNameMetadataKernels() {
    assertThat(pagedDecode().build().names().metadata())
        .isEqualTo("fmha_get_metadata_8x1_ragged_q_padded_k_causal_packgqa");
    assertThat(pagedDecode().batch(31).build().names().warps()).isEqualTo(1);
    assertThat(pagedDecode().batch(32).build().names().warps()).isEqualTo(2);
    assertThat(pagedDecode().batch(5000).build().names().warps()).isEqualTo(32);
    assertThat(
            pagedDecode()
                .batch(100)
                .queries(Queries.DENSE, 3)
                .keys(Keys.RAGGED, 500)
                .causal(false)
                .packGqa(false)
                .build()
                .names()
                .metadata())
        .isEqualTo("fmha_get_metadata_8x4_ragged_k");
    assertThat(
            pagedDecode()
                .queries(Queries.PADDED, 3)
                .keys(Keys.DENSE, 500)
                .window(9, -1)
                .build()
                .names()
                .metadata())
        .isEqualTo("fmha_get_metadata_8x1_padded_q_local_packgqa");
  }

  @ParameterizedTest
  @CsvSource({"1, 16", "16, 16", "17, 32", "32, 32", "33, 64", "64, 64", "65, 128", "128, 128"})
  void shouldNameCombineKernels(int splits, int bound) {
    assertThat(pagedDecode().build().names().combine(splits))
        .isEqualTo("fmha_fwd_combine_bf16_16x64x" + bound + "_ragged_q");
    assertThat(
            pagedDecode()
                .dtype(DType.F16)
                .queries(Queries.DENSE, 1)
                .build()
                .names()
                .combine(splits))
        .isEqualTo("fmha_fwd_combine_f16_16x64x" + bound);
    assertThat(pagedDecode().queries(Queries.PADDED, 1).build().names().combine(splits))
        .isEqualTo("fmha_fwd_combine_bf16_16x64x" + bound + "_padded_q");
  }

  @Test
  void shouldRefuseWhatMakesNoSense() {
    assertRefused(pagedDecode().heads(6, 4), "no multiple");
    assertRefused(pagedDecode().dtype(DType.F32), "F32");
    assertRefused(pagedDecode().metadata(false).numSplits(2), "without scheduler metadata");
    assertRefused(pagedDecode().numSplits(129), "129 splits");
    assertRefused(pagedDecode().queries(Queries.RAGGED, 0), "0 queries");
    assertRefused(pagedDecode().softcap(-1), "softcap");
    assertRefused(pagedDecode().keys(Keys.PAGED, 64), "page size of 0");
    assertThatThrownBy(() -> pagedDecode().build().names().combine(129))
        .isInstanceOf(IllegalArgumentException.class);
  }

  private static void assertRefused(FmhaConfig.Builder builder, String text) {
    assertThatThrownBy(builder::build)
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(text);
  }

  @Test
  void shouldChooseTheBackendOfMate() {
    FmhaConfig ragged = raggedPrefill().headDims(128, 128).build();
    assertThat(Backend.AUTO.resolve(ragged)).isEqualTo(Backend.MUBIN);
    assertThat(Backend.MUTLASS.resolve(ragged)).isEqualTo(Backend.MUTLASS);
    assertMutlass(ragged.toBuilder().headDims(256, 256), "256/256");
    assertMutlass(ragged.toBuilder().window(100, -1), "window");
    assertMutlass(ragged.toBuilder().softcap(30), "softcap");
    assertMutlass(ragged.toBuilder().keys(Keys.DENSE, 100), "ragged");
    assertMutlass(ragged.toBuilder().keys(Keys.PADDED, 100), "seqused");
    assertMutlass(pagedDecode(), "paged");
    assertThat(Backend.AUTO.resolve(ragged.toBuilder().headDims(192, 128).build()))
        .isEqualTo(Backend.MUBIN);
    assertThat(
            Backend.AUTO.resolve(
                ragged.toBuilder().queries(Queries.DENSE, 9).keys(Keys.DENSE, 9).build()))
        .isEqualTo(Backend.MUBIN);
  }

  private static void assertMutlass(FmhaConfig.Builder builder, String reason) {
    FmhaConfig config = builder.build();
    assertThat(Backend.AUTO.resolve(config)).isEqualTo(Backend.MUTLASS);
    assertThatThrownBy(() -> Backend.MUBIN.resolve(config))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(reason);
  }
}
