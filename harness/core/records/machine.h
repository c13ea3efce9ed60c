// harness/core/records/machine.h - the machine and toolchain of a measurement.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "harness/core/json/fields.h"
#include "kernels/family.h"

namespace apo {

// The device on which a number was measured. On host: this CPU and its limits.
struct Machine {
  Target target = Target::host;
  std::string id;        // stable key: GPU UUID, or a hash of the CPU facts below and the machine id
  std::string model;     // "Intel(R) Xeon(R) Processor" or "NVIDIA H200"
  int cores = 0;         // CPUs this process may use, or SMs
  std::string kernel;    // uname -r
  std::string governor;  // CPU frequency governor, "unknown" where the kernel does not say
  std::string isa;       // "avx512", "avx2", "sse2", or "sm_90"
  std::string driver;    // GPU driver, empty on host
  std::int64_t l2_bytes = 0;
  std::int64_t l3_bytes = 0;
  std::int64_t memory_bytes = 0;
  std::map<std::string, std::string> facts;  // whatever else belongs to the fingerprint
  bool operator==(const Machine&) const = default;
};
APO_FIELDS(Machine, target, id, model, cores, kernel, governor, isa, driver, l2_bytes, l3_bytes, memory_bytes, facts)

struct Toolchain {
  std::string compiler;  // absolute path
  std::string version;   // first line of --version
  bool operator==(const Toolchain&) const = default;
};
APO_FIELDS(Toolchain, compiler, version)

}  // namespace apo
