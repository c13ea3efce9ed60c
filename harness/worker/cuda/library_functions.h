// harness/worker/cuda/library_functions.h - finds the functions of a library that is loaded on demand.
//
//   struct Nvml {
//     LibraryFunctions in;                       // initialised with the library
//     int (*init)() = in.find("nvmlInit_v2");    // null where it has none; in.missing then names the first such one
//   };
#pragma once

#include <dlfcn.h>

#include <string>

namespace apo {

struct LibraryFunctions {
  // Converts to a pointer to any function.
  struct Address {
    void* address = nullptr;
    template <class Function>
    operator Function*() const {
      return reinterpret_cast<Function*>(address);
    }
  };

  Address find(const char* name) {
    const Address found = find_optional(name);
    if (found.address == nullptr && missing.empty()) {
      missing = name;
    }
    return found;
  }
  Address find_optional(const char* name) const { return {library == nullptr ? nullptr : dlsym(library, name)}; }

  void* library = nullptr;
  std::string missing = {};
};

}  // namespace apo
