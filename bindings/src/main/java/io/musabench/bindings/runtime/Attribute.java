package io.musabench.bindings.runtime;

/** Device attributes, with the numbers that MUSA and CUDA share. */
public enum Attribute {
  MAX_THREADS_PER_BLOCK(1),
  /** Bytes. */
  MAX_SHARED_MEMORY_PER_BLOCK(8),
  WARP_SIZE(10),
  MAX_REGISTERS_PER_BLOCK(12),
  /** kHz. */
  CLOCK_RATE(13),
  MULTIPROCESSOR_COUNT(16),
  ECC_ENABLED(32),
  PCI_BUS_ID(33),
  PCI_DEVICE_ID(34),
  /** kHz. */
  MEMORY_CLOCK_RATE(36),
  /** Bits. */
  GLOBAL_MEMORY_BUS_WIDTH(37),
  /** Bytes. */
  L2_CACHE_SIZE(38),
  MAX_THREADS_PER_MULTIPROCESSOR(39),
  ASYNC_ENGINE_COUNT(40),
  PCI_DOMAIN_ID(50),
  COMPUTE_CAPABILITY_MAJOR(75),
  COMPUTE_CAPABILITY_MINOR(76),
  /** Bytes. */
  MAX_SHARED_MEMORY_PER_MULTIPROCESSOR(81),
  MAX_REGISTERS_PER_MULTIPROCESSOR(82),
  COOPERATIVE_LAUNCH(95),
  /** Bytes. */
  MAX_SHARED_MEMORY_PER_BLOCK_OPTIN(97),
  MAX_BLOCKS_PER_MULTIPROCESSOR(106),
  /** Bytes. */
  MAX_PERSISTING_L2_CACHE_SIZE(108),
  /** Bytes. */
  RESERVED_SHARED_MEMORY_PER_BLOCK(111),
  MEMORY_POOLS_SUPPORTED(115);

  private final int code;

  Attribute(int code) {
    this.code = code;
  }

  /** The runtime's number for this attribute. */
  public int code() {
    return code;
  }
}
