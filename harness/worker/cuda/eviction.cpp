// harness/worker/cuda/eviction.cpp - the kernel that reads, as PTX for every GPU, and its launch.
#include "harness/worker/cuda/eviction.h"

#include <algorithm>
#include <array>

namespace apo {
namespace {

// Thread i reads the 16 bytes at 16 (i + k threads), k = 0, 1, ... Volatile, so that no compiler leaves them out.
constexpr const char* kCode = R"(.version 6.0
.target sm_60
.address_size 64
.visible .entry apo_evict_l2(.param .u64 buffer, .param .u64 bytes)
{
  .reg .pred done;
  .reg .b32 block, threads, thread, blocks, word<4>;
  .reg .b64 at, end, step, first;
  mov.u32 block, %ctaid.x;
  mov.u32 threads, %ntid.x;
  mov.u32 thread, %tid.x;
  mov.u32 blocks, %nctaid.x;
  mad.lo.u32 thread, block, threads, thread;
  mul.lo.u32 threads, threads, blocks;
  mul.wide.u32 first, thread, 16;
  mul.wide.u32 step, threads, 16;
  ld.param.u64 at, [buffer];
  ld.param.u64 end, [bytes];
  add.u64 end, at, end;
  add.u64 at, at, first;
  cvta.to.global.u64 at, at;
  cvta.to.global.u64 end, end;
next:
  setp.ge.u64 done, at, end;
  @done bra finished;
  ld.volatile.global.v4.u32 {word0, word1, word2, word3}, [at];
  add.u64 at, at, step;
  bra next;
finished:
  ret;
}
)";

}  // namespace

cuda::Result L2Eviction::set_up(const cuda::Driver& driver, std::int64_t l2_bytes, std::int64_t multiprocessors) {
  constexpr std::int64_t kBlocksPerMultiprocessor = 8;
  blocks_ = static_cast<unsigned>(kBlocksPerMultiprocessor * std::max<std::int64_t>(multiprocessors, 1));
  bytes_ = static_cast<std::uint64_t>(std::max<std::int64_t>(2 * l2_bytes + (8 << 20), 32 << 20)) / 16 * 16;
  const cuda::Result error = driver.allocate(&buffer_, bytes_);
  return error != cuda::kSuccess ? error : kernel_.load(driver, kCode, kEvictionKernel);
}

cuda::Result L2Eviction::queue(const cuda::Driver& driver, cuda::Stream stream) const {
  cuda::Pointer buffer = buffer_;
  std::uint64_t bytes = bytes_;
  std::array<void*, 2> parameters = {&buffer, &bytes};
  return kernel_.queue(driver, blocks_, parameters.data(), stream);
}

}  // namespace apo
