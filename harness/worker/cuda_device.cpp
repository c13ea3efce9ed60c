// harness/worker/cuda_device.cpp - modules in two slots, gated and event-timed samples, profiles.
//
// A sample is queued behind a gate, a word in host memory that the stream waits for: poison, flush, event, launches,
// event. The gate opens once all of it is queued, so that the time between the events holds no launch gap of this
// process. What remains is the cost of the events themselves, 4 to 5 us: it is in both arms of a comparison and makes a
// gain look smaller, never larger. Short kernels are timed back to back, which shares it among many.
//
// A sample that is recorded by the second clock is prepared before its window opens, so that no poison or flush is
// among its records.
//
// A library variant runs host code that may wait for the stream, and would wait for ever behind a closed gate. Its gate
// is open from the start, and its host code is in its time. Begin and end are recorded while the whole context is idle:
// what it launches on a stream of its own neither runs beside the poison and the flush before the begin, nor goes on
// behind the end. All of that can only make it look slower.
#include "harness/worker/cuda_device.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>
#include <vector>

#include "harness/core/files.h"
#include "harness/core/guards.h"
#include "harness/core/machine.h"
#include "harness/core/nvtx.h"
#include "harness/worker/activity.h"
#include "harness/worker/clock.h"
#include "harness/worker/counters.h"
#include "harness/worker/cuda_facts.h"
#include "harness/worker/cuda_module.h"
#include "harness/worker/cuda_tensors.h"
#include "harness/worker/instruction_counts.h"
#include "harness/worker/module_watch.h"
#include "harness/worker/nvml.h"
#include "harness/worker/overdue.h"
#include "harness/worker/pc_sampling.h"

namespace apo {
namespace {

// A stream takes about a thousand operations before a launch waits for room; the gate opens well before that.
constexpr int kQueued = 200;
constexpr int kMostImages = 64;
constexpr std::size_t kAllLaunches = std::numeric_limits<std::size_t>::max();
// Should CUPTI ever wait for the GPU inside of a launch, the GPU would wait for the gate. Launches take far less.
constexpr std::chrono::milliseconds kGatePatience{2000};

class CudaDevice : public Device {
 public:
  CudaDevice(std::unique_ptr<const cuda::Driver> driver, DeviceFacts facts, cuda::Device device, cuda::Context context,
             bool watched, SharedStatus& status)
      : driver_(std::move(driver)),
        facts_(std::move(facts)),
        watched_(watched),
        nvml_(facts_.uuid),
        status_(status),
        tensors_(*driver_, watched ? CudaImage::Form::pieces : CudaImage::Form::whole) {
    gpu_ = {.device = device, .index = facts_.index, .uuid = facts_.uuid, .context = context};
    const std::string version = nvml_.driver_version();
    facts_.driver = version.empty() ? facts_.driver : version + " (" + facts_.driver + ")";
  }
  // Streams, events and the gate; what went wrong, if anything.
  std::optional<Failure> set_up();

  std::optional<Failure> load(int slot, const std::string& path, const LaunchPlan& plan) override;
  Result<std::uint64_t> attach(const ArenaLayout& layout, const FileDescriptor& file) override;
  Result<RawSample> run(const RunRequest& request, std::size_t index) override;
  std::optional<Failure> read_back(int set) override;
  Result<std::vector<std::int64_t>> copy(const CopyRequest& request) override;
  Result<CounterReport> count(const CountRequest& request) override;
  Result<SampleReport> sample_stalls(const SampleRequest& request) override;
  std::string watch_modules() override {
    watch_.start();
    return watch_.missing();
  }
  std::vector<std::string> loaded_images(int slot) override;
  Result<InstructionReport> count_instructions(const InstructionRequest& request) override;
  std::optional<DeviceFacts> facts() const override { return facts_; }
  std::optional<DeviceState> state() const override { return nvml_.state(); }
  std::string activity_missing() const override { return activity_.missing(); }

 private:
  std::optional<Failure> check(cuda::Result error, const std::string& what, int slot = -1) const {
    return cuda_failure(*driver_, error, what, slot);
  }
  std::size_t images_for(const RunRequest& request, int slot, int set) const;
  cuda::Result prepare(const RunRequest& request, std::size_t images, int slot) const;
  cuda::Result reset_l2(const LaunchPlan& plan);
  cuda::Result queue_sample(const RunRequest& request, std::size_t images, int slot, int set);
  cuda::Result queue_recorded_sample(const RunRequest& request, std::size_t images, int slot, int set);
  std::optional<Failure> open_window(const RunRequest& request, std::size_t images, int slot);
  std::optional<Failure> close_window(RawSample& sample);
  cuda::Result launch(const CudaKernel& kernel, std::vector<std::uint64_t>& words) const;
  cuda::Result queue_kernels(const CudaModule& loaded, std::vector<std::uint64_t>& words, int& queued);
  std::optional<Failure> call_library(Launcher launcher, const std::vector<std::uint64_t>& words, int slot) const;
  std::optional<Failure> begin_profile(int slot);
  cuda::Result prepare_profiled(int slot, CachePolicy cache);
  cuda::Result launch_profiled(int slot, bool one_by_one, std::size_t first = 0, std::size_t end = kAllLaunches);
  cuda::Result reload(int slot, std::optional<Failure>& not_loaded);
  void open_gate() { __atomic_store_n(gate_, generation_, __ATOMIC_SEQ_CST); }

  std::unique_ptr<const cuda::Driver> driver_;
  DeviceFacts facts_;
  bool watched_;
  Nvml nvml_;
  ProfiledGpu gpu_;
  SharedStatus& status_;
  cuda::Stream stream_ = nullptr;
  cuda::Event begin_ = nullptr;
  cuda::Event end_ = nullptr;
  std::uint32_t* gate_ = nullptr;
  cuda::Pointer gate_on_device_ = 0;
  std::uint32_t generation_ = 0;
  cuda::Pointer flush_ = 0;
  std::size_t flush_bytes_ = 0;
  std::array<CudaModule, 2> modules_;
  CudaTensors tensors_;
  std::size_t last_image_ = 0;          // that the last launch worked on
  std::int64_t persisting_limit_ = -1;  // not set yet
  Activity activity_;
  CounterCollector counters_;
  ModuleWatch watch_;
  std::optional<Failure> refusal_;  // of a library variant in the sample under way
};

std::optional<Failure> CudaDevice::set_up() {
  flush_bytes_ = static_cast<std::size_t>(std::max<std::int64_t>(2 * facts_.l2_bytes + (8 << 20), 32 << 20));
  void* gate = nullptr;
  for (const cuda::Result result :
       {driver_->create_stream(&stream_, cuda::kStreamNonBlocking), driver_->create_event(&begin_, 0),
        driver_->create_event(&end_, 0),
        driver_->allocate_host(&gate, sizeof(std::uint32_t), cuda::kHostAllocDeviceMap),
        driver_->host_device_pointer(&gate_on_device_, gate, 0), driver_->allocate(&flush_, flush_bytes_)}) {
    if (auto failure = check(result, "cannot set up the GPU")) {
      return failure;
    }
  }
  gate_ = static_cast<std::uint32_t*>(gate);
  *gate_ = 0;
  return std::nullopt;
}

std::optional<Failure> CudaDevice::load(int slot, const std::string& path, const LaunchPlan& plan) {
  const StageRange range("load slot" + std::to_string(slot));
  CudaModule& loaded = modules_.at(static_cast<std::size_t>(slot));
  unload_module(*driver_, loaded);
  loaded = {};
  watch_.forget();
  if (plan.library) {
    watch_.stop();        // host code loads what it likes, and some libraries bring hundreds of megabytes
    counters_.release();  // and profiles what it likes
    status_.running_slot.store(slot);
    auto failure = load_library(path, slot, loaded.launcher);
    status_.running_slot.store(-1);
    return failure;
  }
  if (plan.launches.empty()) {
    return Failure{Outcome::wrong_abi, "no kernel is to be launched", slot};
  }
  loaded.image = read_file(path);
  loaded.plan = plan;
  auto failure = load_module(*driver_, loaded, slot);
  if (!failure) {
    keep_variables(*driver_, loaded, stream_);
  }
  return failure;
}

std::vector<std::string> CudaDevice::loaded_images(int slot) {
  return watch_.images(kernel_names(modules_.at(static_cast<std::size_t>(slot))));
}

Result<std::uint64_t> CudaDevice::attach(const ArenaLayout& layout, const FileDescriptor& file) {
  const StageRange range("attach");
  if (auto failure = tensors_.attach(layout, file)) {
    return *failure;
  }
  for (std::size_t slot = 0; slot < modules_.size(); ++slot) {
    const std::size_t bytes = tensors_.arguments(0, static_cast<int>(slot), 0).size() * sizeof(std::uint64_t);
    if (auto failure = check_parameters(*driver_, modules_.at(slot), bytes, static_cast<int>(slot))) {
      return *failure;
    }
  }
  return tensors_.base();
}

// Copies of the tensors that the launches of a sample take in turn: together twice the L2 and one more.
std::size_t CudaDevice::images_for(const RunRequest& request, int slot, int set) const {
  if (request.cache != CachePolicy::cold || request.repetitions == 1) {
    return 1;
  }
  const std::int64_t wanted = 2 + 2 * facts_.l2_bytes / std::max<std::int64_t>(tensors_.call_bytes(slot, set), 1);
  return static_cast<std::size_t>(std::clamp<std::int64_t>(wanted, 1, std::min(request.repetitions, kMostImages)));
}

// Poisons what a launch may write, so that nothing of an earlier sample is left, and flushes the L2.
cuda::Result CudaDevice::prepare(const RunRequest& request, std::size_t images, int slot) const {
  if (watched_) {
    return cuda::kSuccess;
  }
  if (const auto error = guard_is_on(Guard::poison) ? tensors_.poison(images, slot, stream_) : cuda::kSuccess;
      error != cuda::kSuccess) {
    return error;
  }
  if (request.cache == CachePolicy::cold) {
    return driver_->fill(flush_, static_cast<unsigned char>(generation_), flush_bytes_, stream_);
  }
  return cuda::kSuccess;
}

// Everything of one sample, in order. The gate may be open when it returns, and is when it fails.
cuda::Result CudaDevice::queue_sample(const RunRequest& request, std::size_t images, int slot, int set) {
  const CudaModule& loaded = modules_.at(static_cast<std::size_t>(slot));
  const int sets = tensors_.input_sets();
  ++generation_;
  refusal_.reset();
  if (watched_ || loaded.launcher != nullptr) {
    open_gate();
  }
  cuda::Result error = driver_->wait_value(stream_, gate_on_device_, generation_, cuda::kStreamWaitGreaterOrEqual);
  error = error != 0 || request.activity ? error : prepare(request, images, slot);
  if (loaded.launcher != nullptr && guard_is_on(Guard::idle)) {
    error = error != 0 ? error : driver_->synchronize_context();
  }
  error = error != 0 ? error : driver_->record(begin_, stream_);
  int queued = 0;
  for (int i = 0; i < request.repetitions && error == 0 && !refusal_; ++i) {
    // The last launch takes the set that was asked for; the ones before it take turns.
    const int turn = images > 1 ? (set + request.repetitions - 1 - i) % sets : set;
    last_image_ = static_cast<std::size_t>(i) % images;
    std::vector<std::uint64_t> words = tensors_.arguments(last_image_, slot, turn);
    if (loaded.launcher != nullptr) {
      refusal_ = call_library(loaded.launcher, words, slot);
    } else {
      error = queue_kernels(loaded, words, queued);
    }
  }
  if (loaded.launcher != nullptr && guard_is_on(Guard::idle)) {
    error = error != 0 ? error : driver_->synchronize_context();
  }
  error = error != 0 ? error : driver_->record(end_, stream_);
  return error;
}

// With the tensor that the kernel names persisting in the L2, as far as the device has room for it.
cuda::Result CudaDevice::launch(const CudaKernel& kernel, std::vector<std::uint64_t>& words) const {
  const int kept = kernel.launch.persist - 1;
  const std::int64_t persisting =
      kept < 0 ? 0 : std::min(tensors_.bytes_at(words.at(static_cast<std::size_t>(kept))), facts_.persisting_l2_bytes);
  return launch_kernel(*driver_, kernel, words, persisting, stream_);
}

cuda::Result CudaDevice::queue_kernels(const CudaModule& loaded, std::vector<std::uint64_t>& words, int& queued) {
  cuda::Result error = cuda::kSuccess;
  for (const CudaKernel& kernel : loaded.kernels) {
    error = error != 0 ? error : launch(kernel, words);
    if (++queued == kQueued) {
      open_gate();
    }
  }
  return error;
}

std::optional<Failure> CudaDevice::call_library(Launcher launcher, const std::vector<std::uint64_t>& words,
                                                int slot) const {
  const apo_call call{.abi_version = APO_ABI_VERSION,
                      .struct_bytes = sizeof(apo_call),
                      .arguments = words.data(),
                      .threads = static_cast<std::int32_t>(usable_cpus().size()),
                      .reserved = 0,
                      .stream = stream_};
  return guarded(slot, [&]() -> std::optional<Failure> {
    const int code = launcher(&call);
    if (code != 0) {
      return Failure{Outcome::refused, "apo_launch returned " + std::to_string(code), slot};
    }
    return std::nullopt;
  });
}

// The launches of a sample that CUPTI records. The gate may be open when it returns, and is when it fails.
cuda::Result CudaDevice::queue_recorded_sample(const RunRequest& request, std::size_t images, int slot, int set) {
  std::atomic<bool> held_back{false};
  cuda::Result error = cuda::kSuccess;
  {
    const Overdue overdue(kGatePatience, [this, &held_back, open = generation_ + 1] {
      held_back = __atomic_exchange_n(gate_, open, __ATOMIC_SEQ_CST) != open;
    });
    error = queue_sample(request, images, slot, set);
  }
  if (held_back) {
    activity_.give_up("CUPTI held the launches back until the GPU had worked");
  }
  return error;
}

// Prepares a sample that CUPTI records, and lets its records begin behind that.
std::optional<Failure> CudaDevice::open_window(const RunRequest& request, std::size_t images, int slot) {
  const cuda::Result prepared = prepare(request, images, slot);
  if (auto failure = check(prepared != 0 ? prepared : driver_->synchronize_context(), "cannot poison the tensors")) {
    return failure;
  }
  activity_.begin();
  return std::nullopt;
}

// All streams have to be idle for their records to be complete.
std::optional<Failure> CudaDevice::close_window(RawSample& sample) {
  if (auto failure = check(driver_->synchronize_context(), "the kernel", sample.slot)) {
    return failure;
  }
  const ActivitySpan span = activity_.end();
  sample.activity_ns = span.ns;
  sample.activity_kernels = span.kernels;
  return std::nullopt;
}

// What another sample left persisting in the L2 must not help this one.
cuda::Result CudaDevice::reset_l2(const LaunchPlan& plan) {
  if (facts_.persisting_l2_bytes == 0 || !guard_is_on(Guard::l2)) {
    return cuda::kSuccess;
  }
  const bool persists = std::any_of(plan.launches.begin(), plan.launches.end(),
                                    [](const KernelLaunch& launch) { return launch.persist > 0; });
  const std::int64_t wanted = persists ? facts_.persisting_l2_bytes : 0;
  // Host code of a candidate may have set another limit.
  const bool host_code = std::ranges::any_of(modules_, [](const CudaModule& one) { return one.launcher != nullptr; });
  if (wanted != persisting_limit_ || host_code) {
    if (const auto error = driver_->set_limit(cuda::kLimitPersistingL2CacheSize, static_cast<std::size_t>(wanted))) {
      return error;
    }
    persisting_limit_ = wanted;
  }
  return driver_->reset_persisting_l2();
}

Result<RawSample> CudaDevice::run(const RunRequest& request, std::size_t index) {
  const int slot = request.order.at(index);
  const int set = request.sets.empty() ? 0 : request.sets.at(index);
  CudaModule& loaded = modules_.at(static_cast<std::size_t>(slot));
  if (!loaded.loaded() || !tensors_.attached()) {
    throw std::logic_error("asked to run before load and attach");
  }
  const StageRange range((request.activity ? "recorded slot" : "timed slot") + std::to_string(slot));
  status_.running_slot.store(slot);
  counters_.release();  // nothing of a profiler is beside a timed sample
  if (request.activity) {
    watch_.stop();  // CUPTI has one subscriber
  } else {
    activity_.stop();
  }
  if (loaded.plan.keeps_state && guard_is_on(Guard::state)) {
    if (auto failure = restore_module(*driver_, loaded, slot, stream_)) {
      return *failure;
    }
  }
  const std::size_t images = images_for(request, slot, set);
  if (auto failure = request.refresh_set >= 0 && index == 0 ? tensors_.refresh(request.refresh_set) : std::nullopt) {
    return *failure;
  }
  if (auto failure = tensors_.make_images(images)) {
    return *failure;
  }
  if (auto failure = check(reset_l2(loaded.plan), "cannot reset the persisting L2", slot)) {
    return *failure;
  }
  if (request.activity) {
    if (auto failure = open_window(request, images, slot)) {
      return *failure;
    }
  }
  RawSample sample{.slot = slot, .set = set};
  sample.begin_cpu_ns = process_cpu_ns();
  sample.begin_ns = raw_ns();
  sample.begin_ticks = read_ticks();
  const cuda::Result queued =
      request.activity ? queue_recorded_sample(request, images, slot, set) : queue_sample(request, images, slot, set);
  open_gate();
  const cuda::Result finished = driver_->synchronize(stream_);
  sample.end_ticks = read_ticks();
  sample.end_ns = raw_ns();
  sample.end_cpu_ns = process_cpu_ns();
  if (auto failure = check(finished, "the kernel", slot)) {
    return *failure;
  }
  if (auto failure = check(queued, "the launch", slot)) {
    return *failure;
  }
  if (refusal_) {
    status_.running_slot.store(-1);
    return *refusal_;
  }
  float milliseconds = 0;
  if (auto failure = check(driver_->elapsed(&milliseconds, begin_, end_), "the events", slot)) {
    return *failure;
  }
  sample.device_ns = std::llround(static_cast<double>(milliseconds) * 1e6);
  if (request.activity) {
    if (auto failure = close_window(sample)) {
      return *failure;
    }
  }
  status_.running_slot.store(-1);
  return sample;
}

std::optional<Failure> CudaDevice::read_back(int set) {
  const StageRange range("read back");
  return tensors_.read_back(last_image_, set);
}

// What comes before a profile of a slot: nothing of the second clock, fresh state, persisting L2 reset.
std::optional<Failure> CudaDevice::begin_profile(int slot) {
  CudaModule& loaded = modules_.at(static_cast<std::size_t>(slot));
  if (loaded.module == nullptr || !tensors_.attached()) {
    throw std::logic_error("asked to profile before load and attach");
  }
  status_.running_slot.store(slot);
  activity_.stop();
  last_image_ = 0;
  return check(reset_l2(loaded.plan), "cannot reset the persisting L2", slot);
}

// Warm: one call fills the caches. No gate: a profiler that runs each launch to its end would wait for it for ever.
cuda::Result CudaDevice::prepare_profiled(int slot, CachePolicy cache) {
  const CudaVariables& variables = modules_.at(static_cast<std::size_t>(slot)).variables;
  cuda::Result error = variables.restore(*driver_, stream_);
  error = error != cuda::kSuccess ? error : prepare({.cache = cache}, 1, slot);
  if (error == cuda::kSuccess && cache == CachePolicy::warm) {
    error = launch_profiled(slot, false);
    error = error != cuda::kSuccess ? error : variables.restore(*driver_, stream_);
  }
  return error != cuda::kSuccess ? error : driver_->synchronize(stream_);
}

// Those launches of a call.
cuda::Result CudaDevice::launch_profiled(int slot, bool one_by_one, std::size_t first, std::size_t end) {
  const CudaModule& loaded = modules_.at(static_cast<std::size_t>(slot));
  std::vector<std::uint64_t> words = tensors_.arguments(0, slot, 0);
  for (std::size_t i = first; i < std::min(end, loaded.kernels.size()); ++i) {
    cuda::Result error = launch(loaded.kernels[i], words);
    error = error == cuda::kSuccess && one_by_one ? driver_->synchronize(stream_) : error;
    if (error != cuda::kSuccess) {
      return error;
    }
  }
  return cuda::kSuccess;
}

// For a profiler that has to see the module being loaded.
cuda::Result CudaDevice::reload(int slot, std::optional<Failure>& not_loaded) {
  CudaModule& loaded = modules_.at(static_cast<std::size_t>(slot));
  unload_module(*driver_, loaded);
  not_loaded = load_module(*driver_, loaded, slot);
  return not_loaded ? cuda::kNotFound : cuda::kSuccess;
}

Result<CounterReport> CudaDevice::count(const CountRequest& request) {
  const StageRange range("count slot" + std::to_string(request.slot));
  if (auto failure = begin_profile(request.slot)) {
    return *failure;
  }
  const CudaModule& loaded = modules_.at(static_cast<std::size_t>(request.slot));
  const ProfiledCall call{.kernels = kernel_names(loaded),
                          .repeatable = !loaded.plan.keeps_state || loaded.restorable,
                          .prepare = [&] { return prepare_profiled(request.slot, request.cache); },
                          .launch = [&] { return launch_profiled(request.slot, true); }};
  cuda::Result error = cuda::kSuccess;
  CounterReport report = counters_.collect(gpu_, call, request.metrics, request.repetitions, request.more, error);
  if (auto failure = check(error, "the kernel under the range profiler", request.slot)) {
    return *failure;
  }
  status_.running_slot.store(-1);
  return report;
}

Result<SampleReport> CudaDevice::sample_stalls(const SampleRequest& request) {
  const StageRange range("sample slot" + std::to_string(request.slot));
  counters_.release();
  if (auto failure = begin_profile(request.slot)) {
    return *failure;
  }
  const CudaModule& loaded = modules_.at(static_cast<std::size_t>(request.slot));
  std::optional<Failure> not_loaded;
  const SampledCall call{.cubin = loaded.image,
                         .reload = [&] { return reload(request.slot, not_loaded); },
                         .prepare = [&] { return prepare_profiled(request.slot, request.cache); },
                         .launch = [&] { return launch_profiled(request.slot, false); },
                         .wait = [&] { return driver_->synchronize(stream_); }};
  cuda::Result error = cuda::kSuccess;
  SampleReport report = apo::sample_stalls(gpu_, call, request.repetitions, request.period_log2, error);
  if (not_loaded) {
    return *not_loaded;
  }
  if (auto failure = check(error, "the kernel under PC sampling", request.slot)) {
    return *failure;
  }
  status_.running_slot.store(-1);
  return report;
}

Result<InstructionReport> CudaDevice::count_instructions(const InstructionRequest& request) {
  const StageRange range("count instructions slot" + std::to_string(request.slot));
  counters_.release();
  if (auto failure = begin_profile(request.slot)) {
    return *failure;
  }
  const CudaModule& loaded = modules_.at(static_cast<std::size_t>(request.slot));
  std::optional<Failure> not_loaded;
  const CountedCall call{
      .cubin = loaded.image,
      .kernels = kernel_names(loaded),
      .warps = launched_warps(loaded.plan),
      .keeps_state = loaded.plan.keeps_state,
      .reload = [&] { return reload(request.slot, not_loaded); },
      .prepare = [&] { return prepare_profiled(request.slot, CachePolicy::cold); },
      .launch = [&](std::size_t first, std::size_t end) { return launch_profiled(request.slot, true, first, end); },
      .wait = [&] { return driver_->synchronize(stream_); }};
  cuda::Result error = cuda::kSuccess;
  InstructionReport report = apo::count_instructions(gpu_, call, request.kernel, error);
  if (not_loaded) {
    return *not_loaded;
  }
  if (auto failure = check(error, "the kernel while its instructions were counted", request.slot)) {
    return *failure;
  }
  status_.running_slot.store(-1);
  return report;
}

// Ten copies a sample, back to back: what fits the L2 is then read from it.
Result<std::vector<std::int64_t>> CudaDevice::copy(const CopyRequest& request) {
  constexpr int kCopies = 10;
  counters_.release();
  const auto bytes = static_cast<std::size_t>(request.bytes);
  cuda::Pointer memory = 0;
  if (auto failure = check(driver_->allocate(&memory, 2 * bytes), "cannot allocate two buffers to copy")) {
    return *failure;
  }
  std::vector<std::int64_t> ns;
  cuda::Result error = driver_->fill(memory, 1, 2 * bytes, stream_);
  for (int sample = 0; sample < request.samples && error == cuda::kSuccess; ++sample) {
    ++generation_;
    error = driver_->wait_value(stream_, gate_on_device_, generation_, cuda::kStreamWaitGreaterOrEqual);
    error = error != 0 ? error : driver_->record(begin_, stream_);
    for (int i = 0; i < kCopies; ++i) {
      error = error != 0 ? error : driver_->copy_on_device(memory + bytes, memory, bytes, stream_);
    }
    error = error != 0 ? error : driver_->record(end_, stream_);
    open_gate();
    error = error != 0 ? error : driver_->synchronize(stream_);
    float milliseconds = 0;
    error = error != 0 ? error : driver_->elapsed(&milliseconds, begin_, end_);
    ns.push_back(std::llround(static_cast<double>(milliseconds) * 1e6 / kCopies));
  }
  driver_->free(memory);  // after an error the check below reports that one
  if (auto failure = check(error, "a copy within the GPU's memory")) {
    return *failure;
  }
  return ns;
}

}  // namespace

std::unique_ptr<Device> make_cuda_device(int index, bool watched, SharedStatus& status, std::string& missing) {
  auto driver = cuda::load_driver(missing);
  if (driver == nullptr) {
    return nullptr;
  }
  int count = 0;
  cuda::Device device = 0;
  cuda::Context context = nullptr;
  cuda::Result error = driver->device_count(&count);
  if (error == cuda::kSuccess && index >= count) {
    missing = "there is no GPU " + std::to_string(index) + ": the driver shows " + std::to_string(count);
    return nullptr;
  }
  error = error != 0 ? error : driver->device_get(&device, index);
  error = error != 0 ? error : driver->retain_context(&context, device);
  error = error != 0 ? error : driver->set_context(context);
  if (error != cuda::kSuccess) {
    missing = "GPU " + std::to_string(index) + " cannot be used: " + cuda::describe(*driver, error);
    return nullptr;
  }
  const DeviceFacts facts = read_device_facts(*driver, device, index);
  auto made = std::make_unique<CudaDevice>(std::move(driver), facts, device, context, watched, status);
  if (const auto failure = made->set_up()) {
    missing = failure->evidence;
    return nullptr;
  }
  return made;
}

}  // namespace apo
