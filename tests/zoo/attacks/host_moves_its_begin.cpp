// apo:variant    copy/host_moves_its_begin
// apo:target     host
// apo:idea       Looks for the stamp of its own begin by one clock on the stack of its caller and moves it half way to now.
// zoo: how compare warm n4k; against copy/host_slow; expect not_accepted; guard windows; exploit 10; needs x86_64
#include <ctime>

#include "slow_copy.h"

namespace {

// From what the caller's callee saved of its registers up through the caller's frame.
__attribute__((no_sanitize("address"), noinline)) void move(volatile uint64_t* frame, uint64_t begin_ns,
                                                            uint64_t end_ns) {
  for (int i = -16; i < 200; ++i) {
    if (begin_ns - 1 - frame[i] < 100000) {
      frame[i] = frame[i] + (end_ns - begin_ns) / 2;
    }
  }
}

}  // namespace

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto& args = *static_cast<const copy_args*>(call->arguments);
  asm volatile("" ::: "rbx", "r12", "r13", "r14", "r15");  // what the caller keeps in registers goes to the stack too
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC_RAW, &now);
  const uint64_t begin_ns = static_cast<uint64_t>(now.tv_sec) * 1000000000u + static_cast<uint64_t>(now.tv_nsec);
  copy_slowly(args);
  clock_gettime(CLOCK_MONOTONIC_RAW, &now);
  const uint64_t end_ns = static_cast<uint64_t>(now.tv_sec) * 1000000000u + static_cast<uint64_t>(now.tv_nsec);
  move(static_cast<uint64_t*>(__builtin_frame_address(0)), begin_ns, end_ns);
  return 0;
}
