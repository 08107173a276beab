package io.musabench.results.report.html;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.musabench.results.devices.DataSheet;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The catalogue of sentences against the sources that write them. */
class SentencesTest {
  private static final Path CHECKOUT = Path.of("..");

  /** A call that puts a sentence in front of a reader: the file is one of {@link #WRITERS}. */
  private static final Pattern WRITES =
      Pattern.compile(
          "new Finding\\(|new Check\\(|new UnavailableException\\(|UnavailableException\\.|new WrongResultException\\("
              + "|publishDevice\\(\\w+\\.|publishHost\\(\\(");

  /** Exceptions whose text is the reason of a case or of a prediction that is missing. */
  private static final Set<String> REASONS =
      Set.of(
          "UnavailableException",
          "WrongResultException",
          "IllegalArgumentException",
          "KernelSourceException");

  /**
   * What writes sentences that a report shows, and in which methods; no method: in all of the file.
   */
  private static final Map<String, Set<String>> WRITERS = writers();

  private static Map<String, Set<String>> writers() {
    Map<String, Set<String>> all = new TreeMap<>();
    String results = "results/src/main/java/io/musabench/results/";
    put(all, results, "compare/CaseComparison");
    put(all, results, "compare/Comparison");
    put(all, results, "compare/Forks");
    put(all, results, "compare/RunDirectories", "measured");
    put(all, results, "compare/JmhJson", "measured");
    put(all, results, "compare/TimeUnit");
    put(all, results, "model/Layout", "<init>");
    put(all, results, "model/ModelConfig", "precision");
    put(all, results, "model/Models", "find");
    put(all, results, "report/Disturbances");
    put(all, results, "run/Environment", "partial");
    put(all, results, "run/MachineProbe", "warnings");
    put(all, results, "serving/Audit");
    put(all, results, "serving/Checklist");
    put(all, results, "serving/Goodput");
    put(all, results, "serving/SamePrompts");
    put(all, results, "stopping/Entropy", "unmet");
    put(all, results, "stopping/RelativeStandardError", "unmet");
    put(all, results, "stopping/SampleCount", "unmet");
    put(all, results, "stopping/StoppingRule", "unmet", "missing");
    put(all, results, "tpot/ClosedLoop");
    put(all, results, "tpot/Engine", "doesNotFit", "requireContext");
    put(all, results, "tpot/Prediction");
    put(all, results, "tpot/Validation", "line");
    put(all, results, "tpot/answers/AssumedSource", "time", "name");
    put(all, results, "tpot/answers/ValidationReport", "assumed");
    put(all, results, "tpot/answers/CarriedSource", "time", "name");
    put(
        all,
        results,
        "tpot/answers/Setup",
        "of",
        "launch",
        "launches",
        "ranks",
        "model",
        "quantised",
        "unmeasured");
    put(all, results, "tpot/answers/WhatIf", "<init>", "base", "uncertain");
    put(all, results, "tpot/kernels/Fallback");
    put(all, results, "tpot/kernels/LookupErrors", "list");
    put(all, results, "tpot/kernels/KernelTimes", "inOtherTypes");
    put(all, results, "tpot/kernels/RunReader", "open");
    put(all, results, "tpot/kernels/TableSource", "remarks");
    String jmh = "jmh/src/main/java/io/musabench/jmh/";
    put(all, jmh, "cli/CaseForks");
    put(all, jmh, "cli/CaseResults");
    put(all, jmh, "cli/ForkRunner");
    put(all, jmh, "cli/PairRunner", "measure", "note");
    put(all, jmh, "cli/RunRecord");
    put(all, jmh, "cli/SoleRun", "");
    put(all, jmh, "cli/SuiteRunner", "note");
    put(all, jmh, "device/Agreement");
    put(all, jmh, "device/CollectiveTimer");
    put(all, jmh, "device/DeviceBenchmark");
    put(all, jmh, "device/DeviceContext");
    put(all, jmh, "device/KernelCases");
    put(all, jmh, "device/KernelTimer", "check");
    put(all, jmh, "device/Libraries");
    put(all, jmh, "device/MateAttention", "mate", "note");
    put(all, jmh, "device/MlaCase", "require");
    put(all, jmh, "device/Probe", "state", "links");
    put(all, jmh, "device/ScheduledCase");
    put(all, jmh, "device/UnavailableException");
    put(all, jmh, "launch/BindingFloor");
    put(all, jmh, "launch/EmptyLaunch");
    put(all, jmh, "launch/GraphCapture");
    put(all, jmh, "launch/GraphInstantiate");
    put(all, jmh, "launch/GraphReplay");
    put(all, jmh, "step/ModelStep");
    put(all, jmh, "step/StepBenchmark");
    String bindings = "bindings/src/main/java/io/musabench/bindings/";
    put(all, bindings, "RuntimeChoice");
    put(all, bindings, "mate/Backend");
    put(all, bindings, "runtime/DeviceException");
    put(all, bindings, "mate/FmhaConfig");
    put(all, bindings, "mate/FmhaNames", "combineSplits");
    put(all, bindings, "mate/Mate");
    put(all, bindings, "mate/MateInstallation", "find", "addCache");
    put(all, bindings, "mate/MissingKernelException", "");
    put(all, bindings, "mate/MlaKernels");
    return all;
  }

  private static void put(
      Map<String, Set<String>> all, String root, String file, String... methods) {
    all.put(root + file + ".java", Set.of(methods));
  }

  /**
   * What the scan cannot put together, such as texts that grow in a builder, and what files of
   * earlier versions hold.
   */
  private static final List<String> GROWN =
      List.of(
          "mate: fmha_fwd_1, scheduled by fmha_get_metadata_2",
          "mate: fmha_fwd_1, scheduled by fmha_get_metadata_2; splits 4",
          "mate: fmha_fwd_1; splits 4",
          "every output written, nothing to compare with",
          "51200 values, worst error 0.12 of what is allowed",
          "Unknown model \"L\"; known are A, B, or give the path of a Hugging Face config.json",
          "mate attention: no kernel for head dimensions 100/100",
          "base: 1 of 5 forks crashed; candidate: 2 of 5 forks crashed",
          "the base has no number, failed: wrong result: o[7] is 1 where the reference has 2"
              + " (allowed: 0.1 off)",
          "neither run has a number, skipped: keys are paged",
          "timeout: stopped after 600 s without a result",
          "51 kernels and shapes measured in a step, mode=graph, counts before the same alone,"
              + " cache=step",
          "1 kernel and shape measured alone, cache=cold, library=mate, counts before the same"
              + " alone, cache=cold",
          "12 kernels and shapes measured several times in the same way: the median counts",
          "1 kernel and shape measured several times in the same way: the median counts",
          "skipped",
          "timeout",
          "failed",
          "98 % of the time is prefill: requests queue",
          "TTFT < 200 ms, latency < 900 ms, as the file says",
          "latency < 900 ms",
          "they have no TPOT; in goodput: exclude",
          "4a1b + changes",
          "fixed-frequency",
          "fixed-power",
          "free",
          "IllegalArgumentException: Llama cannot be split over 3 ranks: heads; tp can be 1, 2",
          "mate kernel fmha_fwd_1: there is no file fmha_fwd_1.so."
              + " | mate version: unknown; the names and arguments known here are those of 0.2.2,"
              + " and another version may have others | Searched: | /a/data/aot: 3 kernels"
              + " | /b/cached_ops: no such folder | no Python package mate in [/c]"
              + " | Set -Dmusabench.mate.dir to a folder that holds <kernel>/<kernel>.so, or build"
              + " it: | python -m mate.aot  # in mate's source tree; fills its aot-ops, a folder"
              + " for -Dmusabench.mate.dir | or only this kernel: | python"
              + " | (no level of python -m mate.aot builds this kernel)",
          "mate kernel fmha_fwd_1: it did not load: kernels x: no. | mate version: 0.2.2");

  /** Texts in those places that are no sentences for a reader of a report, and why. */
  private static final Map<String, String> OTHERS =
      Map.of(
          "of allowed", "a unit",
          "scripts/musabench run --no-roofs 7", "a command",
          ", scheduled by 7", "grows",
          "nobody measured 7:", "there always is a reason",
          "nobody measured", "what a text is known by",
          "utilisation of 7", "a source, not what was assumed",
          "launch cost", "of an error of the command line",
          "time to replay", "of an error of the command line",
          "Forked VM failed", "JMH's own words, looked for",
          "VM prematurely exited", "JMH's own words, looked for");

  /**
   * Errors of the command line, which end it before there is a report; a rule for readers of JSON;
   * a thread.
   */
  private static final String UNSEEN =
      "no (kernel times|model): give .*|a row cannot be what it says if .*|musabench fork";

  private static final Pattern SENTENCE = Pattern.compile("[A-Za-z]{2}\\S* \\S*[a-z]{2}");

  @Test
  void everySentenceOfTheCodeHasItsChinese() throws IOException {
    Set<String> missing = new TreeSet<>();
    for (String text : written()) {
      if (SENTENCE.matcher(text).find()
          && !OTHERS.containsKey(text)
          && !text.matches(UNSEEN)
          && Sentences.find(text).isEmpty()) {
        missing.add(text);
      }
    }
    assertThat(missing).as("write it into sentences.txt").isEmpty();
  }

  @Test
  void everySentenceOfTheCatalogueIsWritten() throws IOException {
    Set<String> used = new TreeSet<>();
    written().forEach(text -> Sentences.find(text).ifPresent(m -> keys(m, used)));
    assertThat(Sentences.all().stream().filter(s -> !used.contains(s.key())).map(s -> s.english()))
        .as("its writer is not among WRITERS any more, or nothing writes it: take it out")
        .isEmpty();
  }

  private static void keys(Message message, Set<String> keys) {
    if (message.key() != null) {
      keys.add(message.key());
    }
    message.arguments().values().forEach(a -> keys(a, keys));
  }

  private static List<String> written() throws IOException {
    List<String> all = new ArrayList<>(GROWN);
    for (Map.Entry<String, Set<String>> writer : WRITERS.entrySet()) {
      Path file = CHECKOUT.resolve(writer.getKey());
      // As a fork's reason is put into one line.
      WrittenSentences.of(file, writer.getValue(), REASONS)
          .forEach(text -> all.add(text.strip().replaceAll("\\s*\\R\\s*", " | ")));
    }
    for (DataSheet sheet : DataSheet.shipped()) {
      sheet
          .figures()
          .forEach(
              (name, figure) -> {
                String source = figure.source();
                all.add(source);
                all.add(source + " [" + figure.confidence().name().toLowerCase(Locale.ROOT) + "]");
                all.add(sheet.name() + ", " + name + " 7: " + source);
              });
    }
    return all;
  }

  @Test
  void whatWritesSentencesIsLookedAt() throws IOException {
    Set<String> writers = new TreeSet<>();
    for (String module : List.of("results", "jmh", "bindings")) {
      try (Stream<Path> files = Files.walk(CHECKOUT.resolve(module + "/src/main/java"))) {
        for (Path file : files.filter(p -> p.toString().endsWith(".java")).toList()) {
          // The audit of a table is a command of its own and no part of a report.
          if (!file.getParent().endsWith("results/audit")
              && WRITES.matcher(Files.readString(file)).find()) {
            writers.add(CHECKOUT.relativize(file).toString().replace('\\', '/'));
          }
        }
      }
    }
    assertThat(writers).hasSizeGreaterThan(15);
    assertThat(WRITERS.keySet()).containsAll(writers);
  }

  @Test
  void bothLanguagesTakeTheSameArguments() {
    for (Sentences.Sentence s : Sentences.all()) {
      assertThat(arguments(s.chinese())).as(s.english()).isEqualTo(arguments(s.english()));
      assertThat(s.names()).as(s.english()).doesNotHaveDuplicates();
    }
  }

  private static Set<String> arguments(String text) {
    Set<String> names = new TreeSet<>();
    Matcher m = Pattern.compile("\\{(\\w+)}").matcher(text);
    while (m.find()) {
      names.add(m.group(1));
    }
    return names;
  }

  @Test
  void englishComesBackAsItWas() throws IOException {
    for (String text : written()) {
      assertThat(text("en", Message.said(text))).isEqualTo(text);
    }
  }

  private static final ObjectNode TEXTS = (ObjectNode) Page.texts();

  private static String text(String language, Message message) {
    if (message.key() == null) {
      return message.text();
    }
    Sentences.addUsed(TEXTS, message.json());
    String form = TEXTS.get(language).get(message.key()).asText();
    return Pattern.compile("\\{(\\w+)}")
        .matcher(form)
        .replaceAll(
            m -> Matcher.quoteReplacement(text(language, message.arguments().get(m.group(1)))));
  }

  @Test
  void whatOthersWroteStaysAsItIs() {
    for (String foreign :
        List.of(
            "",
            "RunnerException: ERROR: Another JMH instance might be running",
            "my label; and another one",
            "a: b [c]",
            ReportFixture.HOSTILE)) {
      assertThat(Sentences.find(foreign)).as(foreign).isEmpty();
      assertThat(Message.said(foreign)).isEqualTo(Message.literal(foreign));
    }
  }

  @Test
  void partsThatOthersWroteStayInATranslatedSentence() {
    assertThat(text("zh", Message.said("fork 2 crashed: Segmentation fault; fork 3 crashed: {x}")))
        .isEqualTo("fork 2 \u5d29\u6e83\uff1aSegmentation fault\uff1bfork 3 \u5d29\u6e83\uff1a{x}");
    assertThat(text("zh", Message.said("my note; launched one after another")))
        .isEqualTo("my note\uff1b\u9010\u4e2a\u542f\u52a8");
  }
}
