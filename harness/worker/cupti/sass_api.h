// harness/worker/cupti/sass_api.h - the part of CUPTI's SASS metrics that is used, declared here and found on demand.
//
// Names, values and layouts are those of <cupti_sass_metrics.h>; a test compares them with the header where there is
// one. The size that a parameter structure begins with ends at its last field; a record's is sizeof.
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

}  // namespace apo::cupti
