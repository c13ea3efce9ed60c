// tests/worker/cupti/range_profiler_test.cpp - our declarations of CUPTI's profilers hold against NVIDIA's headers, and
// what CUPTI says of metrics without a GPU.
#include "harness/worker/cupti/range_profiler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "harness/worker/cupti/counter_host.h"
#include "harness/worker/cupti/metric_names.h"
#include "harness/worker/cupti/pc_sampling_api.h"
#include "harness/worker/cupti/profilers.h"
#include "harness/worker/cupti/sass_api.h"

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
// Both structures have their fields at the same places, and ours says the size that CUPTI wants to hear.
#define APO_SAME_FIELD(ours, field, theirs, their_field)           \
  EXPECT_EQ(offsetof(ours, field), offsetof(theirs, their_field)); \
  EXPECT_EQ(sizeof(ours{}.field), sizeof(theirs{}.their_field)) << #their_field
#define APO_SAME_SIZE(ours, theirs)        \
  EXPECT_EQ(sizeof(ours), sizeof(theirs)); \
  EXPECT_EQ(ours{}.size, theirs##_STRUCT_SIZE) << #theirs

TEST(ProfilerDeclarations, TargetStructuresAreThoseOfTheHeader) {
  using namespace cupti;
  APO_SAME_SIZE(Initialize, CUpti_Profiler_Initialize_Params);
  APO_SAME_SIZE(Initialize, CUpti_Profiler_DeInitialize_Params);
  APO_SAME_SIZE(DeviceSupported, CUpti_Profiler_DeviceSupported_Params);
  APO_SAME_FIELD(DeviceSupported, device, CUpti_Profiler_DeviceSupported_Params, cuDevice);
  APO_SAME_FIELD(DeviceSupported, supported, CUpti_Profiler_DeviceSupported_Params, isSupported);
  APO_SAME_FIELD(DeviceSupported, virtual_gpu, CUpti_Profiler_DeviceSupported_Params, vGpu);
  APO_SAME_FIELD(DeviceSupported, wsl, CUpti_Profiler_DeviceSupported_Params, wsl);
  APO_SAME_FIELD(DeviceSupported, api, CUpti_Profiler_DeviceSupported_Params, api);
  APO_SAME_SIZE(GetChipName, CUpti_Device_GetChipName_Params);
  APO_SAME_FIELD(GetChipName, chip, CUpti_Device_GetChipName_Params, pChipName);
  APO_SAME_SIZE(GetCounterAvailability, CUpti_Profiler_GetCounterAvailability_Params);
  APO_SAME_FIELD(GetCounterAvailability, bytes, CUpti_Profiler_GetCounterAvailability_Params,
                 counterAvailabilityImageSize);
  APO_SAME_FIELD(GetCounterAvailability, image, CUpti_Profiler_GetCounterAvailability_Params,
                 pCounterAvailabilityImage);
}

TEST(ProfilerDeclarations, HostStructuresAreThoseOfTheHeader) {
  using namespace cupti;
  APO_SAME_SIZE(HostInitialize, CUpti_Profiler_Host_Initialize_Params);
  APO_SAME_FIELD(HostInitialize, type, CUpti_Profiler_Host_Initialize_Params, profilerType);
  APO_SAME_FIELD(HostInitialize, chip, CUpti_Profiler_Host_Initialize_Params, pChipName);
  APO_SAME_FIELD(HostInitialize, availability, CUpti_Profiler_Host_Initialize_Params, pCounterAvailabilityImage);
  APO_SAME_FIELD(HostInitialize, host, CUpti_Profiler_Host_Initialize_Params, pHostObject);
  APO_SAME_SIZE(HostDeinitialize, CUpti_Profiler_Host_Deinitialize_Params);
  APO_SAME_SIZE(GetBaseMetrics, CUpti_Profiler_Host_GetBaseMetrics_Params);
  APO_SAME_FIELD(GetBaseMetrics, names, CUpti_Profiler_Host_GetBaseMetrics_Params, ppMetricNames);
  APO_SAME_FIELD(GetBaseMetrics, count, CUpti_Profiler_Host_GetBaseMetrics_Params, numMetrics);
  APO_SAME_SIZE(GetSubMetrics, CUpti_Profiler_Host_GetSubMetrics_Params);
  APO_SAME_FIELD(GetSubMetrics, metric, CUpti_Profiler_Host_GetSubMetrics_Params, pMetricName);
  APO_SAME_FIELD(GetSubMetrics, count, CUpti_Profiler_Host_GetSubMetrics_Params, numOfSubmetrics);
  APO_SAME_FIELD(GetSubMetrics, names, CUpti_Profiler_Host_GetSubMetrics_Params, ppSubMetrics);
  APO_SAME_SIZE(ConfigAddMetrics, CUpti_Profiler_Host_ConfigAddMetrics_Params);
  APO_SAME_FIELD(ConfigAddMetrics, names, CUpti_Profiler_Host_ConfigAddMetrics_Params, ppMetricNames);
  APO_SAME_SIZE(GetConfigImageSize, CUpti_Profiler_Host_GetConfigImageSize_Params);
  APO_SAME_FIELD(GetConfigImageSize, bytes, CUpti_Profiler_Host_GetConfigImageSize_Params, configImageSize);
  APO_SAME_SIZE(GetConfigImage, CUpti_Profiler_Host_GetConfigImage_Params);
  APO_SAME_FIELD(GetConfigImage, image, CUpti_Profiler_Host_GetConfigImage_Params, pConfigImage);
  APO_SAME_SIZE(GetNumOfPasses, CUpti_Profiler_Host_GetNumOfPasses_Params);
  APO_SAME_FIELD(GetNumOfPasses, image, CUpti_Profiler_Host_GetNumOfPasses_Params, pConfigImage);
  APO_SAME_FIELD(GetNumOfPasses, passes, CUpti_Profiler_Host_GetNumOfPasses_Params, numOfPasses);
  APO_SAME_SIZE(EvaluateToGpuValues, CUpti_Profiler_Host_EvaluateToGpuValues_Params);
  APO_SAME_FIELD(EvaluateToGpuValues, data, CUpti_Profiler_Host_EvaluateToGpuValues_Params, pCounterDataImage);
  APO_SAME_FIELD(EvaluateToGpuValues, range, CUpti_Profiler_Host_EvaluateToGpuValues_Params, rangeIndex);
  APO_SAME_FIELD(EvaluateToGpuValues, values, CUpti_Profiler_Host_EvaluateToGpuValues_Params, pMetricValues);
}

TEST(ProfilerDeclarations, SessionStructuresAreThoseOfTheHeader) {
  using namespace cupti;
  APO_SAME_SIZE(Enable, CUpti_RangeProfiler_Enable_Params);
  APO_SAME_FIELD(Enable, context, CUpti_RangeProfiler_Enable_Params, ctx);
  APO_SAME_FIELD(Enable, session, CUpti_RangeProfiler_Enable_Params, pRangeProfilerObject);
  APO_SAME_SIZE(OfSession, CUpti_RangeProfiler_Disable_Params);
  APO_SAME_SIZE(OfSession, CUpti_RangeProfiler_Start_Params);
  APO_SAME_FIELD(OfSession, session, CUpti_RangeProfiler_Start_Params, pRangeProfilerObject);
  APO_SAME_SIZE(GetCounterDataSize, CUpti_RangeProfiler_GetCounterDataSize_Params);
  APO_SAME_FIELD(GetCounterDataSize, names, CUpti_RangeProfiler_GetCounterDataSize_Params, pMetricNames);
  APO_SAME_FIELD(GetCounterDataSize, most_ranges, CUpti_RangeProfiler_GetCounterDataSize_Params, maxNumOfRanges);
  APO_SAME_FIELD(GetCounterDataSize, most_nodes, CUpti_RangeProfiler_GetCounterDataSize_Params, maxNumRangeTreeNodes);
  APO_SAME_FIELD(GetCounterDataSize, bytes, CUpti_RangeProfiler_GetCounterDataSize_Params, counterDataSize);
  APO_SAME_SIZE(InitializeCounterData, CUpti_RangeProfiler_CounterDataImage_Initialize_Params);
  APO_SAME_FIELD(InitializeCounterData, data, CUpti_RangeProfiler_CounterDataImage_Initialize_Params, pCounterData);
  APO_SAME_SIZE(SetConfig, CUpti_RangeProfiler_SetConfig_Params);
  APO_SAME_FIELD(SetConfig, config, CUpti_RangeProfiler_SetConfig_Params, pConfig);
  APO_SAME_FIELD(SetConfig, data_bytes, CUpti_RangeProfiler_SetConfig_Params, counterDataImageSize);
  APO_SAME_FIELD(SetConfig, data, CUpti_RangeProfiler_SetConfig_Params, pCounterDataImage);
  APO_SAME_FIELD(SetConfig, range, CUpti_RangeProfiler_SetConfig_Params, range);
  APO_SAME_FIELD(SetConfig, replay, CUpti_RangeProfiler_SetConfig_Params, replayMode);
  APO_SAME_FIELD(SetConfig, most_ranges_in_pass, CUpti_RangeProfiler_SetConfig_Params, maxRangesPerPass);
  APO_SAME_FIELD(SetConfig, levels, CUpti_RangeProfiler_SetConfig_Params, numNestingLevels);
  APO_SAME_FIELD(SetConfig, least_level, CUpti_RangeProfiler_SetConfig_Params, minNestingLevel);
  APO_SAME_FIELD(SetConfig, pass, CUpti_RangeProfiler_SetConfig_Params, passIndex);
  APO_SAME_FIELD(SetConfig, target_level, CUpti_RangeProfiler_SetConfig_Params, targetNestingLevel);
  APO_SAME_SIZE(Stop, CUpti_RangeProfiler_Stop_Params);
  APO_SAME_FIELD(Stop, all_passes_submitted, CUpti_RangeProfiler_Stop_Params, isAllPassSubmitted);
  APO_SAME_SIZE(DecodeData, CUpti_RangeProfiler_DecodeData_Params);
  APO_SAME_FIELD(DecodeData, dropped, CUpti_RangeProfiler_DecodeData_Params, numOfRangeDropped);
  APO_SAME_SIZE(GetCounterDataInfo, CUpti_RangeProfiler_GetCounterDataInfo_Params);
  APO_SAME_FIELD(GetCounterDataInfo, data, CUpti_RangeProfiler_GetCounterDataInfo_Params, pCounterDataImage);
  APO_SAME_FIELD(GetCounterDataInfo, ranges, CUpti_RangeProfiler_GetCounterDataInfo_Params, numTotalRanges);
}

TEST(ProfilerDeclarations, ValuesAreThoseOfTheHeader) {
  EXPECT_EQ(cupti::kRangeProfiler, int{CUPTI_PROFILER_TYPE_RANGE_PROFILER});
  EXPECT_EQ(cupti::kMetricTypes, int{CUPTI_METRIC_TYPE__COUNT});
  EXPECT_EQ(cupti::kAutoRange, int{CUPTI_AutoRange});
  EXPECT_EQ(cupti::kKernelReplay, int{CUPTI_KernelReplay});
  EXPECT_EQ(cupti::kApiRange, int{CUPTI_PROFILER_RANGE_PROFILING});
  EXPECT_EQ(cupti::kApiPcSampling, int{CUPTI_PROFILER_PC_SAMPLING});
  EXPECT_EQ(cupti::kApiSass, int{CUPTI_PROFILER_SASS_METRICS});
  EXPECT_EQ(cupti::kWholeGpu, int{CUPTI_SASS_METRICS_OUTPUT_GRANULARITY_GPU});
  EXPECT_EQ(cupti::kLevelSupported, int{CUPTI_PROFILER_CONFIGURATION_SUPPORTED});
  EXPECT_EQ(cupti::kHardwareBusy, int{CUPTI_ERROR_HARDWARE_BUSY});
}

TEST(ProfilerDeclarations, StructuresOfInstructionCountsAreThoseOfTheHeader) {
  using namespace cupti;
  EXPECT_EQ(sizeof(SassMetric), sizeof(CUpti_SassMetrics_MetricDetails));
  APO_SAME_SIZE(GetSassProperties, CUpti_SassMetrics_GetProperties_Params);
  APO_SAME_FIELD(GetSassProperties, chip, CUpti_SassMetrics_GetProperties_Params, pChipName);
  APO_SAME_FIELD(GetSassProperties, metric, CUpti_SassMetrics_GetProperties_Params, metric);
  EXPECT_EQ(sizeof(SassConfig), sizeof(CUpti_SassMetrics_Config));
  APO_SAME_FIELD(SassConfig, granularity, CUpti_SassMetrics_Config, outputGranularity);
  APO_SAME_SIZE(SetSassConfig, CUpti_SassMetricsSetConfig_Params);
  APO_SAME_FIELD(SetSassConfig, configs, CUpti_SassMetricsSetConfig_Params, pConfigs);
  APO_SAME_FIELD(SetSassConfig, device_index, CUpti_SassMetricsSetConfig_Params, deviceIndex);
  APO_SAME_SIZE(UnsetSassConfig, CUpti_SassMetricsUnsetConfig_Params);
  APO_SAME_SIZE(EnableSass, CUpti_SassMetricsEnable_Params);
  APO_SAME_FIELD(EnableSass, lazily, CUpti_SassMetricsEnable_Params, enableLazyPatching);
  APO_SAME_SIZE(DisableSass, CUpti_SassMetricsDisable_Params);
  APO_SAME_SIZE(GetSassData, CUpti_SassMetricsGetDataProperties_Params);
  APO_SAME_FIELD(GetSassData, records, CUpti_SassMetricsGetDataProperties_Params, numOfPatchedInstructionRecords);
  APO_SAME_FIELD(GetSassData, instances, CUpti_SassMetricsGetDataProperties_Params, numOfInstances);
  APO_SAME_SIZE(FlushSass, CUpti_SassMetricsFlushData_Params);
  APO_SAME_FIELD(FlushSass, data, CUpti_SassMetricsFlushData_Params, pMetricsData);
  EXPECT_EQ(sizeof(SassRecord), sizeof(CUpti_SassMetrics_Data));
  APO_SAME_FIELD(SassRecord, function, CUpti_SassMetrics_Data, functionName);
  APO_SAME_FIELD(SassRecord, pc_offset, CUpti_SassMetrics_Data, pcOffset);
  APO_SAME_FIELD(SassRecord, values, CUpti_SassMetrics_Data, pInstanceValues);
  EXPECT_EQ(sizeof(SassValue), sizeof(CUpti_SassMetrics_InstanceValue));
}

#define APO_SAME_PC_SIZE(ours, theirs)     \
  EXPECT_EQ(sizeof(ours), sizeof(theirs)); \
  EXPECT_EQ(ours{}.size, theirs##Size) << #theirs

TEST(SamplingDeclarations, StructuresAreThoseOfTheHeader) {
  using namespace cupti;
  APO_SAME_PC_SIZE(OfContext, CUpti_PCSamplingEnableParams);
  APO_SAME_PC_SIZE(OfContext, CUpti_PCSamplingDisableParams);
  APO_SAME_PC_SIZE(OfContext, CUpti_PCSamplingStartParams);
  APO_SAME_PC_SIZE(OfContext, CUpti_PCSamplingStopParams);
  APO_SAME_FIELD(OfContext, context, CUpti_PCSamplingStopParams, ctx);
  APO_SAME_PC_SIZE(SetSampling, CUpti_PCSamplingConfigurationInfoParams);
  APO_SAME_FIELD(SetSampling, settings, CUpti_PCSamplingConfigurationInfoParams, pPCSamplingConfigurationInfo);
  APO_SAME_PC_SIZE(GetSamples, CUpti_PCSamplingGetDataParams);
  APO_SAME_FIELD(GetSamples, data, CUpti_PCSamplingGetDataParams, pcSamplingData);
  APO_SAME_PC_SIZE(CountStallReasons, CUpti_PCSamplingGetNumStallReasonsParams);
  APO_SAME_FIELD(CountStallReasons, count, CUpti_PCSamplingGetNumStallReasonsParams, numStallReasons);
  APO_SAME_PC_SIZE(GetStallReasons, CUpti_PCSamplingGetStallReasonsParams);
  APO_SAME_FIELD(GetStallReasons, indices, CUpti_PCSamplingGetStallReasonsParams, stallReasonIndex);
  APO_SAME_FIELD(GetStallReasons, names, CUpti_PCSamplingGetStallReasonsParams, stallReasons);
}

TEST(SamplingDeclarations, RecordsAreThoseOfTheHeader) {
  using namespace cupti;
  EXPECT_EQ(sizeof(StallCount), sizeof(CUpti_PCSamplingStallReason));
  APO_SAME_FIELD(StallCount, samples, CUpti_PCSamplingStallReason, samples);
  EXPECT_EQ(sizeof(PcRecord), sizeof(CUpti_PCSamplingPCData));
  APO_SAME_FIELD(PcRecord, cubin_crc, CUpti_PCSamplingPCData, cubinCrc);
  APO_SAME_FIELD(PcRecord, pc_offset, CUpti_PCSamplingPCData, pcOffset);
  APO_SAME_FIELD(PcRecord, function, CUpti_PCSamplingPCData, functionName);
  APO_SAME_FIELD(PcRecord, stall_count, CUpti_PCSamplingPCData, stallReasonCount);
  APO_SAME_FIELD(PcRecord, stalls, CUpti_PCSamplingPCData, stallReason);
  EXPECT_EQ(sizeof(SamplingData), sizeof(CUpti_PCSamplingData));
  APO_SAME_FIELD(SamplingData, most_pcs, CUpti_PCSamplingData, collectNumPcs);
  APO_SAME_FIELD(SamplingData, total_samples, CUpti_PCSamplingData, totalSamples);
  APO_SAME_FIELD(SamplingData, pcs, CUpti_PCSamplingData, totalNumPcs);
  APO_SAME_FIELD(SamplingData, remaining_pcs, CUpti_PCSamplingData, remainingNumPcs);
  APO_SAME_FIELD(SamplingData, records, CUpti_PCSamplingData, pPcData);
  APO_SAME_FIELD(SamplingData, other_samples, CUpti_PCSamplingData, nonUsrKernelsTotalSamples);
  APO_SAME_FIELD(SamplingData, buffer_full, CUpti_PCSamplingData, hardwareBufferFull);
  EXPECT_EQ(sizeof(SamplingSetting), sizeof(CUpti_PCSamplingConfigurationInfo));
  APO_SAME_FIELD(SamplingSetting, status, CUpti_PCSamplingConfigurationInfo, attributeStatus);
  EXPECT_EQ(offsetof(SamplingSetting, all), offsetof(CUpti_PCSamplingConfigurationInfo, attributeData));
}

TEST(SamplingDeclarations, ValuesAreThoseOfTheHeader) {
  EXPECT_EQ(int{cupti::kSamplingPeriod}, int{CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_PERIOD});
  EXPECT_EQ(int{cupti::kSamplingStallReasons}, int{CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_STALL_REASON});
  EXPECT_EQ(int{cupti::kSamplingMode}, int{CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_COLLECTION_MODE});
  EXPECT_EQ(int{cupti::kSamplingStartStop}, int{CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_ENABLE_START_STOP_CONTROL});
  EXPECT_EQ(int{cupti::kSamplingBuffer}, int{CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_DATA_BUFFER});
  EXPECT_EQ(cupti::kContinuous, int{CUPTI_PC_SAMPLING_COLLECTION_MODE_CONTINUOUS});
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

TEST_F(HostMetrics, AMisspeltMetricGetsTheNearestName) {
  EXPECT_NE(refusal("dram__byte_read.sum").find("did you mean 'dram__bytes_read'?"), std::string::npos)
      << refusal("dram__byte_read.sum");
}

TEST_F(HostMetrics, AMetricWithoutARollUpGetsThoseThatExist) {
  const std::string why = refusal("dram__bytes_read");
  EXPECT_NE(why.find("needs a roll-up"), std::string::npos) << why;
  EXPECT_NE(why.find(".sum"), std::string::npos) << why;
}

TEST_F(HostMetrics, AWrongRollUpGetsThoseThatExist) {
  const std::string why = refusal("lts__t_sector_hit_rate.total");
  EXPECT_NE(why.find("another roll-up than '.total'"), std::string::npos) << why;
  EXPECT_NE(why.find(".pct"), std::string::npos) << why;
}

TEST_F(HostMetrics, AChipThatCuptiDoesNotKnowIsSaid) {
  const CounterHost host(*library_, *profiler_, "no such chip", {});
  EXPECT_NE(host.missing().find("'no such chip'"), std::string::npos) << host.missing();
  EXPECT_TRUE(host.base_metrics().empty());
}

TEST_F(HostMetrics, AMetricNamedTwiceIsCollectedOnce) {
  EXPECT_EQ(schedule({"dram__bytes_read.sum", "dram__bytes_read.sum"}).metrics.size(), 1U);
}

TEST_F(HostMetrics, TroubleIsSaidInWordsWithCuptisOwn) {
  EXPECT_NE(cupti::explain_trouble(*library_, 35, "starting").find("only an administrator"), std::string::npos);
  EXPECT_NE(cupti::explain_trouble(*library_, 35, "starting").find("NVreg_RestrictProfilingToAdminUsers=0"),
            std::string::npos)
      << "and what to do about it";
  EXPECT_EQ(cupti::explain_trouble(*library_, cupti::kHardwareBusy, "starting").find("another process profiles"), 0U);
  EXPECT_EQ(cupti::explain_trouble(*library_, cupti::kMultipleSubscribers, "x").find("another profiler watches"), 0U);
  EXPECT_NE(cupti::explain_trouble(*library_, 43, "starting").find("MIG"), std::string::npos);
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
