package io.musabench.results.model;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import java.util.function.ToDoubleFunction;
import java.util.function.ToIntFunction;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The requests of one step, in vLLM's batch-spec notation.
 *
 * <p>Segments joined by {@code _}; each is {@code [count]q<q_len>[k][s<kv_len>[k]]}, where {@code
 * k} multiplies by 1024 and a missing {@code s} part means that the KV length equals the query
 * length. The KV length always <em>includes</em> the query's own tokens:
 *
 * <ul>
 *   <li>{@code q2k}: one prefill of 2048 tokens
 *   <li>{@code 64q1s4k}: 64 decodes, each over 4096 tokens
 *   <li>{@code 2q1ks4k}: two chunks of 1024 tokens after 3072 cached ones
 *   <li>{@code 4q1k_16q1s2k}: prefills and decodes in one step
 * </ul>
 *
 * @param requests in the order of the batch; at least one
 */
public record BatchSpec(List<Request> requests) {
  /** More than any server runs at once; a larger count is a typing mistake. */
  private static final int MAX_REQUESTS = 1 << 20;

  private static final Pattern SEGMENT =
      Pattern.compile("(\\d{1,7})?q(\\d{1,9})(k?)(?:s(\\d{1,9})(k?))?");

  private static final String RIGHT_FORM =
      "; right forms are q2k (prefill), 64q1s4k (decode), 2q1ks4k (chunk), 4q1k_16q1s2k (mixed)";

  /**
   * One request of a step.
   *
   * @param qLen tokens computed in this step; at least 1
   * @param kvLen tokens attended to, the new ones included; at least {@code qLen}
   */
  public record Request(int qLen, int kvLen) {
    /**
     * Checks the lengths.
     *
     * @throws IllegalArgumentException if {@code 1 <= qLen <= kvLen} does not hold
     */
    public Request {
      if (qLen < 1) {
        throw new IllegalArgumentException("a request needs at least 1 query token, not " + qLen);
      }
      if (kvLen < qLen) {
        throw new IllegalArgumentException(
            "the KV length "
                + kvLen
                + " is shorter than the query length "
                + qLen
                + " that it includes");
      }
    }

    /** One new token over what is cached. */
    public boolean isDecode() {
      return qLen == 1 && kvLen > 1;
    }

    /** Nothing cached before this step. */
    public boolean isPrefill() {
      return qLen == kvLen;
    }
  }

  /**
   * Copies the list.
   *
   * @throws IllegalArgumentException if it is empty, or has 2<sup>31</sup> query tokens or more
   */
  public BatchSpec {
    RequestList list = RequestList.copyOf(requests);
    if (list.isEmpty()) {
      throw new IllegalArgumentException("A batch needs at least one request" + RIGHT_FORM);
    }
    if (list.totalQ() > Integer.MAX_VALUE) {
      throw new IllegalArgumentException(
          "A batch of " + list.totalQ() + " query tokens is too large" + RIGHT_FORM);
    }
    requests = list;
  }

  /** {@code count} prefills of {@code tokens} tokens each. */
  public static BatchSpec prefill(int count, int tokens) {
    return uniform(count, tokens, tokens);
  }

  /** {@code count} decodes, each over {@code context} tokens including the new one. */
  public static BatchSpec decode(int count, int context) {
    return uniform(count, 1, context);
  }

  /** {@code count} equal requests. */
  public static BatchSpec uniform(int count, int qLen, int kvLen) {
    Request request = new Request(qLen, kvLen);
    if (count < 1 || count > MAX_REQUESTS) {
      requireCount(count, 0, count + "q" + qLen + "s" + kvLen);
    }
    return new BatchSpec(RequestList.repeated(request, count));
  }

  /**
   * Reads a batch spec.
   *
   * @throws IllegalArgumentException that shows the wrong segment and right forms
   */
  public static BatchSpec parse(String text) {
    List<Request> list = new ArrayList<>();
    // -1 keeps empty segments, so that a stray or trailing underscore is an error.
    for (String segment : text.split("_", -1)) {
      Matcher m = SEGMENT.matcher(segment);
      if (!m.matches()) {
        throw new IllegalArgumentException(
            "Batch spec \"" + text + "\": cannot read \"" + segment + "\"" + RIGHT_FORM);
      }
      int count = m.group(1) == null ? 1 : Integer.parseInt(m.group(1));
      int q = length(text, m.group(2), m.group(3));
      int kv = m.group(4) == null ? q : length(text, m.group(4), m.group(5));
      Request request;
      try {
        request = new Request(q, kv);
      } catch (IllegalArgumentException e) {
        throw new IllegalArgumentException(
            "Batch spec \"" + text + "\": in \"" + segment + "\" " + e.getMessage() + RIGHT_FORM,
            e);
      }
      append(list, count, request, text);
    }
    return new BatchSpec(list);
  }

  private static int length(String text, String digits, String k) {
    long value = Long.parseLong(digits) * (k.isEmpty() ? 1 : 1024);
    if (value > Integer.MAX_VALUE) {
      throw new IllegalArgumentException(
          "Batch spec \"" + text + "\": the length " + digits + k + " is too large" + RIGHT_FORM);
    }
    return (int) value;
  }

  private static void append(List<Request> list, int count, Request request, String text) {
    requireCount(count, list.size(), text);
    for (int i = 0; i < count; i++) {
      list.add(request);
    }
  }

  private static void requireCount(int count, int before, String text) {
    if (count < 1 || before + (long) count > MAX_REQUESTS) {
      throw new IllegalArgumentException(
          "Batch spec \""
              + text
              + "\": the number of requests must lie between 1 and "
              + MAX_REQUESTS
              + RIGHT_FORM);
    }
  }

  /** The requests of this batch, then those of the other. */
  public BatchSpec plus(BatchSpec other) {
    if (size() + (long) other.size() > MAX_REQUESTS) {
      requireCount(other.size(), size(), this + "_" + other);
    }
    return new BatchSpec(list().plus(other.list()));
  }

  /**
   * The requests that fit, in order.
   *
   * @throws IllegalArgumentException if none does
   */
  public BatchSpec only(Predicate<Request> fits) {
    return new BatchSpec(list().only(fits));
  }

  /** Number of requests. */
  public int size() {
    return requests.size();
  }

  /** Query tokens of all requests: the rows of every GEMM but the last. */
  public int totalQ() {
    return (int) list().totalQ();
  }

  /** KV tokens of all requests. */
  public long totalKv() {
    return list().totalKv();
  }

  /** Longest query. */
  public int maxQ() {
    return max(Request::qLen);
  }

  /** Longest KV length. */
  public int maxKv() {
    return max(Request::kvLen);
  }

  private int max(ToIntFunction<Request> length) {
    int longest = 0;
    for (int i = 0; i < list().runs(); i++) {
      longest = Math.max(longest, length.applyAsInt(list().run(i)));
    }
    return longest;
  }

  /** The constructor made it one. */
  RequestList list() {
    return (RequestList) requests;
  }

  /** Query lengths, in order. */
  public int[] qLens() {
    return requests.stream().mapToInt(Request::qLen).toArray();
  }

  /** KV lengths, in order. */
  public int[] kvLens() {
    return requests.stream().mapToInt(Request::kvLen).toArray();
  }

  /** Prefix sums of the query lengths, from 0 to {@link #totalQ}: {@code size() + 1} numbers. */
  public int[] cuSeqlensQ() {
    int[] sums = new int[size() + 1];
    for (int i = 0; i < size(); i++) {
      sums[i + 1] = Math.addExact(sums[i], requests.get(i).qLen());
    }
    return sums;
  }

  /** Whether all requests are equal. */
  public boolean isUniform() {
    return list().runs() == 1;
  }

  /** Whether every request is a decode. */
  public boolean isDecode() {
    return all(Request::isDecode);
  }

  /** Whether every request is a prefill with nothing cached. */
  public boolean isPrefill() {
    return all(Request::isPrefill);
  }

  /** Whether some requests are decodes and others are not. */
  public boolean isMixed() {
    return !isDecode() && !all(r -> !r.isDecode());
  }

  /** The same new tokens with nothing cached before them. */
  public BatchSpec withoutCached() {
    return map(r -> new Request(r.qLen(), r.qLen()));
  }

  /** One new token each over the same KV lengths. */
  public BatchSpec asDecode() {
    return map(r -> new Request(1, r.kvLen()));
  }

  private BatchSpec map(UnaryOperator<Request> change) {
    return isUniform()
        ? new BatchSpec(RequestList.repeated(change.apply(list().run(0)), size()))
        : new BatchSpec(requests.stream().map(change).toList());
  }

  /** Sum over all requests; equal neighbours are asked once. */
  public double sum(ToDoubleFunction<Request> value) {
    double sum = 0;
    for (int i = 0; i < list().runs(); i++) {
      sum += list().count(i) * value.applyAsDouble(list().run(i));
    }
    return sum;
  }

  private boolean all(Predicate<Request> test) {
    for (int i = 0; i < list().runs(); i++) {
      if (!test.test(list().run(i))) {
        return false;
      }
    }
    return true;
  }

  /**
   * The shortest text that {@link #parse} reads back as this batch: neighbouring equal requests are
   * counted, whole multiples of 1024 end in {@code k}.
   */
  @Override
  public String toString() {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < list().runs(); i++) {
      Request r = list().run(i);
      int count = list().count(i);
      text.append(i == 0 ? "" : "_").append(count == 1 ? "" : count);
      text.append('q').append(print(r.qLen()));
      if (!r.isPrefill()) {
        text.append('s').append(print(r.kvLen()));
      }
    }
    return text.toString();
  }

  private static String print(int length) {
    return length % 1024 == 0 ? length / 1024 + "k" : Integer.toString(length);
  }
}
