package io.musabench.jmh.device;

import java.util.Arrays;

/**
 * What a server tells a step about its requests: the contents of the tensors that it writes before
 * each one.
 *
 * @param ids token ids, one a query token
 * @param positions position of each query token in its sequence
 * @param slots where each query token's keys and values go; negative for nowhere
 * @param pageTable pages of each request, rows of equal width one after the other
 * @param lengths tokens of each request, the new ones included
 */
public record BatchState(int[] ids, int[] positions, long[] slots, int[] pageTable, int[] lengths) {

  /** The requests of a cache with the given token ids. */
  public static BatchState of(PagedCache cache, int[] ids) {
    return new BatchState(
        ids,
        cache.newPositions(),
        cache.newSlots(),
        PagedCache.flat(cache.table()),
        cache.batch().kvLens());
  }

  /**
   * Filled up to more requests, as vLLM does it: a further request has one token that goes nowhere
   * and a length of zero. Only for requests of one query token each.
   */
  public BatchState padded(int requests) {
    int width = pageTable.length / lengths.length;
    long[] more = Arrays.copyOf(slots, requests);
    Arrays.fill(more, slots.length, requests, -1);
    return new BatchState(
        Arrays.copyOf(ids, requests),
        Arrays.copyOf(positions, requests),
        more,
        Arrays.copyOf(pageTable, requests * width),
        Arrays.copyOf(lengths, requests));
  }
}
