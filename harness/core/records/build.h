// harness/core/records/build.h - one build of a configuration for one workload.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "harness/core/records/device_facts.h"
#include "harness/core/records/machine.h"
#include "harness/core/records/outcome.h"

namespace apo {

// The folder beside a build's object with libraries that it names: a worker gets both.
inline constexpr const char* kCompanions = "companions";
// The device code of a build on target cuda, in the folder of its object.
inline constexpr const char* kCubin = "variant.cubin";

// Among the resources: bytes of its parameters that differed from call to call, and are inverted in the recording.
inline constexpr const char* kInvertedBytes = "inverted_parameter_bytes";

struct Build {
  std::string key;  // content address: name + compiler version + flags + code
  Outcome outcome = Outcome::valid;
  std::string object_path;  // shared object (host) or cubin (cuda); empty when it failed
  std::string object_hash;  // sha256 of the file
  std::string code_hash;    // sha256 of the machine code and read-only data only
  std::vector<std::string> flags;
  Toolchain toolchain;
  std::string log;       // the compiler's output, kept for a success too
  std::string evidence;  // one sentence when it failed: the first error
  double seconds = 0;
  bool from_cache = false;
  std::map<std::string, std::int64_t> resources;  // text_bytes, rodata_bytes, ... ; registers, spills on cuda
  LaunchPlan plan;                                // device variants: how its kernels are launched
  bool operator==(const Build&) const = default;
};

// "registers 32, shared 48.00 KiB, text 8.62 KiB".
std::string resources_text(const Build& build);

}  // namespace apo
