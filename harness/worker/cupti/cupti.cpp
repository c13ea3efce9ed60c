// harness/worker/cupti/cupti.cpp - finds libcupti and its functions, and refuses versions with records of unknown
// layout.
#include "harness/worker/cupti/cupti.h"

#include <dlfcn.h>

#include <cstdlib>

namespace apo::cupti {
namespace {

bool find_functions(void* library, Library& cupti, std::string& missing) {
  return find_function(library, cupti.get_version, "cuptiGetVersion", missing) &&
         find_function(library, cupti.result_string, "cuptiGetResultString", missing) &&
         find_function(library, cupti.subscribe, "cuptiSubscribe", missing) &&
         find_function(library, cupti.unsubscribe, "cuptiUnsubscribe", missing) &&
         find_function(library, cupti.enable_domain, "cuptiEnableDomain", missing) &&
         find_function(library, cupti.register_callbacks, "cuptiActivityRegisterCallbacks", missing) &&
         find_function(library, cupti.enable, "cuptiActivityEnable", missing) &&
         find_function(library, cupti.disable, "cuptiActivityDisable", missing) &&
         find_function(library, cupti.flush_all, "cuptiActivityFlushAll", missing) &&
         find_function(library, cupti.next_record, "cuptiActivityGetNextRecord", missing) &&
         find_function(library, cupti.dropped_records, "cuptiActivityGetNumDroppedRecords", missing);
}

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
  auto cupti = std::make_unique<Library>();
  std::string reason;
  void* handle = loaded_already(cupti->path);
  const std::vector<std::string> paths = library_paths();
  for (auto path = paths.begin(); handle == nullptr && path != paths.end(); ++path) {
    handle = dlopen(path->c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle != nullptr) {
      cupti->path = *path;
    } else {
      reason = load_error();
    }
  }
  if (handle == nullptr) {
    missing = "CUPTI does not load: " + reason;
    return nullptr;
  }
  cupti->handle = handle;
  if (!find_functions(handle, *cupti, reason)) {
    missing = "'" + cupti->path + "' is no CUPTI of CUDA 12 or 13: " + reason;
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
