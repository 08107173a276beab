package io.musabench.results.compare;

import java.io.IOException;
import java.io.Writer;
import java.util.Locale;

/** The forms in which a comparison is written. */
public enum ComparisonReport {
  /** A table for the terminal. */
  TEXT {
    @Override
    public void write(Comparison comparison, Writer out) throws IOException {
      out.write(new TextForm(comparison).toString());
    }
  },
  /** Markdown for a comment on a change. */
  MD {
    @Override
    public void write(Comparison comparison, Writer out) throws IOException {
      out.write(new MarkdownForm(comparison).toString());
    }
  },
  /** JSON with every number. */
  JSON {
    @Override
    public void write(Comparison comparison, Writer out) throws IOException {
      JsonForm.write(comparison, out);
    }
  },
  /** JUnit's XML: a test a case, so that a CI server shows regressions as failures. */
  JUNIT {
    @Override
    public void write(Comparison comparison, Writer out) throws IOException {
      JunitForm.write(comparison, out);
    }
  },
  /** CSV, a row a case, units in the column names. */
  CSV {
    @Override
    public void write(Comparison comparison, Writer out) throws IOException {
      CsvForm.write(comparison, out);
    }
  };

  /** Writes a comparison. */
  public abstract void write(Comparison comparison, Writer out) throws IOException;

  /** Its name on the command line. */
  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
