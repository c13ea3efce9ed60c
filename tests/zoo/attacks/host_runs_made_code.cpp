// apo:variant    copy/host_runs_made_code
// apo:target     host
// apo:idea       Writes the code that copies into memory of its own and runs it there: what was built is not what ran.
// zoo: how verify; expect faulted; guard code; exploit 26; evidence made code of its own; needs x86_64
#include <sys/mman.h>

#include <cstring>

#include "copy_abi.h"

namespace {

using Copy = void (*)(void* to, const void* from, uint64_t bytes);

Copy make() {
  const unsigned char code[] = {0x48, 0x89, 0xd1, 0xf3, 0xa4, 0xc3};  // mov rcx, rdx; rep movsb; ret
  void* page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) {
    return nullptr;
  }
  std::memcpy(page, code, sizeof code);
  return reinterpret_cast<Copy>(page);
}

}  // namespace

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto& args = *static_cast<const copy_args*>(call->arguments);
  static const auto copy = make();
  if (copy == nullptr) {
    return 1;
  }
  copy(args.y, args.x, sizeof(float) * static_cast<uint64_t>(args.n));
  return 0;
}
