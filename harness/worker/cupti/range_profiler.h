// harness/worker/cupti/range_profiler.h - the part of CUPTI's range profiler that is used, declared here.
//
// Every call takes one structure that begins with its size: what lies between its begin and the end of its last field,
// without padding behind that. Names, values and layouts are those of <cupti_range_profiler.h>,
// <cupti_profiler_host.h>, <cupti_profiler_target.h> and <cupti_target.h>; a test compares them with the headers where
// there are any.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "harness/worker/cupti/cupti.h"

namespace apo::cupti {

inline constexpr int kRangeProfiler = 0;   // CUPTI_PROFILER_TYPE_RANGE_PROFILER
inline constexpr int kMetricTypes = 3;     // counters, ratios, throughputs
inline constexpr int kAutoRange = 1;       // one range for each launch
inline constexpr int kUserReplay = 3;      // we repeat what is between start and stop until all passes are there
inline constexpr int kKernelReplay = 2;    // CUPTI repeats a launch for every pass and restores memory between them
inline constexpr int kApiRange = 0;        // CUPTI_PROFILER_RANGE_PROFILING
inline constexpr int kApiPcSampling = 1;   // CUPTI_PROFILER_PC_SAMPLING
inline constexpr int kApiSass = 2;         // CUPTI_PROFILER_SASS_METRICS
inline constexpr int kLevelSupported = 3;  // CUPTI_PROFILER_CONFIGURATION_SUPPORTED

// ---------------------------------------------------------------- target: the GPU

struct Initialize {  // and DeInitialize
  std::size_t size = sizeof(Initialize);
  void* reserved = nullptr;
};

struct DeviceSupported {
  std::size_t size = offsetof(DeviceSupported, api) + sizeof(int);
  void* reserved = nullptr;
  int device = 0;
  int supported = 0;
  int architecture = 0;
  int sli = 0;
  int virtual_gpu = 0;
  int confidential_compute = 0;
  int mining = 0;
  int wsl = 0;
  int api = kApiRange;
};

struct GetChipName {
  std::size_t size = sizeof(GetChipName);
  void* reserved = nullptr;
  std::size_t device_index = 0;
  const char* chip = nullptr;
};

struct GetCounterAvailability {
  std::size_t size = sizeof(GetCounterAvailability);
  void* reserved = nullptr;
  Context context = nullptr;
  std::size_t bytes = 0;
  std::uint8_t* image = nullptr;
};

// ---------------------------------------------------------------- host: metrics, configuration, values; needs no GPU

struct HostInitialize {
  std::size_t size = sizeof(HostInitialize);
  void* reserved = nullptr;
  int type = kRangeProfiler;
  const char* chip = nullptr;
  const std::uint8_t* availability = nullptr;
  void* host = nullptr;
};

struct HostDeinitialize {
  std::size_t size = sizeof(HostDeinitialize);
  void* reserved = nullptr;
  void* host = nullptr;
};

struct GetBaseMetrics {
  std::size_t size = sizeof(GetBaseMetrics);
  void* reserved = nullptr;
  void* host = nullptr;
  int type = 0;
  const char** names = nullptr;
  std::size_t count = 0;
};

struct GetSubMetrics {
  std::size_t size = sizeof(GetSubMetrics);
  void* reserved = nullptr;
  void* host = nullptr;
  int type = 0;
  const char* metric = nullptr;
  std::size_t count = 0;
  const char** names = nullptr;
};

struct ConfigAddMetrics {
  std::size_t size = sizeof(ConfigAddMetrics);
  void* reserved = nullptr;
  void* host = nullptr;
  const char** names = nullptr;
  std::size_t count = 0;
};

struct GetConfigImageSize {
  std::size_t size = sizeof(GetConfigImageSize);
  void* reserved = nullptr;
  void* host = nullptr;
  std::size_t bytes = 0;
};

struct GetConfigImage {
  std::size_t size = sizeof(GetConfigImage);
  void* reserved = nullptr;
  void* host = nullptr;
  std::size_t bytes = 0;
  std::uint8_t* image = nullptr;
};

struct GetNumOfPasses {
  std::size_t size = sizeof(GetNumOfPasses);
  void* reserved = nullptr;
  std::size_t bytes = 0;
  std::uint8_t* image = nullptr;
  std::size_t passes = 0;
};

struct EvaluateToGpuValues {
  std::size_t size = sizeof(EvaluateToGpuValues);
  void* reserved = nullptr;
  void* host = nullptr;
  const std::uint8_t* data = nullptr;
  std::size_t bytes = 0;
  std::size_t range = 0;
  const char** names = nullptr;
  std::size_t count = 0;
  double* values = nullptr;
};

// ---------------------------------------------------------------- a session on the GPU

struct Enable {
  std::size_t size = sizeof(Enable);
  void* reserved = nullptr;
  Context context = nullptr;
  void* session = nullptr;
};

struct OfSession {  // Disable, Start
  std::size_t size = sizeof(OfSession);
  void* reserved = nullptr;
  void* session = nullptr;
};

struct GetCounterDataSize {
  std::size_t size = sizeof(GetCounterDataSize);
  void* reserved = nullptr;
  void* session = nullptr;
  const char** names = nullptr;
  std::size_t count = 0;
  std::size_t most_ranges = 0;
  std::uint32_t most_nodes = 0;  // at least most_ranges
  std::size_t bytes = 0;
};

struct InitializeCounterData {
  std::size_t size = sizeof(InitializeCounterData);
  void* reserved = nullptr;
  void* session = nullptr;
  std::size_t bytes = 0;
  std::uint8_t* data = nullptr;
};

struct SetConfig {
  std::size_t size = offsetof(SetConfig, target_level) + sizeof(std::uint16_t);
  void* reserved = nullptr;
  void* session = nullptr;
  std::size_t config_bytes = 0;
  const std::uint8_t* config = nullptr;  // this and `data` have to outlive the session
  std::size_t data_bytes = 0;
  std::uint8_t* data = nullptr;
  int range = kAutoRange;
  int replay = kKernelReplay;
  std::size_t most_ranges_in_pass = 0;
  std::uint16_t levels = 1;
  std::uint16_t least_level = 1;
  std::size_t pass = 0;
  std::uint16_t target_level = 1;
};

struct Stop {
  std::size_t size = offsetof(Stop, all_passes_submitted) + sizeof(std::uint8_t);
  void* reserved = nullptr;
  void* session = nullptr;
  std::size_t pass = 0;
  std::size_t target_level = 0;
  std::uint8_t all_passes_submitted = 0;
};

struct DecodeData {
  std::size_t size = sizeof(DecodeData);
  void* reserved = nullptr;
  void* session = nullptr;
  std::size_t dropped = 0;
};

struct GetCounterDataInfo {
  std::size_t size = sizeof(GetCounterDataInfo);
  void* reserved = nullptr;
  const std::uint8_t* data = nullptr;
  std::size_t bytes = 0;
  std::size_t ranges = 0;
};

struct Profiler {
  static constexpr const char* kLacking = "is too old to read counters, which need CUDA 12.6";
  LibraryFunctions in;
  std::string nvperf = {};  // the libnvperf_host.so that was loaded for it; empty: CUPTI looks for one itself

  Result (*initialize)(Initialize*) = in.find("cuptiProfilerInitialize");
  Result (*deinitialize)(Initialize*) = in.find("cuptiProfilerDeInitialize");
  Result (*device_supported)(DeviceSupported*) = in.find("cuptiProfilerDeviceSupported");
  Result (*chip_name)(GetChipName*) = in.find("cuptiDeviceGetChipName");  // crashes without a CUDA driver
  Result (*counter_availability)(GetCounterAvailability*) = in.find("cuptiProfilerGetCounterAvailability");

  Result (*host_initialize)(HostInitialize*) = in.find("cuptiProfilerHostInitialize");
  Result (*host_deinitialize)(HostDeinitialize*) = in.find("cuptiProfilerHostDeinitialize");
  Result (*base_metrics)(GetBaseMetrics*) = in.find("cuptiProfilerHostGetBaseMetrics");
  Result (*sub_metrics)(GetSubMetrics*) = in.find("cuptiProfilerHostGetSubMetrics");
  Result (*add_metrics)(ConfigAddMetrics*) = in.find("cuptiProfilerHostConfigAddMetrics");
  Result (*config_image_size)(GetConfigImageSize*) = in.find("cuptiProfilerHostGetConfigImageSize");
  Result (*config_image)(GetConfigImage*) = in.find("cuptiProfilerHostGetConfigImage");
  Result (*passes)(GetNumOfPasses*) = in.find("cuptiProfilerHostGetNumOfPasses");
  Result (*evaluate)(EvaluateToGpuValues*) = in.find("cuptiProfilerHostEvaluateToGpuValues");

  Result (*enable)(Enable*) = in.find("cuptiRangeProfilerEnable");
  Result (*disable)(OfSession*) = in.find("cuptiRangeProfilerDisable");
  Result (*start)(OfSession*) = in.find("cuptiRangeProfilerStart");
  Result (*stop)(Stop*) = in.find("cuptiRangeProfilerStop");
  Result (*counter_data_size)(GetCounterDataSize*) = in.find("cuptiRangeProfilerGetCounterDataSize");
  Result (*initialize_counter_data)(InitializeCounterData*) = in.find("cuptiRangeProfilerCounterDataImageInitialize");
  Result (*set_config)(SetConfig*) = in.find("cuptiRangeProfilerSetConfig");
  Result (*decode)(DecodeData*) = in.find("cuptiRangeProfilerDecodeData");
  Result (*counter_data_info)(GetCounterDataInfo*) = in.find("cuptiRangeProfilerGetCounterDataInfo");
};

// Returns the range profiler of a loaded CUPTI, with the libnvperf_host.so beside it; nullptr and one sentence when it
// has none, as before CUDA 12.6.
std::unique_ptr<const Profiler> load_profiler(const Library& library, std::string& missing);

// Explains why counters or PC samples are missing, and what to do: "this user may not read ...".
std::string explain_trouble(const Library& library, Result result, const std::string& during);

// Returns the chip of CUDA's device `index`, such as "GH100"; "", with the reason in `missing`, when CUPTI does not
// tell it.
std::string chip_of(const Library& library, const Profiler& profiler, int index, std::string& missing);

// Checks that `api` works on that GPU; returns nullopt when it does. Missing permissions show only in a real
// collection.
std::string unsupported_reason(const Library& library, const Profiler& profiler, int device, int api);

// CUPTI with its profiler started, and the functions of one of its other APIs.
template <class Functions>
struct Started {
  std::unique_ptr<const Library> library;
  std::unique_ptr<const Profiler> profiler = nullptr;
  std::unique_ptr<const Functions> functions = nullptr;
};

// For `api` on that GPU. Returns nullopt, and one sentence that says what is missing, where it does not work there.
template <class Functions>
std::optional<Started<Functions>> start_profiler(int device, int api, std::string& missing) {
  Started<Functions> started{.library = load_library(missing)};
  started.profiler = started.library == nullptr ? nullptr : load_profiler(*started.library, missing);
  started.functions = started.profiler == nullptr ? nullptr : load_functions<Functions>(*started.library, missing);
  if (started.functions == nullptr) {
    return std::nullopt;
  }
  Initialize initialize;
  const Result result = started.profiler->initialize(&initialize);
  missing = result == kSuccess ? unsupported_reason(*started.library, *started.profiler, device, api)
                               : explain_trouble(*started.library, result, "starting the profiler");
  return missing.empty() ? std::optional(std::move(started)) : std::nullopt;
}

}  // namespace apo::cupti
