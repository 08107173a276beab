package io.musabench.jmh.step;

/** Numbers of requests that decode graphs are captured for. */
public final class CapturedSizes {
  /** Name of vLLM's default list. */
  public static final String VLLM = "vllm";

  private static final int STEP = 8;
  private static final int COARSE_FROM = 256;
  private static final int COARSE_STEP = 16;
  private static final int MOST = 512;

  private CapturedSizes() {}

  /**
   * The size at which a batch is replayed.
   *
   * @param text {@link #VLLM} for the least of 1, 2, 4, 8, 16, 24, … 256, 272, … 512 that holds the
   *     batch, as in vLLM 0.11 and later (vllm/config, cudagraph_capture_sizes); else a number
   * @param requests requests of the batch
   * @return {@code requests} where a batch is too large for the list: no graph is captured for it
   * @throws IllegalArgumentException if it is neither, or the number holds fewer requests
   */
  public static int of(String text, int requests) {
    if (text.equals(VLLM)) {
      return vllm(requests);
    }
    int size = parse(text);
    if (size < requests) {
      throw new IllegalArgumentException(
          "a graph for %d requests cannot run %d".formatted(size, requests));
    }
    return size;
  }

  /**
   * Checks a value without a batch, and returns the number; 0 for {@link #VLLM}.
   *
   * @throws IllegalArgumentException if it is neither the name nor a number of requests
   */
  public static int parse(String text) {
    if (text.equals(VLLM)) {
      return 0;
    }
    if (!text.matches("[1-9][0-9]{0,4}")) {
      throw new IllegalArgumentException("vllm or a number of requests is wanted");
    }
    return Integer.parseInt(text);
  }

  private static int vllm(int requests) {
    if (requests > MOST) {
      return requests;
    }
    if (requests <= STEP) {
      return requests == 1 ? 1 : Integer.highestOneBit(2 * requests - 1);
    }
    int step = requests <= COARSE_FROM ? STEP : COARSE_STEP;
    return (requests + step - 1) / step * step;
  }
}
