package io.musabench.bindings.runtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.sun.jna.Memory;
import io.musabench.bindings.TestTarget;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What every runtime library must do behind {@link DeviceRuntime}; one subclass a kind. */
@Timeout(120)
@SuppressWarnings("try") // closes before the end of the block are the point
abstract class RuntimeContractTest {
  DeviceRuntime runtime;
  private int openBefore;

  @BeforeEach
  void open() {
    runtime = TestTarget.require(getClass()).runtime();
    openBefore = runtime.openResources();
  }

  @AfterEach
  void everythingIsClosed() {
    if (runtime != null) {
      assertThat(runtime.openResources()).isEqualTo(openBefore);
    }
  }

  // ---- devices

  @Test
  void shouldReportVersions() {
    assertThat(runtime.version()).isPositive();
    assertThat(runtime.driverVersion()).isPositive();
    assertThat(runtime.library().sha256()).matches("[0-9a-f]{64}");
  }

  @Test
  void shouldDescribeEachDevice() {
    assertThat(runtime.deviceCount()).isPositive();
    for (int i = 0; i < runtime.deviceCount(); i++) {
      Device device = runtime.device(i);
      assertThat(device.index()).isEqualTo(i);
      assertThat(device.name()).isNotBlank();
      assertThat(device.totalMemory()).isGreaterThan(1 << 20);
      assertThat(device.attribute(Attribute.MULTIPROCESSOR_COUNT)).isPositive();
      assertThat(device.attribute(Attribute.WARP_SIZE)).isPositive();
      assertThat(device.findAttribute(Attribute.COMPUTE_CAPABILITY_MAJOR)).isPresent();
      device
          .pciBusId()
          .ifPresent(
              id -> assertThat(id).matches("[0-9a-fA-F]{4,8}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\\.\\d"));
    }
    assertThat(runtime.memoryInfo().free()).isBetween(1L, runtime.memoryInfo().total());
  }

  @Test
  void shouldNameCallCodeAndTextWhenACallFails() {
    int absent = runtime.deviceCount();

    DeviceException failure =
        catchThrowableOfType(DeviceException.class, () -> runtime.setDevice(absent));

    assertThat(failure.code()).isEqualTo(ErrorCode.INVALID_DEVICE.code());
    assertThat(failure.errorCode()).contains(ErrorCode.INVALID_DEVICE);
    assertThat(failure.call()).isEqualTo(runtime.vendor().prefix() + "SetDevice(" + absent + ")");
    assertThat(failure.name()).containsIgnoringCase("InvalidDevice");
    assertThat(failure.text()).isNotBlank();
    assertThat(failure)
        .hasMessageContainingAll(failure.call(), "101", failure.name(), failure.text());
    assertThat(failure.isSticky()).isFalse();
    runtime.synchronize(); // the error is not left behind for a later call
  }

  @Test
  void shouldFailTooLargeAnAllocationWithItsSize() {
    assertThatThrownBy(() -> runtime.allocate(1L << 60))
        .isInstanceOfSatisfying(
            DeviceException.class,
            failure -> assertThat(failure.errorCode()).contains(ErrorCode.MEMORY_ALLOCATION))
        .hasMessageContaining(String.valueOf(1L << 60));
  }

  // ---- memory and ownership

  @Test
  void shouldCopyToTheDeviceAndBack() {
    byte[] data = bytes(8190);
    try (DeviceMemory block = runtime.allocate(data.length);
        Memory host = new Memory(data.length)) {
      host.write(0, data, 0, data.length);
      runtime.copyToDevice(block.address(), host, data.length);
      host.clear();
      runtime.copyToHost(host, block.address(), data.length);
      assertThat(host.getByteArray(0, data.length)).isEqualTo(data);
    }
  }

  @Test
  void shouldKeepTheOrderOfAStream() {
    int bytes = 1 << 16;
    try (Stream stream = runtime.createStream();
        DeviceMemory from = runtime.allocate(bytes);
        DeviceMemory to = runtime.allocate(bytes);
        HostMemory host = runtime.allocateHost(bytes)) {
      for (int value = 1; value < 50; value++) {
        from.fill((byte) value, stream);
        runtime.copyOnDeviceAsync(to.address(), from.address(), bytes, stream);
      }
      from.fill((byte) 77, stream);
      runtime.copyToHostAsync(host, to.address(), bytes, stream);
      stream.synchronize();
      byte[] expected = new byte[bytes];
      Arrays.fill(expected, (byte) 49);
      assertThat(host.pointer().getByteArray(0, bytes)).isEqualTo(expected);
    }
  }

  @Test
  void shouldCheckRangesOfABlock() {
    try (DeviceMemory block = runtime.allocate(100)) {
      assertThat(block.address(40, 60)).isEqualTo(block.address() + 40);
      assertThatThrownBy(() -> block.address(41, 60)).isInstanceOf(IndexOutOfBoundsException.class);
      assertThatThrownBy(() -> block.address(-1, 1)).isInstanceOf(IndexOutOfBoundsException.class);
    }
  }

  @Test
  void shouldIgnoreASecondCloseAndRefuseUseAfterClose() {
    Stream stream = runtime.createStream();
    Event event = runtime.createEvent();
    DeviceMemory block = runtime.allocate(64);
    HostMemory host = runtime.allocateHost(64);
    Graph graph = runtime.capture(stream, () -> block.fill((byte) 1, stream));
    GraphExec exec = graph.instantiate();
    for (Resource resource : new Resource[] {exec, graph, host, block, event, stream}) {
      assertThat(resource.isClosed()).isFalse();
      resource.close();
      resource.close();
      assertThat(resource.isClosed()).isTrue();
      assertThatThrownBy(resource::handle)
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining(resource.getClass().getSimpleName());
    }
    assertThatThrownBy(stream::synchronize).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> exec.launch(stream)).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> event.record(runtime.legacyStream()))
        .isInstanceOf(IllegalStateException.class);
  }

  @Test
  void shouldFreeMemoryOnlyAfterItsStreamsHaveDrained() throws Exception {
    CountDownLatch gate = new CountDownLatch(1);
    try (Stream stream = runtime.createStream()) {
      DeviceMemory block = runtime.allocate(4096);
      stream.hostFunction(() -> await(gate));
      block.fill((byte) 1, stream);
      CompletableFuture<Void> close = CompletableFuture.runAsync(block::close);
      Thread.sleep(100);
      assertThat(close).isNotDone();
      assertThat(stream.isIdle()).isFalse();
      gate.countDown();
      close.get(60, TimeUnit.SECONDS);
      assertThat(stream.isIdle()).isTrue();
    } finally {
      gate.countDown();
    }
  }

  // ---- streams and events

  @Test
  void shouldQueueWithoutWaitingForTheDevice() {
    CountDownLatch gate = new CountDownLatch(1);
    try (Stream stream = runtime.createStream();
        Event event = runtime.createEvent()) {
      stream.hostFunction(() -> await(gate));
      event.record(stream);
      assertThat(stream.isIdle()).isFalse();
      assertThat(event.isReached()).isFalse();
      gate.countDown();
      event.synchronize();
      assertThat(event.isReached()).isTrue();
      stream.synchronize();
      assertThat(stream.isIdle()).isTrue();
    } finally {
      gate.countDown();
    }
  }

  @Test
  void shouldTakeAnEventsTimeWhenTheStreamReachesIt() {
    try (Stream stream = runtime.createStream();
        Event start = runtime.createEvent();
        Event stop = runtime.createEvent()) {
      stream.hostFunction(() -> sleep(30)); // both events wait behind this
      long begin = System.nanoTime();
      start.record(stream);
      stream.hostFunction(() -> sleep(20));
      stop.record(stream);
      stream.synchronize();
      float host = (System.nanoTime() - begin) / 1e6f;
      // The millisecond more is for a device whose clock is another one.
      assertThat(stop.millisecondsSince(start)).isBetween(19f, host + 1);
      assertThat(start.millisecondsSince(stop)).isNegative();
    }
  }

  @Test
  void shouldFailTheTimeOfAnEventThatWasNotRecorded() {
    try (Stream stream = runtime.createStream();
        Event recorded = runtime.createEvent();
        Event never = runtime.createEvent()) {
      recorded.record(stream);
      stream.synchronize();
      assertThatThrownBy(() -> recorded.millisecondsSince(never))
          .isInstanceOfSatisfying(
              DeviceException.class,
              failure ->
                  assertThat(failure.errorCode()).contains(ErrorCode.INVALID_RESOURCE_HANDLE))
          .hasMessageContaining("EventElapsedTime");
    }
  }

  @Test
  void shouldOrderTwoStreamsByAnEvent() {
    CountDownLatch gate = new CountDownLatch(1);
    try (Stream first = runtime.createStream();
        Stream second = runtime.createStreamWithPriority(0);
        Event done = runtime.createEvent();
        DeviceMemory block = runtime.allocate(4096);
        HostMemory host = runtime.allocateHost(4096)) {
      first.hostFunction(() -> await(gate));
      block.fill((byte) 9, first);
      done.record(first);
      second.waitFor(done);
      runtime.copyToHostAsync(host, block.address(), 4096, second);
      assertThat(second.isIdle()).isFalse();
      gate.countDown();
      second.synchronize();
      assertThat(host.pointer().getByte(4095)).isEqualTo((byte) 9);
    } finally {
      gate.countDown();
    }
  }

  // ---- capture and graphs

  @Test
  void shouldReplayACaptureWithTheMemorysPresentContent() {
    try (Stream stream = runtime.createStream();
        DeviceMemory from = runtime.allocate(1024);
        DeviceMemory to = runtime.allocate(1024);
        HostMemory host = runtime.allocateHost(1024)) {
      to.fill((byte) 1, stream);
      from.fill((byte) 2, stream);
      Graph graph =
          runtime.capture(
              stream,
              CaptureMode.GLOBAL,
              () -> {
                assertThat(stream.isCapturing()).isTrue();
                runtime.copyOnDeviceAsync(to.address(), from.address(), 1024, stream);
                runtime.copyOnDeviceAsync(to.address(), from.address(), 512, stream);
              });
      assertThat(stream.isCapturing()).isFalse();
      assertThat(graph.nodeCount()).isEqualTo(2);
      assertThat(lastByte(to, host, stream)).isEqualTo((byte) 1); // captured, not run
      try (GraphExec exec = graph.instantiate()) {
        exec.upload(stream);
        graph.close(); // the executable keeps what it needs of it
        exec.launch(stream);
        assertThat(lastByte(to, host, stream)).isEqualTo((byte) 2);
        from.fill((byte) 3, stream);
        exec.launch(stream);
        assertThat(lastByte(to, host, stream)).isEqualTo((byte) 3);
      }
    }
  }

  private byte lastByte(DeviceMemory block, HostMemory host, Stream stream) {
    runtime.copyToHostAsync(host, block.address(), host.bytes(), stream);
    stream.synchronize();
    return host.pointer().getByte(host.bytes() - 1);
  }

  @Test
  void shouldRefuseToCaptureTheLegacyStream() {
    assertThatThrownBy(() -> runtime.capture(runtime.legacyStream(), () -> {}))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("createStream");
  }

  @Test
  void shouldEndACaptureThatThrowsAndPassTheExceptionOn() {
    try (Stream stream = runtime.createStream();
        DeviceMemory block = runtime.allocate(64)) {
      IllegalArgumentException mine = new IllegalArgumentException("mine");
      assertThatThrownBy(
              () ->
                  runtime.capture(
                      stream,
                      () -> {
                        block.fill((byte) 1, stream);
                        throw mine;
                      }))
          .isSameAs(mine);
      assertThat(stream.isCapturing()).isFalse();
      block.fill((byte) 2, stream);
      stream.synchronize();
    }
  }

  @Test
  void shouldReportACaptureThatWasMisused() {
    try (Stream stream = runtime.createStream()) {
      assertThatThrownBy(() -> runtime.capture(stream, stream::synchronize))
          .isInstanceOfSatisfying(
              DeviceException.class,
              failure ->
                  assertThat(failure.errorCode().orElseThrow())
                      .isIn(
                          ErrorCode.STREAM_CAPTURE_UNSUPPORTED, ErrorCode.STREAM_CAPTURE_IMPLICIT))
          .hasMessageContaining("StreamSynchronize");
      stream.synchronize(); // usable again
    }
  }

  @Test
  void shouldPutOffAFreeUntilTheCaptureHasEnded() {
    try (Stream stream = runtime.createStream();
        DeviceMemory kept = runtime.allocate(64)) {
      DeviceMemory closed = runtime.allocate(64);
      try (Graph graph =
          runtime.capture(
              stream,
              () -> {
                kept.fill((byte) 1, stream);
                closed.close();
                assertThatThrownBy(() -> runtime.drain(0))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("captured");
              })) {
        assertThat(graph.nodeCount()).isEqualTo(1);
      }
      assertThat(closed.isClosed()).isTrue();
    }
  }

  @Test
  void shouldKeepTheCurrentDevicePerThread() throws Exception {
    int last = runtime.deviceCount() - 1;
    CompletableFuture<Integer> other =
        CompletableFuture.supplyAsync(
            () -> {
              runtime.setDevice(last);
              return runtime.currentDeviceIndex();
            });
    assertThat(other.get(60, TimeUnit.SECONDS)).isEqualTo(last);
    assertThat(runtime.currentDevice().index()).isZero();
  }

  static byte[] bytes(int count) {
    byte[] data = new byte[count];
    for (int i = 0; i < count; i++) {
      data[i] = (byte) (i * 31 + 7);
    }
    return data;
  }

  static void await(CountDownLatch gate) {
    try {
      gate.await(60, TimeUnit.SECONDS);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private static void sleep(long milliseconds) {
    try {
      Thread.sleep(milliseconds);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
