// harness/worker/child/host_library.h - loads a library variant and calls it; an exception is its outcome.
#pragma once

#include <cxxabi.h>
#include <dlfcn.h>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include "harness/worker/protocol/result.h"
#include "kernels/abi.h"

namespace apo {

using Launcher = decltype(&apo_launch);

inline constexpr std::size_t kMessageLimit = 512;  // of text that a candidate chose

// A function of a library, by name; null when it has none.
template <class Function>
Function find_symbol(void* library, const char* name) {
  return reinterpret_cast<Function>(dlsym(library, name));
}

// Runs candidate code.
template <class Action>
std::optional<Failure> guarded(int slot, const Action& action) {
  try {
    return action();
  } catch (const std::bad_alloc&) {
    return Failure{Outcome::out_of_memory, "threw std::bad_alloc", slot};
  } catch (const std::exception& error) {
    return Failure{Outcome::faulted, "threw an exception: " + std::string(error.what()).substr(0, kMessageLimit), slot};
  } catch (abi::__forced_unwind&) {
    throw;  // pthread_exit: the C library insists
  } catch (...) {
    return Failure{Outcome::faulted, "threw something that is not a std::exception", slot};
  }
}

// What apo_launch gets; the words have to outlive it.
inline apo_call call_on(const std::vector<std::uint64_t>& words, int threads, void* stream = nullptr) {
  return {.abi_version = APO_ABI_VERSION,
          .struct_bytes = sizeof(apo_call),
          .arguments = words.data(),
          .threads = threads,
          .reserved = 0,
          .stream = stream};
}

// The outcome of a call that returned `code`.
std::optional<Failure> refusal(int code, int slot);

// Loads the libraries that the object and its companions name, so that the object needs no file but its own.
void load_named_libraries(const std::filesystem::path& object);

// Loads the shared object, checks its version of the ABI and finds apo_launch. Its constructors run here.
std::optional<Failure> load_library(const std::string& path, int slot, Launcher& launcher);

}  // namespace apo
