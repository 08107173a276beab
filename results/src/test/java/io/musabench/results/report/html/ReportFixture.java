package io.musabench.results.report.html;

import io.musabench.results.compare.Comparison;
import io.musabench.results.compare.MeasuredRun;
import io.musabench.results.devices.DataSheet;
import io.musabench.results.model.BatchSpec;
import io.musabench.results.model.Models;
import io.musabench.results.model.Operation;
import io.musabench.results.model.StepOperations;
import io.musabench.results.model.Work;
import io.musabench.results.run.CasePart;
import io.musabench.results.run.CaseResult;
import io.musabench.results.run.Conditions;
import io.musabench.results.run.Environment;
import io.musabench.results.run.Environment.DeviceInfo;
import io.musabench.results.run.GraphCosts;
import io.musabench.results.run.MedianInterval;
import io.musabench.results.run.RunDirectory;
import io.musabench.results.run.Sample;
import io.musabench.results.run.Status;
import io.musabench.results.serving.Analysis;
import io.musabench.results.serving.Definitions;
import io.musabench.results.serving.ServingFiles;
import io.musabench.results.serving.Slo;
import io.musabench.results.serving.Summary;
import io.musabench.results.tpot.Mode;
import io.musabench.results.tpot.Workload;
import io.musabench.results.tpot.answers.AnswerFile;
import io.musabench.results.tpot.answers.GraphGain;
import io.musabench.results.tpot.answers.PredictionReport;
import io.musabench.results.tpot.answers.Sensitivity;
import io.musabench.results.tpot.answers.Setup;
import io.musabench.results.tpot.answers.StepCheck;
import io.musabench.results.tpot.answers.WhatIf;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;

/** Made-up runs of everything a report can show. Their numbers are nobody's. */
final class ReportFixture {
  /** Would end a script, an element, an attribute and a cell, and would run if it became markup. */
  static final String HOSTILE =
      "</script><img src=x onerror=\"window.hacked=1\">\"'<b>&amp;{name}\u2028=1+1";

  private static final Instant START = Instant.parse("2026-01-02T03:04:05Z");

  private final Path folder;
  private final SplittableRandom random = new SplittableRandom(7);

  ReportFixture(Path folder) {
    this.folder = folder;
  }

  /** Steps, kernels, launches, roofs and failures on a device whose times are scaled. */
  Path run(String device, double scale, Map<String, String> labels) {
    return run(device, 0, scale, labels);
  }

  /** The same on one of several cards. */
  Path run(String device, int card, double scale, Map<String, String> labels) {
    List<CaseResult> cases = new ArrayList<>();
    List<Sample> samples = new ArrayList<>();
    add(cases, samples, "roof.ReadBandwidth", Map.of(), new Work(0, 1_000_000_000L), 1000 * scale);
    add(cases, samples, "roof.PeakFlops", Map.of(), new Work(200_000_000_000L, 0), 1000 * scale);
    add(cases, samples, "launch.EmptyLaunch", Map.of(), Work.NONE, 5 * scale);
    add(cases, samples, "launch.GraphReplay", Map.of("nodes", "300"), Work.NONE, 30 * scale);
    for (int tokens : new int[] {1, 8, 64, 512}) {
      add(
          cases,
          samples,
          "gemm.Gemm",
          Map.of("tokens", Integer.toString(tokens), "dtype", "bf16", "mnk", "4096x4096"),
          new Work(2L * tokens * 4096 * 4096, 2L * 4096 * 4096),
          scale * (40 + tokens));
    }
    for (String mode : List.of("eager", "graph")) {
      for (String batch : List.of("q1s1k", "8q1s1k", "32q1s1k", "q1s4k")) {
        step(cases, samples, "DecodeStep", batch, mode, scale);
      }
      step(cases, samples, "PrefillStep", "q1k", mode, scale);
    }
    cases.add(
        CaseResult.of("gemm.Gemm", Map.of("tokens", HOSTILE))
            .notOk(Status.FAILED, "wrong result: " + HOSTILE)
            .reproduce("scripts/musabench run '" + HOSTILE + "'")
            .build());
    RunDirectory run = RunDirectory.create(folder, "musa", START);
    run.saveEnvironment(
        Environment.collect("musa", START, Path.of("/"))
            .withDevice(new DeviceInfo(device, "MUSA", card, 56, 80L << 30, "3.3.0", "4.2.0"))
            .withVersions(labels)
            .withWarnings(List.of("a warning " + HOSTILE)));
    run.saveSamples(samples);
    run.saveCases(cases);
    return run.path();
  }

  private void step(
      List<CaseResult> cases,
      List<Sample> samples,
      String name,
      String batch,
      String mode,
      double scale) {
    StepOperations step =
        StepOperations.of(Models.find("Qwen3-0.6B").layout(1), BatchSpec.parse(batch), 16);
    List<CasePart> parts = new ArrayList<>();
    double sum = 0;
    for (Operation op : step.summary()) {
      Work work = op.call().work(2);
      double us = scale * Math.max(1, Math.max(work.bytes() / 1e6, work.flops() / 200e6) / 0.8);
      parts.add(
          new CasePart(op.role(), op.call().kernel(), op.call().shape(), op.count(), work, us));
      sum += op.count() * us;
    }
    Map<String, String> params = new TreeMap<>();
    params.put("model", "Qwen3-0.6B");
    params.put("tp", "1");
    params.put("batch", batch);
    params.put("mode", mode);
    double us = sum * (mode.equals("eager") ? 1.4 : 1.02);
    CaseResult c =
        CaseResult.of("step." + name, params)
            .deviceTimesUs(new double[] {0.99 * us, us, 1.02 * us})
            .submitTimeMedianUs(mode.equals("eager") ? 900 : 12)
            .forks(4)
            .kernels(284)
            .parts(parts)
            .graphCosts(mode.equals("graph") ? graphCosts(sum) : GraphCosts.UNKNOWN)
            .reproduce("scripts/musabench run " + name + " -p batch=" + batch + " -p mode=" + mode)
            .build();
    cases.add(c);
    samples(samples, c, us);
  }

  private static GraphCosts graphCosts(double us) {
    GraphCosts.Spans eager = new GraphCosts.Spans(1.4 * us, 1.5 * us, 900);
    GraphCosts.Spans graph = new GraphCosts.Spans(us, 1.1 * us, 12);
    return new GraphCosts(
        eager,
        graph,
        new MedianInterval(0.4 * us, 0.3 * us, 0.5 * us),
        2000,
        1000,
        100,
        graph,
        20,
        0,
        GraphCosts.Spans.UNKNOWN);
  }

  private void add(
      List<CaseResult> cases,
      List<Sample> samples,
      String benchmark,
      Map<String, String> params,
      Work work,
      double us) {
    CaseResult c =
        CaseResult.of(benchmark, params)
            .deviceTimesUs(new double[] {0.99 * us, us, 1.02 * us})
            .hostTimeMedianUs(1.2 * us)
            .submitTimeMedianUs(3)
            .forks(4)
            .work(work)
            .conditions(Conditions.UNKNOWN.withOtherWork(30, 0, HOSTILE))
            .reproduce("scripts/musabench run " + benchmark)
            .build();
    cases.add(c);
    samples(samples, c, us);
  }

  private void samples(List<Sample> samples, CaseResult c, double us) {
    for (int fork = 1; fork <= 4; fork++) {
      for (int i = 0; i < 30; i++) {
        double ns = 1e3 * us * Math.exp(0.002 * random.nextGaussian());
        samples.add(new Sample(c.id(), Sample.DEVICE_TIME, fork, 1, i, ns, "ns/op"));
        samples.add(
            new Sample(
                c.id(), Sample.DEVICE_CLOCK, fork, 1, i, 1700 + 5 * random.nextDouble(), "MHz"));
      }
    }
  }

  /** Steps with a batch that nobody can read and with ranks that are no number. */
  Path oddSteps() {
    List<CaseResult> cases = new ArrayList<>();
    for (String mode : List.of("eager", "graph")) {
      for (Map<String, String> odd :
          List.of(Map.of("batch", "zzz", "tp", "1"), Map.of("batch", "q1s1k", "tp", "abc"))) {
        Map<String, String> params = new TreeMap<>(odd);
        params.put("model", "Qwen3-0.6B");
        params.put("mode", mode);
        cases.add(
            CaseResult.of("step.DecodeStep", params)
                .deviceTimesUs(new double[] {99, 100, 102})
                .parts(List.of(new CasePart("o", "gemm", "m=1 n=8 k=8", 1, new Work(1, 1), 1)))
                .build());
      }
    }
    RunDirectory run = RunDirectory.create(folder, "musa", START);
    run.saveEnvironment(
        Environment.collect("musa", START, Path.of("/"))
            .withDevice(new DeviceInfo("MTT S5000", "MUSA", 0, 56, 80L << 30, "3.3.0", "4.2.0")));
    run.saveSamples(List.of());
    run.saveCases(cases);
    return run.path();
  }

  /** A run of so many cases with three samples each. */
  Path manyCases(int count) {
    List<CaseResult> cases = new ArrayList<>();
    List<Sample> samples = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      double us = 10 + i % 977;
      CaseResult c =
          CaseResult.of(
                  i % 2 == 0 ? "gemm.Gemm" : "attention.PagedDecode",
                  Map.of("number", Integer.toString(i), "dtype", "bf16", "cache", "cold"))
              .deviceTimesUs(new double[] {0.99 * us, us, 1.02 * us})
              .forks(1)
              .work(new Work(1_000_000L * (1 + i % 313), 1_000_000L))
              .reproduce("scripts/musabench run Gemm -p number=" + i)
              .build();
      cases.add(c);
      for (int s = 0; s < 30; s++) {
        samples.add(new Sample(c.id(), Sample.DEVICE_TIME, 1, 1, s, 1e3 * us + s, "ns/op"));
      }
    }
    RunDirectory run = RunDirectory.create(folder, "musa", START);
    run.saveEnvironment(
        Environment.collect("musa", START, Path.of("/"))
            .withDevice(new DeviceInfo("MTT S5000", "MUSA", 0, 56, 80L << 30, "3.3.0", "4.2.0")));
    run.saveSamples(samples);
    run.saveCases(cases);
    return run.path();
  }

  /** Records of a service in our own format, in a file with a name of its own. */
  List<Summary> serving(String file) throws IOException {
    StringBuilder lines = new StringBuilder();
    for (int i = 0; i < 60; i++) {
      double first = 200 + 10 * (i % 13);
      StringBuilder events = new StringBuilder();
      for (int token = 0; token < 8; token++) {
        events.append(token == 0 ? "" : ",");
        events.append(
            String.format(Locale.ROOT, "[%.3f,1,\"content\"]", first + token * (20 + i % 5)));
      }
      lines.append(
          String.format(
              Locale.ROOT,
              "{\"schema\":\"musabench.request/1\",\"start_ns\":%d,\"status\":\"ok\","
                  + "\"end_ms\":%.3f,\"events\":[%s],\"input_tokens\":128,\"output_tokens\":8}%n",
              1_000_000_000L + i * 50_000_000L,
              first + 7 * (20 + i % 5) + 1,
              events));
    }
    Path path = folder.resolve(file);
    Files.writeString(path, lines);
    return new Analysis(Definitions.COURSE, Slo.of(260, 50), Map.of())
        .of(ServingFiles.read(path, null));
  }

  /** What tpot answers on the kernels of a run, in files. */
  List<AnswerFile> answers(Path run) throws IOException {
    Setup.Request request = new Setup.Request();
    request.model = "Qwen3-0.6B";
    request.kernels = List.of(run);
    Setup graph = Setup.open(request);
    List<Workload> loads = List.of(new Workload(1, 512, 128), new Workload(16, 512, 128));
    List<AnswerFile> files = new ArrayList<>();
    files.add(
        answer(
            HOSTILE.replace("/", ""),
            new PredictionReport(graph, loads, List.of(BatchSpec.parse("4q1s1k"))).json()));
    files.add(answer("sensitivity.json", new Sensitivity(graph, loads, -0.2).json()));
    Path measured = folder.resolve("served.csv");
    Files.writeString(
        measured,
        "model,tp,isl,osl,concurrency,ttft_ms,tpot_ms\nQwen3-0.6B,1,512,128,1,9,2.5\n"
            + "Qwen3-0.6B,1,512,128,8,,0.0001\nQwen3-0.6B,1,512,128,16,20,4\n");
    files.add(answer("validate.json", Setup.validate(request, measured).json()));
    StepCheck.Round round = new StepCheck.Round(List.of(run), List.of(run));
    files.add(answer("check.json", new StepCheck(List.of(round), StepCheck.Limits.AIM).json()));
    DataSheet from = DataSheet.find("S5000");
    DataSheet to = DataSheet.find("S4000");
    files.add(answer("what-if.json", new WhatIf(request, null, 0.75, from, to, loads).json()));
    request.mode = Mode.EAGER;
    Setup eager = Setup.open(request);
    files.add(
        answer("gain.json", new GraphGain(eager, graph, List.of(1, 8), 576, Double.NaN).json()));
    return files;
  }

  private AnswerFile answer(String name, String json) throws IOException {
    return AnswerFile.read(Files.writeString(folder.resolve(name), json));
  }

  /** Everything at once. */
  HtmlReport full() throws IOException {
    Path base = run("MTT S5000", 1, Map.of());
    Path candidate = run("MTT S5000", 1.05, Map.of(HOSTILE, HOSTILE));
    Path other = run("MTT S4000", 3, Map.of());
    Comparison comparison =
        Comparison.of(
            MeasuredRun.read(base), MeasuredRun.read(candidate), Comparison.Options.DEFAULT);
    HtmlReport report = new HtmlReport(List.of(candidate, other));
    report
        .at(START)
        .comparison(comparison, List.of("musabench", "compare", "A", "B"))
        .predict(List.of(new Workload(1, 1024, 256), new Workload(8, 1024, 256)))
        .serving(serving("plain.jsonl"), List.of("musabench", "serving", "plain.jsonl"))
        .serving(serving("<img src=x onerror=hacked>.jsonl"), List.of("musabench", "serving", "x"))
        .command(List.of("musabench", "report", "A", "B"));
    answers(base).forEach(report::answer);
    return report;
  }
}
