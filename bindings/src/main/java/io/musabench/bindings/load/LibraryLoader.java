package io.musabench.bindings.load;

import com.sun.jna.Library;
import com.sun.jna.NativeLibrary;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Loads libraries by name or path and records every attempt. Not safe for several threads. */
public final class LibraryLoader {
  /** An option that keeps a library's symbols to itself. */
  public static final Map<String, Object> LOCAL_SYMBOLS = Map.of(Library.OPTION_OPEN_FLAGS, 1);

  private static final int RTLD_LAZY = 1;
  private static final int RTLD_GLOBAL = 0x100;

  private final List<LoadAttempt> attempts = new ArrayList<>();

  /** Every attempt so far, oldest first. */
  public List<LoadAttempt> attempts() {
    return List.copyOf(attempts);
  }

  /**
   * Loads the first candidate that loads. Symbols are made global unless the options say otherwise:
   * kernel libraries leave the FFI's functions undefined and find them among the global ones.
   * Signal handlers that a library installs while it loads are taken out again: the JVM needs its
   * own.
   *
   * @param role recorded with each attempt
   * @param candidates paths, or names for the system's search
   * @return the library; empty if none loaded
   */
  public Optional<LoadedLibrary> load(String role, List<String> candidates) {
    return load(role, candidates, Map.of());
  }

  /** As {@link #load(String, List)} with further JNA library options, such as a function mapper. */
  public Optional<LoadedLibrary> load(
      String role, List<String> candidates, Map<String, ?> options) {
    Map<String, Object> all = new HashMap<>(options);
    all.putIfAbsent(Library.OPTION_OPEN_FLAGS, RTLD_LAZY | RTLD_GLOBAL);
    for (String name : candidates) {
      if (name.indexOf(File.separatorChar) >= 0 && !Files.exists(Path.of(name))) {
        attempts.add(new LoadAttempt(role, name, false, "no such file"));
        continue;
      }
      SignalHandlers handlers = SignalHandlers.save();
      try {
        NativeLibrary library;
        try {
          library = NativeLibrary.getInstance(name, all);
        } finally {
          handlers.restore();
        }
        Path path = pathOf(library, name);
        attempts.add(new LoadAttempt(role, name, true, path.toString()));
        return Optional.of(new LoadedLibrary(role, name, path, library));
      } catch (UnsatisfiedLinkError failure) {
        attempts.add(new LoadAttempt(role, name, false, reason(failure)));
      }
    }
    return Optional.empty();
  }

  // JNA's message holds one line per place it looked; the first line only repeats the name, and the
  // system loader's own word is on the next.
  private static String reason(UnsatisfiedLinkError failure) {
    String[] lines = String.valueOf(failure.getMessage()).strip().split("\\R");
    return (lines.length > 1 ? lines[1] : lines[0]).strip();
  }

  // A library found by the system's search has no path in JNA; the kernel knows what is mapped.
  private static Path pathOf(NativeLibrary library, String name) throws UnsatisfiedLinkError {
    File file = library.getFile();
    if (file != null && file.isFile()) {
      return real(file.toPath());
    }
    String base = file == null ? name : file.getName();
    try {
      for (String line :
          Files.readAllLines(Path.of("/proc/self/maps"), StandardCharsets.ISO_8859_1)) {
        int slash = line.indexOf('/');
        if (slash >= 0 && matches(Path.of(line.substring(slash)), base)) {
          return Path.of(line.substring(slash));
        }
      }
    } catch (IOException notLinux) {
      return Path.of(base);
    }
    return Path.of(base);
  }

  private static boolean matches(Path mapped, String base) {
    String name = mapped.getFileName().toString();
    return name.equals(base)
        || name.startsWith(base + ".")
        || base.startsWith(name + ".")
        || isLink(mapped.resolveSibling(base), mapped);
  }

  // libmusa.so.1 can be a link to libmusa.so.4.3.6: the SONAME is no part of the file's name.
  private static boolean isLink(Path name, Path file) {
    try {
      return Files.isSymbolicLink(name) && name.toRealPath().equals(file);
    } catch (IOException dangling) {
      return false;
    }
  }

  private static Path real(Path path) {
    try {
      return path.toRealPath();
    } catch (IOException unresolvable) {
      return path.toAbsolutePath();
    }
  }
}
