// harness/implement/object/cubin.h - reads the machine code of a cubin and the resources of each kernel.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace apo {

struct KernelFacts {
  std::string name;  // as the driver knows it
  std::int64_t registers = 0;
  std::int64_t local_bytes = 0;     // stack frame of a thread: arrays that did not fit registers, and spills
  std::int64_t shared_bytes = 0;    // static
  std::int64_t constant_bytes = 0;  // of the kernel's own bank, its parameters included
  std::int64_t text_bytes = 0;
};

struct CubinFacts {
  // sha256 over the machine code, constants and initial data. Blind to the names of functions, to the source's path and
  // comments, and to debug information.
  std::string code_hash;
  std::vector<KernelFacts> kernels;  // in the cubin's order
  // The maximum over kernels of registers, local_bytes, shared_bytes and constant_bytes; the sum of text_bytes and
  // writable_bytes (variables that outlive a launch, __constant__ ones included).
  std::map<std::string, std::int64_t> resources;
};

// Throws EnvironmentError when `bytes` is not a whole cubin.
CubinFacts read_cubin(std::string_view bytes);

}  // namespace apo
