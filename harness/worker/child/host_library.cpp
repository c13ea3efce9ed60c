// harness/worker/child/host_library.cpp - dlopen, apo_abi, apo_launch.
#include "harness/worker/child/host_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

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

}  // namespace

std::optional<Failure> refusal(int code, int slot) {
  return code == 0 ? std::nullopt
                   : std::optional(Failure{Outcome::refused, "apo_launch returned " + std::to_string(code), slot});
}

std::optional<Failure> load_library(const std::string& path, int slot, Launcher& launcher) {
  return guarded(slot, [&] { return open_library(path, slot, launcher); });
}

}  // namespace apo
