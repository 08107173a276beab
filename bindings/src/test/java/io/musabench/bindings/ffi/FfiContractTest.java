package io.musabench.bindings.ffi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.sun.jna.Memory;
import io.musabench.bindings.Target;
import io.musabench.bindings.TestTarget;
import io.musabench.bindings.load.LibraryLoader;
import io.musabench.bindings.runtime.Graph;
import io.musabench.bindings.runtime.Stream;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.opentest4j.TestAbortedException;

/**
 * What any FFI library must do behind {@link Ffi}. Runs on libtvm_ffi_host, and on the real
 * libtvm_ffi if {@code -Dmusabench.ffi.library} names it.
 */
@SuppressWarnings("try") // closes before the end of the block are the point
class FfiContractTest {
  private static Target target;
  private static Ffi ffi;
  private static KernelLibrary library;

  @BeforeAll
  static void load() {
    target = TestTarget.open();
    ffi = target.ffi();
    String path =
        Target.nativeFolder().orElseThrow().resolve("libmusabench_ffi_test.so").toString();
    library =
        ffi.loadKernels(new LibraryLoader(), List.of(path))
            .orElseThrow(
                () ->
                    new TestAbortedException(
                        "skipped: no " + path + "; build native with MUSABENCH_TESTS=ON"));
  }

  private static ArgumentPacker call(String name) {
    return library.function("ffi_test_" + name).arguments();
  }

  @Test
  void shouldPackSixteenBytesAnArgument() {
    try (Tensor tensor = ffi.allocate(DType.F32, 2)) {
      Memory packed =
          call("count")
              .tensor(tensor)
              .none()
              .integer(-5)
              .bool(true)
              .floating(0.5)
              .string("ab")
              .pack();
      assertThat(packed.size()).isEqualTo(6 * 16);
      int[] types = {7, 0, 1, 2, 3, 8};
      for (int i = 0; i < types.length; i++) {
        assertThat(packed.getInt(16L * i)).isEqualTo(types[i]);
        assertThat(packed.getInt(16L * i + 4)).isZero();
      }
      assertThat(packed.getLong(8)).isEqualTo(tensor.descriptorAddress());
      assertThat(packed.getLong(16 + 8)).isZero();
      assertThat(packed.getLong(32 + 8)).isEqualTo(-5);
      assertThat(packed.getLong(48 + 8)).isEqualTo(1);
      assertThat(packed.getDouble(64 + 8)).isEqualTo(0.5);
      assertThat(packed.getPointer(80 + 8).getString(0)).isEqualTo("ab");
    }
  }

  @Test
  void shouldCountTheArguments() {
    try (ReturnedValue none = call("count").invoke();
        ReturnedValue three = call("count").none().integer(1).bool(false).invoke()) {
      assertThat(none.asLong()).isZero();
      assertThat(three.asLong()).isEqualTo(3);
    }
  }

  @Test
  void shouldReturnNumbersAsGiven() {
    try (ReturnedValue integer = call("echo").integer(Long.MIN_VALUE).invoke();
        ReturnedValue number = call("echo").floating(Math.PI).invoke();
        ReturnedValue truth = call("echo").bool(true).invoke();
        ReturnedValue none = call("echo").none().invoke()) {
      assertThat(integer.asLong()).isEqualTo(Long.MIN_VALUE);
      assertThat(number.asDouble()).isEqualTo(Math.PI);
      assertThat(truth.asLong()).isEqualTo(1);
      assertThat(none.isNone()).isTrue();
      assertThatThrownBy(number::asLong)
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("type 3");
      assertThatThrownBy(none::asString).isInstanceOf(IllegalStateException.class);
    }
  }

  @Test
  void shouldConvertAsTheAbiSays() {
    assertThat(call("number").integer(3).invoke().asDouble()).isEqualTo(3);
    assertThat(call("number").bool(true).invoke().asDouble()).isEqualTo(1);
    assertThat(call("integer").bool(true).invoke().asLong()).isEqualTo(1);
    assertThat(call("boolean").integer(0).invoke().asLong()).isZero();
    assertThat(call("optional_integer").none().invoke().asLong()).isEqualTo(-1);
    assertThat(call("optional_integer").optionalInteger(null).invoke().asLong()).isEqualTo(-1);
    assertThat(call("optional_integer").optionalInteger(7L).invoke().asLong()).isEqualTo(7);
  }

  @Test
  void shouldRaiseATypeErrorForAWrongArgument() {
    FfiException failure =
        catchThrowableOfType(
            FfiException.class, () -> call("integer").floating(1.5).prepare().launch());
    assertThat(failure.kind()).isEqualTo("TypeError");
    assertThat(failure.kernel()).isEqualTo("ffi_test_integer");
    assertThat(failure.text()).contains("value");
    assertThat(failure).hasMessage("ffi_test_integer: TypeError: " + failure.text());
    assertThatThrownBy(() -> call("integer").prepare().launch())
        .isInstanceOf(FfiException.class)
        .hasMessageContaining("TypeError");
    assertThatThrownBy(() -> call("integer").integer(1).integer(2).prepare().launch())
        .isInstanceOf(FfiException.class)
        .hasMessageContaining("TypeError");
  }

  @Test
  void shouldCarryKindAndMessageOfAnError() {
    String message = "a longer message with ünïcode, " + "x".repeat(300);
    FfiException failure =
        catchThrowableOfType(
            FfiException.class,
            () -> call("raise").string("KeyError").string(message).prepare().launch());
    assertThat(failure.kind()).isEqualTo("KeyError");
    assertThat(failure.text()).isEqualTo(message);
  }

  @Test
  void shouldSurviveKernelsThatThrowOrSayNothing() {
    assertThatThrownBy(() -> call("throw").prepare().launch())
        .isInstanceOf(FfiException.class)
        .hasMessageContaining("thrown");
    FfiException silent =
        catchThrowableOfType(FfiException.class, () -> call("fail_silently").prepare().launch());
    assertThat(silent.kind()).isEqualTo("InternalError");
    assertThat(silent.text()).contains("-1");
  }

  @Test
  void shouldPassTensorsWithShapeStridesAndDevice() {
    try (Tensor tensor = ffi.allocate(DType.BF16, 2, 8);
        ReturnedValue whole = call("describe").tensor(tensor).invoke();
        ReturnedValue part = call("describe").tensor(tensor.slice(1, 2, 5)).invoke();
        ReturnedValue none = call("describe").optionalTensor(null).invoke()) {
      String device = " on " + ffi.deviceType() + ":0";
      assertThat(whole.asString()).isEqualTo("bfloat16[2, 8] strides [8, 1]" + device);
      assertThat(part.asString()).isEqualTo("bfloat16[2, 3] strides [8, 1]" + device);
      assertThat(none.asString()).isEqualTo("None");
    }
  }

  @Test
  void shouldReadStringsOfAnyLength() {
    for (int length : new int[] {0, 1, 7, 8, 257}) {
      try (ReturnedValue value = call("string").integer(length).invoke()) {
        assertThat(value.asString()).hasSize(length);
        if (length > 0) {
          assertThat(value.asString()).startsWith("a");
        }
      }
    }
  }

  @Test
  void shouldKeepTheStreamPerThread() throws Exception {
    try (Stream stream = ffi.runtime().createStream()) {
      ffi.setStream(stream);
      assertThat(streamSeen()).isEqualTo(stream.handle());
      assertThat(ffi.streamHandle(0)).isEqualTo(stream.handle());
      long other =
          CompletableFuture.supplyAsync(FfiContractTest::streamSeen).get(60, TimeUnit.SECONDS);
      assertThat(other).isZero();
    } finally {
      ffi.setStream(ffi.runtime().legacyStream());
    }
    assertThat(streamSeen()).isZero();
  }

  private static long streamSeen() {
    try (ReturnedValue value = call("stream").integer(ffi.deviceType()).integer(0).invoke()) {
      return value.asAddress();
    }
  }

  @Test
  void shouldFailAnAllocationWithoutAnAllocator() {
    try (Tensor like = ffi.allocate(DType.F32, 3)) {
      assertThatThrownBy(() -> call("allocate").tensor(like).invoke())
          .isInstanceOf(FfiException.class)
          .hasMessageContaining("RuntimeError");
    }
  }

  @Test
  void shouldReturnTensorsFromThePoolAndReuseTheirBlocks() {
    try (Tensor like = ffi.allocate(DType.F16, 3, 5);
        PooledAllocator pool = ffi.createPool()) {
      pool.use();
      long address;
      try (ReturnedValue value = call("allocate").tensor(like).invoke()) {
        Tensor tensor = value.asTensor();
        assertThat(tensor).hasToString("F16[3, 5]");
        assertThat(tensor.strides()).containsExactly(5, 1);
        address = tensor.address();
        float[] values = new float[15];
        values[14] = 3;
        assertThat(tensor.copyFrom(values).toFloats()).isEqualTo(values);
        assertThat(pool.stats().liveTensors()).isEqualTo(1);
        assertThatThrownBy(pool::close)
            .isInstanceOf(IllegalStateException.class)
            .hasMessageContaining("alive");
        pool.use();
        value.close();
        assertThatThrownBy(tensor::address).isInstanceOf(IllegalStateException.class);
      }
      try (ReturnedValue value = call("allocate").tensor(like).invoke()) {
        assertThat(value.asTensor().address()).isEqualTo(address);
      }
      PooledAllocator.Stats stats = pool.stats();
      assertThat(stats.allocations()).isEqualTo(2);
      assertThat(stats.hits()).isEqualTo(1);
      assertThat(stats.liveTensors()).isZero();
      assertThat(stats.reservedBytes()).isGreaterThanOrEqualTo(30);
      // A launch throws the returned tensor away at once.
      call("allocate").tensor(like).prepare().launch();
      assertThat(pool.stats().liveTensors()).isZero();
      pool.close();
      pool.close();
      assertThatThrownBy(pool::stats).isInstanceOf(IllegalStateException.class);
    }
  }

  @Test
  void shouldReadNestedArrays() {
    try (Tensor like = ffi.allocate(DType.F32, 2);
        PooledAllocator pool = ffi.createPool()) {
      pool.use();
      ReturnedValue value = call("allocate_pairs").tensor(like).integer(3).invoke();
      assertThat(value.size()).isEqualTo(2);
      assertThat(value.get(1).asLong()).isEqualTo(3);
      ReturnedValue pairs = value.get(0);
      assertThat(pairs.size()).isEqualTo(3);
      Tensor last = pairs.get(2).get(1).asTensor();
      assertThat(last.shape()).containsExactly(2);
      assertThat(pool.stats().liveTensors()).isEqualTo(6);
      assertThatThrownBy(() -> value.get(2)).isInstanceOf(IndexOutOfBoundsException.class);
      pairs.close(); // an element owns nothing
      assertThat(pool.stats().liveTensors()).isEqualTo(6);
      value.close();
      value.close();
      assertThat(pool.stats().liveTensors()).isZero();
      assertThatThrownBy(() -> pairs.size()).isInstanceOf(IllegalStateException.class);
      assertThatThrownBy(last::address).isInstanceOf(IllegalStateException.class);
    }
  }

  @Test
  void shouldPassWhatACallReturnsToTheNext() {
    try (Tensor like = ffi.allocate(DType.F32, 2, 3);
        PooledAllocator pool = ffi.createPool()) {
      pool.use();
      PreparedCall pairs = call("allocate_pairs").tensor(like).integer(1).prepare();
      PreparedCall describe = call("describe").none().prepare();
      PreparedCall chain = pairs.then(describe, -1, 0, -1);
      assertThat(chain.name()).isEqualTo("ffi_test_allocate_pairs + ffi_test_describe");
      for (int run = 0; run < 2; run++) {
        try (ReturnedValue text = chain.invoke()) {
          assertThat(text.asString()).startsWith("float32[2, 3] strides [3, 1]");
        }
        assertThat(pool.stats().liveTensors()).isZero();
      }
      chain.launch();
      try (ReturnedValue none = describe.invoke()) {
        assertThat(none.asString()).isEqualTo("None");
      }
      try (ReturnedValue count = pairs.then(call("integer").none().prepare(), -1, -1, 0).invoke()) {
        assertThat(count.asLong()).isEqualTo(1);
      }
      assertThatThrownBy(() -> pairs.then(describe, 0).launch())
          .isInstanceOf(FfiException.class)
          .hasMessageContaining("3 values, wanted 1");
      assertThatThrownBy(() -> pairs.then(describe, 1))
          .isInstanceOf(IllegalArgumentException.class);
      PreparedCall number = call("number").none().prepare();
      assertThatThrownBy(() -> pairs.then(number, 0, -1, -1).launch())
          .isInstanceOf(FfiException.class)
          .hasMessageContaining("TypeError");
      assertThat(pool.stats().liveTensors()).isZero();
      like.close();
      assertThatThrownBy(chain::launch).isInstanceOf(IllegalStateException.class);
    }
  }

  @Test
  void shouldPassReturnedTensorsAsObjects() {
    try (Tensor like = ffi.allocate(DType.F32, 2);
        PooledAllocator pool = ffi.createPool()) {
      pool.use();
      ReturnedValue returned = call("allocate").tensor(like).invoke();
      PreparedCall echo = call("echo").tensorObject(returned).prepare();
      try (ReturnedValue same = echo.invoke()) {
        assertThat(same.typeIndex()).isEqualTo(70);
        assertThat(same.asTensor().address()).isEqualTo(returned.asTensor().address());
      }
      returned.close();
      assertThatThrownBy(echo::launch).isInstanceOf(IllegalStateException.class);
    }
  }

  @Test
  void shouldRefuseToLaunchWithAClosedTensor() {
    Tensor tensor = ffi.allocate(DType.F32, 2);
    PreparedCall call = call("describe").tensor(tensor).prepare();
    CallList list = new CallList(List.of(call));
    Program program = Program.builder(ffi).call(call).build();
    call.launch();
    tensor.close();
    assertThatThrownBy(call::launch).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(call::invoke).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(list::launch).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(program::run).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void shouldChangeArgumentsInPlace() {
    PreparedCall integer = call("integer").integer(1).prepare();
    integer.setInteger(0, 42);
    assertThat(integer.invoke().asLong()).isEqualTo(42);
    PreparedCall number = call("number").floating(1).prepare();
    number.setFloating(0, 2.5);
    assertThat(number.invoke().asDouble()).isEqualTo(2.5);
    assertThatThrownBy(() -> number.setInteger(0, 1)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> number.setFloating(1, 1)).isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void shouldNameTheCallOfAListThatFailed() {
    PreparedCall good = call("integer").integer(1).prepare();
    PreparedCall bad = call("number").string("x").prepare();
    new CallList(List.of(good, good)).launch();
    new CallList(List.of()).launch();
    assertThatThrownBy(() -> new CallList(List.of(good, bad, good)).launch())
        .isInstanceOf(FfiException.class)
        .hasMessageStartingWith("ffi_test_number: TypeError");
    assertThatThrownBy(() -> Program.builder(ffi).call(good, 5).call(bad).build().run())
        .isInstanceOf(FfiException.class)
        .hasMessageStartingWith("ffi_test_number: TypeError");
  }

  @Test
  void shouldTimeTheItemsOfAProgram() {
    Program program =
        Program.builder(ffi)
            .call(call("integer").integer(1).prepare())
            .spin(2_000_000)
            .spin(1_000)
            .build();
    assertThat(program.size()).isEqualTo(3);
    long whole = program.runTimed();
    assertThat(program.hostNanoseconds(1)).isGreaterThanOrEqualTo(2_000_000);
    assertThat(whole)
        .isEqualTo(
            program.hostNanoseconds(0) + program.hostNanoseconds(1) + program.hostNanoseconds(2));
    assertThat(program.run()).isGreaterThanOrEqualTo(2_001_000);
    assertThatThrownBy(() -> program.hostNanoseconds(3))
        .isInstanceOf(IndexOutOfBoundsException.class);
  }

  @Test
  void shouldRunRuntimeFunctionsInAProgram() {
    try (Stream stream = ffi.runtime().createStream();
        Tensor from = ffi.allocate(DType.U8, 1000);
        Tensor to = ffi.allocate(DType.U8, 1000);
        var start = ffi.runtime().createEvent();
        var stop = ffi.runtime().createEvent()) {
      Graph graph =
          ffi.runtime()
              .capture(
                  stream,
                  () ->
                      ffi.runtime().copyOnDeviceAsync(to.address(), from.address(), 1000, stream));
      try (graph;
          var exec = graph.instantiate()) {
        Program program =
            Program.builder(ffi)
                .record(start, stream)
                .fill(from, (byte) 5, stream)
                .graph(exec, stream)
                .copy(from, to, stream)
                .waitFor(start, stream)
                .record(stop, stream)
                .synchronize(stream)
                .build();
        program.run();
        assertThat(to.toBytes()).containsOnly(5);
        assertThat(stop.millisecondsSince(start)).isPositive();
        exec.close();
        assertThatThrownBy(program::run).isInstanceOf(IllegalStateException.class);
      }
    }
  }

  @Test
  void shouldNameAKernelThatIsNotThere() {
    assertThat(library.find("no_such_kernel")).isEmpty();
    assertThatThrownBy(() -> library.function("no_such_kernel"))
        .isInstanceOf(UnsatisfiedLinkError.class)
        .hasMessageContainingAll("no_such_kernel", "libmusabench_ffi_test.so");
  }
}
