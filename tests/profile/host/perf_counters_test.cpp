// tests/profile/host/perf_counters_test.cpp - counters that exist count, and each refusal is explained.
#include "harness/profile/host/perf_counters.h"

#include <gtest/gtest.h>
#include <linux/perf_event.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <thread>

namespace apo {
namespace {

double value_of(const std::vector<Metric>& metrics, const std::string& name) {
  const auto found = std::find_if(metrics.begin(), metrics.end(), [&](const Metric& m) { return m.name == name; });
  return found == metrics.end() ? -1 : found->value;
}

void touch_fresh_pages(std::size_t pages) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  void* memory = mmap(nullptr, pages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  madvise(memory, pages * page, MADV_NOHUGEPAGE);
  for (std::size_t i = 0; i < pages; ++i) {
    static_cast<volatile char*>(memory)[i * page] = 1;
  }
  munmap(memory, pages * page);
}

bool software_events_work() {
  return value_of(PerfCounters().read(), "page_faults") >= 0;
}

TEST(PerfCounters, PageFaultsOfThisThreadAreCounted) {
  if (!software_events_work()) {
    GTEST_SKIP() << PerfCounters().missing();
  }
  PerfCounters counters;
  counters.start();
  touch_fresh_pages(500);
  counters.stop();
  const double counted = value_of(counters.read(), "page_faults");
  EXPECT_GE(counted, 500);
  EXPECT_LT(counted, 1000);
}

TEST(PerfCounters, ThreadsStartedLaterAreCounted) {
  if (!software_events_work()) {
    GTEST_SKIP() << PerfCounters().missing();
  }
  PerfCounters counters;
  counters.start();
  std::thread([] { touch_fresh_pages(500); }).join();
  counters.stop();
  EXPECT_GE(value_of(counters.read(), "page_faults"), 500);
}

TEST(PerfCounters, StartResetsAndStopStops) {
  if (!software_events_work()) {
    GTEST_SKIP() << PerfCounters().missing();
  }
  PerfCounters counters;
  counters.start();
  touch_fresh_pages(500);
  counters.stop();
  touch_fresh_pages(500);
  const double first = value_of(counters.read(), "page_faults");
  counters.start();
  counters.stop();
  EXPECT_LT(first, 1000);
  EXPECT_LT(value_of(counters.read(), "page_faults"), 100);
}

TEST(PerfCounters, AnotherProcessIsCounted) {
  if (!software_events_work()) {
    GTEST_SKIP() << PerfCounters().missing();
  }
  int gate[2];
  ASSERT_EQ(pipe(gate), 0);
  const pid_t child = fork();
  if (child == 0) {
    char byte = 0;
    if (::read(gate[0], &byte, 1) == 1) {
      touch_fresh_pages(700);
    }
    _exit(0);
  }
  PerfCounters counters(child);
  counters.start();
  ASSERT_EQ(write(gate[1], "x", 1), 1);
  waitpid(child, nullptr, 0);
  EXPECT_GE(value_of(counters.read(), "page_faults"), 700);
  close(gate[0]);
  close(gate[1]);
}

TEST(PerfCounters, AMachineWithoutAPmuStillReadsSoftwareEvents) {
  const CounterOpener no_pmu = [](const CounterSpec& spec, pid_t thread) {
    return spec.hardware ? -ENOENT : open_counter(spec, thread);
  };
  const PerfCounters counters(0, no_pmu);
  EXPECT_EQ(counters.rung(), "timers");
  EXPECT_NE(counters.missing().find("no cycles, instructions, branch_misses, llc_misses: "), std::string::npos);
  EXPECT_NE(counters.missing().find("virtual machine"), std::string::npos);
  EXPECT_EQ(value_of(counters.read(), "cycles"), -1);
}

TEST(PerfCounters, ARefusalOfEverythingGivesNoMetricsAndOneReason) {
  const PerfCounters counters(0, [](const CounterSpec&, pid_t) { return -EACCES; });
  EXPECT_TRUE(counters.read().empty());
  EXPECT_NE(counters.missing().find("task_clock: perf_event_paranoid is "), std::string::npos);
  EXPECT_EQ(counters.missing().find(';'), std::string::npos);
}

// Page faults, all and minor, stand for the two clocks: where none waits for a disk, their ratio is 1.
TEST(CpuClock, IsTheRatioOfItsTwoCountersSinceItWasAskedLast) {
  if (!software_events_work()) {
    GTEST_SKIP() << PerfCounters().missing();
  }
  CpuClock clock(0, [](const CounterSpec& spec, pid_t thread) {
    CounterSpec software = spec;
    software.type = PERF_TYPE_SOFTWARE;
    software.config = spec.name == "cycles" ? PERF_COUNT_SW_PAGE_FAULTS : PERF_COUNT_SW_PAGE_FAULTS_MIN;
    return open_counter(software, thread);
  });
  EXPECT_EQ(clock.missing(), "");
  for (int again = 0; again < 2; ++again) {
    touch_fresh_pages(500);
    const auto ratio = clock.ratio();
    ASSERT_TRUE(ratio);
    EXPECT_NEAR(*ratio, 1, 0.02);
  }
}

TEST(CpuClock, WithoutAPmuSaysWhatIsMissing) {
  CpuClock clock(0, [](const CounterSpec&, pid_t) { return -ENOENT; });
  EXPECT_NE(clock.missing().find("no cycles, reference_cycles: this machine offers no hardware counters"),
            std::string::npos)
      << clock.missing();
  EXPECT_FALSE(clock.ratio());
}

TEST(PerfCounters, AProcessThatEndedIsNamedAsSuch) {
  const pid_t child = fork();
  if (child == 0) {
    _exit(0);
  }
  waitpid(child, nullptr, 0);
  const PerfCounters counters(child, [](const CounterSpec&, pid_t) { return -ESRCH; });
  EXPECT_NE(counters.missing().find("has ended"), std::string::npos);
}

TEST(ExplainRefusal, NamesTheSettingAndTheFix) {
  const CounterSpec cycles{.name = "cycles", .hardware = true};
  EXPECT_NE(explain_refusal(cycles, EPERM, 4).find("perf_event_paranoid is 4: sudo sysctl"), std::string::npos);
  EXPECT_NE(explain_refusal(cycles, ENOSYS, 2).find("seccomp"), std::string::npos);
  EXPECT_NE(explain_refusal(cycles, EINVAL, 2).find("Invalid argument"), std::string::npos);
}

}  // namespace
}  // namespace apo
