// harness/profile/host/perf_counters.cpp - perf_event_open: one descriptor a counter and thread.
#include "harness/profile/host/perf_counters.h"

#include <fmt/format.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>

#include "harness/core/text.h"

namespace apo {
namespace {

int perf_event_paranoid() {
  std::ifstream stream("/proc/sys/kernel/perf_event_paranoid");
  int value = 2;  // the kernel's default
  stream >> value;
  return value;
}

std::vector<pid_t> threads_of(pid_t pid) {
  const std::string folder = fmt::format("/proc/{}/task", pid == 0 ? "self" : std::to_string(pid));
  std::vector<pid_t> threads;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (const auto thread = parse_int(entry.path().filename().string())) {
      threads.push_back(static_cast<pid_t>(*thread));
    }
  }
  if (threads.empty()) {
    threads.push_back(pid);  // opening it reports the error
  }
  return threads;
}

// What PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING reads.
struct Reading {
  std::uint64_t value = 0;
  std::uint64_t enabled_ns = 0;
  std::uint64_t running_ns = 0;
};

std::optional<double> read_scaled(int descriptor) {
  Reading reading;
  if (::read(descriptor, &reading, sizeof reading) != static_cast<ssize_t>(sizeof reading)) {
    return std::nullopt;
  }
  if (reading.running_ns == 0) {
    // A thread that slept all the time counted nothing; one that ran without its counter is unknown.
    return reading.enabled_ns == 0 ? std::optional(0.0) : std::nullopt;
  }
  return static_cast<double>(reading.value) * static_cast<double>(reading.enabled_ns) /
         static_cast<double>(reading.running_ns);
}

CounterSpec hardware(const char* name, std::uint64_t config) {
  return {.name = name, .unit = "events", .type = PERF_TYPE_HARDWARE, .config = config, .hardware = true};
}

CounterSpec software(const char* name, const char* unit, std::uint64_t config) {
  return {.name = name, .unit = unit, .type = PERF_TYPE_SOFTWARE, .config = config};
}

}  // namespace

const std::vector<CounterSpec>& host_counters() {
  static const std::vector<CounterSpec> counters = {
      hardware("cycles", PERF_COUNT_HW_CPU_CYCLES),
      hardware("instructions", PERF_COUNT_HW_INSTRUCTIONS),
      hardware("branch_misses", PERF_COUNT_HW_BRANCH_MISSES),
      hardware("llc_misses", PERF_COUNT_HW_CACHE_MISSES),
      software("page_faults", "events", PERF_COUNT_SW_PAGE_FAULTS),
      software("context_switches", "events", PERF_COUNT_SW_CONTEXT_SWITCHES),
      software("task_clock", "ns", PERF_COUNT_SW_TASK_CLOCK)};
  return counters;
}

const std::vector<CounterSpec>& clock_counters() {
  static const std::vector<CounterSpec> counters = {hardware("cycles", PERF_COUNT_HW_CPU_CYCLES),
                                                    hardware("reference_cycles", PERF_COUNT_HW_REF_CPU_CYCLES)};
  return counters;
}

int open_counter(const CounterSpec& spec, pid_t thread) {
  perf_event_attr attributes{};
  attributes.size = sizeof attributes;
  attributes.type = spec.type;
  attributes.config = spec.config;
  attributes.disabled = 1;
  attributes.inherit = 1;  // so no PERF_FORMAT_GROUP: kernels before 6.13 refuse the two together
  // Context switches happen in the kernel: excluding it would read 0.
  attributes.exclude_kernel = spec.config == PERF_COUNT_SW_CONTEXT_SWITCHES && !spec.hardware ? 0 : 1;
  attributes.exclude_hv = attributes.exclude_kernel;
  attributes.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  const long descriptor = syscall(SYS_perf_event_open, &attributes, thread, -1, -1, PERF_FLAG_FD_CLOEXEC);
  return descriptor < 0 ? -errno : static_cast<int>(descriptor);
}

std::string explain_refusal(const CounterSpec& spec, int error, int paranoid) {
  switch (error) {
    case ENOENT:
    case EOPNOTSUPP:
      return spec.hardware ? "this machine offers no hardware counters (usual in a virtual machine): give the guest a "
                             "virtual PMU, or profile on bare metal"
                           : "this kernel has no such event: use a newer one";
    case EACCES:
    case EPERM:
      return "perf_event_paranoid is " + std::to_string(paranoid) +
             ": sudo sysctl kernel.perf_event_paranoid=1 (in a container also --cap-add PERFMON)";
    case ENOSYS:
      return "perf_event_open is blocked (seccomp) or not built in: run the container with a profile that allows it";
    case ESRCH:
      return "the process has ended";
    case EMFILE:
      return "no file descriptors left: ulimit -n 4096";
    default:
      return std::string("perf_event_open says '") + std::strerror(error) + "'";
  }
}

PerfCounters::PerfCounters(pid_t pid, const CounterOpener& opener, std::vector<CounterSpec> specs)
    : specs_(std::move(specs)) {
  const std::vector<pid_t> threads = threads_of(pid);
  refusals_.resize(specs_.size());
  for (std::size_t spec = 0; spec < specs_.size(); ++spec) {
    for (const pid_t thread : threads) {
      const int descriptor = opener(specs_[spec], thread);
      if (descriptor >= 0) {
        open_.push_back({.spec = spec, .descriptor = FileDescriptor(descriptor)});
      } else if (descriptor != -ESRCH || threads.size() == 1) {  // a thread may end while its siblings are opened
        refusals_[spec] = explain_refusal(specs_[spec], -descriptor, perf_event_paranoid());
      }
    }
  }
}

void PerfCounters::control(unsigned long request) {
  for (const Open& counter : open_) {
    // A failure leaves the count as it was, and read() then shows zero running time.
    ioctl(counter.descriptor.get(), request, 0);
  }
}

void PerfCounters::start() {
  control(PERF_EVENT_IOC_RESET);
  control(PERF_EVENT_IOC_ENABLE);
}

void PerfCounters::stop() {
  control(PERF_EVENT_IOC_DISABLE);
}

std::vector<Metric> PerfCounters::read() const {
  std::vector<Metric> metrics;
  for (std::size_t spec = 0; spec < specs_.size(); ++spec) {
    double sum = 0;
    bool complete = refusals_[spec].empty();
    for (const Open& counter : open_) {
      if (counter.spec == spec) {
        const auto value = read_scaled(counter.descriptor.get());
        complete = complete && value.has_value();
        sum += value.value_or(0);
      }
    }
    if (complete) {
      metrics.push_back({.name = specs_[spec].name, .value = sum, .unit = specs_[spec].unit, .samples = 1});
    }
  }
  return metrics;
}

std::string PerfCounters::missing() const {
  std::vector<std::pair<std::string, std::vector<std::string>>> reasons;  // in order of appearance, each once
  for (std::size_t spec = 0; spec < specs_.size(); ++spec) {
    if (!refusals_[spec].empty()) {
      auto found = std::ranges::find(reasons, refusals_[spec], [](const auto& one) { return one.first; });
      found = found == reasons.end() ? reasons.insert(found, {refusals_[spec], {}}) : found;
      found->second.push_back(specs_[spec].name);
    }
  }
  std::vector<std::string> sentences;
  for (const auto& [reason, names] : reasons) {
    sentences.push_back("no " + join(names, ", ") + ": " + reason);
  }
  return join(sentences, "; ");
}

CpuClock::CpuClock(pid_t pid, const CounterOpener& opener) : counters_(pid, opener, clock_counters()) {
  counters_.start();
}

std::optional<double> CpuClock::ratio() {
  const std::vector<Metric> now = counters_.read();
  if (now.size() != clock_counters().size()) {
    return std::nullopt;
  }
  const double cycles = now[0].value - std::exchange(cycles_, now[0].value);
  const double reference = now[1].value - std::exchange(reference_cycles_, now[1].value);
  return cycles > 0 && reference > 0 ? std::optional(cycles / reference) : std::nullopt;
}

std::string PerfCounters::rung() const {
  const bool hardware = std::any_of(open_.begin(), open_.end(), [&](const Open& counter) {
    return specs_[counter.spec].hardware && refusals_[counter.spec].empty();
  });
  return hardware ? "perf_event counters" : "timers";
}

}  // namespace apo
