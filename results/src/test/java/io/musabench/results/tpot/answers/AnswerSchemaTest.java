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
import io.musabench.results.tpot.AnalyticKernels;
import io.musabench.results.tpot.Mode;
import io.musabench.results.tpot.Workload;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
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
    check(root, root.at("/$defs/" + name), mapper.readTree(json), name);
  }

  private static void check(JsonNode root, JsonNode schema, JsonNode value, String where) {
    if (schema.has("$ref")) {
      String path = schema.path("$ref").asText().substring(1);
      assertThat(root.at(path).isObject()).as(path).isTrue();
      check(root, root.at(path), value, where);
      return;
    }
    type(schema, value, where);
    if (value.isArray() && schema.has("items")) {
      value.forEach(v -> check(root, schema.path("items"), v, where + "[]"));
    }
    if (value.isObject()) {
      schema
          .path("required")
          .forEach(r -> assertThat(value.has(r.asText())).as(where + " " + r).isTrue());
      for (Map.Entry<String, JsonNode> field : value.properties()) {
        JsonNode known = schema.path("properties").path(field.getKey());
        JsonNode others = schema.path("additionalProperties");
        String here = where + "." + field.getKey();
        assertThat(known.isObject() || !others.isMissingNode()).as("documented: " + here).isTrue();
        if (known.isObject() || others.isObject()) {
          check(root, known.isObject() ? known : others, field.getValue(), here);
        }
      }
    }
  }

  private static void type(JsonNode schema, JsonNode value, String where) {
    if (schema.has("const")) {
      assertThat(value).as(where).isEqualTo(schema.path("const"));
    }
    if (schema.has("enum")) {
      assertThat(schema.path("enum")).as(where).contains(value);
    }
    String type =
        value.isNull()
            ? "null"
            : value.isBoolean()
                ? "boolean"
                : value.isTextual()
                    ? "string"
                    : value.isArray() ? "array" : value.isObject() ? "object" : "number";
    JsonNode wanted = schema.path("type");
    boolean number = type.equals("number");
    boolean infinite = value.isTextual() && value.asText().matches("-?inf");
    boolean fits =
        wanted.isMissingNode()
            || wanted.toString().contains("\"" + type + "\"")
            || number && value.isIntegralNumber() && wanted.toString().contains("\"integer\"")
            || infinite && wanted.toString().contains("\"number\"");
    assertThat(fits).as(where + ": " + value + " is " + wanted).isTrue();
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
    DataSheet from = DataSheet.find("S5000");
    DataSheet to = DataSheet.find("S4000");
    conforms("what-if", new WhatIf(request(Mode.GRAPH), null, 0.75, from, to, LOADS).json());
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
      assertThat(AnswerSchema.read().at("/$defs/" + name).isObject()).as(name).isTrue();
    }
    assertThatThrownBy(() -> AnswerSchema.of("validat")).hasMessageContaining("mean validate");
  }
}
