// tests/injection/recorder_test.cpp - right sums from CUPTI's records, bounded however many names there are.
#include "harness/injection/recorder.h"

#include <gtest/gtest.h>

#include <future>
#include <thread>

#include "harness/injection/nvtx_tool.h"
#include "harness/worker/cupti/cupti.h"
#include "tests/worker/declarations.h"

#if __has_include(<cupti.h>)
#include <cupti.h>
#endif
#if __has_include(<nvtx3/nvtxDetail/nvtxTypes.h>)
#include <nvtx3/nvToolsExt.h>
#endif

namespace apo {
namespace {

using namespace cupti;

void add_kernel(Recorder& recorder, const char* name, std::uint64_t start, std::uint64_t end,
                std::uint32_t device = 0) {
  const KernelRecord record{.kind = kConcurrentKernel, .start = start, .end = end, .device = device, .name = name};
  recorder.add(&record);
}

TEST(Recorder, SumsByNameNotByAddress) {
  Recorder recorder;
  const std::string first = "k";
  const std::string second = "k";
  add_kernel(recorder, first.c_str(), 100, 110);
  add_kernel(recorder, second.c_str(), 200, 230);
  const ProcessTimes sums = recorder.summary();
  ASSERT_EQ(sums.work.size(), 1U);
  EXPECT_EQ(sums.work[0].calls, 2);
  EXPECT_EQ(sums.work[0].total_ns, 40);
  EXPECT_EQ(sums.work[0].min_ns, 10);
  EXPECT_EQ(sums.work[0].max_ns, 30);
}

TEST(Recorder, AnAddressThatGetsANewNameInTheNextBufferIsAnotherKernel) {
  Recorder recorder;
  std::string name = "old";
  add_kernel(recorder, name.c_str(), 100, 110);
  recorder.forget_names();
  name = "new";
  add_kernel(recorder, name.c_str(), 200, 210);
  EXPECT_EQ(recorder.summary().work.size(), 2U);
}

TEST(Recorder, CopiesAndFillsAreKeptApartFromKernels) {
  Recorder recorder;
  for (const std::uint8_t direction : std::initializer_list<std::uint8_t>{1, 1, 2, 10, 77}) {
    const CopyRecord copy{.kind = kMemcpy, .direction = direction, .bytes = 1'000, .start = 100, .end = 200};
    recorder.add(&copy);
  }
  const FillRecord fill{.kind = kMemset, .bytes = 64, .start = 300, .end = 301};
  recorder.add(&fill);
  const ProcessTimes sums = recorder.summary();
  ASSERT_EQ(sums.work.size(), 5U);
  EXPECT_EQ(sums.work[0].name, "memcpy HtoD");
  EXPECT_EQ(sums.work[0].calls, 2);
  EXPECT_EQ(sums.work[0].bytes, 2'000);
  EXPECT_EQ(sums.work[2].name, "memcpy PtoP");
  EXPECT_EQ(sums.work[3].name, "memcpy of another kind");
  EXPECT_EQ(sums.work[4].kind, WorkKind::fill);
  EXPECT_EQ(sums.devices.at(0).busy_ns, 101);
}

void add_launched(Recorder& recorder, const char* name, std::uint32_t correlation) {
  const KernelRecord record{
      .kind = kConcurrentKernel, .start = 100, .end = 110, .correlation = correlation, .name = name};
  recorder.add(&record);
}

TEST(Recorder, WorkOfARangeIsWhatWasLaunchedInIt) {
  Ranges ranges;
  Recorder recorder(&ranges);
  ranges.launched(1);
  EXPECT_EQ(ranges.push(nullptr, "step"), 0);
  ranges.launched(2);
  EXPECT_EQ(ranges.push(nullptr, "forward"), 1);
  ranges.launched(3);
  EXPECT_EQ(ranges.pop(nullptr), 1);
  EXPECT_EQ(ranges.pop(nullptr), 0);
  EXPECT_LT(ranges.pop(nullptr), 0) << "one more than was pushed";
  ranges.launched(4);
  for (const std::uint32_t correlation :
       std::initializer_list<std::uint32_t>{1, 2, 3, 3, 4, 5}) {  // a graph's kernels share one
    add_launched(recorder, "k", correlation);
  }
  const ProcessTimes sums = recorder.summary();
  ASSERT_EQ(sums.ranges.size(), 2U);
  ASSERT_EQ(sums.ranges[0].work.size(), 1U);
  EXPECT_EQ(sums.ranges[0].work[0].calls, 1);
  ASSERT_EQ(sums.ranges[1].work.size(), 1U);
  EXPECT_EQ(sums.ranges[1].work[0].calls, 2);
  EXPECT_EQ(sums.ranges[1].work[0].total_ns, 20);
  EXPECT_EQ(sums.ranges[1].parent, 0);
}

TEST(Ranges, OfTwoDomainsEndEachForItself) {
  Ranges ranges;
  const int domain = 0;
  ranges.push(&domain, "outer");
  ranges.push(nullptr, "inner");
  ranges.pop(&domain);
  ranges.launched(7);
  EXPECT_EQ(ranges.of(7), 2U) << "the inner one is open still";
  ranges.pop(nullptr);
  ranges.launched(8);
  EXPECT_EQ(ranges.of(8), 0U);
}

TEST(Ranges, AreBoundedInNumberDepthAndNames) {
  Ranges ranges;
  for (std::size_t i = 0; i < kMostRanges + 10; ++i) {
    ranges.push(nullptr, "iteration " + std::to_string(i) + std::string(1'000, 'x'));
    ranges.pop(nullptr);
  }
  EXPECT_EQ(ranges.places().size(), kMostRanges);
  EXPECT_EQ(ranges.places()[0].name.size(), kMostRangeName);
  for (std::size_t i = 0; i < kMostRangeDepth + 5; ++i) {
    ranges.push(nullptr, "deep");
  }
  EXPECT_LT(ranges.push(nullptr, "deeper"), 0);
  for (std::size_t i = 0; i < kMostRangeDepth; ++i) {
    EXPECT_GE(ranges.pop(nullptr), 0);
  }
  EXPECT_LT(ranges.pop(nullptr), 0);
}

TEST(Ranges, ALaunchLongAgoIsForgottenRatherThanMistaken) {
  Ranges ranges;
  ranges.push(nullptr, "r");
  ranges.launched(5);
  EXPECT_EQ(ranges.of(5), 1U);
  EXPECT_EQ(ranges.of(5 + kMostLaunches), 0U);
  ranges.launched(5 + kMostLaunches);
  EXPECT_EQ(ranges.of(5), 0U);
  ranges.pop(nullptr);
}

// A thread without ranges works for the only one that has any; between two it is nobody's.
TEST(Ranges, AThreadWithoutOneWorksForTheOnlyThreadThatHasOne) {
  Ranges ranges;
  ranges.push(nullptr, "step");
  std::thread([&] { ranges.launched(1); }).join();
  EXPECT_EQ(ranges.of(1), 1U);
  std::promise<void> pushed;
  std::promise<void> over;
  std::thread other([&] {
    ranges.push(nullptr, "other");
    pushed.set_value();
    over.get_future().wait();
    ranges.pop(nullptr);
  });
  pushed.get_future().wait();
  std::thread([&] { ranges.launched(2); }).join();
  over.set_value();
  other.join();
  EXPECT_EQ(ranges.of(2), 0U);
  ranges.pop(nullptr);
}

TEST(Recorder, EveryDeviceHasItsOwnTimeline) {
  Recorder recorder;
  add_kernel(recorder, "k", 100, 200, 0);
  add_kernel(recorder, "k", 150, 250, 1);
  const ProcessTimes sums = recorder.summary();
  ASSERT_EQ(sums.devices.size(), 2U);
  EXPECT_EQ(sums.devices[1].device, 1);
  EXPECT_EQ(sums.devices[1].busy_ns, 100);
}

TEST(Recorder, RecordsWithoutATimeAreCountedAndOtherKindsPassedOver) {
  Recorder recorder;
  add_kernel(recorder, "k", 0, 0);
  add_kernel(recorder, "k", 9, 8);
  const KernelRecord overhead{.kind = 17, .start = 1, .end = 2, .name = "x"};
  recorder.add(&overhead);
  EXPECT_EQ(recorder.summary().untimed, 2);
  EXPECT_TRUE(recorder.summary().work.empty());
}

TEST(Recorder, WithoutANameIsStillCounted) {
  Recorder recorder;
  add_kernel(recorder, nullptr, 1, 2);
  EXPECT_EQ(recorder.summary().work.at(0).name, "(no name)");
}

TEST(Recorder, KernelsBeyondTheBoundShareARowAndNoTimeIsLost) {
  Recorder recorder;
  constexpr std::int64_t kNames = 3 * static_cast<std::int64_t>(kMostKernels);
  for (std::int64_t i = 0; i < kNames; ++i) {
    add_kernel(recorder, ("kernel " + std::to_string(i)).c_str(), 100, 107);
    recorder.forget_names();
  }
  add_kernel(recorder, "kernel 5", 100, 107);
  const ProcessTimes sums = recorder.summary();
  EXPECT_EQ(sums.work.size(), kMostKernels + 1);
  EXPECT_EQ(sums.work.back().name, kOtherKernels);
  EXPECT_EQ(sums.work.at(5).calls, 2) << "a known name is still found";
  std::int64_t total = 0;
  for (const GpuWork& work : sums.work) {
    total += work.total_ns;
  }
  EXPECT_EQ(total, 7 * (kNames + 1));
}

TEST(Recorder, NamesOfMegabytesDoNotAddUp) {
  Recorder recorder;
  for (int i = 0; i < 40; ++i) {
    add_kernel(recorder, (std::to_string(i) + std::string(1'000'000, 'x')).c_str(), 100, 101);
    recorder.forget_names();
  }
  std::size_t bytes = 0;
  for (const GpuWork& work : recorder.summary().work) {
    bytes += work.name.size();
  }
  EXPECT_LE(bytes, kMostNameBytes + 100);
}

#ifdef CUPTI_API_VERSION
template <class Record>
void expect_kernel_layout() {
  APO_SAME_PLACES(KernelRecord, Record, start, start, end, end, device, deviceId, correlation, correlationId, name,
                  name);
  EXPECT_LE(sizeof(KernelRecord), sizeof(Record));
}

template <class Record>
void expect_copy_layout() {
  APO_SAME_PLACES(CopyRecord, Record, direction, copyKind, bytes, bytes, start, start, end, end, device, deviceId);
  EXPECT_LE(sizeof(CopyRecord), sizeof(Record));
}

#if __has_include(<nvtx3/nvtxDetail/nvtxTypes.h>)
TEST(NvtxTool, DeclarationsAreThoseOfTheHeader) {
  APO_SAME(nvtx::Attributes, nvtxEventAttributes_t, message_type, messageType, message, message);
  APO_SAME_PLACES(nvtx::CallbackTable, NvtxExportTableCallbacks, module_functions, GetModuleFunctionTable);
  APO_SAME_VALUES(nvtx, NVTX_, kAscii, MESSAGE_TYPE_ASCII, kUnicode, MESSAGE_TYPE_UNICODE, kRegistered,
                  MESSAGE_TYPE_REGISTERED, kCallbacks, ETID_CALLBACKS, kCore, CB_MODULE_CORE, kCore2, CB_MODULE_CORE2,
                  kMarkEx, CBID_CORE_MarkEx, kMarkA, CBID_CORE_MarkA, kRangePushEx, CBID_CORE_RangePushEx, kRangePushA,
                  CBID_CORE_RangePushA, kRangePushW, CBID_CORE_RangePushW, kRangePop, CBID_CORE_RangePop,
                  kDomainRangePushEx, CBID_CORE2_DomainRangePushEx, kDomainRangePop, CBID_CORE2_DomainRangePop,
                  kDomainRegisterStringA, CBID_CORE2_DomainRegisterStringA, kDomainRegisterStringW,
                  CBID_CORE2_DomainRegisterStringW, kDomainCreateA, CBID_CORE2_DomainCreateA, kDomainCreateW,
                  CBID_CORE2_DomainCreateW);
}
#endif

TEST(Recorder, LayoutsAreThoseOfTheHeader) {
  expect_kernel_layout<CUpti_ActivityKernel8>();
  expect_kernel_layout<CUpti_ActivityKernel9>();
  APO_SAME_PLACES(CopyRecord, CUpti_ActivityMemcpy5, correlation, correlationId);
  APO_SAME_PLACES(FillRecord, CUpti_ActivityMemset4, bytes, bytes, start, start, end, end, device, deviceId,
                  correlation, correlationId);
  APO_SAME_PLACES(CallbackData, CUpti_CallbackData, site, callbackSite, function, functionName, correlation,
                  correlationId);
  APO_SAME_VALUES(cupti, CUPTI_, kDriverApi, CB_DOMAIN_DRIVER_API, kRuntimeApi, CB_DOMAIN_RUNTIME_API, kEnter,
                  API_ENTER, kPeerMemcpy, ACTIVITY_KIND_MEMCPY2);
  expect_copy_layout<CUpti_ActivityMemcpy5>();
  expect_copy_layout<CUpti_ActivityMemcpyPtoP4>();
#if CUPTI_API_VERSION >= 130000
  expect_kernel_layout<CUpti_ActivityKernel10>();
  expect_copy_layout<CUpti_ActivityMemcpy6>();
#endif
  EXPECT_STREQ(copy_name(CUPTI_ACTIVITY_MEMCPY_KIND_DTOH), "memcpy DtoH");
  EXPECT_STREQ(copy_name(CUPTI_ACTIVITY_MEMCPY_KIND_DTOD), "memcpy DtoD");
  EXPECT_STREQ(copy_name(CUPTI_ACTIVITY_MEMCPY_KIND_PTOP), "memcpy PtoP");
}
#endif

}  // namespace
}  // namespace apo
