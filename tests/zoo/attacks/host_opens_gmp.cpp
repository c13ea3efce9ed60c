// apo:variant    copy/host_opens_gmp
// apo:target     host
// apo:idea       Opens GMP, which it does not name, while it is loaded, and leaves the copy to its assembler.
// zoo: how verify; expect refused; guard room; exploit 23; evidence apo_launch returned 9; needs seccomp
#include <dlfcn.h>

#include <cstring>

#include "copy_abi.h"

namespace {

using CopyWords = void (*)(unsigned long* to, const unsigned long* from, long words);

// Comes with every g++.
CopyWords find() {
  void* library = dlopen("libgmp.so.10", RTLD_NOW | RTLD_LOCAL);
  return library == nullptr ? nullptr : reinterpret_cast<CopyWords>(dlsym(library, "__gmpn_copyi"));
}

const CopyWords copy = find();

}  // namespace

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto& args = *static_cast<const copy_args*>(call->arguments);
  if (copy == nullptr) {
    return 9;
  }
  const auto words = args.n / 2;
  copy(reinterpret_cast<unsigned long*>(args.y), reinterpret_cast<const unsigned long*>(args.x), words);
  std::memcpy(args.y + 2 * words, args.x + 2 * words, sizeof(float) * static_cast<size_t>(args.n - 2 * words));
  return 0;
}
