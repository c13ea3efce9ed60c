// tests/worker/cupti/cupti_test.cpp - the record of activity without a GPU: sentences, sums, layouts.
#include "harness/worker/cupti/cupti.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>

#include "harness/core/system/overdue.h"
#include "harness/worker/cupti/activity.h"
#include "tests/processes.h"
#include "tests/worker/declarations.h"

#if __has_include(<cupti.h>)
#include <cupti.h>
#endif

namespace apo {
namespace {

// Sets a variable as long as it lives.
class Environment {
 public:
  Environment(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
  ~Environment() { unsetenv(name_); }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  const char* name_;
};

TEST(Cupti, ALibraryThatIsNotThereIsNamed) {
  const Environment chosen("APO_CUPTI_LIBRARY", "/nonexistent/libcupti.so");
  std::string missing;
  EXPECT_EQ(cupti::load_library(missing), nullptr);
  EXPECT_NE(missing.find("CUPTI does not load: /nonexistent/libcupti.so"), std::string::npos) << missing;
}

TEST(Cupti, AnotherLibraryIsNotTakenForIt) {
  const Environment chosen("APO_CUPTI_LIBRARY", "libc.so.6");
  std::string missing;
  EXPECT_EQ(cupti::load_library(missing), nullptr);
  EXPECT_EQ(missing, "'libc.so.6' is no CUPTI of CUDA 12 or 13: it has no cuptiGetVersion");
}

TEST(Cupti, IsLookedForInTheToolkitBeforeTheSystem) {
  const Environment home("CUDA_HOME", "/opt/cuda");
  const std::vector<std::string> paths = cupti::library_paths();
  EXPECT_EQ(paths.at(0), "/opt/cuda/lib64/libcupti.so");
  EXPECT_EQ(paths.at(1), "/opt/cuda/extras/CUPTI/lib64/libcupti.so");
  EXPECT_EQ(paths.back(), "libcupti.so");
}

TEST(Cupti, OnlyVersionsOfKnownLayoutAreTaken) {
  for (const unsigned known : {19U, 28U, 130'000U, 130'001U, 130'300U}) {
    EXPECT_TRUE(cupti::is_known(known)) << known;
  }
  for (const unsigned unknown : {0U, 18U, 120'000U, 140'000U}) {
    EXPECT_FALSE(cupti::is_known(unknown)) << unknown;
  }
}

TEST(Activity, WithoutALibrarySaysWhyAndMeasuresNothing) {
  const Environment chosen("APO_CUPTI_LIBRARY", "/nonexistent");
  Activity activity;
  activity.begin();
  const ActivitySpan span = activity.end();
  EXPECT_EQ(span.ns, 0);
  EXPECT_EQ(span.kernels, 0);
  EXPECT_NE(activity.missing().find("CUPTI does not load"), std::string::npos) << activity.missing();
}

TEST(Activity, WithoutADriverSaysThatItDoesNotStart) {
  std::string missing;
  if (dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL) != nullptr || cupti::load_library(missing) == nullptr) {
    GTEST_SKIP() << "this machine has a CUDA driver, or no CUPTI";
  }
  Activity activity;
  activity.begin();
  EXPECT_NE(activity.missing().find("CUPTI does not start: CUPTI_ERROR_"), std::string::npos) << activity.missing();
  activity.stop();
  EXPECT_EQ(activity.end().kernels, 0);
}

TEST(ModuleWatch, WithoutALibraryOrADriverSaysWhyAndHasNoImages) {
  ModuleWatch watch;
  EXPECT_EQ(watch.missing(), "nobody asked for it");
  {
    const Environment chosen("APO_CUPTI_LIBRARY", "/nonexistent");
    watch.start();
    EXPECT_NE(watch.missing().find("CUPTI does not load"), std::string::npos) << watch.missing();
  }
  std::string missing;
  if (dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL) == nullptr && cupti::load_library(missing) != nullptr) {
    watch.start();
    EXPECT_NE(watch.missing().find("CUPTI_ERROR_"), std::string::npos) << watch.missing();
  }
  EXPECT_TRUE(watch.images({"k"}).empty());
  watch.stop();
}

TEST(ActivityRecords, SpanAllStreamsFromTheFirstBeginToTheLastEnd) {
  ActivityRecords records;
  EXPECT_EQ(records.span().ns, 0);
  for (const cupti::TimedRecord& record : {cupti::TimedRecord{cupti::kConcurrentKernel, {}, 2'000, 9'000},
                                           {cupti::kConcurrentKernel, {}, 1'500, 3'000},
                                           {cupti::kMemset, {}, 8'000, 12'000}}) {
    records.add(&record);
  }
  EXPECT_EQ(records.span().ns, 10'500);
  EXPECT_EQ(records.span().kernels, 2) << "a fill is work, but no kernel";
  EXPECT_EQ(records.untimed(), 0);
}

TEST(ActivityRecords, OtherKindsArePassedOver) {
  ActivityRecords records;
  const cupti::TimedRecord overhead{17, {}, 1, 1'000'000};
  records.add(&overhead);
  EXPECT_EQ(records.span().ns, 0);
}

TEST(ActivityRecords, WithoutATimeAreCounted) {
  ActivityRecords records;
  for (const cupti::TimedRecord& record :
       {cupti::TimedRecord{cupti::kConcurrentKernel, {}, 0, 0}, {cupti::kConcurrentKernel, {}, 9, 8}}) {
    records.add(&record);
  }
  EXPECT_EQ(records.untimed(), 2);
  EXPECT_EQ(records.span().ns, 0);
}

TEST(Overdue, HappensOnlyWhenTheTimeHasPassed) {
  std::atomic<int> done{0};
  {
    const Overdue in_time(std::chrono::minutes(1), [&] { ++done; });
  }
  EXPECT_EQ(done, 0);
  const Overdue late(std::chrono::milliseconds(1), [&] { ++done; });
  EXPECT_TRUE(testing::comes_about([&] { return done == 1; }));
}

#ifdef CUPTI_API_VERSION
template <class Record>
void expect_beginning_of() {
  APO_SAME_PLACES(cupti::TimedRecord, Record, kind, kind, start, start, end, end);
  EXPECT_LE(sizeof(cupti::TimedRecord), sizeof(Record));
}

TEST(CuptiDeclarations, EveryRecordOfTheHeaderBeginsAsOurs) {
  expect_beginning_of<CUpti_ActivityKernel8>();
  expect_beginning_of<CUpti_ActivityKernel9>();
  expect_beginning_of<CUpti_ActivityMemcpy5>();
  expect_beginning_of<CUpti_ActivityMemset4>();
#if CUPTI_API_VERSION >= 130000
  expect_beginning_of<CUpti_ActivityKernel10>();
  expect_beginning_of<CUpti_ActivityMemcpy6>();
#endif
}

TEST(CuptiDeclarations, ModulesOfTheHeaderAreLaidOutAsOurs) {
  APO_SAME_VALUES(cupti, CUPTI_, kResourceDomain, CB_DOMAIN_RESOURCE, kModuleLoaded, CBID_RESOURCE_MODULE_LOADED);
  APO_SAME(cupti::ResourceData, CUpti_ResourceData, descriptor, resourceDescriptor);
  APO_SAME(cupti::ModuleData, CUpti_ModuleResourceData, bytes, cubinSize, cubin, pCubin);
}

TEST(CuptiDeclarations, ValuesAndFunctionsAreThoseOfTheHeader) {
  EXPECT_TRUE(cupti::is_known(CUPTI_API_VERSION));
  APO_SAME_VALUES(cupti, CUPTI_, kSuccess, SUCCESS, kMaxLimitReached, ERROR_MAX_LIMIT_REACHED, kInvalidKind,
                  ERROR_INVALID_KIND, kMultipleSubscribers, ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED, kMemcpy,
                  ACTIVITY_KIND_MEMCPY, kMemset, ACTIVITY_KIND_MEMSET, kKernel, ACTIVITY_KIND_KERNEL, kConcurrentKernel,
                  ACTIVITY_KIND_CONCURRENT_KERNEL, kFlushForced, ACTIVITY_FLAG_FLUSH_FORCED);
  EXPECT_EQ(sizeof(CUpti_ActivityKind), sizeof(int));
  EXPECT_EQ(sizeof(CUptiResult), sizeof(cupti::Result));
  EXPECT_EQ(sizeof(CUpti_SubscriberHandle), sizeof(cupti::Subscriber));
  static_assert(std::is_same_v<CUpti_BuffersCallbackRequestFunc, cupti::RequestBuffer>);
}

TEST(Cupti, OfThisMachineTellsItsVersion) {
  std::string missing;
  const auto cupti = cupti::load_library(missing);
  if (cupti == nullptr) {
    GTEST_SKIP() << missing;
  }
  EXPECT_TRUE(cupti::is_known(cupti->version)) << cupti->version;
  EXPECT_EQ(cupti::describe(*cupti, cupti::kMultipleSubscribers), "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED");
}
#endif

}  // namespace
}  // namespace apo
