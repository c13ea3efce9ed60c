// apo:variant    copy/host_honest_looks_a_function_up
// apo:target     host
// apo:idea       Honest: looks up at run time which memcpy the C library has, which is there anyway.
// zoo: expect valid
#include <dlfcn.h>

#include <cstring>

#include "copy_abi.h"

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto& args = *static_cast<const copy_args*>(call->arguments);
  static const auto copy = [] {
    void* library = dlopen("libc.so.6", RTLD_NOW | RTLD_LOCAL);
    return library == nullptr ? nullptr : reinterpret_cast<decltype(&std::memcpy)>(dlsym(library, "memcpy"));
  }();
  if (copy == nullptr) {
    return 1;
  }
  copy(args.y, args.x, sizeof(float) * static_cast<size_t>(args.n));
  return 0;
}
