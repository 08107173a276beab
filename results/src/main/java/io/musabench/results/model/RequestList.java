package io.musabench.results.model;

import io.musabench.results.model.BatchSpec.Request;
import java.util.AbstractList;
import java.util.Arrays;
import java.util.Collection;
import java.util.RandomAccess;
import java.util.function.Predicate;

/**
 * The requests of a batch, neighbouring equal ones stored once: a decode of 256 equal requests
 * costs no more to make, compare or add up than one of two. Immutable.
 */
final class RequestList extends AbstractList<Request> implements RandomAccess {
  private final Request[] runs;

  /** Index behind the last request of each run. */
  private final int[] ends;

  private final int hash;
  private final long totalQ;
  private final long totalKv;

  private RequestList(Request[] runs, int[] ends) {
    this.runs = runs;
    this.ends = ends;
    int hash = 1;
    long q = 0;
    long kv = 0;
    for (int i = 0; i < runs.length; i++) {
      int count = count(i);
      hash = appendHash(hash, runs[i].hashCode(), count);
      q += (long) count * runs[i].qLen();
      kv += (long) count * runs[i].kvLen();
    }
    this.hash = hash;
    this.totalQ = q;
    this.totalKv = kv;
  }

  /**
   * {@code hash = 31 * hash + element}, {@code count} times, as {@link java.util.List#hashCode}
   * defines it: the step is a linear map, so it is squared instead of repeated.
   */
  private static int appendHash(int hash, int element, int count) {
    int factor = 31;
    int constant = element;
    int result = hash;
    for (int left = count; left > 0; left >>= 1) {
      if ((left & 1) == 1) {
        result = factor * result + constant;
      }
      constant = factor * constant + constant;
      factor *= factor;
    }
    return result;
  }

  static RequestList repeated(Request request, int count) {
    return new RequestList(new Request[] {request}, new int[] {count});
  }

  static RequestList copyOf(Collection<Request> requests) {
    if (requests instanceof RequestList list) {
      return list;
    }
    Request[] runs = new Request[requests.size()];
    int[] ends = new int[requests.size()];
    int used = 0;
    int index = 0;
    for (Request r : requests) {
      index++;
      if (used == 0 || !runs[used - 1].equals(r)) {
        runs[used++] = r;
      }
      ends[used - 1] = index;
    }
    return new RequestList(Arrays.copyOf(runs, used), Arrays.copyOf(ends, used));
  }

  /** This list and then the other. */
  RequestList plus(RequestList other) {
    if (runs.length == 0 || other.runs.length == 0) {
      return runs.length == 0 ? other : this;
    }
    // Two equal neighbours become one run, as everywhere.
    int joined = runs[runs.length - 1].equals(other.runs[0]) ? 1 : 0;
    int length = runs.length + other.runs.length - joined;
    Request[] allRuns = Arrays.copyOf(runs, length);
    int[] allEnds = Arrays.copyOf(ends, length);
    for (int i = 0; i < other.runs.length; i++) {
      allRuns[runs.length - joined + i] = other.runs[i];
      allEnds[runs.length - joined + i] = size() + other.ends[i];
    }
    return new RequestList(allRuns, allEnds);
  }

  /** The requests that fit, in order. */
  RequestList only(Predicate<Request> fits) {
    RequestList found = new RequestList(new Request[0], new int[0]);
    for (int i = 0; i < runs.length; i++) {
      if (fits.test(runs[i])) {
        found = found.plus(repeated(runs[i], count(i)));
      }
    }
    return found;
  }

  /** Number of runs of equal requests. */
  int runs() {
    return runs.length;
  }

  /** The request that run {@code i} repeats. */
  Request run(int i) {
    return runs[i];
  }

  /** Length of run {@code i}. */
  int count(int i) {
    return i == 0 ? ends[0] : ends[i] - ends[i - 1];
  }

  long totalQ() {
    return totalQ;
  }

  long totalKv() {
    return totalKv;
  }

  @Override
  public Request get(int index) {
    if (index < 0 || index >= size()) {
      throw new IndexOutOfBoundsException(index);
    }
    int at = Arrays.binarySearch(ends, index + 1);
    return runs[at >= 0 ? at : -at - 1];
  }

  @Override
  public int size() {
    return ends.length == 0 ? 0 : ends[ends.length - 1];
  }

  @Override
  public boolean equals(Object other) {
    if (other instanceof RequestList list) {
      return hash == list.hash && Arrays.equals(ends, list.ends) && Arrays.equals(runs, list.runs);
    }
    return super.equals(other);
  }

  @Override
  public int hashCode() {
    return hash;
  }
}
