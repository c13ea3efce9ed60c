// harness/worker/child/host_library.cpp - dlopen, apo_abi, apo_launch.
#include "harness/worker/child/host_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <system_error>
#include <vector>

#include "harness/core/records/build.h"
#include "harness/worker/code/code_watch.h"

namespace apo {
namespace {

std::optional<Failure> open_library(const std::string& path, int slot, Launcher& launcher) {
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return Failure{Outcome::wrong_abi, dlerror(), slot};
  }
  const auto version = find_symbol<decltype(&apo_abi)>(library, "apo_abi");
  const auto found = find_symbol<Launcher>(library, "apo_launch");
  if (version == nullptr || found == nullptr) {
    return Failure{Outcome::wrong_abi,
                   std::string("does not export ") + (version == nullptr ? "apo_abi" : "apo_launch"), slot};
  }
  if (const std::uint32_t got = version(); got != APO_ABI_VERSION) {
    return Failure{Outcome::wrong_abi, fmt::format("apo_abi returns {}, this program speaks {}", got, APO_ABI_VERSION),
                   slot};
  }
  launcher = found;
  return std::nullopt;
}

// One that is not found is left to the loader, which says so.
void load_named_library(const std::string& name, const std::vector<std::string>& folders) {
  for (const std::string& folder : folders) {
    if (dlopen((folder + "/" + name).c_str(), RTLD_NOW | RTLD_LOCAL) != nullptr) {
      return;
    }
  }
  dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
}

}  // namespace

void load_named_libraries(const std::filesystem::path& object) {
  const std::filesystem::path companions = object.parent_path() / kCompanions;
  std::vector<std::filesystem::path> objects = {object};
  std::error_code none;
  for (const auto& companion : std::filesystem::directory_iterator(companions, none)) {
    objects.push_back(companion.path());
  }
  for (const std::filesystem::path& one : objects) {
    const LinkNames names = read_link_names(one);
    for (const std::string& name : names.needed) {
      if (!std::filesystem::exists(companions / name, none)) {
        load_named_library(name, names.folders);
      }
    }
  }
  load_named_library("libgcc_s.so.1", {});  // which the C library opens when a thread ends itself
}

std::optional<Failure> refusal(int code, int slot) {
  return code == 0 ? std::nullopt
                   : std::optional(Failure{Outcome::refused, "apo_launch returned " + std::to_string(code), slot});
}

std::optional<Failure> load_library(const std::string& path, int slot, Launcher& launcher) {
  return guarded(slot, [&] { return open_library(path, slot, launcher); });
}

}  // namespace apo
