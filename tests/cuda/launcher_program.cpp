// tests/cuda/launcher_program.cpp - a small CUDA application, to be profiled from outside: launcher_program MODE FILE.
//
// Writes what it measured itself to FILE, "name value" a line. Exit code 77: there is no GPU.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <memory>
#include <string>
#include <thread>

#include "harness/worker/cuda/driver.h"

#if __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>
#define APO_HAS_NVTX 1
#endif

namespace {

using namespace apo::cuda;
using HostClock = std::chrono::steady_clock;

constexpr int kNoGpu = 77;
constexpr std::uint64_t kLongCycles = 1'000'000;  // some 500 us
constexpr std::uint64_t kShortCycles = 20'000;    // some 10 us
constexpr std::uint64_t kAheadCycles = 200'000;   // some 100 us

// Both spin for `cycles`; one has a C++ name, one has none.
constexpr const char* kBody =
    "(.param .u64 out, .param .u64 cycles) {\n"
    "  .reg .u64 %rd<6>;\n  .reg .pred %p;\n"
    "  ld.param.u64 %rd1, [out];\n  ld.param.u64 %rd2, [cycles];\n  mov.u64 %rd3, %clock64;\n"
    "AGAIN:\n  mov.u64 %rd4, %clock64;\n  sub.u64 %rd5, %rd4, %rd3;\n  setp.lt.u64 %p, %rd5, %rd2;\n  @%p bra AGAIN;\n"
    "  st.global.u64 [%rd1], %rd5;\n  ret;\n}\n";

class Gpu {
 public:
  Gpu() {
    std::string missing;
    driver_ = load_driver(missing);
    int devices = 0;
    if (driver_ == nullptr || driver_->init(0) != kSuccess || driver_->device_count(&devices) != kSuccess ||
        devices == 0) {
      std::fprintf(stderr, "launcher: no GPU: %s\n", missing.c_str());
      std::_Exit(kNoGpu);
    }
    Device device = 0;
    check(driver_->device_get(&device, 0), "device");
    check(driver_->retain_context(&context_, device), "context");
    check(driver_->set_context(context_), "context");
    const std::string code = ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry _Z9spin_longPyy" +
                             std::string(kBody) + ".visible .entry spin_short" + kBody;
    check(driver_->load_module(&module_, code.c_str()), "module");
    check(driver_->get_function(&long_, module_, "_Z9spin_longPyy"), "kernel");
    check(driver_->get_function(&short_, module_, "spin_short"), "kernel");
    check(driver_->allocate(&memory_, kBytes), "memory");
    check(driver_->allocate_host(&host_, kBytes, 0), "pinned memory");
    check(driver_->create_stream(&stream_, kStreamNonBlocking), "stream");
  }

  // In a thread that did not make this.
  void make_current() { check(driver_->set_context(context_), "context"); }
  void spin_long() { launch(long_, kLongCycles); }
  void spin_short(std::uint64_t cycles = kShortCycles) { launch(short_, cycles); }
  void copy_in() { check(driver_->copy_to_device(memory_, host_, kBytes), "copy"); }
  void fill() { check(driver_->fill(memory_, 1, kBytes, stream_), "fill"); }
  void wait() { check(driver_->synchronize(stream_), "synchronize"); }

  // GPU time of `work` by a pair of events, queued behind another kernel: else the first event waits for the launch.
  template <class Work>
  double events_ns(const Work& work) {
    std::array<Event, 2> events{};
    for (Event& event : events) {
      check(driver_->create_event(&event, 0), "event");
    }
    spin_short(kAheadCycles);
    check(driver_->record(events[0], stream_), "event");
    work();
    check(driver_->record(events[1], stream_), "event");
    wait();
    float milliseconds = 0;
    check(driver_->elapsed(&milliseconds, events[0], events[1]), "event");
    return 1e6 * static_cast<double>(milliseconds);
  }

  static constexpr std::size_t kBytes = std::size_t{4} << 20;

 private:
  void check(Result result, const char* what) const {
    if (result != kSuccess) {
      std::fprintf(stderr, "launcher: %s: %s\n", what, describe(*driver_, result).c_str());
      std::_Exit(1);
    }
  }
  void launch(Function function, std::uint64_t cycles) {
    std::array<void*, 2> parameters = {&memory_, &cycles};
    const LaunchConfig config{.grid = {1, 1, 1}, .block = {1, 1, 1}, .stream = stream_};
    check(driver_->launch(&config, function, parameters.data(), nullptr), "launch");
  }

  std::unique_ptr<const Driver> driver_;
  Context context_ = nullptr;
  Module module_ = nullptr;
  Function long_ = nullptr;
  Function short_ = nullptr;
  Pointer memory_ = 0;
  Stream stream_ = nullptr;
  void* host_ = nullptr;  // pinned: one copy is one record
};

// 50 long and 249 short kernels, 10 copies, 5 fills; the long ones timed by events.
void all_kinds(Gpu& gpu, std::ostream& out) {
  gpu.spin_long();  // the clock ramps up; counted below
  gpu.wait();
  double sum_ns = gpu.events_ns([&] { gpu.spin_long(); });
  for (int i = 0; i < 48; ++i) {
    sum_ns += gpu.events_ns([&] { gpu.spin_long(); });
  }
  for (int i = 0; i < 200; ++i) {
    gpu.spin_short();
  }
  for (int i = 0; i < 10; ++i) {
    gpu.copy_in();
  }
  for (int i = 0; i < 5; ++i) {
    gpu.fill();
  }
  gpu.wait();
  out << "long_mean_ns " << sum_ns / 49 << "\n";
}

// Host nanoseconds of one launch while the GPU keeps up, the best of some batches.
void cost_of_a_launch(Gpu& gpu, std::ostream& out) {
  constexpr int kLaunches = 500;
  double best = std::numeric_limits<double>::infinity();
  for (int batch = 0; batch < 60; ++batch) {
    const auto begin = HostClock::now();
    for (int i = 0; i < kLaunches; ++i) {
      gpu.spin_short(0);
    }
    const std::chrono::duration<double, std::nano> elapsed = HostClock::now() - begin;
    gpu.wait();
    best = std::min(best, elapsed.count() / kLaunches);
  }
  out << "launch_ns " << best << "\n";
}

void many(Gpu& gpu) {
  for (int i = 0; i < 200'000; ++i) {
    gpu.spin_short(0);
  }
  gpu.wait();
}

void short_ones(Gpu& gpu, int count) {
  for (int i = 0; i < count; ++i) {
    gpu.spin_short();
  }
  gpu.wait();
}

#ifdef APO_HAS_NVTX
// 30 launches in "step": 20 in "forward" within it, 5 of a thread that it waits for, and 5 of its own; 7 outside.
void in_ranges(Gpu& gpu) {
  for (int step = 0; step < 5; ++step) {
    nvtxRangePushA("step");
    nvtxRangePushA("forward");
    short_ones(gpu, 4);
    nvtxRangePop();
    std::thread([&] {
      gpu.make_current();
      short_ones(gpu, 1);
    }).join();
    short_ones(gpu, 1);
    nvtxRangePop();
  }
  short_ones(gpu, 7);
}
#endif

// CUDA cannot be used in the child of a process that used it.
void fork_after_cuda(Gpu& gpu) {
  short_ones(gpu, 10);
  const pid_t child = fork();
  if (child == 0) {
    std::exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  short_ones(gpu, 10);
}

int two_children() {
  for (int i = 0; i < 2; ++i) {
    if (fork() == 0) {
      Gpu gpu;
      short_ones(gpu, 10);
      std::exit(0);
    }
  }
  int worst = 0;
  for (int status = 0; wait(&status) > 0;) {
    worst = std::max(worst, WIFEXITED(status) ? WEXITSTATUS(status) : 1);
  }
  return worst;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  std::ofstream out(argc > 2 ? argv[2] : "/dev/null");
  if (mode == "children") {
    return two_children();
  }
  Gpu gpu;
  if (mode == "all") {
    all_kinds(gpu, out);
  } else if (mode == "cost") {
    cost_of_a_launch(gpu, out);
#ifdef APO_HAS_NVTX
  } else if (mode == "ranges") {
    in_ranges(gpu);
  } else if (mode == "cost_in_range") {
    nvtxRangePushA("step");
    cost_of_a_launch(gpu, out);
    nvtxRangePop();
#endif
  } else if (mode == "many") {
    many(gpu);
  } else if (mode == "fork") {
    fork_after_cuda(gpu);
  } else if (mode == "_exit") {
    short_ones(gpu, 10);
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    _exit(4);
  } else if (mode == "no_wait") {
    gpu.spin_short();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return 0;
}
