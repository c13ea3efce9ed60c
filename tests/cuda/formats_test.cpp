// tests/cuda/formats_test.cpp - shared objects with the TVM-FFI ABI on a real GPU.
#include <gtest/gtest.h>

#include "harness/core/system/process.h"
#include "tests/cuda/cuda_runtime_fixture.h"

namespace apo {
namespace {

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

}  // namespace
}  // namespace apo
