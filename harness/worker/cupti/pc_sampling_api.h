// harness/worker/cupti/pc_sampling_api.h - the part of CUPTI's PC sampling that is used, declared here.
//
// Names, values and layouts are those of <cupti_pcsampling.h>; a test compares them with the header where there is one.
// The size that a parameter structure begins with ends at its last field; a record's is sizeof.
#pragma once

#include <cstddef>
#include <cstdint>

#include "harness/worker/cupti/cupti.h"

namespace apo::cupti {

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
