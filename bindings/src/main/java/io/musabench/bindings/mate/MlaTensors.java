package io.musabench.bindings.mate;

import io.musabench.bindings.ffi.Tensor;

/**
 * The tensors of multi-head latent attention. X is BF16 or F16; the last dimension of each is
 * contiguous. The latent part of a key is also its value.
 *
 * @param qNope X [B, Sq, H, 512], ragged [Tq, H, 512]
 * @param qPe X like qNope, with 64
 * @param ckv X [pages, 64, 512] or [pages, 64, 1, 512]
 * @param kpe X like ckv, with 64
 * @param pageTable I32 [B, pages of the longest sequence]
 * @param sequsedK I32 [B], keys of each sequence
 * @param cuSeqlensQ I32 [B+1] with ragged queries, else null
 * @param maxSeqlenQ the most queries of a sequence, with ragged queries, else null
 * @param out X like qNope
 * @param lse F32 [B, Sq, H], ragged [H, Tq]
 */
public record MlaTensors(
    Tensor qNope,
    Tensor qPe,
    Tensor ckv,
    Tensor kpe,
    Tensor pageTable,
    Tensor sequsedK,
    Tensor cuSeqlensQ,
    Integer maxSeqlenQ,
    Tensor out,
    Tensor lse) {

  /** Width of the latent part of a head. */
  public static final int LATENT = 512;

  /** Width of the rotary part of a head. */
  public static final int ROPE = 64;

  /** Tokens of a page. */
  public static final int PAGE_SIZE = 64;
}
