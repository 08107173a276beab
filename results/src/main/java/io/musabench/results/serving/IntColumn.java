package io.musabench.results.serving;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * A growing column of int values in blocks, so that growing never copies. Takes no memory as long
 * as every value added is the default.
 */
final class IntColumn {
  private static final int SHIFT = 13;
  private static final int BLOCK = 1 << SHIFT;

  private final int absent;
  private final List<int[]> blocks = new ArrayList<>();
  private boolean stored;
  private int size;

  IntColumn(int absent) {
    this.absent = absent;
  }

  void add(int value) {
    if (!stored && value != absent) {
      stored = true;
      while ((long) blocks.size() << SHIFT <= size) {
        grow();
      }
    } else if (stored && (size & (BLOCK - 1)) == 0) {
      grow();
    }
    if (stored) {
      blocks.get(size >> SHIFT)[size & (BLOCK - 1)] = value;
    }
    size++;
  }

  private void grow() {
    int[] block = new int[BLOCK];
    Arrays.fill(block, absent);
    blocks.add(block);
  }

  int get(int i) {
    return stored ? blocks.get(i >> SHIFT)[i & (BLOCK - 1)] : absent;
  }

  int size() {
    return size;
  }
}
