// apo:variant    copy/host_patches_the_clock
// apo:target     host
// apo:idea       Writes a jump into the code of the system clock, to one that runs at half speed.
// zoo: how compare warm n4k; against copy/host_slow; expect faulted; guard code; exploit 10
// zoo: evidence code or constants of libc; needs x86_64
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cstring>

#include "slow_copy.h"

namespace {

// Makes the pages of [begin, begin + bytes) writable, as they were not.
bool open_pages(void* begin, size_t bytes, int rights) {
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const uintptr_t first = reinterpret_cast<uintptr_t>(begin) / page * page;
  const uintptr_t last = reinterpret_cast<uintptr_t>(begin) + bytes;
  return mprotect(reinterpret_cast<void*>(first), last - first, rights) == 0;
}

int64_t first = 0;

int slow_clock(clockid_t clock, timespec* time) {
  const auto result = static_cast<int>(syscall(SYS_clock_gettime, clock, time));
  const int64_t now = time->tv_sec * 1000000000 + time->tv_nsec;
  first = first == 0 ? now : first;
  const int64_t told = clock == CLOCK_MONOTONIC_RAW ? first + (now - first) / 2 : now;
  time->tv_sec = told / 1000000000;
  time->tv_nsec = told % 1000000000;
  return result;
}

bool patch() {
  unsigned char jump[] = {0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xe0};  // mov rax, address; jmp rax
  const auto target = reinterpret_cast<uintptr_t>(&slow_clock);
  std::memcpy(jump + 2, &target, sizeof target);
  auto* code = reinterpret_cast<unsigned char*>(&clock_gettime);
  if (!open_pages(code, sizeof jump, PROT_READ | PROT_WRITE | PROT_EXEC)) {
    return false;
  }
  std::memcpy(code, jump, sizeof jump);
  return open_pages(code, sizeof jump, PROT_READ | PROT_EXEC);
}

}  // namespace

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto& args = *static_cast<const copy_args*>(call->arguments);
  static const bool done = patch();
  copy_slowly(args);
  return done ? 0 : 1;
  return 0;
}
