package io.musabench.results.compare;

import java.io.IOException;
import java.io.Writer;
import javax.xml.stream.XMLOutputFactory;
import javax.xml.stream.XMLStreamException;
import javax.xml.stream.XMLStreamWriter;

/**
 * A comparison as JUnit XML. A regression is a failure, a case that cannot be compared an error, an
 * undecided one skipped, or a failure when undecided ones fail.
 */
final class JunitForm {
  private JunitForm() {}

  static void write(Comparison comparison, Writer out) throws IOException {
    try {
      XMLStreamWriter xml = XMLOutputFactory.newFactory().createXMLStreamWriter(out);
      xml.writeStartDocument("UTF-8", "1.0");
      xml.writeCharacters("\n");
      xml.writeStartElement("testsuite");
      xml.writeAttribute("name", "musabench compare");
      xml.writeAttribute("tests", Integer.toString(comparison.rows().size()));
      xml.writeAttribute("failures", Long.toString(count(comparison, "failure")));
      xml.writeAttribute("errors", Long.toString(count(comparison, "error")));
      xml.writeAttribute("skipped", Long.toString(count(comparison, "skipped")));
      for (CaseComparison row : comparison.rows()) {
        testCase(xml, row, kind(row, comparison.options().strict()));
      }
      xml.writeCharacters("\n");
      xml.writeEndElement();
      xml.writeEndDocument();
      xml.flush();
      out.write('\n');
    } catch (XMLStreamException e) {
      throw new IOException(e);
    }
  }

  private static long count(Comparison comparison, String kind) {
    return comparison.rows().stream()
        .filter(row -> kind(row, comparison.options().strict()).equals(kind))
        .count();
  }

  /** Name of the element that says how the case ended; empty if it passed. */
  private static String kind(CaseComparison row, boolean strict) {
    if (row.regression()) {
      return "failure";
    }
    if (row.verdict() == Verdict.NOT_COMPARABLE) {
      return "error";
    }
    if (row.verdict() == Verdict.UNDECIDED || row.clockEffect()) {
      return strict ? "failure" : "skipped";
    }
    return "";
  }

  private static void testCase(XMLStreamWriter xml, CaseComparison row, String kind)
      throws XMLStreamException {
    xml.writeCharacters("\n  ");
    xml.writeStartElement("testcase");
    xml.writeAttribute("classname", clean(row.either().benchmark()));
    xml.writeAttribute("name", clean(row.id()));
    if (!kind.isEmpty()) {
      xml.writeEmptyElement(kind);
      xml.writeAttribute("message", clean(message(row)));
    }
    xml.writeEndElement();
  }

  private static String message(CaseComparison row) {
    String change =
        row.ratio() == null ? "" : " " + Cells.change(row) + " (" + Cells.interval(row) + ")";
    String remark = row.remark().isEmpty() ? "" : ": " + row.remark();
    return row.verdict().text() + change + remark;
  }

  /** XML 1.0 has no way to write most control characters. */
  private static String clean(String text) {
    return text.replaceAll(
        "[^\\t\\n\\r\\x{20}-\\x{D7FF}\\x{E000}-\\x{FFFD}\\x{10000}-\\x{10FFFF}]", "?");
  }
}
