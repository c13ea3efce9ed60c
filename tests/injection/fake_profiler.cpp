// tests/injection/fake_profiler.cpp - stands for CUPTI's range profiler and SASS metrics where there is no GPU: takes
// calls in their order and has moods that a test sets.
#include "tests/injection/fake_profiler.h"

#include <algorithm>

#include "harness/worker/cupti/instruction_api.h"
#include "harness/worker/cupti/range_profiler.h"

namespace {

using namespace apo::cupti;

constexpr Result kRefused = 7;  // CUPTI_ERROR_INVALID_OPERATION
int host_object = 0;
int session_object = 0;

FakeProfiler& fake() {
  static FakeProfiler one;
  return one;
}

Result note(const char* word, Result result = kSuccess) {
  fake().log += std::string(word) + " ";
  return result;
}

}  // namespace

#define APO_EXPORTED extern "C" __attribute__((visibility("default")))

APO_EXPORTED FakeProfiler* fake_profiler() {
  return &fake();
}

// ---- the GPU
APO_EXPORTED Result cuptiProfilerInitialize(Initialize*) {
  return note("initialize");
}
APO_EXPORTED Result cuptiProfilerDeInitialize(Initialize*) {
  return note("deinitialize");
}
APO_EXPORTED Result cuptiProfilerDeviceSupported(DeviceSupported* asked) {
  asked->supported = kLevelSupported;
  return kSuccess;
}
APO_EXPORTED Result cuptiDeviceGetChipName(GetChipName* asked) {
  asked->chip = "FAKE";
  return kSuccess;
}
APO_EXPORTED Result cuptiProfilerGetCounterAvailability(GetCounterAvailability* asked) {
  asked->bytes = 4;
  return asked->image == nullptr ? kSuccess : note("availability");
}

// ---- the host; a metric whose name begins with "no" does not exist
APO_EXPORTED Result cuptiProfilerHostInitialize(HostInitialize* asked) {
  asked->host = &host_object;
  return kSuccess;
}
APO_EXPORTED Result cuptiProfilerHostDeinitialize(HostDeinitialize*) {
  return kSuccess;
}
APO_EXPORTED Result cuptiProfilerHostGetBaseMetrics(GetBaseMetrics*) {
  return kRefused;
}
APO_EXPORTED Result cuptiProfilerHostGetSubMetrics(GetSubMetrics*) {
  return kRefused;
}
APO_EXPORTED Result cuptiProfilerHostConfigAddMetrics(ConfigAddMetrics* asked) {
  return std::any_of(asked->names, asked->names + asked->count,
                     [](const char* name) { return std::string(name).starts_with("no"); })
             ? kRefused
             : kSuccess;
}
APO_EXPORTED Result cuptiProfilerHostGetConfigImageSize(GetConfigImageSize* asked) {
  asked->bytes = 8;
  return kSuccess;
}
APO_EXPORTED Result cuptiProfilerHostGetConfigImage(GetConfigImage*) {
  return note("schedule");
}
APO_EXPORTED Result cuptiProfilerHostGetNumOfPasses(GetNumOfPasses* asked) {
  asked->passes = static_cast<std::size_t>(fake().passes);
  return kSuccess;
}
APO_EXPORTED Result cuptiProfilerHostEvaluateToGpuValues(EvaluateToGpuValues* asked) {
  std::fill(asked->values, asked->values + asked->count, fake().value);
  return kSuccess;
}

// ---- a session
APO_EXPORTED Result cuptiRangeProfilerEnable(Enable* asked) {
  asked->session = &session_object;
  return note("enable");
}
APO_EXPORTED Result cuptiRangeProfilerDisable(OfSession*) {
  return note("disable");
}
APO_EXPORTED Result cuptiRangeProfilerStart(OfSession*) {
  if (fake().busy > 0) {
    --fake().busy;
    return note("busy", kHardwareBusy);
  }
  return note("start");
}
APO_EXPORTED Result cuptiRangeProfilerStop(Stop* asked) {
  asked->all_passes_submitted = ++fake().passes_done >= fake().passes ? 1 : 0;
  return note("stop");
}
APO_EXPORTED Result cuptiRangeProfilerGetCounterDataSize(GetCounterDataSize* asked) {
  asked->bytes = 16;
  return kSuccess;
}
APO_EXPORTED Result cuptiRangeProfilerCounterDataImageInitialize(InitializeCounterData*) {
  return kSuccess;
}
APO_EXPORTED Result cuptiRangeProfilerSetConfig(SetConfig* asked) {
  fake().passes_done = 0;
  return asked->replay == kUserReplay ? note("config") : note("config-by-launch");
}
APO_EXPORTED Result cuptiRangeProfilerDecodeData(DecodeData*) {
  return kSuccess;
}
APO_EXPORTED Result cuptiRangeProfilerGetCounterDataInfo(GetCounterDataInfo* asked) {
  asked->ranges = fake().ranges;
  return kSuccess;
}

// ---- counts of instructions: one instruction a kernel, and of all metrics the first
APO_EXPORTED Result cuptiSassMetricsGetProperties(GetSassProperties* asked) {
  asked->metric.id = 1 + std::string(asked->name).size() * 1000 + static_cast<unsigned char>(asked->name[12]);
  if (std::string(asked->name) == "smsp__sass_inst_executed") {
    asked->metric.id = 1;
  }
  return kSuccess;
}
APO_EXPORTED Result cuptiSassMetricsSetConfig(SetSassConfig*) {
  return note("set");
}
APO_EXPORTED Result cuptiSassMetricsUnsetConfig(UnsetSassConfig*) {
  return note("unset");
}
APO_EXPORTED Result cuptiSassMetricsEnable(EnableSass*) {
  fake().enabled = true;
  fake().launched_in_session.clear();
  fake().counted.clear();
  return note("lazily");
}
APO_EXPORTED Result cuptiSassMetricsDisable(DisableSass*) {
  fake().enabled = !fake().disables;
  return fake().disables ? note("off") : note("stays-on", kRefused);
}
APO_EXPORTED Result cuptiSassMetricsGetDataProperties(GetSassData* asked) {
  for (const auto& [name, warps] : fake().launched_in_session) {
    if (fake().counted.contains(name) || fake().counted.size() < fake().most_kernels) {
      fake().counted[name] += static_cast<std::uint64_t>(warps * fake().times);
    }
  }
  fake().launched_in_session.clear();
  asked->records = fake().counted.size();
  asked->instances = 1;
  return kSuccess;
}
APO_EXPORTED Result cuptiSassMetricsFlushData(FlushSass* asked) {
  std::size_t record = 0;
  for (auto& [name, warps] : fake().counted) {
    asked->data[record].function = name.c_str();
    asked->data[record].pc_offset = 0;
    asked->data[record++].values[0] = {.id = 1, .value = warps};
  }
  return note("flush");
}

// What a test "launches": counted where the session is on.
APO_EXPORTED void launch_on_fake(const char* kernel, std::int64_t warps) {
  if (fake().enabled) {
    fake().launched_in_session.emplace_back(kernel, warps);
  }
  note(kernel);
}
