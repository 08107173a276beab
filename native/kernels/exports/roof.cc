#include "../roof.h"

#include "ffi_args.h"

namespace musabench {

// read_bandwidth(src: T uint8, streams: i, out: T f32[>= 1])
MUSABENCH_EXPORT(read_bandwidth, args) {
  const TensorArg src = args.tensor("src");
  const int64_t streams = args.integer("streams", 1, kMaxReadStreams);
  const TensorArg out = args.output("out");
  args.finish();
  src.require_dtype(Dtype::kUInt8).require_contiguous();
  out.require_dtype(Dtype::kFloat32).require(!out.empty(), "is empty, wanted room for one element");
  out.require_no_overlap(src);
  args.check_runtime(launch_read_bandwidth({src.data(), src.elements(), streams, out.data_as<float>()}, args.stream()),
                     "launch");
}

// copy_bandwidth(src: T uint8, dst: T uint8)
MUSABENCH_EXPORT(copy_bandwidth, args) {
  const TensorArg src = args.tensor("src");
  const TensorArg dst = args.output("dst");
  args.finish();
  src.require_dtype(Dtype::kUInt8).require_contiguous();
  dst.require_dtype(Dtype::kUInt8).require_contiguous();
  dst.require(dst.elements() == src.elements(), "has not as many bytes as src").require_no_overlap(src);
  args.check_runtime(launch_copy_bandwidth({src.data(), dst.data(), src.elements()}, args.stream()), "launch");
}

// peak_flops(iterations: i, out: T f32[>= 1])
MUSABENCH_EXPORT(peak_flops, args) {
  const int64_t iterations = args.integer("iterations", 1, kMaxPeakIterations);
  const TensorArg out = args.output("out");
  args.finish();
  out.require_dtype(Dtype::kFloat32).require(!out.empty(), "is empty, wanted room for one element");
  args.check_runtime(launch_peak_flops({iterations, out.data_as<float>()}, args.stream()), "launch");
}

// peak_flops_per_iteration() -> int: floating-point operations of one iteration, all lanes of the current device.
MUSABENCH_EXPORT(peak_flops_per_iteration, args) {
  args.finish();
  args.return_integer(peak_flops_per_iteration());
}

// empty(): one block that does nothing, on the current device.
MUSABENCH_EXPORT(empty, args) {
  args.finish();
  int32_t device_type = 0;
  int32_t device_id = 0;
  args.check_runtime(current_device(&device_type, &device_id), "asking for the current device");
  args.check_runtime(launch_empty(TVMFFIEnvGetStream(device_type, device_id)), "launch");
}

}  // namespace musabench
