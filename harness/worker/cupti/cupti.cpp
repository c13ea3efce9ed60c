// harness/worker/cupti/cupti.cpp - finds libcupti, and refuses versions with records of unknown layout.
#include "harness/worker/cupti/cupti.h"

#include <dlfcn.h>

#include <cstdlib>

namespace apo::cupti {
namespace {

// The reason of the last dlopen: "libcupti.so: cannot open shared object file: No such file or directory".
std::string load_error() {
  const char* reason = dlerror();
  return reason != nullptr ? reason : "it does not load";
}

// One copy in a process is enough: PyTorch, for one, brings its own.
void* loaded_already(std::string& path) {
  const char* const chosen = std::getenv("APO_CUPTI_LIBRARY");
  void* handle = nullptr;
  for (const char* name : {"libcupti.so.13", "libcupti.so.12"}) {
    if (handle == nullptr && (chosen == nullptr || *chosen == '\0')) {
      handle = dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
      path = handle == nullptr ? "" : name;
    }
  }
  return handle;
}

}  // namespace

bool is_known(std::uint32_t version) {
  constexpr std::uint32_t kCuda12 = 19;  // 12.0; from 13.0 on the version is 10000 x major + 100 x minor + patch
  constexpr std::uint32_t kLastOfCuda12 = 99;
  return (version >= kCuda12 && version <= kLastOfCuda12) || version / 10'000 == 13;
}

std::vector<std::string> library_paths() {
  if (const char* chosen = std::getenv("APO_CUPTI_LIBRARY"); chosen != nullptr && *chosen != '\0') {
    return {chosen};
  }
  std::vector<std::string> paths;
  for (const char* root : {static_cast<const char*>(std::getenv("CUDA_HOME")),
                           static_cast<const char*>(std::getenv("CUDA_PATH")), "/usr/local/cuda"}) {
    if (root != nullptr && *root != '\0') {
      paths.push_back(std::string(root) + "/lib64/libcupti.so");
      paths.push_back(std::string(root) + "/extras/CUPTI/lib64/libcupti.so");
    }
  }
  paths.insert(paths.end(), {"libcupti.so.13", "libcupti.so.12", "libcupti.so"});
  return paths;
}

std::unique_ptr<const Library> load_library(std::string& missing) {
  std::string reason;
  std::string found;
  void* handle = loaded_already(found);
  const std::vector<std::string> paths = library_paths();
  for (auto path = paths.begin(); handle == nullptr && path != paths.end(); ++path) {
    handle = dlopen(path->c_str(), RTLD_NOW | RTLD_LOCAL);
    found = *path;
    reason = handle != nullptr ? "" : load_error();
  }
  if (handle == nullptr) {
    missing = "CUPTI does not load: " + reason;
    return nullptr;
  }
  std::unique_ptr<Library> cupti(new Library{.in = {handle}, .path = found});
  if (!cupti->in.missing.empty()) {
    missing = "'" + found + "' is no CUPTI of CUDA 12 or 13: it has no " + cupti->in.missing;
    return nullptr;
  }
  if (const Result result = cupti->get_version(&cupti->version); result != kSuccess) {
    missing = "CUPTI does not tell its version: " + describe(*cupti, result);
    return nullptr;
  }
  if (!is_known(cupti->version)) {
    missing = "'" + cupti->path + "' is version " + std::to_string(cupti->version) +
              " of CUPTI, whose records this program does not know; it knows those of CUDA 12.0 to 13.x";
    return nullptr;
  }
  return cupti;
}

std::string describe(const Library& library, Result result) {
  const char* text = nullptr;
  if (library.result_string(result, &text) != kSuccess || text == nullptr) {
    return "CUPTI error " + std::to_string(result);
  }
  return text;
}

}  // namespace apo::cupti
