package io.musabench.bindings.load;

/**
 * One try to load a library.
 *
 * @param role what the library is for: {@code runtime}, {@code ffi}, {@code support}, {@code
 *     kernels}
 * @param name the name or path that was given to the loader
 * @param loaded whether it loaded
 * @param detail the path it was loaded from, or why it could not be loaded
 */
public record LoadAttempt(String role, String name, boolean loaded, String detail) {
  @Override
  public String toString() {
    return role + " " + name + ": " + (loaded ? "loaded from " : "") + detail;
  }
}
