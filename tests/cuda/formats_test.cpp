// tests/cuda/formats_test.cpp - shared objects with the TVM-FFI ABI and Triton kernels on a real GPU.
#include <gtest/gtest.h>

#include <cstdlib>

#include "harness/core/system/process.h"
#include "tests/cuda/cuda_runtime_fixture.h"

namespace apo {
namespace {

using testing::checkout;

constexpr const char* kCopyWithTriton = R"(# apo:variant copy/triton_copy
# apo:launch copy_all grid=ceil_div(n,256) args=y,x,n BLOCK=256 warps=8
import triton
import triton.language as tl


@triton.jit
def copy_all(y, x, n, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, tl.load(x + at, mask=at < n), mask=at < n)
)";

// As a tutorial's file: constants, two kernels with a buffer between, and what runs them at once.
constexpr const char* kTutorial = R"(# apo:variant copy/tutorial
# apo:scratch half 4*n
# apo:launch scale grid=ceil_div(n,256) args=half:fp32,x,n,-1.0 BLOCK=256 KIND='half'
# apo:launch scale grid=ceil_div(n,128) args=y,half:fp32,n,-1.0 BLOCK=128 KIND=None warps=8
import torch
import triton
import triton.language as tl
DEVICE = triton.runtime.driver.active.get_active_torch_device()


@triton.jit
def scale(y, x, n, factor, BLOCK: tl.constexpr, KIND: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    if KIND == 'half':
        tl.store(y + at, tl.load(x + at, mask=at < n) * factor, mask=at < n)
    else:
        tl.store(y + at, factor * tl.load(x + at, mask=at < n), mask=at < n)


print(scale[(1,)](torch.zeros(5, device=DEVICE), torch.zeros(5, device=DEVICE), 5, 1.0, BLOCK=256, KIND=None))
)";

class CudaFormats : public testing::CudaTest {
 protected:
  // Compiles `code` with nvcc to `name` in the fixture's folder; false where there is no nvcc.
  bool compiled(const std::string& code, const std::string& name, const std::vector<std::string>& flags) {
    const std::string nvcc = find_toolkit_program("nvcc");
    if (nvcc.empty()) {
      return false;
    }
    write_file_atomically(cuda_->folder() / "code.cu", code);
    std::vector<std::string> command = {nvcc, "-arch=native", "code.cu", "-o", name};
    command.insert(command.end(), flags.begin(), flags.end());
    const ProcessResult result = run_process(command, {.working_folder = cuda_->folder().string()});
    EXPECT_TRUE(result.ok()) << result.error;
    return true;
  }
  void add_triton(const std::string& name, const char* text) {
    write_file_atomically(cuda_->folder() / name, text);
    cuda_->add_file(cuda_->folder() / name);
  }
};

// The stream comes as libtvm_ffi.so is told it, by a function that is here the object's own.
constexpr const char* kFfiCode = R"(#include <cstdint>
struct Any { int32_t type; uint32_t zero; void* p; };
struct Tensor { void* data; int32_t device_type, device, dimensions; uint8_t code, bits; uint16_t lanes;
                int64_t *shape, *strides; uint64_t offset; };
static void* stream = nullptr;
extern "C" int TVMFFIEnvSetStream(int32_t type, int32_t, void* now, void** before) {
  *before = stream;
  stream = now;
  return type == 2 ? 0 : 1;
}
__global__ void copy(const float* x, float* y, int64_t n) {
  const int64_t i = 256LL * blockIdx.x + threadIdx.x;
  if (i < n) y[i] = x[i];
}
extern "C" int __tvm_ffi_copy(void*, const Any* a, int32_t count, Any*) {
  const Tensor& x = *static_cast<Tensor*>(a[0].p);
  if (count != 2 || x.device_type != 2 || stream == nullptr) return 7;
  copy<<<(x.shape[0] + 255) / 256, 256, 0, static_cast<cudaStream_t>(stream)>>>(
      static_cast<const float*>(x.data), static_cast<float*>(static_cast<Tensor*>(a[1].p)->data), x.shape[0]);
  return cudaGetLastError();
}
)";

TEST_F(CudaFormats, FfiObjectIsRecordedOnTheWorkersStream) {
  if (!compiled(kFfiCode, "mine.so", {"-shared", "-Xcompiler", "-fPIC"})) {
    GTEST_SKIP() << "no nvcc here";
  }
  cuda_->add_file(cuda_->folder() / "mine.so");
  EXPECT_EQ(cuda_->variant("copy/mine").target, Target::cuda);
  const CheckResult result = check("copy/mine");
  EXPECT_EQ(result.outcome, Outcome::valid) << result.evidence;
  EXPECT_EQ(result.confinement, "device code only") << "it is recorded";
}

// What Triton would have made is nvcc's here: the kernel takes the words one by one, and two pointers more.
TEST_F(CudaFormats, KernelThatTakesTheWordsOneByOneIsLaunched) {
  const std::string code = R"(extern "C" __global__ void first(float* y, const float* x, int n, void* a, void* b) {
    const long long i = 256LL * blockIdx.x + threadIdx.x;
    if (i < n && a == nullptr && b == nullptr) y[i] = x[i];
  })";
  if (!compiled(code, "first.cubin", {"-cubin"})) {
    GTEST_SKIP() << "no nvcc here";
  }
  add_triton("triton_copy.py", kCopyWithTriton);
  setenv("PYTHONPATH", (checkout() / "tests" / "implement" / "triton_stand_in").c_str(), 1);
  setenv("APO_TEST_CUBIN", (cuda_->folder() / "first.cubin").c_str(), 1);
  const CheckResult result = check("copy/triton_copy");
  unsetenv("PYTHONPATH");
  EXPECT_EQ(result.outcome, Outcome::valid) << result.evidence;
}

TEST_F(CudaFormats, TritonsOwnCubinIsLaunched) {
  if (!run_process({"sh", "-c", "python3 -c 'import triton'"}).ok()) {
    GTEST_SKIP() << "no Triton here";
  }
  add_triton("triton_copy.py", kCopyWithTriton);
  add_triton("tutorial.py", kTutorial);
  for (const char* variant : {"copy/triton_copy", "copy/tutorial"}) {
    const CheckResult result = check(variant);
    EXPECT_EQ(result.outcome, Outcome::valid) << variant << ": " << result.evidence;
  }
}

}  // namespace
}  // namespace apo
