// tests/worker/cupti/range_profiler_test.cpp - our declarations of CUPTI's profilers hold against NVIDIA's headers, and
// what CUPTI says of metrics without a GPU.
#include "harness/worker/cupti/range_profiler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "harness/worker/cupti/counter_host.h"
#include "harness/worker/cupti/instruction_api.h"
#include "harness/worker/cupti/metric_names.h"
#include "harness/worker/cupti/profilers.h"
#include "tests/worker/declarations.h"

#if __has_include(<cupti_range_profiler.h>) && __has_include(<cupti_pcsampling.h>)
#include <cupti_pcsampling.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_result.h>
#include <cupti_sass_metrics.h>
#include <cupti_target.h>
#define APO_HAS_CUPTI_HEADERS 1
#endif

namespace apo {
namespace {

#ifdef APO_HAS_CUPTI_HEADERS
// The same of a structure that begins with the size that CUPTI wants to hear.
#define APO_SAME_SIZED(ours, theirs, ...)                  \
  EXPECT_EQ(ours{}.size, theirs##_STRUCT_SIZE) << #theirs; \
  APO_SAME(ours, theirs, __VA_ARGS__)

TEST(ProfilerDeclarations, TargetStructuresAreThoseOfTheHeader) {
  using namespace cupti;
  APO_SAME_SIZED(Initialize, CUpti_Profiler_Initialize_Params);
  APO_SAME_SIZED(Initialize, CUpti_Profiler_DeInitialize_Params);
  APO_SAME_SIZED(DeviceSupported, CUpti_Profiler_DeviceSupported_Params, device, cuDevice, supported, isSupported,
                 virtual_gpu, vGpu, wsl, wsl, api, api);
  APO_SAME_SIZED(GetChipName, CUpti_Device_GetChipName_Params, chip, pChipName);
  APO_SAME_SIZED(GetCounterAvailability, CUpti_Profiler_GetCounterAvailability_Params, bytes,
                 counterAvailabilityImageSize, image, pCounterAvailabilityImage);
}

TEST(ProfilerDeclarations, HostStructuresAreThoseOfTheHeader) {
  using namespace cupti;
  APO_SAME_SIZED(HostInitialize, CUpti_Profiler_Host_Initialize_Params, type, profilerType, chip, pChipName,
                 availability, pCounterAvailabilityImage, host, pHostObject);
  APO_SAME_SIZED(HostDeinitialize, CUpti_Profiler_Host_Deinitialize_Params);
  APO_SAME_SIZED(GetBaseMetrics, CUpti_Profiler_Host_GetBaseMetrics_Params, names, ppMetricNames, count, numMetrics);
  APO_SAME_SIZED(GetSubMetrics, CUpti_Profiler_Host_GetSubMetrics_Params, metric, pMetricName, count, numOfSubmetrics,
                 names, ppSubMetrics);
  APO_SAME_SIZED(ConfigAddMetrics, CUpti_Profiler_Host_ConfigAddMetrics_Params, names, ppMetricNames);
  APO_SAME_SIZED(GetConfigImageSize, CUpti_Profiler_Host_GetConfigImageSize_Params, bytes, configImageSize);
  APO_SAME_SIZED(GetConfigImage, CUpti_Profiler_Host_GetConfigImage_Params, image, pConfigImage);
  APO_SAME_SIZED(GetNumOfPasses, CUpti_Profiler_Host_GetNumOfPasses_Params, image, pConfigImage, passes, numOfPasses);
  APO_SAME_SIZED(EvaluateToGpuValues, CUpti_Profiler_Host_EvaluateToGpuValues_Params, data, pCounterDataImage, range,
                 rangeIndex, values, pMetricValues);
}

TEST(ProfilerDeclarations, SessionStructuresAreThoseOfTheHeader) {
  using namespace cupti;
  APO_SAME_SIZED(Enable, CUpti_RangeProfiler_Enable_Params, context, ctx, session, pRangeProfilerObject);
  APO_SAME_SIZED(OfSession, CUpti_RangeProfiler_Disable_Params);
  APO_SAME_SIZED(OfSession, CUpti_RangeProfiler_Start_Params, session, pRangeProfilerObject);
  APO_SAME_SIZED(GetCounterDataSize, CUpti_RangeProfiler_GetCounterDataSize_Params, names, pMetricNames, most_ranges,
                 maxNumOfRanges, most_nodes, maxNumRangeTreeNodes, bytes, counterDataSize);
  APO_SAME_SIZED(InitializeCounterData, CUpti_RangeProfiler_CounterDataImage_Initialize_Params, data, pCounterData);
  APO_SAME_SIZED(SetConfig, CUpti_RangeProfiler_SetConfig_Params, config, pConfig, data_bytes, counterDataImageSize,
                 data, pCounterDataImage, range, range, replay, replayMode, most_ranges_in_pass, maxRangesPerPass,
                 levels, numNestingLevels, least_level, minNestingLevel, pass, passIndex, target_level,
                 targetNestingLevel);
  APO_SAME_SIZED(Stop, CUpti_RangeProfiler_Stop_Params, all_passes_submitted, isAllPassSubmitted);
  APO_SAME_SIZED(DecodeData, CUpti_RangeProfiler_DecodeData_Params, dropped, numOfRangeDropped);
  APO_SAME_SIZED(GetCounterDataInfo, CUpti_RangeProfiler_GetCounterDataInfo_Params, data, pCounterDataImage, ranges,
                 numTotalRanges);
}

TEST(ProfilerDeclarations, ValuesAreThoseOfTheHeader) {
  APO_SAME_VALUES(cupti, CUPTI_, kRangeProfiler, PROFILER_TYPE_RANGE_PROFILER, kMetricTypes, METRIC_TYPE__COUNT,
                  kAutoRange, AutoRange, kKernelReplay, KernelReplay, kApiRange, PROFILER_RANGE_PROFILING,
                  kApiPcSampling, PROFILER_PC_SAMPLING, kApiSass, PROFILER_SASS_METRICS, kWholeGpu,
                  SASS_METRICS_OUTPUT_GRANULARITY_GPU, kLevelSupported, PROFILER_CONFIGURATION_SUPPORTED, kHardwareBusy,
                  ERROR_HARDWARE_BUSY);
}

TEST(ProfilerDeclarations, StructuresOfInstructionCountsAreThoseOfTheHeader) {
  using namespace cupti;
  APO_SAME(SassMetric, CUpti_SassMetrics_MetricDetails);
  APO_SAME_SIZED(GetSassProperties, CUpti_SassMetrics_GetProperties_Params, chip, pChipName, metric, metric);
  APO_SAME(SassConfig, CUpti_SassMetrics_Config, granularity, outputGranularity);
  APO_SAME_SIZED(SetSassConfig, CUpti_SassMetricsSetConfig_Params, configs, pConfigs, device_index, deviceIndex);
  APO_SAME_SIZED(UnsetSassConfig, CUpti_SassMetricsUnsetConfig_Params);
  APO_SAME_SIZED(EnableSass, CUpti_SassMetricsEnable_Params, lazily, enableLazyPatching);
  APO_SAME_SIZED(DisableSass, CUpti_SassMetricsDisable_Params);
  APO_SAME_SIZED(GetSassData, CUpti_SassMetricsGetDataProperties_Params, records, numOfPatchedInstructionRecords,
                 instances, numOfInstances);
  APO_SAME_SIZED(FlushSass, CUpti_SassMetricsFlushData_Params, data, pMetricsData);
  APO_SAME(SassRecord, CUpti_SassMetrics_Data, function, functionName, pc_offset, pcOffset, values, pInstanceValues);
  APO_SAME(SassValue, CUpti_SassMetrics_InstanceValue);
}

#define APO_SAME_PC(ours, theirs, ...)             \
  EXPECT_EQ(ours{}.size, theirs##Size) << #theirs; \
  APO_SAME(ours, theirs, __VA_ARGS__)

TEST(SamplingDeclarations, StructuresAreThoseOfTheHeader) {
  using namespace cupti;
  APO_SAME_PC(OfContext, CUpti_PCSamplingEnableParams);
  APO_SAME_PC(OfContext, CUpti_PCSamplingDisableParams);
  APO_SAME_PC(OfContext, CUpti_PCSamplingStartParams);
  APO_SAME_PC(OfContext, CUpti_PCSamplingStopParams, context, ctx);
  APO_SAME_PC(SetSampling, CUpti_PCSamplingConfigurationInfoParams, settings, pPCSamplingConfigurationInfo);
  APO_SAME_PC(GetSamples, CUpti_PCSamplingGetDataParams, data, pcSamplingData);
  APO_SAME_PC(CountStallReasons, CUpti_PCSamplingGetNumStallReasonsParams, count, numStallReasons);
  APO_SAME_PC(GetStallReasons, CUpti_PCSamplingGetStallReasonsParams, indices, stallReasonIndex, names, stallReasons);
}

TEST(SamplingDeclarations, RecordsAreThoseOfTheHeader) {
  using namespace cupti;
  APO_SAME(StallCount, CUpti_PCSamplingStallReason, samples, samples);
  APO_SAME(PcRecord, CUpti_PCSamplingPCData, cubin_crc, cubinCrc, pc_offset, pcOffset, function, functionName,
           stall_count, stallReasonCount, stalls, stallReason);
  APO_SAME(SamplingData, CUpti_PCSamplingData, most_pcs, collectNumPcs, total_samples, totalSamples, pcs, totalNumPcs,
           remaining_pcs, remainingNumPcs, records, pPcData, other_samples, nonUsrKernelsTotalSamples, buffer_full,
           hardwareBufferFull);
  APO_SAME(SamplingSetting, CUpti_PCSamplingConfigurationInfo, status, attributeStatus);
  EXPECT_EQ(offsetof(SamplingSetting, all), offsetof(CUpti_PCSamplingConfigurationInfo, attributeData));
}

TEST(SamplingDeclarations, ValuesAreThoseOfTheHeader) {
  APO_SAME_VALUES(cupti, CUPTI_PC_SAMPLING_, kSamplingPeriod, CONFIGURATION_ATTR_TYPE_SAMPLING_PERIOD,
                  kSamplingStallReasons, CONFIGURATION_ATTR_TYPE_STALL_REASON, kSamplingMode,
                  CONFIGURATION_ATTR_TYPE_COLLECTION_MODE, kSamplingStartStop,
                  CONFIGURATION_ATTR_TYPE_ENABLE_START_STOP_CONTROL, kSamplingBuffer,
                  CONFIGURATION_ATTR_TYPE_SAMPLING_DATA_BUFFER, kContinuous, COLLECTION_MODE_CONTINUOUS);
  EXPECT_EQ(cupti::kStallReasonBytes, std::size_t{CUPTI_STALL_REASON_STRING_SIZE});
}
#endif

// The counters of a chip are known without the chip, where there is a CUPTI.
class HostMetrics : public ::testing::Test {
 protected:
  void SetUp() override {
#ifdef __SANITIZE_ADDRESS__
    GTEST_SKIP() << "CUPTI loads a library in a way that AddressSanitizer does not allow";
#endif
    std::string missing;
    library_ = cupti::load_library(missing);
    profiler_ = library_ == nullptr ? nullptr : cupti::load_profiler(*library_, missing);
    if (profiler_ == nullptr) {
      GTEST_SKIP() << missing;
    }
    CounterHost host(*library_, *profiler_, "GH100", {});
    if (!host.missing().empty()) {
      GTEST_SKIP() << host.missing();
    }
  }
  std::size_t passes(const std::vector<std::string>& metrics) const {
    CounterHost host(*library_, *profiler_, "GH100", {});
    CounterConfig config;
    EXPECT_EQ(host.configure(metrics, config), cupti::kSuccess);
    EXPECT_FALSE(config.image.empty());
    return config.passes;
  }
  CounterSchedule schedule(const std::vector<std::string>& wanted) const {
    return schedule_counters(*library_, *profiler_, "GH100", {}, wanted);
  }
  std::string refusal(const std::string& metric) const {
    const CounterSchedule refused = schedule({metric});
    EXPECT_TRUE(refused.metrics.empty());
    EXPECT_EQ(refused.missing, "none of the metrics exists on this GPU");
    return refused.refused.empty() ? "" : refused.refused.front().why;
  }

  std::unique_ptr<const cupti::Library> library_;
  std::unique_ptr<const cupti::Profiler> profiler_;
};

TEST_F(HostMetrics, AListIsAcceptedWithoutItsRepeatsAndWithoutWhatDoesNotExist) {
  const std::string real = "dram__bytes_read.sum";
  const std::string other = "smsp__inst_executed.sum";
  const CounterSchedule whole = schedule({real, other, real});
  EXPECT_EQ(whole.metrics, (std::vector<std::string>{real, other}));
  EXPECT_TRUE(whole.refused.empty());
  const CounterSchedule rest = schedule({real, "dram__bytez_read.sum", other, real});
  EXPECT_EQ(rest.metrics, (std::vector<std::string>{real, other}));
  ASSERT_EQ(rest.refused.size(), 1U);
  EXPECT_NE(rest.refused[0].why.find("did you mean 'dram__bytes_read'?"), std::string::npos) << rest.refused[0].why;
  EXPECT_EQ(rest.config.image, whole.config.image) << "what is refused leaves no trace in what the GPU is given";
  EXPECT_EQ(rest.missing + whole.missing, "");
}

TEST_F(HostMetrics, EveryCountOfInstructionsIsOneThatGh100Has) {
  std::string missing;
  const auto sass = cupti::load_functions<cupti::Sass>(*library_, missing);
  ASSERT_TRUE(sass) << missing;
  ASSERT_EQ(instruction_counters().size(), std::size_t{kCountedKinds});
  std::set<std::uint64_t> ids;
  for (const std::string& name : instruction_counters()) {
    cupti::GetSassProperties asked{.chip = "GH100", .name = name.c_str()};
    EXPECT_EQ(sass->properties(&asked), cupti::kSuccess) << name;
    ids.insert(asked.metric.id);
  }
  EXPECT_EQ(ids.size(), std::size_t{kCountedKinds});
  cupti::GetSassProperties unknown{.chip = "GH100", .name = "smsp__sass_no_such"};
  EXPECT_NE(sass->properties(&unknown), cupti::kSuccess);
}

TEST_F(HostMetrics, TheDefaultSetIsAcceptedWholeAndTakesFewPasses) {
  const CounterSchedule accepted = schedule(default_counters());
  EXPECT_EQ(accepted.metrics, default_counters());
  for (const RefusedMetric& one : accepted.refused) {
    ADD_FAILURE() << one.metric << ": " << one.why;
  }
  EXPECT_LE(accepted.config.passes, 5U);
}

TEST_F(HostMetrics, TheStallAndFullSetsAreAcceptedWhole) {
  const CounterSchedule full = schedule(full_counters());
  EXPECT_EQ(full.metrics, full_counters());
  EXPECT_TRUE(full.refused.empty()) << full.refused.front().metric << ": " << full.refused.front().why;
  EXPECT_LE(passes(stall_counters()), 7U);
  EXPECT_GT(passes(full_counters()), passes(default_counters()));
}

TEST_F(HostMetrics, ARefusedNameGetsTheNearestOneOrTheRollUpsThatExist) {
  for (const auto& [metric, words] :
       {std::pair("dram__byte_read.sum", "did you mean 'dram__bytes_read'?"),
        std::pair("dram__bytes_read", "needs a roll-up"), std::pair("dram__bytes_read", ".sum"),
        std::pair("lts__t_sector_hit_rate.total", "another roll-up than '.total'"),
        std::pair("lts__t_sector_hit_rate.total", ".pct")}) {
    EXPECT_NE(refusal(metric).find(words), std::string::npos) << refusal(metric);
  }
}

TEST_F(HostMetrics, AChipThatCuptiDoesNotKnowIsSaid) {
  const CounterHost host(*library_, *profiler_, "no such chip", {});
  EXPECT_NE(host.missing().find("'no such chip'"), std::string::npos) << host.missing();
  EXPECT_TRUE(host.base_metrics().empty());
}

TEST_F(HostMetrics, TroubleIsSaidInWordsWithCuptisOwn) {
  for (const auto& [error, words] :
       {std::pair(35, "only an administrator"), std::pair(35, "NVreg_RestrictProfilingToAdminUsers=0"),
        std::pair(cupti::kHardwareBusy, "another process profiles"),
        std::pair(cupti::kMultipleSubscribers, "another profiler watches"), std::pair(43, "MIG")}) {
    EXPECT_NE(cupti::explain_trouble(*library_, error, "starting").find(words), std::string::npos) << words;
  }
  EXPECT_EQ(cupti::explain_trouble(*library_, 1, "starting"), "starting: CUPTI_ERROR_INVALID_PARAMETER");
  std::string missing;
  EXPECT_NE(cupti::load_functions<cupti::Sampling>(*library_, missing), nullptr) << missing;
}

TEST(Profiler, OfALibraryWithoutItsFunctionsIsSaidToBeTooOld) {
  const cupti::Library old{.in = {dlopen(nullptr, RTLD_NOW)}, .path = "libold.so"};
  std::string missing;
  EXPECT_EQ(cupti::load_profiler(old, missing), nullptr);
  EXPECT_EQ(missing,
            "'libold.so' is too old to read counters, which need CUDA 12.6: it has no cuptiProfilerInitialize");
  EXPECT_EQ(cupti::load_functions<cupti::Sampling>(old, missing), nullptr);
  EXPECT_EQ(missing, "'libold.so' has no PC sampling: it has no cuptiPCSamplingEnable");
}

}  // namespace
}  // namespace apo
