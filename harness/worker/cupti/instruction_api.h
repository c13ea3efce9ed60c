// harness/worker/cupti/instruction_api.h - the parts of CUPTI's SASS metrics and PC sampling that are used.
//
// Names, values and layouts are those of <cupti_sass_metrics.h> and <cupti_pcsampling.h>; a test compares them with the
// headers where there are any. The size that a parameter structure begins with ends at its last field; a record's is
// sizeof.
#pragma once

#include <cstddef>
#include <cstdint>

#include "harness/worker/cupti/cupti.h"

namespace apo::cupti {

inline constexpr std::uint8_t kWholeGpu = 0;  // CUPTI_SASS_METRICS_OUTPUT_GRANULARITY_GPU

struct SassMetric {
  std::uint64_t id = 0;
  const char* name = nullptr;
  const char* description = nullptr;
};

struct GetSassProperties {
  std::size_t size = sizeof(GetSassProperties);
  void* reserved = nullptr;
  const char* chip = nullptr;
  const char* name = nullptr;
  SassMetric metric;
};

struct SassConfig {
  std::uint64_t id = 0;
  std::uint8_t granularity = kWholeGpu;
};

struct SetSassConfig {
  std::size_t size = offsetof(SetSassConfig, device_index) + sizeof(std::uint32_t);
  void* reserved = nullptr;
  std::size_t count = 0;
  SassConfig* configs = nullptr;
  std::uint32_t device_index = 0;
};

struct UnsetSassConfig {
  std::size_t size = offsetof(UnsetSassConfig, device_index) + sizeof(std::uint32_t);
  void* reserved = nullptr;
  std::uint32_t device_index = 0;
};

struct EnableSass {
  std::size_t size = offsetof(EnableSass, lazily) + sizeof(std::uint8_t);
  void* reserved = nullptr;
  Context context = nullptr;
  std::uint8_t lazily = 1;  // a function is patched when it first runs
};

struct DisableSass {
  std::size_t size = sizeof(DisableSass);
  void* reserved = nullptr;
  Context context = nullptr;
  std::size_t dropped = 0;
};

struct GetSassData {
  std::size_t size = sizeof(GetSassData);
  void* reserved = nullptr;
  Context context = nullptr;
  std::size_t records = 0;
  std::size_t instances = 0;
};

struct SassValue {
  std::uint64_t id;
  std::uint64_t value;
};

struct SassRecord {
  std::size_t size = sizeof(SassRecord);
  void* reserved = nullptr;
  std::uint32_t cubin_crc = 0;
  std::uint32_t function_index = 0;
  const char* function = nullptr;
  std::uint32_t pc_offset = 0;
  SassValue* values = nullptr;
};

// The header's size ends at `instances` and leaves the last field out.
struct FlushSass {
  std::size_t size = offsetof(FlushSass, data);
  void* reserved = nullptr;
  Context context = nullptr;
  std::size_t records = 0;
  std::size_t instances = 0;
  SassRecord* data = nullptr;
};

struct Sass {
  static constexpr const char* kLacking = "does not count instructions one by one";
  LibraryFunctions in;
  Result (*properties)(GetSassProperties*) = in.find("cuptiSassMetricsGetProperties");  // needs no GPU
  Result (*set_config)(SetSassConfig*) = in.find("cuptiSassMetricsSetConfig");
  Result (*unset_config)(UnsetSassConfig*) = in.find("cuptiSassMetricsUnsetConfig");
  Result (*enable)(EnableSass*) = in.find("cuptiSassMetricsEnable");
  Result (*disable)(DisableSass*) = in.find("cuptiSassMetricsDisable");
  Result (*data)(GetSassData*) = in.find("cuptiSassMetricsGetDataProperties");
  Result (*flush)(FlushSass*) = in.find("cuptiSassMetricsFlushData");
};

inline constexpr std::size_t kStallReasonBytes = 128;  // of a name, with its end

enum SamplingAttribute : int {
  kSamplingPeriod = 1,
  kSamplingStallReasons = 2,
  kSamplingMode = 5,
  kSamplingStartStop = 6,
  kSamplingBuffer = 8
};
inline constexpr int kContinuous = 1;

struct StallCount {
  std::uint32_t reason;
  std::uint32_t samples;
};

struct PcRecord {
  std::size_t size;
  std::uint64_t cubin_crc;
  std::uint64_t pc_offset;
  std::uint32_t function_index;
  std::uint32_t padding;
  char* function;  // made with malloc; several records share one
  std::size_t stall_count;
  StallCount* stalls;
  std::uint32_t correlation;
};

struct SamplingData {
  std::size_t size;
  std::size_t most_pcs;
  std::uint64_t total_samples;
  std::uint64_t dropped_samples;
  std::size_t pcs;
  std::size_t remaining_pcs;
  std::uint64_t range;
  PcRecord* records;
  std::uint64_t other_samples;  // of kernels that are not the user's, such as the driver's fills
  std::uint8_t buffer_full;
};

struct ReasonList {
  std::size_t count;
  std::uint32_t* indices;
};

struct SamplingSetting {
  int attribute = 0;
  Result status = kSuccess;
  union {
    std::uint64_t all[3] = {0, 0, 0};
    std::uint32_t number;
    void* pointer;
    ReasonList reasons;
  };
};

struct OfContext {  // Enable, Disable, Start, Stop
  std::size_t size = sizeof(OfContext);
  void* reserved = nullptr;
  Context context = nullptr;
};

struct SetSampling {
  std::size_t size = sizeof(SetSampling);
  void* reserved = nullptr;
  Context context = nullptr;
  std::size_t count = 0;
  SamplingSetting* settings = nullptr;
};

struct GetSamples {
  std::size_t size = sizeof(GetSamples);
  void* reserved = nullptr;
  Context context = nullptr;
  void* data = nullptr;
};

struct CountStallReasons {
  std::size_t size = sizeof(CountStallReasons);
  void* reserved = nullptr;
  Context context = nullptr;
  std::size_t* count = nullptr;
};

struct GetStallReasons {
  std::size_t size = sizeof(GetStallReasons);
  void* reserved = nullptr;
  Context context = nullptr;
  std::size_t count = 0;
  std::uint32_t* indices = nullptr;
  char** names = nullptr;
};

struct Sampling {
  static constexpr const char* kLacking = "has no PC sampling";
  LibraryFunctions in;
  Result (*enable)(OfContext*) = in.find("cuptiPCSamplingEnable");
  Result (*disable)(OfContext*) = in.find("cuptiPCSamplingDisable");
  Result (*start)(OfContext*) = in.find("cuptiPCSamplingStart");
  Result (*stop)(OfContext*) = in.find("cuptiPCSamplingStop");
  Result (*set)(SetSampling*) = in.find("cuptiPCSamplingSetConfigurationAttribute");
  Result (*get)(GetSamples*) = in.find("cuptiPCSamplingGetData");
  Result (*count_reasons)(CountStallReasons*) = in.find("cuptiPCSamplingGetNumStallReasons");
  Result (*reasons)(GetStallReasons*) = in.find("cuptiPCSamplingGetStallReasons");
};

}  // namespace apo::cupti
