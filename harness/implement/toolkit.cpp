// harness/implement/toolkit.cpp - looks in the folders where NVIDIA's installers put things.
#include "harness/implement/toolkit.h"

#include <cstdlib>

#include "harness/core/error.h"
#include "harness/core/system/process.h"
#include "harness/core/text.h"

namespace apo {
namespace fs = std::filesystem;

std::vector<fs::path> toolkit_folders() {
  std::vector<fs::path> folders;
  const auto add = [&](const char* folder) {
    std::error_code ignored;  // an unreadable folder is as good as none
    if (folder != nullptr && *folder != '\0' && fs::is_directory(folder, ignored)) {
      folders.emplace_back(folder);
    }
  };
  add(std::getenv("CUDA_HOME"));
  add(std::getenv("CUDA_PATH"));
  add("/usr/local/cuda");
  return folders;
}

std::string find_toolkit_program(const std::string& name) {
  if (const auto found = find_program(name)) {
    return fs::absolute(*found).string();
  }
  for (const fs::path& toolkit : toolkit_folders()) {
    // compute-sanitizer has a folder of its own, and a script in bin only where it was installed with the rest.
    for (const fs::path& folder : {toolkit / "bin", toolkit / name}) {
      if (const auto found = find_program((folder / name).string())) {
        return *found;
      }
    }
  }
  return "";
}

std::vector<fs::path> compiler_header_folders(const std::string& compiler, const std::stop_token& stop) {
  const ProcessResult result =
      run_process({compiler, "-v", "-E", "-x", "c++", "/dev/null"}, {.environment = {"LC_ALL=C"}, .stop = stop});
  std::vector<fs::path> folders;
  bool listed = false;
  for (const std::string& line : split(result.error, '\n')) {
    listed = (listed || line.starts_with("#include <...>")) && !line.starts_with("End of search list");
    if (listed && line.starts_with(' ')) {
      folders.emplace_back(trim(line));
    }
  }
  return folders;
}

std::string nvcc_version(const std::string& nvcc) {
  for (const std::string& line : split(run_process({nvcc, "--version"}).output, '\n')) {
    if (line.find("release") != std::string::npos) {
      return "nvcc: " + trim(line);
    }
  }
  throw EnvironmentError("'" + nvcc + " --version' names no release", "install CUDA Toolkit 13");
}

}  // namespace apo
