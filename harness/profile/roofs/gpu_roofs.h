// harness/profile/roofs/gpu_roofs.h - the kernels of roofs.cu, what each does in a launch, and its measured roof.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/core/records/device_facts.h"
#include "harness/core/records/records.h"
#include "harness/worker/parent/worker.h"

namespace apo {

// The source of a device variant of family spin for this device; it has two tensors of floats, and its launches are the
// kernels below. It is compiled in, so that the program needs no file beside it.
std::string cuda_roof_source(const DeviceFacts& device);

// The required place of a launch's tensors.
enum class Footprint : std::uint8_t { cache, memory };

struct CudaRoofKernel {
  std::string roof;
  std::string kernel;
  std::string unit;   // of the roof; "s": the time of one operation, anything else: a rate of the whole GPU
  std::string steps;  // the tunable with the repetitions of a thread; empty: once
  double work = 0;    // a rate: of one thread in one step, in the roof's unit; "s": dependent operations in one step
  std::string note;
  Footprint footprint = Footprint::cache;
  int repetitions = 1;  // launches in one sample
};

// The roofs of a GPU:
//   memory_copy, l2_copy    byte/s, read plus written, far beyond the L2 and well within it
//   shared_bandwidth        byte/s, 16 bytes a lane without bank conflicts
//   fp32_fma                flop/s, an fma counts 2
//   special_tanh, special_ex2  op/s, one instruction of the special-function unit each
//   libm_tanh               op/s, CUDA's tanhf without fast math
//   shuffle                 op/s, lanes that got a value from another lane
//   tensor_bf16             flop/s with fp32 sums, by wgmma on compute capability 9.0 and by mma.sync on others
//   barrier                 s, __syncthreads of a block of 256 threads that has its SM to itself
//   fma_latency, special_latency, shuffle_latency, shared_latency  s, of one operation that waits for the one before
//   launch_latency          s, of an empty kernel behind another one
const std::vector<CudaRoofKernel>& cuda_roof_kernels();

// Sizes x and y, in floats, for a footprint: an eighth of the L2 each, or four times the L2 and at least 256 MiB each,
// rounded as roofs.cu needs it on `sms` SMs.
std::int64_t roof_tensor_floats(Footprint footprint, std::int64_t l2_bytes, int sms);

// `ns` holds the time of each sample. As on the host, a rate is the 90th percentile and a cost the median, each with a
// distribution-free 95 % interval.
Roof cuda_roof(const CudaRoofKernel& kernel, std::int64_t threads, std::int64_t steps,
               const std::vector<std::int64_t>& ns);

// Computes memory_copy from the driver's copies of `bytes` bytes: read plus written.
Roof driver_copy_roof(std::int64_t bytes, const std::vector<std::int64_t>& ns);

// True when every roof above is present, measured as this program does it: an older one measured fewer, or otherwise.
bool has_all_cuda_roofs(const std::vector<Roof>& roofs);

using BuildVariant = std::function<Build(const Family&, const Variant&, const Axes&)>;

// Measures every roof of cuda_roof_kernels() in about two seconds. `variant` is cuda_roof_source() with its metadata.
// On a GPU that cannot run those kernels (before sm_80) it measures only memory_copy, by the driver's own copy. Throws
// EnvironmentError when a roof cannot be measured.
std::vector<Roof> measure_cuda_roofs(const Variant& variant, const BuildVariant& build, const WorkerOptions& options,
                                     const DeviceFacts& device);

}  // namespace apo
