package io.musabench.jmh.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ReportCommandTest extends CommandTest {
  @TempDir Path folder;

  ReportCommandTest() {
    super("report");
  }

  private Path made(int day, String device, double us) {
    return MadeUpRun.write(folder.resolve("runs"), day, device, 4, us);
  }

  @Test
  void writesOneFileThatNamesItsCommand() throws IOException {
    Path file = folder.resolve("out.html");
    Path one = made(1, "MTT S5000", 100);
    assertThat(run(one, "-o", file, "--accept", "report")).as(err.toString()).isZero();
    assertThat(out.toString()).isEqualTo("Report  " + file + System.lineSeparator());
    assertThat(Files.readString(file))
        .startsWith("<!DOCTYPE html>")
        .contains("\"command\":\"musabench report " + one + " -o " + file + " --accept report\"");
  }

  @Test
  void theSecondRunOfADeviceIsHeldAgainstTheFirst() {
    Path base = made(1, "MTT S5000", 100);
    Path slower = made(2, "MTT S5000", 110);
    assertThat(run(base, slower, "--format", "md")).as(err.toString()).isZero();
    assertThat(out.toString()).contains("1 slower").contains("**SLOWER**");
    assertThat(run(slower, "--baseline", base, "-o", "-")).isZero();
    assertThat(out.toString()).contains("\"key\":\"verdict.regression\"");
  }

  @Test
  void anotherDeviceIsNoRegression() {
    Path here = made(1, "MTT S5000", 100);
    Path there = made(2, "MTT S4000", 300);
    assertThat(run(here, there, "-o", "-")).as(err.toString()).isZero();
    assertThat(out.toString())
        .contains("\"id\":\"devices-B\"")
        .contains("\"b_over_a\"")
        .doesNotContain("\"key\":\"verdict.regression\"");
  }

  @Test
  void anotherCardIsNoCandidate() {
    Path one = made(1, "MTT S5000", 100);
    Path two = MadeUpRun.write(folder.resolve("runs"), 2, "MTT S5000", 1, 4, 110);
    assertThat(run(one, two, "-o", "-")).as(err.toString()).isZero();
    assertThat(out.toString())
        .contains("\"id\":\"cards-times-mtt-s5000\"")
        .doesNotContain("\"key\":\"verdict.regression\"");
    assertThat(run(two, "--baseline", one, "-o", "-")).isZero();
    assertThat(out.toString()).contains("\"key\":\"verdict.regression\"");
    Path three = MadeUpRun.write(folder.resolve("runs"), 3, "MTT S5000", 2, 4, 100);
    assertThat(run(one, two, three, "-o", "-")).isZero();
    assertThat(out.toString()).contains("\"key\":\"verdict.card_slower\"", "\"state\":\"open\"");
    assertThat(run(one, two, three, "--format", "md")).isZero();
    assertThat(out.toString()).contains("- card 1 differs from the rest in 1 of 1 cases: slower");
  }

  @Test
  void aDeviceIsPredictedFromDataSheets() {
    assertThat(run("--from", "S5000", "--to", "S4000", "--model", "Qwen3-8B", "-o", "-"))
        .as(err.toString())
        .isZero();
    assertThat(out.toString())
        .contains("\"kind\":\"SHEET\"")
        .contains("nothing of it was measured on {device}", "\"device\":\"MTT S4000\"");
  }

  @Test
  void answersOfTpotAreArgumentsToo() throws IOException {
    Path kernels = folder.resolve("kernels.csv");
    Files.writeString(
        kernels,
        "kernel,shape,precision,seconds_us,relative_error,source\ngemm,m=1 n=4096 k=4096,bf16,10,0,x\n");
    CommandTest tpot = new CommandTest("tpot") {};
    assertThat(tpot.run("--kernels", kernels, "--model", "Qwen3-8B", "--json")).isZero();
    Path file = Files.writeString(folder.resolve("answer.json"), tpot.out.toString());
    String name = "Qwen3-8B graph, " + file;
    assertThat(run(file, "-o", "-")).as(err.toString()).isZero();
    assertThat(out.toString())
        .contains("\"key\":\"verdict.predicted\"", "\"service\":\"" + name + "\"")
        .contains("\"musabench tpot --kernels " + kernels + " --model Qwen3-8B --json\"")
        .doesNotContain("\"kind\":\"MEASURED\"");
    assertThat(run(made(1, "MTT S5000", 100), file, "-o", "-")).as(err.toString()).isZero();
    assertThat(out.toString()).contains("\"key\":\"verdict.measured\"", name);

    assertThat(run(file, "--format", "md")).isEqualTo(ExitCode.USAGE);
    assertThat(run(file, file)).isEqualTo(ExitCode.USAGE);
    assertThat(err.toString()).contains("named twice");
    String json = Files.readString(file);
    refused(json.substring(0, 500), "not JSON");
    refused("case,device_time_median_us\n", "; report reads run directories, what musabench tpot");
    refused(json.replace("\"schema_version\" : 1", "\"schema_version\" : 7"), "schema version 7");
    refused("{}", "--serving");
    refused(
        "{\"schema_version\":1,\"run_a\":\"a\",\"run_b\":\"b\",\"errors\":\"e\",\"steps\":[]}",
        "attribute, which no page shows");
  }

  private void refused(String content, String why) throws IOException {
    Path file = Files.writeString(folder.resolve("broken.json"), content);
    assertThat(run(file, "-o", "-")).isEqualTo(ExitCode.USAGE);
    assertThat(err.toString().strip().lines()).hasSize(1);
    assertThat(err.toString()).contains(file.toString(), why);
    assertThat(out.toString()).isEmpty();
  }

  @Test
  void copiedCommandsRepeatWhatWasAsked() throws IOException {
    Path kernels = folder.resolve("it's <b>.csv");
    Files.writeString(
        kernels,
        "kernel,shape,precision,seconds_us,relative_error,source\ngemm,m=1 n=4096 k=4096,bf16,10,0,x\n");
    String quoted = "'" + kernels.toString().replace("'", "'\\\\''") + "'";
    assertThat(
            run(
                "--from",
                "S5000",
                "--to",
                "S4000",
                "--model",
                "Qwen3-8B",
                "--isl",
                512,
                "--gap-ms",
                1,
                "--concurrency",
                "1,4",
                "-o",
                "-"))
        .as(err.toString())
        .isZero();
    assertThat(out.toString())
        .contains(
            "musabench tpot what-if --from S5000 --to S4000 --model Qwen3-8B --isl 512 --gap-ms 1"
                + " --batch 1,4\"")
        .contains("\"key\":\"verdict.predicted\"");
    int code =
        run(
            "--kernels",
            kernels,
            "--model",
            "Qwen3-8B",
            "--prefix-hits",
            0.5,
            "--gap-ms",
            1,
            "--concurrency",
            2,
            "-o",
            "-");
    assertThat(code).as(err.toString()).isZero();
    String services = out.toString().replace("\\u003c", "<");
    assertThat(services)
        .contains(
            "musabench tpot --model Qwen3-8B --tp 1 --kernels "
                + quoted
                + " --mode graph --prefix-hits 0.5 --gap-ms 1 --isl 1024 --osl 256 --concurrency 2")
        .contains(quoted + " --gap-ms 1 --isl 1024 --osl 256 --batch 1,2");
    assertThat(run("--to", "S4000", "--model", "Qwen3-8B")).isEqualTo(ExitCode.USAGE);
    assertThat(err.toString()).contains("--from");
    assertThat(run("--kernels", kernels, "--model", "Qwen3-8B", "--format", "md"))
        .isEqualTo(ExitCode.USAGE);
  }

  @Test
  void aServingCommandQuotesItsFiles() throws IOException {
    Path file = folder.resolve("re port$(x)'.jsonl");
    Files.writeString(
        file,
        "{\"schema\":\"musabench.request/1\",\"start_ns\":0,\"output_tokens\":2,"
            + "\"events\":[[10,1,\"content\"],[20,1,\"content\"]]}\n");
    assertThat(run("--serving", file, "--ttft", "1s", "-o", "-")).as(err.toString()).isZero();
    assertThat(out.toString())
        .contains("musabench serving '" + file.toString().replace("'", "'\\\\''") + "' --ttft 1s\"")
        .contains("\"key\":\"verdict.checklist\"");
  }

  @Test
  void whatCannotBeUsedIsOneLine() {
    assertThat(run()).isEqualTo(ExitCode.USAGE);
    assertThat(err.toString()).contains("name a RUN");
    assertThat(run(folder.resolve("none"))).isEqualTo(ExitCode.USAGE);
    assertThat(err.toString().strip().lines()).hasSize(1);
    Path one = made(1, "MTT S5000", 100);
    assertThat(run(one, "--serving", folder.resolve("none.json"))).isEqualTo(ExitCode.USAGE);
    assertThat(run(one, "--tpot", "50")).isEqualTo(ExitCode.USAGE);
    assertThat(run(one, "-o", folder.resolve("no").resolve("out.html")))
        .isEqualTo(ExitCode.CANNOT_WRITE);
    assertThat(err.toString().strip().lines()).hasSize(1);
  }
}
