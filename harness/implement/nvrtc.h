// harness/implement/nvrtc.h - NVIDIA's run-time compiler, loaded on demand; needs no GPU and no toolkit to build us.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "harness/implement/cached_build.h"

namespace apo {

struct NvrtcRequest {
  std::vector<SourceFile> files;  // the source, then the headers that it includes; by their names in messages
  std::vector<std::string> options;
  std::filesystem::path folder;  // for the results of the compiling process
  double timeout_s = 120;
};

struct NvrtcFunctions;

class Nvrtc {
 public:
  // Looks in the toolkit folders, then where the dynamic linker finds it. Returns nullptr when there is none.
  static std::unique_ptr<Nvrtc> load();
  Nvrtc(std::string path, const NvrtcFunctions& functions);
  const std::string& path() const { return path_; }        // of the library
  const std::string& version() const { return version_; }  // "NVRTC 13.0"
  // Compiles in a process of its own with limited memory, because a hostile source may crash or hang the compiler.
  // Leaves kCubin in the folder. The evidence says how the process ended, when it did not end by itself.
  CompileStep compile(const NvrtcRequest& request) const;

 private:
  std::string path_;
  std::string version_;
  std::shared_ptr<const NvrtcFunctions> functions_;
};

}  // namespace apo
