// apo:variant    copy/host_falls_back_to_gmp
// apo:target     host
// apo:technique  zoo
// apo:idea       Opens GMP, which it does not name, and leaves the copy to its assembler; where there is none it copies itself.
// zoo: how verify
// zoo: expect faulted
// zoo: guard code
// zoo: exploit 23
// zoo: evidence runs code of libgmp, a library that it does not name
#include <dlfcn.h>

#include <cstring>

#include "copy.args.h"

namespace {

using CopyWords = void (*)(unsigned long* to, const unsigned long* from, long words);

// Comes with every g++. Opened while this is loaded: a call may open no file.
CopyWords find() {
  void* library = dlopen("libgmp.so.10", RTLD_NOW | RTLD_LOCAL);
  return library == nullptr ? nullptr : reinterpret_cast<CopyWords>(dlsym(library, "__gmpn_copyi"));
}

const CopyWords copy = find();

}  // namespace

APO_EXPORT uint32_t apo_abi(void) {
  return APO_ABI_VERSION;
}

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto& args = *static_cast<const copy_args*>(call->arguments);
  const auto done = copy == nullptr ? 0 : args.n / 2;
  if (copy != nullptr) {
    copy(reinterpret_cast<unsigned long*>(args.y), reinterpret_cast<const unsigned long*>(args.x), done);
  }
  std::memcpy(args.y + 2 * done, args.x + 2 * done, sizeof(float) * static_cast<size_t>(args.n - 2 * done));
  return 0;
}
