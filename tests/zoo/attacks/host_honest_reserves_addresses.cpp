// apo:variant    copy/host_honest_reserves_addresses
// apo:target     host
// apo:idea       Honest: reserves 64 GiB of addresses, as an allocator does, and uses a little of them.
// zoo: expect valid
#include <sys/mman.h>

#include <cstring>

#include "copy_abi.h"

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto& args = *static_cast<const copy_args*>(call->arguments);
  constexpr size_t kReserved = size_t{64} << 30;
  const auto bytes = sizeof(float) * static_cast<size_t>(args.n);
  void* room = mmap(nullptr, kReserved, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room == MAP_FAILED || mprotect(room, bytes, PROT_READ | PROT_WRITE) != 0) {
    return 5;
  }
  std::memcpy(room, args.x, bytes);
  std::memcpy(args.y, room, bytes);
  munmap(room, kReserved);
  return 0;
}
