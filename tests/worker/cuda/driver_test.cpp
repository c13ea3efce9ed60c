// tests/worker/cuda/driver_test.cpp - target cuda without a GPU: errors, and declarations as in NVIDIA's header.
#include "harness/worker/cuda/driver.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstddef>

#include "harness/core/error.h"
#include "harness/worker/parent/worker.h"

#if __has_include(<cuda.h>)
#include <cuda.h>
#endif

namespace apo {
namespace {

WorkerOptions cuda_options() {
  return {.program = APO_WORKER_PROGRAM, .target = Target::cuda};
}

TEST(CudaWorker, WithoutADriverSaysWhatIsMissing) {
  if (dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL) != nullptr) {
    GTEST_SKIP() << "this machine has a CUDA driver";
  }
  try {
    const Worker worker(cuda_options());
    FAIL() << "a worker started without a driver";
  } catch (const EnvironmentError& error) {
    EXPECT_NE(std::string(error.what()).find("the CUDA driver does not load"), std::string::npos) << error.what();
    EXPECT_NE(error.hint().find("apo doctor"), std::string::npos) << error.hint();
  }
}

TEST(CudaWorker, AGpuThatIsNotThereIsNamed) {
  WorkerOptions options = cuda_options();
  options.device = 4096;
  EXPECT_THROW(Worker{options}, EnvironmentError);
}

TEST(CudaWorker, WithAGpuReportsItsFacts) {
  std::string missing;
  if (cuda::load_driver(missing) == nullptr) {
    GTEST_SKIP() << missing;
  }
  const Worker worker(cuda_options());
  ASSERT_TRUE(worker.device().has_value());
  EXPECT_TRUE(worker.device()->uuid.starts_with("GPU-")) << worker.device()->uuid;
  EXPECT_GT(worker.device()->sms, 0);
  EXPECT_GE(worker.device()->shared_per_block, 48 * 1024);
  EXPECT_GT(worker.device()->memory_bytes, 0);
}

#ifdef CUDA_VERSION
TEST(CudaDeclarations, AreThoseOfTheHeader) {
  EXPECT_EQ(sizeof(cuda::LaunchConfig), sizeof(CUlaunchConfig));
  EXPECT_EQ(offsetof(cuda::LaunchConfig, stream), offsetof(CUlaunchConfig, hStream));
  EXPECT_EQ(offsetof(cuda::LaunchConfig, attributes), offsetof(CUlaunchConfig, attrs));
  EXPECT_EQ(offsetof(cuda::LaunchConfig, attribute_count), offsetof(CUlaunchConfig, numAttrs));
  EXPECT_EQ(sizeof(cuda::LaunchAttribute), sizeof(CUlaunchAttribute));
  EXPECT_EQ(offsetof(cuda::LaunchAttribute, bytes), offsetof(CUlaunchAttribute, value));
  EXPECT_EQ(sizeof(cuda::AccessPolicyWindow), sizeof(CUaccessPolicyWindow));
  EXPECT_EQ(offsetof(cuda::AccessPolicyWindow, miss_property), offsetof(CUaccessPolicyWindow, missProp));
  EXPECT_EQ(sizeof(cuda::Pointer), sizeof(CUdeviceptr));
  EXPECT_EQ(sizeof(cuda::IpcHandle), sizeof(CUipcMemHandle));
}

TEST(CudaDeclarations, ValuesAreThoseOfTheHeader) {
  EXPECT_EQ(cuda::kThreadsPerBlock, int{CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK});
  EXPECT_EQ(cuda::kClockRateKhz, int{CU_DEVICE_ATTRIBUTE_CLOCK_RATE});
  EXPECT_EQ(cuda::kMultiprocessors, int{CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT});
  EXPECT_EQ(cuda::kMemoryClockRateKhz, int{CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE});
  EXPECT_EQ(cuda::kL2CacheSize, int{CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE});
  EXPECT_EQ(cuda::kThreadsPerMultiprocessor, int{CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR});
  EXPECT_EQ(cuda::kMajor, int{CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR});
  EXPECT_EQ(cuda::kMinor, int{CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR});
  EXPECT_EQ(cuda::kSharedPerMultiprocessor, int{CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR});
  EXPECT_EQ(cuda::kRegistersPerMultiprocessor, int{CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR});
  EXPECT_EQ(cuda::kBlocksPerMultiprocessor, int{CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR});
  EXPECT_EQ(cuda::kSharedPerBlockOptIn, int{CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN});
  EXPECT_EQ(cuda::kPersistingL2CacheSize, int{CU_DEVICE_ATTRIBUTE_MAX_PERSISTING_L2_CACHE_SIZE});
  EXPECT_EQ(cuda::kAccessPolicyWindowSize, int{CU_DEVICE_ATTRIBUTE_MAX_ACCESS_POLICY_WINDOW_SIZE});
  EXPECT_EQ(cuda::kLimitPersistingL2CacheSize, int{CU_LIMIT_PERSISTING_L2_CACHE_SIZE});
  EXPECT_EQ(cuda::kFunctionDynamicSharedBytes, int{CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES});
  EXPECT_EQ(cuda::kFunctionNonPortableCluster, int{CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED});
  EXPECT_EQ(cuda::kStreamNonBlocking, unsigned{CU_STREAM_NON_BLOCKING});
  EXPECT_EQ(cuda::kStreamWaitGreaterOrEqual, unsigned{CU_STREAM_WAIT_VALUE_GEQ});
  EXPECT_EQ(cuda::kHostAllocDeviceMap, unsigned{CU_MEMHOSTALLOC_DEVICEMAP});
  EXPECT_EQ(cuda::kIpcLazyPeer, unsigned{CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS});
  EXPECT_EQ(cuda::kPropertyStreaming, int{CU_ACCESS_PROPERTY_STREAMING});
  EXPECT_EQ(cuda::kPropertyPersisting, int{CU_ACCESS_PROPERTY_PERSISTING});
  EXPECT_EQ(cuda::kAccessPolicyWindow, int{CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW});
  EXPECT_EQ(cuda::kCooperative, int{CU_LAUNCH_ATTRIBUTE_COOPERATIVE});
  EXPECT_EQ(cuda::kClusterDimension, int{CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION});
}

TEST(CudaDeclarations, ErrorsAreThoseOfTheHeader) {
  EXPECT_EQ(cuda::kInvalidValue, int{CUDA_ERROR_INVALID_VALUE});
  EXPECT_EQ(cuda::kOutOfMemory, int{CUDA_ERROR_OUT_OF_MEMORY});
  EXPECT_EQ(cuda::kDeinitialized, int{CUDA_ERROR_DEINITIALIZED});
  EXPECT_EQ(cuda::kDeviceUnavailable, int{CUDA_ERROR_DEVICE_UNAVAILABLE});
  EXPECT_EQ(cuda::kNoDevice, int{CUDA_ERROR_NO_DEVICE});
  EXPECT_EQ(cuda::kInvalidDevice, int{CUDA_ERROR_INVALID_DEVICE});
  EXPECT_EQ(cuda::kInvalidContext, int{CUDA_ERROR_INVALID_CONTEXT});
  EXPECT_EQ(cuda::kEccUncorrectable, int{CUDA_ERROR_ECC_UNCORRECTABLE});
  EXPECT_EQ(cuda::kNvlinkUncorrectable, int{CUDA_ERROR_NVLINK_UNCORRECTABLE});
  EXPECT_EQ(cuda::kContextIsDestroyed, int{CUDA_ERROR_CONTEXT_IS_DESTROYED});
  EXPECT_EQ(cuda::kSystemNotReady, int{CUDA_ERROR_SYSTEM_NOT_READY});
  EXPECT_EQ(cuda::kMpsRpcFailure, int{CUDA_ERROR_MPS_RPC_FAILURE});
  EXPECT_EQ(cuda::kMpsServerNotReady, int{CUDA_ERROR_MPS_SERVER_NOT_READY});
  EXPECT_EQ(cuda::kInvalidImage, int{CUDA_ERROR_INVALID_IMAGE});
  EXPECT_EQ(cuda::kNoBinaryForGpu, int{CUDA_ERROR_NO_BINARY_FOR_GPU});
  EXPECT_EQ(cuda::kInvalidPtx, int{CUDA_ERROR_INVALID_PTX});
  EXPECT_EQ(cuda::kJitCompilerNotFound, int{CUDA_ERROR_JIT_COMPILER_NOT_FOUND});
  EXPECT_EQ(cuda::kUnsupportedPtxVersion, int{CUDA_ERROR_UNSUPPORTED_PTX_VERSION});
  EXPECT_EQ(cuda::kJitCompilationDisabled, int{CUDA_ERROR_JIT_COMPILATION_DISABLED});
  EXPECT_EQ(cuda::kInvalidSource, int{CUDA_ERROR_INVALID_SOURCE});
  EXPECT_EQ(cuda::kNotFound, int{CUDA_ERROR_NOT_FOUND});
  EXPECT_EQ(cuda::kLaunchOutOfResources, int{CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES});
  EXPECT_EQ(cuda::kLaunchTimeout, int{CUDA_ERROR_LAUNCH_TIMEOUT});
  EXPECT_EQ(cuda::kCooperativeLaunchTooLarge, int{CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE});
  EXPECT_EQ(cuda::kNotSupported, int{CUDA_ERROR_NOT_SUPPORTED});
  EXPECT_EQ(cuda::kInvalidClusterSize, int{CUDA_ERROR_INVALID_CLUSTER_SIZE});
}
#endif

}  // namespace
}  // namespace apo
