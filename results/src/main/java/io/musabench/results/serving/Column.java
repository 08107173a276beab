package io.musabench.results.serving;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * A growing column of ints, longs or doubles in blocks, so that growing never copies and an int
 * takes four bytes. Takes no memory as long as every value added is the one that stands for
 * "absent".
 */
final class Column {
  private static final int SHIFT = 13;
  private static final int ROWS = 1 << SHIFT;

  private final int width;
  private final long absent;
  private final List<ByteBuffer> blocks = new ArrayList<>();
  private boolean stored;
  private int size;

  private Column(int width, long absent) {
    this.width = width;
    this.absent = absent;
  }

  static Column ofInts(int absent) {
    return new Column(Integer.BYTES, absent);
  }

  static Column ofLongs(long absent) {
    return new Column(Long.BYTES, absent);
  }

  static Column ofDoubles(double absent) {
    return new Column(Double.BYTES, Double.doubleToLongBits(absent));
  }

  /** Adds to a column of ints or longs. */
  void add(long value) {
    if (!stored && value != absent) {
      stored = true;
      while ((long) blocks.size() << SHIFT <= size) {
        grow();
      }
    } else if (stored && (size & (ROWS - 1)) == 0) {
      grow();
    }
    if (stored) {
      put(blocks.get(size >> SHIFT), size & (ROWS - 1), value);
    }
    size++;
  }

  /** Adds to a column of doubles. */
  void addDouble(double value) {
    add(Double.doubleToLongBits(value));
  }

  private void grow() {
    ByteBuffer block = ByteBuffer.allocate(ROWS * width);
    for (int i = 0; i < ROWS && absent != 0; i++) {
      put(block, i, absent);
    }
    blocks.add(block);
  }

  private void put(ByteBuffer block, int row, long value) {
    if (width == Integer.BYTES) {
      block.putInt(row * width, (int) value);
    } else {
      block.putLong(row * width, value);
    }
  }

  int getInt(int i) {
    return stored ? blocks.get(i >> SHIFT).getInt((i & (ROWS - 1)) * width) : (int) absent;
  }

  long getLong(int i) {
    return stored ? blocks.get(i >> SHIFT).getLong((i & (ROWS - 1)) * width) : absent;
  }

  double getDouble(int i) {
    return Double.longBitsToDouble(getLong(i));
  }

  /** Whether any value is not the absent one. */
  boolean any() {
    return stored;
  }

  int size() {
    return size;
  }
}
