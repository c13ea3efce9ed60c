// harness/implement/nvrtc.h - NVIDIA's run-time compiler, loaded on demand; needs no GPU and no toolkit to build us.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "harness/core/records/variant.h"

namespace apo {

struct NvrtcRequest {
  std::vector<SourceFile> files;  // the source, then the headers that it includes; by their names in messages
  std::vector<std::string> options;
  std::filesystem::path folder;  // for the results of the compiling process
  double timeout_s = 120;
};

struct NvrtcResult {
  std::string cubin;     // empty when it failed
  std::string log;       // the compiler's output
  std::string evidence;  // how its process ended, when it did not end by itself
};

class Nvrtc {
 public:
  // Looks in the toolkit folders, then where the dynamic linker finds it. Returns nullptr when there is none.
  static std::unique_ptr<Nvrtc> load();
  virtual ~Nvrtc() = default;
  virtual std::string path() const = 0;     // of the library
  virtual std::string version() const = 0;  // "NVRTC 13.0"
  // Compiles in a process of its own with limited memory, because a hostile source may crash or hang the compiler.
  virtual NvrtcResult compile(const NvrtcRequest& request) const = 0;
};

}  // namespace apo
