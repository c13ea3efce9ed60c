// harness/profile/roofs/roofs.cpp - times the roof kernels on one and on all threads and keeps medians with intervals.
#include "harness/profile/roofs/roofs.h"

#include <fmt/format.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <chrono>
#include <cmath>
#include <functional>
#include <new>
#include <thread>

#include "harness/core/error.h"
#include "harness/core/system/machine.h"
#include "harness/core/text.h"
#include "harness/profile/roofs/roof_kernels.h"
#include "harness/profile/summary.h"

namespace apo {
namespace {

using Clock = std::chrono::steady_clock;
using Work = std::function<void(int thread)>;

std::atomic<float> sink;  // results land here, so that no work is dead

double seconds_between(Clock::time_point from, Clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

// Owns zeroed pages straight from the kernel.
class Pages {
 public:
  explicit Pages(std::size_t bytes, int advice) : bytes_(bytes) {
    pointer_ = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pointer_ == MAP_FAILED) {
      throw EnvironmentError("cannot map " + format_bytes(static_cast<double>(bytes)) + " to measure the roofs",
                             "free memory, or raise the container's memory limit");
    }
    madvise(pointer_, bytes, advice);  // a hint: the measurement is valid without it
  }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  ~Pages() { munmap(pointer_, bytes_); }
  float* floats() const { return static_cast<float*>(pointer_); }
  char* bytes() const { return static_cast<char*>(pointer_); }

 private:
  void* pointer_ = nullptr;
  std::size_t bytes_ = 0;
};

// New threads of a short region can share a CPU while another one idles, which would halve the roof: each gets its own.
void pin_to(const std::vector<int>& cpus, int thread) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<std::size_t>(cpus[static_cast<std::size_t>(thread) % cpus.size()]), &set);
  pthread_setaffinity_np(pthread_self(), sizeof set, &set);  // a refusal costs speed, which the interval shows
}

// Seconds from the first thread's start to the last one's end; the threads' own start is not part of it.
double run_together(int threads, const Work& work) {
  if (threads == 1) {
    const auto start = Clock::now();
    work(0);
    return seconds_between(start, Clock::now());
  }
  static const std::vector<int> cpus = usable_cpus();
  std::barrier gate(threads);
  std::vector<Clock::time_point> starts(static_cast<std::size_t>(threads));
  std::vector<Clock::time_point> ends(static_cast<std::size_t>(threads));
  std::vector<std::jthread> team;
  for (int thread = 0; thread < threads; ++thread) {
    team.emplace_back([&, thread] {
      pin_to(cpus, thread);
      gate.arrive_and_wait();
      starts[static_cast<std::size_t>(thread)] = Clock::now();
      work(thread);
      ends[static_cast<std::size_t>(thread)] = Clock::now();
    });
  }
  team.clear();
  return seconds_between(*std::min_element(starts.begin(), starts.end()), *std::max_element(ends.begin(), ends.end()));
}

// Calls `sample` for about `budget_s`, at least five times after one for warming up.
std::vector<double> repeat(double budget_s, const std::function<double()>& sample) {
  sample();
  std::vector<double> values;
  const auto start = Clock::now();
  while (values.size() < 5 || (seconds_between(start, Clock::now()) < budget_s && values.size() < 200)) {
    values.push_back(sample());
  }
  return values;
}

// One throughput: work per second over all threads, where run(thread, repetitions) does repetitions x unit_work.
struct Throughput {
  std::string name;
  std::string unit;
  std::string note;
  double unit_work = 0;
  std::function<void(int thread, std::int64_t repetitions)> run;
};

// The repetitions for a sample of about 1 ms: long against the clock, and shorter than the scheduler's slices, so that
// on a busy machine some samples have the CPU to themselves.
std::int64_t calibrate(const Throughput& throughput) {
  std::int64_t repetitions = 1;
  while (repetitions < (std::int64_t{1} << 40)) {
    const double seconds = run_together(1, [&](int thread) { throughput.run(thread, repetitions); });
    if (seconds >= 2.5e-4) {
      return std::max<std::int64_t>(1, std::llround(static_cast<double>(repetitions) * 1e-3 / seconds));
    }
    repetitions *= seconds < 2.5e-5 ? 8 : 2;
  }
  return repetitions;
}

Roof measure(const Throughput& throughput, int threads, const std::string& suffix, double budget_s) {
  const std::int64_t repetitions = calibrate(throughput);
  const double work = throughput.unit_work * static_cast<double>(repetitions) * threads;
  const auto rates = repeat(
      budget_s, [&] { return work / run_together(threads, [&](int thread) { throughput.run(thread, repetitions); }); });
  const std::string used = fmt::format("{} {}", threads, threads == 1 ? "thread" : "threads");
  return roof_of(throughput.name + suffix, throughput.unit, rates, throughput.note + ", " + used);
}

Throughput multiply_adds(const RoofKernels& kernels, bool vectors) {
  constexpr std::int64_t kSteps = 1000;
  return {.name = vectors ? "fp32_fma" : "fp32_scalar",
          .unit = "flop/s",
          .note = std::string(kernels.isa) + (vectors ? "" : ", one lane"),
          .unit_work = 2.0 * kSteps * kernels.fma_per_step * (vectors ? kernels.lanes : 1),
          .run = [loop = vectors ? kernels.vector_fma : kernels.scalar_fma](int, std::int64_t repetitions) {
            sink = loop(repetitions * kSteps, 0.9999f, 1e-4f);
          }};
}

constexpr std::size_t kTanhCount = 2048;  // 8 KiB: stays in L1

// Arguments spread over [-3, 3], where neither form takes a shortcut.
const float* tanh_arguments() {
  alignas(64) static float arguments[kTanhCount];
  for (std::size_t i = 0; i < kTanhCount; ++i) {
    arguments[i] = 3.0f * std::sin(static_cast<float>(i));
  }
  return arguments;
}

Throughput vector_tanh(const RoofKernels& kernels, const float* arguments) {
  return {.name = "special_tanh",
          .unit = "op/s",
          .note = std::string(kernels.isa) + ", rational approximation of relative error 2^-12",
          .unit_work = kTanhCount,
          .run = [&kernels, arguments](int, std::int64_t repetitions) {
            float sum = 0;
            for (std::int64_t i = 0; i < repetitions; ++i) {
              sum += kernels.tanh_sum(arguments, kTanhCount);
            }
            sink = sum;
          }};
}

template <class Function>
Throughput library_calls(const char* name, const char* note, const float* arguments, Function function) {
  return {.name = name,
          .unit = "op/s",
          .note = note,
          .unit_work = kTanhCount,
          .run = [arguments, function](int, std::int64_t repetitions) {
            float sum = 0;
            for (std::int64_t repetition = 0; repetition < repetitions; ++repetition) {
              for (std::size_t i = 0; i < kTanhCount; ++i) {
                sum += function(arguments[i]);
              }
            }
            sink = sum;
          }};
}

// Copies a window of `window` floats a repetition. Each thread walks round its share of two buffers and goes on where
// the sample before stopped, so that a footprint larger than a cache stays out of it.
Throughput copying(const RoofKernels& kernels, const std::string& name, const Pages& from, const Pages& to,
                   std::size_t share, std::size_t window, int threads, bool streaming) {
  const auto loop = streaming ? kernels.copy_streaming : kernels.copy;
  const double footprint = 8.0 * static_cast<double>(share);
  std::vector<std::size_t> positions(static_cast<std::size_t>(threads), 0);
  return {.name = name,
          .unit = "byte/s",
          .note = format_bytes(footprint) + " a thread, " + (streaming ? "streaming" : "cached") + " stores",
          .unit_work = 8.0 * static_cast<double>(window),
          .run = [loop, &from, &to, share, window, positions](int thread, std::int64_t repetitions) mutable {
            const auto index = static_cast<std::size_t>(thread);
            const std::size_t base = share * index;
            std::size_t position = positions[index];
            for (std::int64_t i = 0; i < repetitions; ++i) {
              loop(to.floats() + base + position, from.floats() + base + position, window);
              position = (position + window) % share;
            }
            positions[index] = position;
            sink = to.floats()[base];
          }};
}

// A copy may be faster with either kind of store; the roof is the better one.
Roof best_copy(const RoofKernels& kernels, const std::string& name, const Pages& from, const Pages& to,
               std::size_t share, std::size_t window, int threads, const std::string& suffix, double budget_s) {
  const auto with_stores = [&](bool streaming) {
    return measure(copying(kernels, name, from, to, share, window, threads, streaming), threads, suffix, budget_s / 2);
  };
  const Roof cached = with_stores(false);
  const Roof streaming = with_stores(true);
  return cached.value >= streaming.value ? cached : streaming;
}

std::size_t whole_windows(double floats, std::size_t window) {
  return std::max<std::size_t>(1, static_cast<std::size_t>(floats) / window) * window;
}

// Floats of one of the two buffers that one thread copies at each level of memory; zero when there is no such level.
struct CopySizes {
  static constexpr std::size_t kWindow = 64 << 10;  // floats: 256 KiB
  std::size_t l2 = 0;
  std::size_t llc = 0;
  std::size_t memory = 0;
};

CopySizes copy_sizes(const Machine& machine, int threads) {
  const double l2 = machine.l2_bytes > 0 ? static_cast<double>(machine.l2_bytes) : 1 << 20;
  const double l3 = static_cast<double>(machine.l3_bytes);
  const double memory = machine.memory_bytes > 0 ? static_cast<double>(machine.memory_bytes) : 1e9;
  CopySizes sizes;
  // Both buffers together take half of the cache.
  sizes.l2 = whole_windows(l2 / 16, 64);
  if (l3 >= 4 * l2) {
    sizes.llc = whole_windows(std::min(4 * l2, l3 / 4 / threads) / 8, CopySizes::kWindow);
  }
  // Twice the last-level cache where half a gigabyte and an eighth of the memory allow it; the note says what it was.
  const double both = std::min({std::max(2 * l3, 128e6), 512e6, memory / 8});
  sizes.memory = whole_windows(both / 8 / threads, CopySizes::kWindow);
  return sizes;
}

std::vector<Roof> measure_copies(const RoofKernels& kernels, int threads, double budget_s) {
  const CopySizes sizes = copy_sizes(describe_host(), threads);
  const std::size_t bytes =
      sizeof(float) * static_cast<std::size_t>(threads) * std::max({sizes.l2, sizes.llc, sizes.memory});
  const Pages from(bytes, MADV_HUGEPAGE);
  const Pages to(bytes, MADV_HUGEPAGE);
  const std::size_t share = bytes / sizeof(float) / static_cast<std::size_t>(threads);
  run_together(threads, [&](int thread) {  // first touch, by the thread that will use it
    const std::size_t base = share * static_cast<std::size_t>(thread);
    std::fill_n(from.floats() + base, share, 1.0f);
    std::fill_n(to.floats() + base, share, 0.0f);
  });
  std::vector<Roof> roofs;
  const auto add = [&](const char* name, std::size_t size, std::size_t window, int used, const char* suffix) {
    roofs.push_back(best_copy(kernels, name, from, to, size, window, used, suffix, budget_s / 6));
  };
  const auto add_levels = [&](int used, std::size_t memory, const char* suffix) {
    add("l2_copy", sizes.l2, sizes.l2, used, suffix);
    if (sizes.llc > 0) {
      add("llc_copy", sizes.llc, CopySizes::kWindow, used, suffix);
    }
    add("memory_copy", memory, CopySizes::kWindow, used, suffix);
  };
  // One thread alone walks what all of them would, so that it leaves the caches too.
  add_levels(1, sizes.memory * static_cast<std::size_t>(threads), "_1");
  add_levels(threads, sizes.memory, "");
  return roofs;
}

Roof measure_thread_start(int threads, double budget_s) {
  const auto seconds = repeat(budget_s, [threads] {
    const auto start = Clock::now();
    std::vector<std::jthread> team;
    for (int thread = 0; thread < threads; ++thread) {
      team.emplace_back([thread] { sink = static_cast<float>(thread); });
    }
    team.clear();
    return seconds_between(start, Clock::now());
  });
  return roof_of("thread_start", "s", seconds, fmt::format("start and join {} std::thread", threads));
}

Roof measure_page_fault(double budget_s) {
  constexpr std::size_t kPages = 512;
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const auto seconds = repeat(budget_s, [page] {
    const Pages pages(kPages * page, MADV_NOHUGEPAGE);
    const auto start = Clock::now();
    for (std::size_t i = 0; i < kPages; ++i) {
      pages.bytes()[i * page] = 1;
    }
    return seconds_between(start, Clock::now()) / kPages;
  });
  return roof_of("page_fault", "s", seconds, fmt::format("first write to a page of {} bytes", page));
}

Roof measure_call_overhead(double budget_s) {
  constexpr int kCalls = 200;
  static std::atomic<int (*)()> function;  // a pointer that the optimiser cannot see through
  function = [] { return 0; };
  const auto seconds = repeat(budget_s, [] {
    int failures = 0;
    const auto start = Clock::now();
    Clock::time_point last = start;
    for (int call = 0; call < kCalls; ++call) {
      failures += function.load(std::memory_order_relaxed)();
      last = Clock::now();
    }
    sink = static_cast<float>(failures);
    return seconds_between(start, last) / kCalls;
  });
  return roof_of("call_overhead", "s", seconds,
                 "an empty function called through a pointer between two clock readings");
}

}  // namespace

std::vector<Roof> measure_host_roofs(int threads, double budget_s) {
  threads = std::max(1, threads);
  const RoofKernels& kernels = native_roof_kernels();
  const float* arguments = tanh_arguments();
  const double small = budget_s / 20;
  std::vector<Roof> roofs;
  for (const Throughput& throughput :
       {multiply_adds(kernels, true), vector_tanh(kernels, arguments),
        library_calls("libm_tanh", "std::tanh(float)", arguments, [](float x) { return std::tanh(x); }),
        library_calls("libm_exp", "std::exp(float)", arguments, [](float x) { return std::exp(x); })}) {
    roofs.push_back(measure(throughput, 1, "_1", small));
    roofs.push_back(measure(throughput, threads, "", small));
  }
  roofs.push_back(measure(multiply_adds(kernels, false), 1, "_1", small));
  roofs.push_back(measure_thread_start(threads, small / 2));
  roofs.push_back(measure_page_fault(small / 2));
  roofs.push_back(measure_call_overhead(small / 2));
  for (Roof& roof : measure_copies(kernels, threads, budget_s / 2)) {
    roofs.push_back(std::move(roof));
  }
  return roofs;
}

Roof roof_of(const std::string& name, const std::string& unit, std::vector<double> samples, const std::string& note) {
  const QuantileInterval interval = quantile_interval(std::move(samples), unit == "s" ? 0.5 : 0.9);
  return {.name = name,
          .value = interval.value,
          .unit = unit,
          .lower = interval.lower,
          .upper = interval.upper,
          .samples = interval.count,
          .note = note};
}

const Roof* find_roof(const std::vector<Roof>& roofs, const std::string& name) {
  const auto found = std::find_if(roofs.begin(), roofs.end(), [&](const Roof& roof) { return roof.name == name; });
  return found == roofs.end() ? nullptr : &*found;
}

}  // namespace apo
