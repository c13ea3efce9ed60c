// apo:variant    copy/host_honest_maps_memory
// apo:target     host
// apo:idea       Honest: takes a buffer from the system for the call and gives it back.
// zoo: expect valid
#include <sys/mman.h>

#include <cstring>

#include "copy_abi.h"

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto& args = *static_cast<const copy_args*>(call->arguments);
  const auto bytes = sizeof(float) * static_cast<size_t>(args.n);
  void* room = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (room == MAP_FAILED) {
    return 1;
  }
  std::memcpy(room, args.x, bytes);
  std::memcpy(args.y, room, bytes);
  munmap(room, bytes);
  return 0;
}
