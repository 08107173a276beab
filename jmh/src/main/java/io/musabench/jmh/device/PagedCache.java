package io.musabench.jmh.device;

import io.musabench.bindings.ffi.Tensor;
import io.musabench.results.model.BatchSpec;
import io.musabench.results.model.HeadGeometry;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;

/**
 * A paged KV cache with the page table and the lengths of one batch.
 *
 * <p>The requests' pages lie in random order all over the cache, as they do after a server has run
 * for a while; in order, a kernel would read memory it never gets to read so neatly.
 *
 * @param batch lengths of the requests
 * @param pageSize tokens of a page
 * @param keys X [pages, page size, kv heads, Dqk]
 * @param values X [pages, page size, kv heads, Dv]
 * @param pageTable I32 [B, pages of the longest request]
 * @param table content of {@code pageTable}
 * @param lengths I32 [B], tokens of each request, the new ones included
 * @param cuSeqlensQ I32 [B+1], where each request's queries begin
 */
public record PagedCache(
    BatchSpec batch,
    int pageSize,
    Tensor keys,
    Tensor values,
    Tensor pageTable,
    int[][] table,
    Tensor lengths,
    Tensor cuSeqlensQ) {

  /** Makes a cache with random content. */
  public static PagedCache create(
      Inputs inputs, BatchSpec batch, HeadGeometry heads, int pageSize) {
    int[][] table = shuffledPages(batch, pageSize, inputs.random());
    int width = table[0].length;
    int[] flat = new int[table.length * width];
    for (int b = 0; b < table.length; b++) {
      System.arraycopy(table[b], 0, flat, b * width, width);
    }
    int pages = pages(batch, pageSize);
    return new PagedCache(
        batch,
        pageSize,
        inputs.random(1, pages, pageSize, heads.kvHeads(), heads.qkDim()),
        inputs.random(1, pages, pageSize, heads.kvHeads(), heads.vDim()),
        inputs.ints(flat).reshape(table.length, width),
        table,
        inputs.ints(batch.kvLens()),
        inputs.ints(batch.cuSeqlensQ()));
  }

  /** The same batch and page table over another layer's keys and values. */
  public PagedCache layer(Inputs inputs) {
    return new PagedCache(
        batch,
        pageSize,
        inputs.random(1, keys.shape()),
        inputs.random(1, values.shape()),
        pageTable,
        table,
        lengths,
        cuSeqlensQ);
  }

  /** Tokens that the longest row of the page table has room for: what a kernel must reckon with. */
  public int capacity() {
    return Math.toIntExact(pageTable.shape(1) * pageSize);
  }

  /** Slot of each new token: page times page size plus place in the page. */
  public long[] newSlots() {
    long[] slots = new long[batch.totalQ()];
    int token = 0;
    for (int b = 0; b < batch.size(); b++) {
      BatchSpec.Request request = batch.requests().get(b);
      for (int i = request.kvLen() - request.qLen(); i < request.kvLen(); i++) {
        slots[token++] = (long) table[b][i / pageSize] * pageSize + i % pageSize;
      }
    }
    return slots;
  }

  /** Position of each new token in its sequence. */
  public int[] newPositions() {
    int[] positions = new int[batch.totalQ()];
    int token = 0;
    for (BatchSpec.Request request : batch.requests()) {
      for (int i = request.kvLen() - request.qLen(); i < request.kvLen(); i++) {
        positions[token++] = i;
      }
    }
    return positions;
  }

  /** All vectors of one request and head out of {@code keys} or {@code values}, in order. */
  float[] gather(Tensor cache, int request, int head) {
    int length = batch.requests().get(request).kvLen();
    int dim = (int) cache.shape(3);
    float[] vectors = new float[length * dim];
    for (int first = 0; first < length; first += pageSize) {
      int count = Math.min(pageSize, length - first);
      float[] page =
          cache
              .select(0, table[request][first / pageSize])
              .slice(0, 0, count)
              .select(1, head)
              .toFloats();
      System.arraycopy(page, 0, vectors, first * dim, page.length);
    }
    return vectors;
  }

  private static int pages(BatchSpec batch, int pageSize) {
    return batch.requests().stream()
        .mapToInt(request -> (request.kvLen() + pageSize - 1) / pageSize)
        .sum();
  }

  private static int[][] shuffledPages(BatchSpec batch, int pageSize, Random random) {
    List<Integer> free = new ArrayList<>();
    for (int page = 0; page < pages(batch, pageSize); page++) {
      free.add(page);
    }
    Collections.shuffle(free, random);
    int width = (batch.maxKv() + pageSize - 1) / pageSize;
    int[][] table = new int[batch.size()][width];
    int next = 0;
    for (int b = 0; b < batch.size(); b++) {
      int used = (batch.requests().get(b).kvLen() + pageSize - 1) / pageSize;
      for (int i = 0; i < used; i++) {
        table[b][i] = free.get(next++);
      }
    }
    return table;
  }
}
