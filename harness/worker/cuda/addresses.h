// harness/worker/cuda/addresses.h - what a recorder and a replay share: memory, a cubin's variables, addresses among
// parameters, the GPU's model, captured streams.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "harness/core/recording/recorded_call.h"
#include "harness/worker/cuda/driver.h"

namespace apo {

struct CudaRange {
  cuda::Pointer at = 0;
  std::size_t bytes = 0;
};

struct CudaVariable {
  std::string name;
  unsigned section = 0;      // of the cubin
  std::uint64_t offset = 0;  // in it
};

// Lists the variables of a cubin, including those that only its compiler knows. Throws EnvironmentError when it is no
// cubin.
std::vector<CudaVariable> variables_in(std::string_view image);

// Whether the driver finds all of it where its headers say: it is given no size.
bool is_whole_cubin(std::string_view image);

// "NVIDIA H200": of the GPU that the current context is of; "" where that is unknown.
std::string device_model(const cuda::Driver& driver);

// Whether what the stream is given becomes a CUDA graph.
bool is_captured(const cuda::Driver& driver, cuda::Stream stream);

// Puts an address, or a tensor map of it, at its place among parameters.
cuda::Result put_address(const cuda::Driver& driver, std::string& parameters, const RecordedPlace& place,
                         std::uint64_t address);

}  // namespace apo
