package io.musabench.results.tpot.answers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.musabench.results.audit.AuditOptions;
import io.musabench.results.audit.AuditReport;
import io.musabench.results.audit.EndToEndTable;
import io.musabench.results.audit.TableAudit;
import io.musabench.results.devices.DataSheet;
import io.musabench.results.model.BatchSpec;
import io.musabench.results.model.KernelCall;
import io.musabench.results.model.Precision;
import io.musabench.results.tpot.AnalyticKernels;
import io.musabench.results.tpot.Mode;
import io.musabench.results.tpot.Provenance;
import io.musabench.results.tpot.Workload;
import io.musabench.results.tpot.kernels.DeviceRoofs;
import io.musabench.results.tpot.kernels.KernelSource;
import io.musabench.results.tpot.kernels.KernelTime;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class AnswerSchemaTest {
  private static final AnalyticKernels KERNELS = new AnalyticKernels(1.25, 0.05, 80e9);
  private static final List<Workload> LOADS = List.of(new Workload(8, 1024, 256));

  @TempDir Path folder;

  /** Every field is documented, and every field that the schema promises is there. */
  static void conforms(String name, String json) throws Exception {
    ObjectMapper mapper = new ObjectMapper();
    JsonNode root = mapper.readTree(AnswerSchema.of(name));
    JsonNode value = mapper.readTree(json);
    assertThat(AnswerSchema.problem(name, value)).isEmpty();
    assertThat(AnswerSchema.recognise(value)).contains(name);
    documented(root, root.at("/$defs/" + name), value, name);
  }

  private static void documented(JsonNode root, JsonNode schema, JsonNode value, String where) {
    if (schema.has("$ref")) {
      String path = schema.path("$ref").asText().substring(1);
      assertThat(root.at(path).isObject()).as(path).isTrue();
      documented(root, root.at(path), value, where);
      return;
    }
    assertThat(admitted(schema, value)).as(where + ": " + value + " by " + schema).isTrue();
    if (value.isArray() && schema.has("items")) {
      value.forEach(v -> documented(root, schema.path("items"), v, where + "[]"));
    }
    if (value.isObject()) {
      for (Map.Entry<String, JsonNode> field : value.properties()) {
        JsonNode known = schema.path("properties").path(field.getKey());
        JsonNode others = schema.path("additionalProperties");
        String here = where + "." + field.getKey();
        assertThat(known.isObject() || !others.isMissingNode()).as("documented: " + here).isTrue();
        if (known.isObject() || others.isObject()) {
          documented(root, known.isObject() ? known : others, field.getValue(), here);
        }
      }
    }
  }

  /** Kernels whose attention writes the KV cache. */
  private record Containing(KernelSource others) implements KernelSource {
    @Override
    public String name() {
      return others.name();
    }

    @Override
    public Optional<KernelTime> time(KernelCall call, Precision precision) {
      return call instanceof KernelCall.KvCacheWrite
          ? Optional.of(new KernelTime(0, 0, Provenance.MEASURED, "contained in attention"))
          : others.time(call, precision);
    }

    @Override
    public DeviceRoofs roofs() {
      return others.roofs();
    }
  }

  /** Whether a value has a type, and a text the form, that its field may have. */
  private static boolean admitted(JsonNode schema, JsonNode value) {
    List<String> types = new ArrayList<>();
    schema.path("type").forEach(type -> types.add(type.asText()));
    if (schema.path("type").isTextual()) {
      types.add(schema.path("type").asText());
    }
    String type =
        switch (value.getNodeType()) {
          case NUMBER ->
              value.isIntegralNumber() && types.contains("integer") ? "integer" : "number";
          default -> value.getNodeType().name().toLowerCase(Locale.ROOT);
        };
    return (types.isEmpty() || types.contains(type))
        && (!schema.has("pattern")
            || !value.isTextual()
            || value.asText().matches(schema.path("pattern").asText()));
  }

  private static Setup setup(Mode mode) {
    return Setup.of(request(mode), KERNELS);
  }

  private static Setup.Request request(Mode mode) {
    Setup.Request r = new Setup.Request();
    r.model = "Qwen3-32B";
    r.tp = 4;
    r.mode = mode;
    r.launchUs = 30.0;
    return r;
  }

  @Test
  void answersHaveTheFieldsOfTheirSchema() throws Exception {
    Setup setup = setup(Mode.GRAPH);
    List<BatchSpec> batches = List.of(BatchSpec.parse("8q1s1k"));
    conforms("predict", new PredictionReport(setup, LOADS, batches).json());
    conforms("predict", new PredictionReport(setup, List.of(), batches).json());
    conforms("sensitivity", new Sensitivity(setup(Mode.EAGER), LOADS, 0.1).json());
    conforms(
        "graph-gain", new GraphGain(setup(Mode.EAGER), setup, List.of(1, 64), 1152, 0.5).json());
    Setup.Request free = request(Mode.EAGER);
    free.launchUs = 0.0;
    GraphGain never = new GraphGain(Setup.of(free, KERNELS), setup, List.of(8), 1152, 0.5);
    conforms("graph-gain", never.json());
    assertThat(never.json()).contains("\"break_even_replays\" : \"inf\"");
    DataSheet from = DataSheet.find("S5000");
    DataSheet to = DataSheet.find("S4000");
    conforms("what-if", new WhatIf(request(Mode.GRAPH), null, 0.75, from, to, LOADS).json());
    // The write of the KV cache is contained in the attention: no share of a roof, no infinite one.
    KernelSource contained = new Containing(KERNELS);
    String json = new WhatIf(request(Mode.GRAPH), contained, 0.75, from, to, LOADS).json();
    conforms("what-if", json);
    assertThat(new ObjectMapper().readTree(json).at("/rows/0/operations"))
        .filteredOn(o -> o.path("role").asText().equals("kv_cache_write"))
        .isNotEmpty()
        .allMatch(o -> o.path("utilisation").isNull());
    Path csv =
        Files.writeString(
            folder.resolve("served.csv"),
            "model,tp,isl,osl,concurrency,ttft_ms,tpot_ms\nQwen3-32B,4,1024,256,1,90,25\n"
                + "Qwen3-32B,8,512,256,8,,0.001\nQwen3-32B,4,512,256,8,90,40\n");
    conforms("validate", Setup.validate(request(Mode.GRAPH), csv, KERNELS).json());
  }

  @Test
  void whatIsSaidOfATableHasTheFieldsOfItsSchema() throws Exception {
    EndToEndTable table =
        EndToEndTable.parse(
            "t",
            "config,ttft_p50_ms,ttft_p99_ms,tpot_ms,itl_p99_ms,throughput_req_s,goodput_req_s\n"
                + "eager,820,1860,62,96,2.1,0.4\n+ graph,410,1240,31,52,5.2,4.0\n");
    conforms("audit", new AuditReport(TableAudit.of(table, AuditOptions.NONE)).json());
    Identification found = Identification.of(table, AuditOptions.NONE, null);
    conforms("identify", new IdentificationReport("t", found).json());
  }

  @Test
  void everyNameHasASchemaAndAnyOtherIsRefused() {
    for (String name : AnswerSchema.NAMES) {
      assertThat(AnswerSchema.of(name)).contains("\"$ref\" : \"#/$defs/" + name + "\"");
    }
    assertThatThrownBy(() -> AnswerSchema.of("validat")).hasMessageContaining("mean validate");
  }

  private String refusal(String content) throws Exception {
    Path file = Files.writeString(folder.resolve("answer.json"), content);
    try {
      AnswerFile.read(file);
    } catch (IllegalArgumentException e) {
      assertThat(e.getMessage()).startsWith(file + " is ").doesNotContain("\n");
      return e.getMessage().substring(file.toString().length());
    }
    throw new AssertionError("read: " + content);
  }

  @Test
  void anAnswerIsReadAgainAndAnythingElseIsRefusedInOneLine() throws Exception {
    String json = new Sensitivity(setup(Mode.GRAPH), LOADS, 0.1).json();
    Path file = Files.writeString(folder.resolve("s.json"), json);
    AnswerFile read = AnswerFile.read(file);
    assertThat(read.answer()).isEqualTo("sensitivity");
    assertThat(read.root().at("/batches/0/concurrency").asInt()).isEqualTo(8);

    assertThat(refusal(json.substring(0, json.length() / 2))).contains("not JSON", "line");
    assertThat(refusal(json + "x")).contains("not JSON");
    assertThat(refusal("")).contains("of another kind; report reads run directories");
    assertThat(refusal("[1]")).contains("of another kind; report reads run directories");
    assertThat(refusal("{\"duration\": 3}")).contains("--serving");
    assertThat(refusal(json.replace("\"schema_version\" : 1", "\"schema_version\" : 2")))
        .contains("schema version 2; this musabench reads 1");
    assertThat(refusal(json.replace("\"schema_version\" : 1", "\"schema_version\" : \"1\"")))
        .contains("schema_version is \"1\", not 1");
    assertThat(refusal(json.replaceFirst("\"host_bound\" : \\w+,", "")))
        .contains("tpot sensitivity: batches[0].host_bound is missing");
    assertThat(refusal(json.replaceFirst("\"share\" : [\\d.]+", "\"share\" : [1]")))
        .contains("batches[0].operations[0].share is array, not of type [\"number\",\"null\"]");
    assertThat(refusal(json.replaceFirst("\"concurrency\" : 8", "\"concurrency\" : 8.5")))
        .contains("batches[0].concurrency is 8.5, not of type \"integer\"");
  }
}
