// harness/implement/nvrtc.h - NVIDIA's run-time compiler, loaded on demand; needs no GPU and no toolkit to build us.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "harness/implement/cached_build.h"

namespace apo {

struct NvrtcFunctions;

class Nvrtc {
 public:
  // Looks in the toolkit folders, then where the dynamic linker finds it. Returns nullptr when there is none.
  static std::unique_ptr<Nvrtc> load();
  Nvrtc(std::string path, const NvrtcFunctions& functions);
  const std::string& path() const { return path_; }        // of the library
  const std::string& version() const { return version_; }  // "NVRTC 13.0"
  // Compiles the first of the files, which includes the others by their names, in a process of its own with limited
  // memory, because a hostile source may crash or hang the compiler. Leaves kCubin in the folder. The evidence says how
  // the process ended, when it did not end by itself.
  CompileStep compile(const std::vector<SourceFile>& files, const Words& options, const std::filesystem::path& folder,
                      double timeout_s, const std::stop_token& stop = {}) const;

 private:
  std::string path_;
  std::string version_;
  std::shared_ptr<const NvrtcFunctions> functions_;
};

}  // namespace apo
