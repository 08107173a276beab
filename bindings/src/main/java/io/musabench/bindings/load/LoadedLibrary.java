package io.musabench.bindings.load;

import com.sun.jna.Function;
import com.sun.jna.NativeLibrary;
import com.sun.jna.Pointer;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.DigestInputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.OptionalLong;

/**
 * A shared library in this process. It stays loaded for the life of the JVM: kernels, threads and
 * graphs of a device runtime may point into it at any time.
 */
public final class LoadedLibrary {
  private final String role;
  private final String name;
  private final Path path;
  private final NativeLibrary library;
  private String sha256;

  LoadedLibrary(String role, String name, Path path, NativeLibrary library) {
    this.role = role;
    this.name = name;
    this.path = path;
    this.library = library;
  }

  /** What the library is for. */
  public String role() {
    return role;
  }

  /** The name or path it was asked for by. */
  public String name() {
    return name;
  }

  /** The file it was loaded from, links resolved where that can be told. */
  public Path path() {
    return path;
  }

  /** JNA's handle. */
  public NativeLibrary library() {
    return library;
  }

  /** The address of an exported symbol; empty if there is none of that name. */
  public OptionalLong find(String symbol) {
    try {
      return OptionalLong.of(Pointer.nativeValue(library.getGlobalVariableAddress(symbol)));
    } catch (UnsatisfiedLinkError absent) {
      return OptionalLong.empty();
    }
  }

  /**
   * The address of an exported symbol of a library that is built with the program.
   *
   * @throws UnsatisfiedLinkError if there is none of that name: the library is of another build
   */
  public long require(String symbol) {
    return find(symbol)
        .orElseThrow(
            () ->
                new UnsatisfiedLinkError(
                    path + " has no " + symbol + ": it was built before; build it anew"));
  }

  /**
   * The address of an exported function of a vendor's library.
   *
   * @throws IllegalStateException if there is none of that name
   */
  public long address(String symbol) {
    return find(symbol).orElseThrow(() -> new IllegalStateException(path + " has no " + symbol));
  }

  /**
   * Calls a function that returns 0 for success, as {@link #call} does.
   *
   * @throws IllegalStateException if the library lacks it or it returns something else
   */
  public void invoke(String symbol, Object... arguments) {
    int status = call(address(symbol), arguments);
    if (status != 0) {
      throw new IllegalStateException(symbol + " returned status " + status);
    }
  }

  /**
   * Calls a function that returns an {@code int}, by its address. For what is called now and then:
   * JNA converts the arguments of each call.
   */
  public static int call(long function, Object... arguments) {
    return Function.getFunction(new Pointer(function)).invokeInt(arguments);
  }

  /** SHA-256 of the file in hexadecimal; {@code unknown} if the file cannot be read. */
  public synchronized String sha256() {
    if (sha256 == null) {
      sha256 = digest(path);
    }
    return sha256;
  }

  private static String digest(Path path) {
    try {
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      try (InputStream in = new DigestInputStream(Files.newInputStream(path), digest)) {
        in.transferTo(java.io.OutputStream.nullOutputStream());
      }
      return HexFormat.of().formatHex(digest.digest());
    } catch (IOException unreadable) {
      return "unknown";
    } catch (NoSuchAlgorithmException impossible) {
      throw new IllegalStateException(impossible); // every Java platform has SHA-256
    }
  }

  @Override
  public String toString() {
    return role + " " + path;
  }
}
