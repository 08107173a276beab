package io.musabench.results.serving;

import java.io.BufferedInputStream;
import java.io.EOFException;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.zip.GZIPInputStream;
import java.util.zip.ZipException;

/**
 * A file to read, as often as a reader needs, as UTF-8: plain or gzip (by content), byte order mark
 * gone, UTF-16 (what PowerShell's redirection writes) recoded.
 */
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
      if (starts(mark, 0xef, 0xbb, 0xbf)) {
        in.skipNBytes(3);
      } else if (starts(mark, 0xff, 0xfe) || starts(mark, 0xfe, 0xff)) {
        return new BufferedInputStream(new Recoded(in), BUFFER);
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

  private static boolean starts(byte[] head, int... mark) {
    boolean same = head.length >= mark.length;
    for (int i = 0; same && i < mark.length; i++) {
      same = (head[i] & 0xff) == mark[i];
    }
    return same;
  }

  /** UTF-16 with its byte order mark, as UTF-8. */
  private static final class Recoded extends InputStream {
    private final java.io.Reader text;
    private final char[] chars = new char[BUFFER];
    private byte[] bytes = new byte[0];
    private int at;

    Recoded(InputStream in) {
      text = new InputStreamReader(in, StandardCharsets.UTF_16);
    }

    @Override
    public int read() throws IOException {
      return at < bytes.length || fill() ? bytes[at++] & 0xff : -1;
    }

    @Override
    public int read(byte[] b, int off, int len) throws IOException {
      if (len == 0) {
        return 0;
      }
      if (at == bytes.length && !fill()) {
        return -1;
      }
      int n = Math.min(len, bytes.length - at);
      System.arraycopy(bytes, at, b, off, n);
      at += n;
      return n;
    }

    private boolean fill() throws IOException {
      int n = text.read(chars, 0, chars.length - 1);
      if (n > 0 && Character.isHighSurrogate(chars[n - 1])) {
        // The other half of the character belongs to it.
        n += Math.max(0, text.read(chars, n, 1));
      }
      bytes = n <= 0 ? new byte[0] : new String(chars, 0, n).getBytes(StandardCharsets.UTF_8);
      at = 0;
      return n > 0;
    }

    @Override
    public void close() throws IOException {
      text.close();
    }
  }

  private static byte[] peek(InputStream in, int n) throws IOException {
    in.mark(n);
    byte[] head = in.readNBytes(n);
    in.reset();
    return head;
  }
}
