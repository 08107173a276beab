package io.musabench.results.serving;

import java.io.BufferedInputStream;
import java.io.EOFException;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.zip.GZIPInputStream;
import java.util.zip.ZipException;

/** A file to read, as often as a reader needs: plain or gzip (by content), byte order mark gone. */
final class Source {
  private static final int BUFFER = 1 << 16;

  private final Path path;
  private final String name;
  private boolean cutOff;

  Source(Path path, String name) {
    this.path = path;
    this.name = name;
  }

  /** The name that reports and messages use. */
  String name() {
    return name;
  }

  Path path() {
    return path;
  }

  /** The decompressed bytes, from the first one. The caller closes it. */
  InputStream open() throws IOException {
    InputStream raw = Files.newInputStream(path);
    try {
      BufferedInputStream in = new BufferedInputStream(raw, BUFFER);
      byte[] head = peek(in, 2);
      if (head.length == 2 && (head[0] & 0xff) == 0x1f && (head[1] & 0xff) == 0x8b) {
        in = new BufferedInputStream(new Inflated(new GZIPInputStream(in, BUFFER)), BUFFER);
      }
      byte[] mark = peek(in, 3);
      if (mark.length == 3
          && (mark[0] & 0xff) == 0xef
          && (mark[1] & 0xff) == 0xbb
          && (mark[2] & 0xff) == 0xbf) {
        in.skipNBytes(3);
      }
      return in;
    } catch (IOException | RuntimeException e) {
      raw.close();
      throw e;
    }
  }

  /** Whether a compressed file turned out to break off: what came before was read. */
  boolean cutOff() {
    return cutOff;
  }

  /** Ends where the compressed data end or go bad, instead of losing what came before. */
  private final class Inflated extends FilterInputStream {
    private boolean ended;
    private boolean any;

    Inflated(InputStream in) {
      super(in);
    }

    @Override
    public int read() throws IOException {
      byte[] one = new byte[1];
      return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] b, int off, int len) throws IOException {
      if (ended) {
        return -1;
      }
      try {
        int n = super.read(b, off, len);
        any |= n > 0;
        return n;
      } catch (EOFException | ZipException e) {
        if (!any) {
          throw e;
        }
        ended = true;
        cutOff = true;
        return -1;
      }
    }

    @Override
    public int available() throws IOException {
      return ended ? 0 : super.available();
    }
  }

  private static byte[] peek(InputStream in, int n) throws IOException {
    in.mark(n);
    byte[] head = in.readNBytes(n);
    in.reset();
    return head;
  }
}
