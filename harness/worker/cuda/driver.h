// harness/worker/cuda/driver.h - the part of the CUDA driver API that is used, declared here and loaded on demand.
//
// The program builds and starts without CUDA. Names, values and layouts are those of <cuda.h>, which the driver keeps
// stable; a test compares them with the header where there is one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "harness/worker/cuda/library_functions.h"

namespace apo::cuda {

using Result = int;             // CUresult
using Device = int;             // CUdevice
using Pointer = std::uint64_t;  // CUdeviceptr
using Context = void*;
using Module = void*;
using Function = void*;
using Stream = void*;
using Event = void*;
using Graph = void*;
using GraphNode = void*;
using ExecutableGraph = void*;

inline constexpr Result kSuccess = 0;
inline constexpr Result kInvalidValue = 1;
inline constexpr Result kOutOfMemory = 2;
inline constexpr Result kDeinitialized = 4;
inline constexpr Result kDeviceUnavailable = 46;
inline constexpr Result kNoDevice = 100;
inline constexpr Result kInvalidDevice = 101;
inline constexpr Result kInvalidImage = 200;
inline constexpr Result kInvalidContext = 201;
inline constexpr Result kNoBinaryForGpu = 209;
inline constexpr Result kEccUncorrectable = 214;
inline constexpr Result kInvalidPtx = 218;
inline constexpr Result kNvlinkUncorrectable = 220;
inline constexpr Result kJitCompilerNotFound = 221;
inline constexpr Result kUnsupportedPtxVersion = 222;
inline constexpr Result kJitCompilationDisabled = 223;
inline constexpr Result kContained = 226;
inline constexpr Result kInvalidSource = 300;
inline constexpr Result kNotFound = 500;
inline constexpr Result kLaunchOutOfResources = 701;
inline constexpr Result kLaunchTimeout = 702;
inline constexpr Result kContextIsDestroyed = 709;
inline constexpr Result kCooperativeLaunchTooLarge = 720;
inline constexpr Result kNotSupported = 801;
inline constexpr Result kSystemNotReady = 802;
inline constexpr Result kMpsRpcFailure = 806;
inline constexpr Result kMpsServerNotReady = 807;
inline constexpr Result kMpsClientTerminated = 810;
inline constexpr Result kInvalidClusterSize = 912;

enum Attribute : int {
  kThreadsPerBlock = 1,
  kClockRateKhz = 13,
  kMultiprocessors = 16,
  kMemoryClockRateKhz = 36,
  kL2CacheSize = 38,
  kThreadsPerMultiprocessor = 39,
  kMajor = 75,
  kMinor = 76,
  kSharedPerMultiprocessor = 81,
  kRegistersPerMultiprocessor = 82,
  kSharedPerBlockOptIn = 97,
  kBlocksPerMultiprocessor = 106,
  kPersistingL2CacheSize = 108,
  kAccessPolicyWindowSize = 109,
};

inline constexpr int kLimitPersistingL2CacheSize = 6;
inline constexpr int kFunctionDynamicSharedBytes = 8;
inline constexpr int kFunctionCarveout = 9;
inline constexpr int kFunctionNonPortableCluster = 14;
inline constexpr unsigned kStreamNonBlocking = 1;
inline constexpr unsigned kStreamWaitGreaterOrEqual = 0;
inline constexpr int kCaptureRelaxed = 2;  // calls of the driver that give the stream no work go on
inline constexpr unsigned kHostAllocDeviceMap = 2;
inline constexpr unsigned kIpcLazyPeer = 1;
inline constexpr int kPropertyStreaming = 1;
inline constexpr int kPropertyPersisting = 2;

inline constexpr int kPointerMemoryType = 2;
inline constexpr int kPointerIsManaged = 8;
inline constexpr int kPointerRangeStart = 11;
inline constexpr int kPointerRangeSize = 12;
inline constexpr int kMemoryOfHost = 1;
inline constexpr int kMemoryOfDevice = 2;
inline constexpr int kMemoryOfArray = 3;

struct Uuid {
  std::array<unsigned char, 16> bytes;
};

struct IpcHandle {
  std::array<unsigned char, 64> bytes;
};

struct AccessPolicyWindow {
  void* base;
  std::size_t bytes;
  float hit_ratio;
  int hit_property;
  int miss_property;
};

enum LaunchAttributeId : int {
  kIgnored = 0,
  kAccessPolicyWindow = 1,
  kCooperative = 2,
  kSynchronizationPolicy = 3,
  kClusterDimension = 4,
  kClusterScheduling = 5,
  kProgrammaticSerialization = 6,
  kPriority = 8,
  kMemSyncDomainMap = 9,
  kMemSyncDomain = 10,
  kPreferredCluster = 11,
  kDeviceUpdatable = 13,
  kPreferredCarveout = 14,
};

struct LaunchAttribute {
  int id = 0;
  std::array<char, 4> padding{};
  union {
    std::array<char, 64> bytes{};
    AccessPolicyWindow window;
    int cooperative;
    int programmatic_serialization;
    std::array<unsigned, 3> cluster;
  };
};

struct LaunchConfig {
  std::array<unsigned, 3> grid;
  std::array<unsigned, 3> block;
  unsigned shared_bytes;
  Stream stream;
  LaunchAttribute* attributes;
  unsigned attribute_count;
};

// What a node of a graph does.
struct KernelNode {
  Function function;
  std::array<unsigned, 3> grid;
  std::array<unsigned, 3> block;
  unsigned shared_bytes;
  void** parameters;
  void** extra;
  void* kernel;  // of the library interface, where there is no function
  Context context;
};
struct FillNode {
  Pointer to;
  std::size_t pitch;
  unsigned value;
  unsigned element_bytes;
  std::size_t columns;  // elements
  std::size_t rows;
};
struct CopyEnd {
  std::size_t x;  // bytes
  std::size_t y;
  std::size_t z;
  std::size_t level;
  int memory_type;
  const void* host;
  Pointer device;
  void* array;
  void* reserved;
  std::size_t pitch;
  std::size_t height;
};
struct CopyNode {
  CopyEnd from;
  CopyEnd to;
  std::size_t bytes;  // of a row
  std::size_t rows;
  std::size_t layers;
};
struct GraphEdge {
  unsigned char from_port;
  unsigned char to_port;
  unsigned char type;
  std::array<unsigned char, 5> reserved;
};

enum NodeType : int {
  kKernelNode = 0,
  kCopyNode = 1,
  kFillNode = 2,
  kHostNode = 3,
  kChildGraphNode = 4,
  kEmptyNode = 5,
  kEventWaitNode = 6,
  kEventRecordNode = 7,
  kAllocationNode = 10,
  kFreeNode = 11,
  kConditionalNode = 13,
};
inline constexpr unsigned char kProgrammaticEdge = 1;

struct Driver {
  LibraryFunctions in;
  Result (*init)(unsigned flags) = in.find("cuInit");
  Result (*driver_version)(int* version) = in.find("cuDriverGetVersion");
  Result (*device_count)(int* count) = in.find("cuDeviceGetCount");
  Result (*device_get)(Device* device, int ordinal) = in.find("cuDeviceGet");
  Result (*device_name)(char* name, int length, Device device) = in.find("cuDeviceGetName");
  Result (*device_uuid)(Uuid* uuid, Device device) = in.find("cuDeviceGetUuid_v2");
  Result (*device_attribute)(int* value, int attribute, Device device) = in.find("cuDeviceGetAttribute");
  Result (*device_memory)(std::size_t* bytes, Device device) = in.find("cuDeviceTotalMem_v2");
  Result (*retain_context)(Context* context, Device device) = in.find("cuDevicePrimaryCtxRetain");
  Result (*set_context)(Context context) = in.find("cuCtxSetCurrent");
  Result (*current_device)(Device* device) = in.find("cuCtxGetDevice");
  Result (*set_limit)(int limit, std::size_t value) = in.find("cuCtxSetLimit");
  Result (*synchronize_context)() = in.find("cuCtxSynchronize");
  Result (*reset_persisting_l2)() = in.find("cuCtxResetPersistingL2Cache");
  Result (*load_module)(Module* module, const void* image) = in.find("cuModuleLoadData");
  Result (*unload_module)(Module module) = in.find("cuModuleUnload");
  Result (*get_function)(Function* function, Module module, const char* name) = in.find("cuModuleGetFunction");
  Result (*get_global)(Pointer* pointer, std::size_t* bytes, Module module,
                       const char* name) = in.find("cuModuleGetGlobal_v2");
  Result (*get_function_attribute)(int* value, int attribute, Function function) = in.find("cuFuncGetAttribute");
  Result (*set_function_attribute)(Function function, int attribute, int value) = in.find("cuFuncSetAttribute");
  Result (*parameter_info)(Function function, std::size_t index, std::size_t* offset,
                           std::size_t* bytes) = in.find_optional("cuFuncGetParamInfo");  // 12.4
  Result (*function_module)(Module* module, Function function) = in.find_optional("cuFuncGetModule");
  Result (*kernel_function)(Function* function, void* kernel) = in.find_optional("cuKernelGetFunction");    // 12.0
  Result (*function_name)(const char** name, Function function) = in.find_optional("cuFuncGetName");        // 12.3
  Result (*replace_map_address)(void* map, void* address) = in.find_optional("cuTensorMapReplaceAddress");  // 12.0
  Result (*pointer_attribute)(void* value, int attribute, Pointer pointer) = in.find_optional("cuPointerGetAttribute");
  Result (*allocate)(Pointer* pointer, std::size_t bytes) = in.find("cuMemAlloc_v2");
  Result (*free)(Pointer pointer) = in.find("cuMemFree_v2");
  Result (*allocate_host)(void** pointer, std::size_t bytes, unsigned flags) = in.find("cuMemHostAlloc");
  Result (*host_device_pointer)(Pointer* pointer, void* host, unsigned flags) = in.find("cuMemHostGetDevicePointer_v2");
  Result (*free_host)(void* pointer) = in.find_optional("cuMemFreeHost");
  Result (*copy_to_device)(Pointer to, const void* from, std::size_t bytes) = in.find("cuMemcpyHtoD_v2");
  Result (*queue_from_host)(Pointer to, const void* from, std::size_t bytes,
                            Stream stream) = in.find_optional("cuMemcpyHtoDAsync_v2");
  Result (*copy_to_host)(void* to, Pointer from, std::size_t bytes) = in.find("cuMemcpyDtoH_v2");
  Result (*copy_on_device)(Pointer to, Pointer from, std::size_t bytes,
                           Stream stream) = in.find("cuMemcpyDtoDAsync_v2");
  Result (*fill)(Pointer at, unsigned char value, std::size_t bytes, Stream stream) = in.find("cuMemsetD8Async");
  Result (*fill_16)(Pointer at, unsigned short value, std::size_t count,
                    Stream stream) = in.find_optional("cuMemsetD16Async");
  Result (*fill_32)(Pointer at, unsigned value, std::size_t count,
                    Stream stream) = in.find_optional("cuMemsetD32Async");
  Result (*ipc_handle)(IpcHandle* handle, Pointer pointer) = in.find("cuIpcGetMemHandle");
  Result (*ipc_open)(Pointer* pointer, IpcHandle handle, unsigned flags) = in.find("cuIpcOpenMemHandle_v2");
  Result (*ipc_close)(Pointer pointer) = in.find("cuIpcCloseMemHandle");
  Result (*create_stream)(Stream* stream, unsigned flags) = in.find("cuStreamCreate");
  Result (*is_capturing)(Stream stream, int* status) = in.find_optional("cuStreamIsCapturing");
  Result (*stream_flags)(Stream stream, unsigned* flags) = in.find_optional("cuStreamGetFlags");
  Result (*synchronize)(Stream stream) = in.find("cuStreamSynchronize");
  Result (*wait_value)(Stream stream, Pointer at, std::uint32_t value,
                       unsigned flags) = in.find("cuStreamWaitValue32_v2");
  Result (*exchange_capture_mode)(int* mode) = in.find_optional("cuThreadExchangeStreamCaptureMode");
  Result (*begin_capture)(Stream stream, int mode) = in.find_optional("cuStreamBeginCapture_v2");
  Result (*end_capture)(Stream stream, Graph* graph) = in.find_optional("cuStreamEndCapture");
  Result (*instantiate_graph)(ExecutableGraph* made, Graph graph,
                              unsigned long long flags) = in.find_optional("cuGraphInstantiateWithFlags");
  Result (*upload_graph)(ExecutableGraph graph, Stream stream) = in.find_optional("cuGraphUpload");
  Result (*launch_graph)(ExecutableGraph graph, Stream stream) = in.find_optional("cuGraphLaunch");
  Result (*destroy_graph)(Graph graph) = in.find_optional("cuGraphDestroy");
  Result (*destroy_executable_graph)(ExecutableGraph graph) = in.find_optional("cuGraphExecDestroy");
  Result (*graph_nodes)(Graph graph, GraphNode* nodes, std::size_t* count) = in.find_optional("cuGraphGetNodes");
  Result (*graph_edges)(Graph graph, GraphNode* from, GraphNode* to, GraphEdge* edges,
                        std::size_t* count) = in.find_optional("cuGraphGetEdges_v2");  // 12.3
  Result (*node_type)(GraphNode node, int* type) = in.find_optional("cuGraphNodeGetType");
  Result (*child_graph)(GraphNode node, Graph* graph) = in.find_optional("cuGraphChildGraphNodeGetGraph");
  Result (*kernel_node)(GraphNode node, KernelNode* kernel) = in.find_optional("cuGraphKernelNodeGetParams_v2");
  Result (*kernel_node_attribute)(GraphNode node, int attribute,
                                  void* value) = in.find_optional("cuGraphKernelNodeGetAttribute");
  Result (*fill_node)(GraphNode node, FillNode* fill) = in.find_optional("cuGraphMemsetNodeGetParams");
  Result (*copy_node)(GraphNode node, CopyNode* copy) = in.find_optional("cuGraphMemcpyNodeGetParams");
  Result (*create_event)(Event* event, unsigned flags) = in.find("cuEventCreate");
  Result (*record)(Event event, Stream stream) = in.find("cuEventRecord");
  Result (*elapsed)(float* milliseconds, Event begin, Event end) = in.find("cuEventElapsedTime");
  Result (*launch)(const LaunchConfig* config, Function function, void** parameters,
                   void** extra) = in.find("cuLaunchKernelEx");
  Result (*error_name)(Result error, const char** name) = in.find("cuGetErrorName");
  Result (*error_text)(Result error, const char** text) = in.find("cuGetErrorString");
};

// Returns the driver of this machine, or nullptr and one sentence that says what is missing.
std::unique_ptr<const Driver> load_driver(std::string& missing);

// "CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access was encountered".
std::string describe(const Driver& driver, Result error);

}  // namespace apo::cuda
