package io.musabench.jmh.cli;

import io.musabench.results.devices.DataSheet;
import io.musabench.results.tpot.answers.WhatIf;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code musabench tpot what-if}. */
@Command(
    name = "what-if",
    mixinStandardHelpOptions = true,
    description =
        "The same service on another device: each operation keeps the share of its roof that it"
            + " has in the kernel times, the roofs are those of the data sheets, launching costs the"
            + " host the same. All of it is predicted. Without --kernels every operation is taken to"
            + " reach --utilisation of its roof.")
final class TpotWhatIfCommand extends Answer {
  @Mixin private TpotOptions options;

  @Mixin private TpotOptions.Loads loads;

  @Option(
      names = "--from",
      paramLabel = "DEVICE",
      required = true,
      description = "device, or its data sheet")
  private String from;

  @Option(
      names = "--to",
      paramLabel = "DEVICE",
      required = true,
      description = "device, or its data sheet")
  private String to;

  @Mixin private SweepOption sweep;

  @Option(
      names = "--utilisation",
      paramLabel = "SHARE",
      description =
          "without --kernels: share of its roof that every operation reaches; 0.75 by default")
  private Double utilisation;

  @Override
  String answer(boolean json) {
    if (utilisation != null && !options.kernels.isEmpty()) {
      throw new IllegalArgumentException(
          "--utilisation has no effect with --kernels: there each operation keeps its own");
    }
    WhatIf answer =
        new WhatIf(
            options.request(),
            options.source(),
            utilisation == null ? 0.75 : utilisation,
            DataSheet.find(from),
            DataSheet.find(to),
            loads.of(sweep.values()));
    return json ? answer.json() : answer.text();
  }
}
