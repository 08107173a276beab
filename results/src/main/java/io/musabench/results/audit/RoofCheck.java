package io.musabench.results.audit;

import static io.musabench.results.audit.Finding.Basis.ARITHMETIC;
import static io.musabench.results.audit.Finding.Basis.ASSUMPTION;
import static io.musabench.results.audit.Finding.Level.NOTE;
import static io.musabench.results.audit.Finding.Level.OK;
import static io.musabench.results.audit.Finding.Level.WARN;
import static io.musabench.results.audit.RowChecks.text;

import io.musabench.results.audit.RowChecks.Subject;
import io.musabench.results.devices.DataSheet;
import io.musabench.results.model.BatchSpec;
import io.musabench.results.model.ElementType;
import io.musabench.results.model.KernelCall.FusedExperts;
import io.musabench.results.model.KernelCall.Gemm;
import io.musabench.results.model.Layout;
import io.musabench.results.model.ModelConfig;
import io.musabench.results.model.ModelOperations;
import io.musabench.results.model.Operation;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * TPOT against the least time that a decode step can take on the device: weights and the batch's KV
 * cache once over the memory bus, or the FLOPs at the peak rate, whichever is longer. Of a mixture
 * of experts those that the batch is sent to count. Activations are left out of the bytes, because
 * a cache may hold them; so it is a floor for any kernel.
 */
final class RoofCheck {
  private static final String ID = "roofline";

  /** A batch of this many is not worth spelling out request by request. */
  private static final int LARGEST_BATCH = 100_000;

  private RoofCheck() {}

  static Finding of(Subject s) {
    Load load = s.load();
    double tpot = s.row().tpotMs();
    if (Double.isNaN(tpot)) {
      return Finding.skipped(ID, "TPOT is not in the table");
    }
    if (load.layout == null) {
      return Finding.skipped(ID, load.noLayout);
    }
    if (load.device == null) {
      return Finding.skipped(ID, load.noDevice);
    }
    double bandwidth = load.device.value(DataSheet.MEMORY_GB_PER_S) * 1e9;
    double peak = peak(load);
    if (Double.isNaN(bandwidth)) {
      return Finding.skipped(ID, "the bandwidth of " + load.device.name() + " is not known");
    }
    double input = Double.isNaN(load.input) ? 1 : load.input;
    double output = Double.isNaN(load.output) ? 2 : load.output;
    double context = input + output / 2;
    double batch = decodeBatch(s);
    double kv = load.layout.kvBytesPerToken(load.precision.kvCache().bytes());
    double alone = 1e3 * (weightBytes(load, 1) + context * kv) / bandwidth;
    double bytes = 1e3 * (weightBytes(load, batch) + batch * context * kv) / bandwidth;
    double floor = Math.max(bytes, 1e3 * decodeFlops(load, batch, context) / peak);
    if (Double.isNaN(floor)) {
      floor = bytes;
    }
    Map<String, Double> numbers = new LinkedHashMap<>();
    numbers.put("decode_batch", batch);
    numbers.put("floor_batch_1_ms", alone);
    numbers.put("floor_ms", floor);
    numbers.put("share_of_roof", floor / tpot);
    String setting =
        text(
            "%s on %s, %s: a step of %.0f requests at context %.0f takes at least %.3g ms"
                + " (1 request: %.3g ms)",
            load.layout, load.device.name(), load.precision, batch, context, floor, alone);
    if (tpot < alone * (1 - load.tolerance)) {
      return new Finding(
          ID,
          WARN,
          ARITHMETIC,
          setting + text("; TPOT is %.4g ms", tpot),
          "less than reading the weights once takes: another precision, more ranks, speculative"
              + " decoding or another device",
          numbers,
          List.of(tpotEdit(s, alone)));
    }
    if (tpot < floor * (1 - load.tolerance)) {
      return new Finding(
          ID,
          WARN,
          ASSUMPTION,
          setting + text("; TPOT is %.4g ms", tpot),
          "less than that batch allows, if so many requests decode at once",
          numbers,
          List.of(tpotEdit(s, floor)));
    }
    double prefill = prefillMs(load, input, peak);
    numbers.put("prefill_floor_ms", prefill);
    String share = text("; TPOT is %.4g ms, %.0f %% of that roof", tpot, 100 * floor / tpot);
    if (s.row().ttftMs() < prefill) {
      numbers.put("least_cached_share", 1 - s.row().ttftMs() / prefill);
      return new Finding(
          ID,
          NOTE,
          ARITHMETIC,
          setting + share,
          text(
              "a prefill of %.0f tokens takes at least %.3g ms, TTFT is %.4g ms: only with a"
                  + " cached prefix",
              input, prefill, s.row().ttftMs()),
          numbers,
          List.of());
    }
    return new Finding(ID, OK, ARITHMETIC, setting + share, "", numbers, List.of());
  }

  private static Edit tpotEdit(Subject s, double to) {
    String key = RowChecks.tpotKey(s);
    return new Edit(s.row().column(key), key, s.row().get(key), to);
  }

  private static double peak(Load load) {
    ElementType type = load.precision.product();
    String figure =
        switch (type) {
          case BF16 -> DataSheet.BF16_TFLOPS;
          case FP16 -> DataSheet.FP16_TFLOPS;
          case FP8 -> DataSheet.FP8_TFLOPS;
          case FP32 -> DataSheet.FP32_TFLOPS;
        };
    return load.device.value(figure) * 1e12;
  }

  /**
   * Requests that decode at once: by Little's law from the rate, or from the concurrency where the
   * table has no rate; 1 where it has neither.
   */
  private static double decodeBatch(Subject s) {
    double byRate = s.requestsPerS() * s.decodingS();
    double byClients = s.concurrency() * s.decodingS() / s.endToEndS();
    double batch = Double.isNaN(byRate) ? byClients : byRate;
    return Double.isNaN(batch) ? 1 : Math.max(1, batch);
  }

  private static double weightBytes(Load load, double batch) {
    Layout layout = load.layout;
    ModelConfig model = layout.model();
    double head = (double) layout.vocabSize() * model.hiddenSize();
    double rest = layout.streamedParameters() - head;
    if (model.isMoe()) {
      int experts = model.moe().experts();
      FusedExperts layer =
          new FusedExperts(
              (int) Math.min(LARGEST_BATCH, batch),
              model.hiddenSize(),
              layout.ffnSize(),
              experts,
              model.moe().expertsPerToken());
      double expert = 3.0 * layer.hidden() * layer.ffn();
      rest -= model.layers() * (experts - layer.touched()) * expert;
    }
    return rest * load.precision.weights().bytes() + head * load.precision.activations().bytes();
  }

  private static double decodeFlops(Load load, double batch, double context) {
    int n = (int) Math.min(LARGEST_BATCH, Math.round(batch));
    int length = (int) Math.min(load.layout.model().maxPositions(), Math.max(2, context));
    return flops(load, BatchSpec.decode(n, length));
  }

  private static double prefillMs(Load load, double input, double peak) {
    if (Double.isNaN(load.input)) {
      return Double.NaN;
    }
    int length = (int) Math.min(load.layout.model().maxPositions(), input);
    return 1e3 * flops(load, BatchSpec.prefill(1, length)) / peak;
  }

  private static double flops(Load load, BatchSpec batch) {
    double sum = 0;
    for (Operation op : ModelOperations.of(load.layout, batch, 16)) {
      boolean product = op.call() instanceof Gemm || op.call() instanceof FusedExperts;
      if (product || op.role().startsWith("attention")) {
        sum += (double) op.call().work(load.precision).flops() * op.count();
      }
    }
    return sum;
  }
}
