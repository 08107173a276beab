package io.musabench.jmh.device;

import io.musabench.bindings.ffi.Tensor;
import io.musabench.results.model.BatchSpec;
import io.musabench.results.model.HeadGeometry;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;

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
 * @param spare pages that no request of the batch has
 */
public record PagedCache(
    BatchSpec batch,
    int pageSize,
    Tensor keys,
    Tensor values,
    Tensor pageTable,
    int[][] table,
    Tensor lengths,
    Tensor cuSeqlensQ,
    int[] spare) {

  /** Makes a cache with random content. */
  public static PagedCache create(
      Inputs inputs, BatchSpec batch, HeadGeometry heads, int pageSize) {
    return create(inputs, batch, heads, pageSize, 0);
  }

  /** Makes a cache whose values are the first part of its keys, as in latent attention. */
  static PagedCache createLatent(Inputs inputs, BatchSpec batch, HeadGeometry heads, int pageSize) {
    return create(inputs, batch, heads, pageSize, 0, true);
  }

  /**
   * As {@link #create(Inputs, BatchSpec, HeadGeometry, int)}, with spare pages.
   *
   * @param moments how many {@link #at other moments} there must be pages for
   */
  public static PagedCache create(
      Inputs inputs, BatchSpec batch, HeadGeometry heads, int pageSize, int moments) {
    return create(inputs, batch, heads, pageSize, moments, false);
  }

  private static PagedCache create(
      Inputs inputs,
      BatchSpec batch,
      HeadGeometry heads,
      int pageSize,
      int moments,
      boolean latent) {
    int[][] table = shuffledPages(batch, pageSize, inputs.random());
    int width = table[0].length;
    int used = pages(batch, pageSize);
    int pages = used + moments * ownPages(batch, pageSize);
    Tensor keys = inputs.random(1, pages, pageSize, heads.kvHeads(), heads.qkDim());
    return new PagedCache(
        batch,
        pageSize,
        keys,
        latent
            ? keys.slice(3, 0, heads.vDim())
            : inputs.random(1, pages, pageSize, heads.kvHeads(), heads.vDim()),
        inputs.ints(flat(table)).reshape(table.length, width),
        table,
        inputs.ints(batch.kvLens()),
        inputs.ints(batch.cuSeqlensQ()),
        IntStream.range(used, pages).toArray());
  }

  /** The same batch and page table over another layer's keys and values, made here. */
  public PagedCache layer(Inputs inputs) {
    return over(inputs.random(1, keys.shape()), inputs.random(1, values.shape()));
  }

  /** The same batch and page table over another layer's keys and values. */
  public PagedCache over(Tensor otherKeys, Tensor otherValues) {
    return new PagedCache(
        batch, pageSize, otherKeys, otherValues, pageTable, table, lengths, cuSeqlensQ, spare);
  }

  /**
   * The same tensors as they are used at another moment: the pages of what was there before in
   * another order, and requests that are some tokens shorter, where they have so many. {@link
   * BatchState#of} tells what has to be written into page table and lengths.
   *
   * <p>Pages that get new tokens belong to one moment alone, so a step at one moment changes
   * nothing that a step at another reads.
   *
   * @param moment from 1
   */
  public PagedCache at(int moment) {
    List<Integer> shared = new ArrayList<>();
    for (int b = 0; b < batch.size(); b++) {
      for (int i = 0; i < sharedPages(batch.requests().get(b)); i++) {
        shared.add(table[b][i]);
      }
    }
    Collections.shuffle(shared, new Random(moment));
    int next = 0;
    int own = (moment - 1) * ownPages(batch, pageSize);
    int[][] other = new int[batch.size()][table[0].length];
    List<BatchSpec.Request> requests = new ArrayList<>();
    for (int b = 0; b < other.length; b++) {
      BatchSpec.Request now = shorter(batch.requests().get(b), 1 + (5 * moment + 3 * b) % 11);
      requests.add(now);
      for (int i = 0; i < pages(now); i++) {
        other[b][i] = i < sharedPages(now) ? shared.get(next++) : spare[own++];
      }
    }
    return new PagedCache(
        new BatchSpec(requests),
        pageSize,
        keys,
        values,
        pageTable,
        other,
        lengths,
        cuSeqlensQ,
        spare);
  }

  // A request that has tokens before the new ones keeps at least one of them.
  private static BatchSpec.Request shorter(BatchSpec.Request request, int tokens) {
    int most = Math.max(0, request.kvLen() - request.qLen() - 1);
    return new BatchSpec.Request(request.qLen(), request.kvLen() - Math.min(most, tokens));
  }

  private int pages(BatchSpec.Request request) {
    return (request.kvLen() + pageSize - 1) / pageSize;
  }

  /** Pages without any new token. */
  private int sharedPages(BatchSpec.Request request) {
    return (request.kvLen() - request.qLen()) / pageSize;
  }

  /** Pages that the new tokens of all requests need, wherever in a page they begin. */
  private static int ownPages(BatchSpec batch, int pageSize) {
    return batch.requests().stream()
        .mapToInt(request -> (request.qLen() + pageSize - 1) / pageSize + 1)
        .sum();
  }

  /**
   * The same keys and values with a page table and lengths, made here, for more requests. What the
   * further ones have in them is not their own: {@link BatchState#padded} tells what to write.
   */
  public PagedCache padded(Inputs inputs, int requests) {
    BatchSpec more = batch.plus(BatchSpec.decode(requests - batch.size(), 2));
    int[][] rows = Arrays.copyOf(table, requests);
    Arrays.fill(rows, batch.size(), requests, new int[table[0].length]);
    return new PagedCache(
        more,
        pageSize,
        keys,
        values,
        inputs.ints(flat(rows)).reshape(requests, table[0].length),
        rows,
        inputs.ints(more.kvLens()),
        inputs.ints(more.cuSeqlensQ()),
        spare);
  }

  /** A page table's rows one after the other. */
  static int[] flat(int[][] table) {
    return Arrays.stream(table).flatMapToInt(Arrays::stream).toArray();
  }

  /** Tokens that the longest row of the page table has room for: what a kernel must reckon with. */
  public int capacity() {
    return Math.toIntExact(pageTable.shape(1) * pageSize);
  }

  /** Pages that hold tokens. */
  int usedPages() {
    return pages(batch, pageSize);
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
