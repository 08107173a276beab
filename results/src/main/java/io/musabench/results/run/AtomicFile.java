package io.musabench.results.run;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Writes a file whole or not at all: into a temporary file beside it, forced to the disk, then
 * renamed over the old one. A reader, or a crash, finds the old content or the new one.
 */
public final class AtomicFile {
  /** Opens the temporary file; tests put a full disk here. */
  interface Opener {
    FileChannel open(Path path) throws IOException;
  }

  private static final Opener NEW_FILE =
      path -> FileChannel.open(path, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);

  private AtomicFile() {}

  /**
   * Replaces the content of a file.
   *
   * @throws RunException if that failed; the old content, if any, is untouched
   */
  public static void write(Path file, byte[] content) {
    write(file, content, NEW_FILE);
  }

  static void write(Path file, byte[] content, Opener opener) {
    Path temporary = temporaryFor(file);
    try {
      try (FileChannel channel = opener.open(temporary)) {
        ByteBuffer buffer = ByteBuffer.wrap(content);
        while (buffer.hasRemaining()) {
          channel.write(buffer);
        }
        channel.force(true);
      }
      Files.move(
          temporary, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
      forceFolder(file);
    } catch (IOException e) {
      throw cannotWrite(file, discard(temporary, e));
    }
  }

  /**
   * Replaces a symbolic link, or creates it.
   *
   * @throws RunException if that failed; the old link, if any, is untouched
   */
  static void link(Path link, Path target) {
    Path temporary = temporaryFor(link);
    try {
      Files.createSymbolicLink(temporary, target);
      Files.move(
          temporary, link, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    } catch (IOException | UnsupportedOperationException e) {
      throw cannotWrite(link, discard(temporary, e));
    }
  }

  private static Path temporaryFor(Path file) {
    String unique = Long.toHexString(ThreadLocalRandom.current().nextLong());
    return file.resolveSibling("." + file.getFileName() + "." + unique + ".tmp");
  }

  /** The rename itself is on the disk only once the folder is. */
  private static void forceFolder(Path file) throws IOException {
    try (FileChannel folder =
        FileChannel.open(file.toAbsolutePath().getParent(), StandardOpenOption.READ)) {
      folder.force(true);
    }
  }

  private static Exception discard(Path temporary, Exception e) {
    try {
      Files.deleteIfExists(temporary);
    } catch (IOException second) {
      e.addSuppressed(second);
    }
    return e;
  }

  private static RunException cannotWrite(Path file, Exception e) {
    return RunException.unwritten("Cannot write " + file, e);
  }
}
