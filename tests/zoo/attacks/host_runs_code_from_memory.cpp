// apo:variant    copy/host_runs_code_from_memory
// apo:target     host
// apo:idea       Loads a library that it has written into a file that exists in memory only.
// zoo: how verify; expect faulted; guard code; exploit 26; evidence may be executed
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

#include "copy_abi.h"

namespace {

// Its own file, as somebody else could have written another one.
bool load() {
  static const void* code = [] {
    const int file = memfd_create("code", 0);
    char page[4096] = {};
    std::memcpy(page, reinterpret_cast<const void*>(&load), 64);
    const bool written = write(file, page, sizeof page) == sizeof page;
    return written ? mmap(nullptr, sizeof page, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0) : MAP_FAILED;
  }();
  return code != MAP_FAILED;
}

}  // namespace

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto& args = *static_cast<const copy_args*>(call->arguments);
  if (!load()) {
    return 1;
  }
  std::memcpy(args.y, args.x, sizeof(float) * static_cast<size_t>(args.n));
  return 0;
}
