// harness/worker/cuda/own_kernels.cpp - their code, as PTX that the driver compiles for its GPU.
#include "harness/worker/cuda/own_kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "harness/worker/cuda/module.h"

namespace apo {

cuda::Result OwnKernel::load(const cuda::Driver& driver, const char* code, const char* name) {
  cuda::Module module = nullptr;
  const cuda::Result error = driver.load_module(&module, code);
  return error != cuda::kSuccess ? error : driver.get_function(&function_, module, name);
}

cuda::Result OwnKernel::queue(const cuda::Driver& driver, unsigned blocks, void** parameters,
                              cuda::Stream stream) const {
  constexpr unsigned kThreads = 256;
  const cuda::LaunchConfig config{.grid = {blocks, 1, 1},
                                  .block = {kThreads, 1, 1},
                                  .shared_bytes = 0,
                                  .stream = stream,
                                  .attributes = nullptr,
                                  .attribute_count = 0};
  return driver.launch(&config, function_, parameters, nullptr);
}

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

namespace {

// Thread i compares the 16 bytes at 16 (i + k threads), k = 0, 1, ..., and the bytes behind the last 16 at i + k
// threads: all bytes where one of the addresses is no multiple of 16.
constexpr const char* kComparisonCode = R"(.version 6.0
.target sm_60
.address_size 64
.visible .entry apo_compare(.param .u64 left, .param .u64 right, .param .u64 count, .param .u64 differ)
{
  .reg .pred done, other, some;
  .reg .b32 block, threads, thread, blocks, a<4>, b<4>, byte<2>;
  .reg .b64 x, y, z, end, whole, at, step, p, q;
  mov.u32 block, %ctaid.x;
  mov.u32 threads, %ntid.x;
  mov.u32 thread, %tid.x;
  mov.u32 blocks, %nctaid.x;
  mad.lo.u32 thread, block, threads, thread;
  mul.lo.u32 threads, threads, blocks;
  ld.param.u64 x, [left];
  ld.param.u64 y, [right];
  ld.param.u64 end, [count];
  ld.param.u64 z, [differ];
  cvta.to.global.u64 x, x;
  cvta.to.global.u64 y, y;
  cvta.to.global.u64 z, z;
  setp.ne.u32 some, 0, 0;
  and.b64 whole, end, 0xFFFFFFFFFFFFFFF0;
  or.b64 p, x, y;
  and.b64 p, p, 15;
  setp.ne.u64 other, p, 0;
  selp.b64 whole, 0, whole, other;
  mul.wide.u32 at, thread, 16;
  mul.wide.u32 step, threads, 16;
words:
  setp.ge.u64 done, at, whole;
  @done bra bytes;
  add.u64 p, x, at;
  add.u64 q, y, at;
  ld.global.v4.u32 {a0, a1, a2, a3}, [p];
  ld.global.v4.u32 {b0, b1, b2, b3}, [q];
  setp.ne.or.u32 other, a0, b0, some;
  setp.ne.or.u32 other, a1, b1, other;
  setp.ne.or.u32 other, a2, b2, other;
  setp.ne.or.u32 some, a3, b3, other;
  add.u64 at, at, step;
  bra words;
bytes:
  cvt.u64.u32 at, thread;
  add.u64 at, at, whole;
  cvt.u64.u32 step, threads;
next:
  setp.ge.u64 done, at, end;
  @done bra finished;
  add.u64 p, x, at;
  add.u64 q, y, at;
  ld.global.u8 byte0, [p];
  ld.global.u8 byte1, [q];
  setp.ne.or.u32 some, byte0, byte1, some;
  add.u64 at, at, step;
  bra next;
finished:
  mov.u32 a0, 1;
  @some st.global.u32 [z], a0;
  ret;
}
)";

cuda::IpcHandle handle_from(const std::string& text) {
  cuda::IpcHandle handle{};
  for (std::size_t i = 0; i < handle.bytes.size() && 2 * i + 2 <= text.size(); ++i) {
    handle.bytes.at(i) = static_cast<unsigned char>(std::stoi(text.substr(2 * i, 2), nullptr, 16));
  }
  return handle;
}

}  // namespace

Result<std::string> keep_on_gpu(const cuda::Driver& driver, const void* from, std::size_t bytes) {
  cuda::Pointer memory = 0;
  cuda::IpcHandle handle{};
  cuda::Result error = driver.allocate(&memory, bytes);
  error = error != 0 ? error : driver.copy_to_device(memory, from, bytes);
  error = error != 0 ? error : driver.ipc_handle(&handle, memory);
  if (auto failure = cuda_failure(driver, error, fmt::format("cannot keep {} bytes of inputs on the GPU", bytes))) {
    return *failure;
  }
  return fmt::format("{:02x}", fmt::join(handle.bytes, ""));
}

OpenKept::OpenKept(const cuda::Driver& driver, const KeptInputs& kept)
    : driver_(driver), kept_(kept), error_(driver.ipc_open(&memory_, handle_from(kept.handle), cuda::kIpcLazyPeer)) {}

OpenKept::~OpenKept() {
  if (error_ == cuda::kSuccess) {
    driver_.ipc_close(memory_);  // fails only after a sticky error, which the next call reports
  }
}

cuda::Pointer OpenKept::input(std::size_t index) const {
  return memory_ + static_cast<std::uint64_t>(kept_.offsets.at(index));
}

cuda::Result GpuComparison::begin() {
  cuda::Result error = cuda::kSuccess;
  if (!kernel_.is_loaded()) {
    error = driver_.allocate(&differ_, sizeof(std::uint32_t));
    error = error != 0 ? error : kernel_.load(driver_, kComparisonCode, "apo_compare");
  }
  return error != 0 ? error : driver_.fill(differ_, 0, sizeof(std::uint32_t), nullptr);
}

cuda::Result GpuComparison::compare(cuda::Pointer a, cuda::Pointer b, std::size_t bytes) const {
  constexpr unsigned kBlocks = 1024;
  std::uint64_t count = bytes;
  cuda::Pointer differ = differ_;
  std::array<void*, 4> parameters = {&a, &b, &count, &differ};
  return kernel_.queue(driver_, kBlocks, parameters.data(), nullptr);
}

cuda::Result GpuComparison::end(bool& same) const {
  std::uint32_t differ = 1;
  const cuda::Result error = driver_.copy_to_host(&differ, differ_, sizeof differ);
  same = error == cuda::kSuccess && differ == 0;
  return error;
}

}  // namespace apo
