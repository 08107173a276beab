package io.musabench.results;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.musabench.results.report.Markdown;
import io.musabench.results.report.TextTable;
import java.io.PrintWriter;
import java.io.StringWriter;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

class PrintableTest {
  private static String document(String text) {
    StringWriter out = new StringWriter();
    PrintWriter writer = new PrintWriter(Printable.writer(out));
    writer.print(text);
    writer.flush();
    return out.toString();
  }

  @Test
  void whatWouldActIsShown() {
    assertThat(Printable.line("\u001b[31mred\u001b[0m")).isEqualTo("\\u001b[31mred\\u001b[0m");
    assertThat(Printable.line("a\r\nb\tc")).isEqualTo("a\\r\\nb\\tc");
    assertThat(Printable.line("\u009b2J\u007f\u2028\u202e"))
        .isEqualTo("\\u009b2J\\u007f\\u2028\\u202e");
    assertThat(Printable.line("8q1s4k, ±0.1 %, 中文, 😀")).isEqualTo("8q1s4k, ±0.1 %, 中文, 😀");
  }

  @Test
  void aDocumentKeepsItsLinesAndTabs() {
    assertThat(document("a\tb\nc\r\u001b[2Jd\n")).isEqualTo("a\tb\nc\\r\\u001b[2Jd\n");
    StringWriter out = new StringWriter();
    PrintWriter writer = new PrintWriter(Printable.writer(out));
    writer.write('\u001b');
    writer.write("x\u001by", 1, 1);
    writer.write(new char[] {'a', '\u009b', 'b'}, 1, 2);
    writer.flush();
    assertThat(out.toString()).isEqualTo("\\u001b\\u001b\\u009bb");
  }

  @Test
  void aCellIsOneLineOfItsTable() {
    TextTable table = new TextTable("case\u001b[2J", ">time");
    table.row("a\nb\u001b[1m", "1\r2");
    assertThat(table.toString().lines()).hasSize(3);
    assertThat(table.toString()).contains("a\\nb\\u001b[1m", "1\\r2", "case\\u001b[2J");
    Markdown markdown = new Markdown("case");
    markdown.row("a\nb\u001b[1m");
    assertThat(markdown.toString().lines()).hasSize(3);
    assertThat(markdown.toString()).doesNotContain("\u001b");
  }

  @Property
  void jsonMeansTheSame(@ForAll String text) throws JsonProcessingException {
    ObjectMapper json = new ObjectMapper();
    String printed = document(json.writeValueAsString(text));
    assertThat(json.readValue(printed, String.class)).isEqualTo(text);
  }
}
