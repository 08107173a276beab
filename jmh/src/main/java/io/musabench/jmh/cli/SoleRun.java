package io.musabench.jmh.cli;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * Notices that another suite is being measured on this machine.
 *
 * <p>A lock rather than the load average, which takes a minute to show what has just begun. It dies
 * with the process that holds it. It stops nobody: who shares a machine on purpose may measure.
 */
final class SoleRun implements AutoCloseable {
  /** What a run that is not the only one has to tell. */
  static final String WARNING =
      "another run of musabench is measuring on this machine: they disturb each other's timings";

  private final FileChannel file; // null if it cannot be opened
  private final boolean alone;

  private SoleRun(FileChannel file, boolean alone) {
    this.file = file;
    this.alone = alone;
  }

  /** Claims the machine until {@link #close}. */
  static SoleRun claim() {
    Path path = Path.of(System.getProperty("java.io.tmpdir"), "musabench.lock");
    FileChannel file = null;
    try {
      file = FileChannel.open(path, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
      return new SoleRun(file, file.tryLock() != null);
    } catch (OverlappingFileLockException heldByThisJvm) {
      return new SoleRun(file, false);
    } catch (IOException e) {
      return new SoleRun(file, true); // Another user's file, say: not a reason to refuse or warn.
    }
  }

  /** Whether no other run is known to be measuring. */
  boolean alone() {
    return alone;
  }

  @Override
  public void close() {
    try {
      if (file != null) {
        file.close();
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
