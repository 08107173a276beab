package io.musabench.results.serving;

/** A 64-bit hash of a prompt, to see the same prompts sent twice. */
final class PromptHash {
  private PromptHash() {}

  /** FNV-1a over the characters, mixed; never 0, which means "no prompt known". */
  static long of(CharSequence text) {
    long h = 0xcbf29ce484222325L;
    for (int i = 0; i < text.length(); i++) {
      h = (h ^ text.charAt(i)) * 0x100000001b3L;
    }
    h ^= h >>> 32;
    h *= 0x9e3779b97f4a7c15L;
    h ^= h >>> 29;
    return h == 0 ? 1 : h;
  }
}
