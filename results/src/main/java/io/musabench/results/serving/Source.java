package io.musabench.results.serving;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.zip.GZIPInputStream;

/** A file to read, as often as a reader needs: plain or gzip (by content), byte order mark gone. */
final class Source {
  private static final int BUFFER = 1 << 16;

  private final Path path;
  private final String name;

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
        in = new BufferedInputStream(new GZIPInputStream(in, BUFFER), BUFFER);
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

  private static byte[] peek(InputStream in, int n) throws IOException {
    in.mark(n);
    byte[] head = in.readNBytes(n);
    in.reset();
    return head;
  }
}
