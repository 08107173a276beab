package io.musabench.bindings.management;

import com.sun.jna.Function;
import com.sun.jna.Memory;
import com.sun.jna.NativeLibrary;
import io.musabench.bindings.load.LoadedLibrary;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.function.IntFunction;

/**
 * Calls of a management library, each function looked up when it is first called: releases differ
 * in what they export, and one function that is missing must not cost the others.
 */
final class ManagementLibrary {
  /** Returned for a function that the library does not have. No library returns it. */
  static final int MISSING = Integer.MIN_VALUE;

  private static final int TEXT_BYTES = 256;

  private final LoadedLibrary library;
  private final Map<String, Optional<Function>> functions = new HashMap<>(); // guarded by itself

  ManagementLibrary(LoadedLibrary library) {
    this.library = library;
  }

  String path() {
    return library.path().toString();
  }

  /** Calls a function that returns an {@code int}; {@link #MISSING} if there is none. */
  int call(String name, Object... arguments) {
    return find(name).map(function -> function.invokeInt(arguments)).orElse(MISSING);
  }

  /** Calls a function that returns a string. */
  Optional<String> text(String name, Object... arguments) {
    return find(name).map(function -> function.invokeString(arguments, false));
  }

  private Optional<Function> find(String name) {
    synchronized (functions) {
      return functions.computeIfAbsent(name, this::lookUp);
    }
  }

  private Optional<Function> lookUp(String name) {
    NativeLibrary handle = library.library();
    try {
      return Optional.of(handle.getFunction(name));
    } catch (UnsatisfiedLinkError absent) {
      return Optional.empty();
    }
  }

  /** An {@code unsigned int} that a function writes to its last argument. */
  OptionalDouble number(String name, Object... leading) {
    try (Memory out = new Memory(8)) {
      out.clear();
      return call(name, with(leading, out)) == 0
          ? OptionalDouble.of(Integer.toUnsignedLong(out.getInt(0)))
          : OptionalDouble.empty();
    }
  }

  /** An {@code unsigned long long} that a function writes to its last argument. */
  OptionalLong bytes(String name, Object... leading) {
    try (Memory out = new Memory(8)) {
      out.clear();
      return call(name, with(leading, out)) == 0
          ? OptionalLong.of(out.getLong(0))
          : OptionalLong.empty();
    }
  }

  /** A text that a function writes to a buffer, its last arguments: the buffer and its size. */
  Optional<String> string(String name, Object... leading) {
    try (Memory out = new Memory(TEXT_BYTES)) {
      out.clear();
      Object[] arguments = with(leading, out, TEXT_BYTES);
      return call(name, arguments) == 0
          ? Optional.of(out.getString(0, "UTF-8").strip()).filter(text -> !text.isEmpty())
          : Optional.empty();
    }
  }

  /** A handle that a function writes to its last argument; 0 if it fails. */
  long handle(String name, Object... leading) {
    try (Memory out = new Memory(8)) {
      out.clear();
      return call(name, with(leading, out)) == 0 ? out.getLong(0) : 0;
    }
  }

  /**
   * A handle that a function writes to its last argument.
   *
   * @param failure what to say of a code that is not 0
   * @throws IllegalStateException if the function fails, with that text
   */
  long requireHandle(String name, IntFunction<String> failure, Object... leading) {
    try (Memory out = new Memory(8)) {
      out.clear();
      int code = call(name, with(leading, out));
      if (code != 0) {
        throw new IllegalStateException(failure.apply(code));
      }
      return out.getLong(0);
    }
  }

  /** Of milliwatts, watts. */
  static OptionalDouble thousandths(OptionalDouble value) {
    return value.isPresent() ? OptionalDouble.of(value.getAsDouble() / 1000) : value;
  }

  static Object[] with(Object[] leading, Object... trailing) {
    Object[] all = new Object[leading.length + trailing.length];
    System.arraycopy(leading, 0, all, 0, leading.length);
    System.arraycopy(trailing, 0, all, leading.length, trailing.length);
    return all;
  }
}
