// tests/worker/cuda/driver_test.cpp - target cuda without a GPU: errors, and declarations as in NVIDIA's header.
#include "harness/worker/cuda/driver.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include "harness/core/error.h"
#include "harness/worker/parent/worker.h"
#include "tests/text.h"
#include "tests/worker/declarations.h"

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
  const std::string error = error_of<EnvironmentError>([] { const Worker worker(cuda_options()); });
  expect_contains(error, "the CUDA driver does not load");
  expect_contains(error, "apo doctor");
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
  APO_SAME(cuda::LaunchConfig, CUlaunchConfig, stream, hStream, attributes, attrs, attribute_count, numAttrs);
  APO_SAME(cuda::LaunchAttribute, CUlaunchAttribute, bytes, value);
  APO_SAME(cuda::AccessPolicyWindow, CUaccessPolicyWindow, miss_property, missProp);
  APO_SAME(cuda::KernelNode, CUDA_KERNEL_NODE_PARAMS, shared_bytes, sharedMemBytes, parameters, kernelParams, kernel,
           kern, context, ctx);
  APO_SAME(cuda::FillNode, CUDA_MEMSET_NODE_PARAMS, element_bytes, elementSize, columns, width, rows, height);
  APO_SAME(cuda::CopyNode, CUDA_MEMCPY3D, from.memory_type, srcMemoryType, from.device, srcDevice, from.height,
           srcHeight, to.memory_type, dstMemoryType, to.host, dstHost, to.height, dstHeight, bytes, WidthInBytes,
           layers, Depth);
  EXPECT_EQ(sizeof(cuda::Pointer), sizeof(CUdeviceptr));
  EXPECT_EQ(sizeof(cuda::IpcHandle), sizeof(CUipcMemHandle));
}

TEST(CudaDeclarations, ValuesAreThoseOfTheHeader) {
  APO_SAME_VALUES(cuda, CU_DEVICE_ATTRIBUTE_, kThreadsPerBlock, MAX_THREADS_PER_BLOCK, kClockRateKhz, CLOCK_RATE,
                  kMultiprocessors, MULTIPROCESSOR_COUNT, kMemoryClockRateKhz, MEMORY_CLOCK_RATE, kL2CacheSize,
                  L2_CACHE_SIZE, kThreadsPerMultiprocessor, MAX_THREADS_PER_MULTIPROCESSOR, kMajor,
                  COMPUTE_CAPABILITY_MAJOR, kMinor, COMPUTE_CAPABILITY_MINOR, kSharedPerMultiprocessor,
                  MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, kRegistersPerMultiprocessor, MAX_REGISTERS_PER_MULTIPROCESSOR,
                  kBlocksPerMultiprocessor, MAX_BLOCKS_PER_MULTIPROCESSOR, kSharedPerBlockOptIn,
                  MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, kPersistingL2CacheSize, MAX_PERSISTING_L2_CACHE_SIZE,
                  kAccessPolicyWindowSize, MAX_ACCESS_POLICY_WINDOW_SIZE);
  APO_SAME_VALUES(cuda, CU_STREAM_CAPTURE_MODE_, kCaptureRelaxed, RELAXED);
  APO_SAME_VALUES(cuda, CU_, kLimitPersistingL2CacheSize, LIMIT_PERSISTING_L2_CACHE_SIZE, kFunctionDynamicSharedBytes,
                  FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, kFunctionNonPortableCluster,
                  FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, kStreamNonBlocking, STREAM_NON_BLOCKING,
                  kStreamWaitGreaterOrEqual, STREAM_WAIT_VALUE_GEQ, kHostAllocDeviceMap, MEMHOSTALLOC_DEVICEMAP,
                  kIpcLazyPeer, IPC_MEM_LAZY_ENABLE_PEER_ACCESS, kPropertyStreaming, ACCESS_PROPERTY_STREAMING,
                  kPropertyPersisting, ACCESS_PROPERTY_PERSISTING, kAccessPolicyWindow,
                  LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW, kCooperative, LAUNCH_ATTRIBUTE_COOPERATIVE, kClusterDimension,
                  LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, kMemoryOfHost, MEMORYTYPE_HOST, kMemoryOfDevice,
                  MEMORYTYPE_DEVICE, kMemoryOfArray, MEMORYTYPE_ARRAY);
  APO_SAME_VALUES(cuda, CU_GRAPH_NODE_TYPE_, kKernelNode, KERNEL, kCopyNode, MEMCPY, kFillNode, MEMSET, kHostNode, HOST,
                  kChildGraphNode, GRAPH, kEmptyNode, EMPTY, kEventWaitNode, WAIT_EVENT, kEventRecordNode, EVENT_RECORD,
                  kAllocationNode, MEM_ALLOC, kFreeNode, MEM_FREE);
}

#if CUDA_VERSION >= 12080
TEST(CudaDeclarations, OfCuda12Dot8AreThoseOfTheHeader) {
  APO_SAME(cuda::GraphEdge, CUgraphEdgeData, type, type);
  APO_SAME_VALUES(cuda, CU_, kPreferredCluster, LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION, kDeviceUpdatable,
                  LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE, kProgrammaticEdge, GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC,
                  kConditionalNode, GRAPH_NODE_TYPE_CONDITIONAL);
}
#endif

TEST(CudaDeclarations, ErrorsAreThoseOfTheHeader) {
  APO_SAME_VALUES(cuda, CUDA_ERROR_, kInvalidValue, INVALID_VALUE, kOutOfMemory, OUT_OF_MEMORY, kDeinitialized,
                  DEINITIALIZED, kDeviceUnavailable, DEVICE_UNAVAILABLE, kNoDevice, NO_DEVICE, kInvalidDevice,
                  INVALID_DEVICE, kInvalidContext, INVALID_CONTEXT, kEccUncorrectable, ECC_UNCORRECTABLE,
                  kNvlinkUncorrectable, NVLINK_UNCORRECTABLE, kContextIsDestroyed, CONTEXT_IS_DESTROYED,
                  kSystemNotReady, SYSTEM_NOT_READY, kMpsRpcFailure, MPS_RPC_FAILURE, kMpsServerNotReady,
                  MPS_SERVER_NOT_READY, kInvalidImage, INVALID_IMAGE, kNoBinaryForGpu, NO_BINARY_FOR_GPU, kInvalidPtx,
                  INVALID_PTX, kJitCompilerNotFound, JIT_COMPILER_NOT_FOUND, kUnsupportedPtxVersion,
                  UNSUPPORTED_PTX_VERSION, kJitCompilationDisabled, JIT_COMPILATION_DISABLED, kInvalidSource,
                  INVALID_SOURCE, kNotFound, NOT_FOUND, kLaunchOutOfResources, LAUNCH_OUT_OF_RESOURCES, kLaunchTimeout,
                  LAUNCH_TIMEOUT, kCooperativeLaunchTooLarge, COOPERATIVE_LAUNCH_TOO_LARGE, kNotSupported,
                  NOT_SUPPORTED, kInvalidClusterSize, INVALID_CLUSTER_SIZE);
}
#endif

}  // namespace
}  // namespace apo
