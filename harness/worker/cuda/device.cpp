// harness/worker/cuda/device.cpp - a GPU with two slots: its facts and state, loading, and calls of timer and profiler.
#include "harness/worker/child/device.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <stdexcept>
#include <utility>
#include <vector>

#include "harness/core/guards.h"
#include "harness/core/nvtx.h"
#include "harness/core/system/files.h"
#include "harness/core/system/machine.h"
#include "harness/worker/cuda/library_functions.h"
#include "harness/worker/cuda/module.h"
#include "harness/worker/cuda/own_kernels.h"
#include "harness/worker/cuda/profiler.h"
#include "harness/worker/cuda/tensors.h"
#include "harness/worker/cuda/timer.h"
#include "harness/worker/recorder/call_recorder.h"

namespace apo {
namespace {

// The values are those of <nvml.h>.
constexpr int kClockSm = 1;
constexpr int kTemperatureGpu = 0;

struct NvmlFunctions {
  LibraryFunctions in;
  int (*init)() = in.find("nvmlInit_v2");
  int (*driver_version)(char* text, unsigned length) = in.find("nvmlSystemGetDriverVersion");
  int (*device_by_uuid)(const char* uuid, void** device) = in.find("nvmlDeviceGetHandleByUUID");
  int (*clock)(void* device, int type, unsigned* mhz) = in.find("nvmlDeviceGetClockInfo");
  int (*throttle_reasons)(void* device,
                          unsigned long long* bits) = in.find("nvmlDeviceGetCurrentClocksThrottleReasons");
  int (*temperature)(void* device, int sensor, unsigned* celsius) = in.find("nvmlDeviceGetTemperature");
  int (*power)(void* device, unsigned* milliwatts) = in.find("nvmlDeviceGetPowerUsage");
};

// Clocks, temperature and reasons for throttling of one GPU, read only. Absent when this machine has no NVML: only
// evidence is lost then.
class Nvml {
 public:
  explicit Nvml(const std::string& uuid) {
    static const NvmlFunctions functions{.in = {dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL)}};
    if (functions.in.missing.empty() && functions.init() == 0 &&
        functions.device_by_uuid(uuid.c_str(), &device_) == 0) {
      functions_ = &functions;
    }
  }
  std::string driver_version() const;  // "580.159.04", or empty
  std::optional<DeviceState> state() const;

 private:
  const NvmlFunctions* functions_ = nullptr;
  void* device_ = nullptr;
};

std::string Nvml::driver_version() const {
  std::array<char, 96> text{};
  const bool known = functions_ != nullptr && functions_->driver_version(text.data(), text.size()) == 0;
  return known ? text.data() : "";
}

std::optional<DeviceState> Nvml::state() const {
  unsigned mhz = 0;
  unsigned celsius = 0;
  unsigned milliwatts = 0;
  unsigned long long bits = 0;
  if (functions_ == nullptr || functions_->clock(device_, kClockSm, &mhz) != 0 ||
      functions_->throttle_reasons(device_, &bits) != 0) {
    return std::nullopt;
  }
  functions_->temperature(device_, kTemperatureGpu, &celsius);  // stays 0 where the board has no sensor
  functions_->power(device_, &milliwatts);                      // likewise
  return DeviceState{.sm_mhz = static_cast<int>(mhz),
                     .throttle_bits = bits,
                     .celsius = static_cast<int>(celsius),
                     .watts = static_cast<int>(milliwatts / 1000)};
}

std::string text_of(const cuda::Uuid& uuid) {
  std::string text = "GPU";
  for (std::size_t i = 0; i < uuid.bytes.size(); ++i) {
    std::array<char, 3> hex{};
    std::snprintf(hex.data(), hex.size(), "%02x", static_cast<unsigned>(uuid.bytes.at(i)));
    text += (i == 0 || i == 4 || i == 6 || i == 8 || i == 10) ? "-" : "";
    text += hex.data();
  }
  return text;
}

DeviceFacts read_device_facts(const cuda::Driver& driver, cuda::Device device, int index) {
  const auto attribute = [&](int which) {
    int value = 0;
    driver.device_attribute(&value, which, device);  // stays 0 for what an old driver does not know
    return value;
  };
  DeviceFacts facts{.index = index};
  std::array<char, 256> name{};
  driver.device_name(name.data(), static_cast<int>(name.size()) - 1, device);
  facts.name = name.data();
  cuda::Uuid uuid{};
  driver.device_uuid(&uuid, device);
  facts.uuid = text_of(uuid);
  facts.major = attribute(cuda::kMajor);
  facts.minor = attribute(cuda::kMinor);
  facts.sms = attribute(cuda::kMultiprocessors);
  facts.threads_per_block = attribute(cuda::kThreadsPerBlock);
  facts.threads_per_sm = attribute(cuda::kThreadsPerMultiprocessor);
  facts.blocks_per_sm = attribute(cuda::kBlocksPerMultiprocessor);
  facts.shared_per_block = attribute(cuda::kSharedPerBlockOptIn);
  facts.shared_per_sm = attribute(cuda::kSharedPerMultiprocessor);
  facts.registers_per_sm = attribute(cuda::kRegistersPerMultiprocessor);
  facts.l2_bytes = attribute(cuda::kL2CacheSize);
  facts.persisting_l2_bytes =
      std::min(attribute(cuda::kPersistingL2CacheSize), attribute(cuda::kAccessPolicyWindowSize));
  facts.sm_mhz = attribute(cuda::kClockRateKhz) / 1000;
  facts.memory_mhz = attribute(cuda::kMemoryClockRateKhz) / 1000;
  std::size_t memory = 0;
  driver.device_memory(&memory, device);
  facts.memory_bytes = static_cast<std::int64_t>(memory);
  int version = 0;
  driver.driver_version(&version);
  facts.driver = fmt::format("CUDA {}.{}", version / 1000, version % 1000 / 10);
  return facts;
}

class CudaDevice : public Device {
 public:
  CudaDevice(std::unique_ptr<const cuda::Driver> driver, DeviceFacts facts, cuda::Device device, cuda::Context context,
             bool watched, SharedStatus& status)
      : driver_(std::move(driver)),
        facts_(std::move(facts)),
        nvml_(facts_.uuid),
        status_(status),
        slots_(*driver_, facts_, watched),
        timer_(slots_, facts_, status_),
        profiler_(slots_, status_, {.device = device, .index = facts_.index, .uuid = facts_.uuid, .context = context}),
        recorder_(*driver_) {
    const std::string version = nvml_.driver_version();
    facts_.driver = version.empty() ? facts_.driver : version + " (" + facts_.driver + ")";
  }
  // Streams, events and the gate; what went wrong, if anything.
  std::optional<Failure> set_up();

  std::optional<Failure> load(int slot, const std::string& path, const LaunchPlan& plan) override;
  Result<std::uint64_t> attach(const SharedTensorsLayout& layout, const FileDescriptor& file) override;
  Result<RawSample> run(const RunRequest& request, std::size_t index) override;
  Result<bool> read_back(int set) override;
  Result<std::string> keep(std::int64_t bytes, const FileDescriptor& file) override;
  Result<std::vector<std::int64_t>> copy(const CopyRequest& request) override { return timer_.copy(request); }
  Result<CounterReport> count(const CountRequest& request) override { return profiler_.count(request); }
  Result<SampleReport> sample_stalls(const SampleRequest& request) override { return profiler_.sample_stalls(request); }
  std::string watch_calls() override { return recorder_.start(); }
  Result<RecordedCall> record(int slot) override;
  Result<InstructionReport> count_instructions(const InstructionRequest& request) override {
    return profiler_.count_instructions(request);
  }
  std::optional<DeviceFacts> facts() const override { return facts_; }
  std::optional<DeviceState> state() const override { return nvml_.state(); }

 private:
  std::optional<Failure> check_arguments(int slot);

  std::unique_ptr<const cuda::Driver> driver_;
  DeviceFacts facts_;
  Nvml nvml_;
  SharedStatus& status_;
  CudaSlots slots_;
  CudaTimer timer_;
  CudaProfiler profiler_;
  CallRecorder recorder_;
};

std::optional<Failure> CudaDevice::set_up() {
  cuda::Result error = slots_.create_stream();
  error = error != 0 ? error : timer_.set_up();
  error = error != 0 ? error : slots_.set_up_eviction();
  return slots_.check(error, "cannot set up the GPU");
}

std::optional<Failure> CudaDevice::load(int slot, const std::string& path, const LaunchPlan& plan) {
  const StageRange range(fmt::format("load slot{}", slot));
  CudaModule& loaded = slots_.at(slot);
  if (path.empty()) {
    loaded.plan = plan;
    loaded.is_checked = false;
    return plan.recorded ? std::nullopt : load_kernels(*driver_, loaded, slot);
  }
  unload_module(*driver_, loaded);
  loaded = {};
  if (plan.library) {
    status_.running_slot.store(slot);
    auto failure = load_library(path, slot, loaded.launcher);
    status_.running_slot.store(-1);
    return failure;
  }
  if (plan.launches.empty() && !plan.recorded) {
    return Failure{Outcome::wrong_abi, "no kernel is to be launched", slot};
  }
  (plan.recorded ? loaded.recording : loaded.image) = read_file(path);
  loaded.plan = plan;
  auto failure = load_module(*driver_, loaded, slot);
  if (!failure) {
    keep_variables(*driver_, loaded);
  }
  return failure;
}

Result<std::uint64_t> CudaDevice::attach(const SharedTensorsLayout& layout, const FileDescriptor& file) {
  const StageRange range("attach");
  CudaTensors& tensors = slots_.tensors();
  if (auto failure = tensors.attach(layout, file)) {
    return *failure;
  }
  tensors.expect_outputs();
  for (const int slot : {0, 1}) {
    if (auto failure = check_arguments(slot)) {
      return *failure;
    }
  }
  return tensors.base();
}

// Of what is loaded in the slot, those that it gets of these tensors. At a load the tensors may be those of another
// case.
std::optional<Failure> CudaDevice::check_arguments(int slot) {
  const std::size_t bytes = slots_.tensors().arguments(0, slot, 0).size() * sizeof(std::uint64_t);
  std::vector<std::int64_t> tensor_bytes;
  for (const CudaRange& tensor : slots_.tensors().of_call(slot, 0)) {
    tensor_bytes.push_back(static_cast<std::int64_t>(tensor.bytes));
  }
  auto failure = check_parameters(*driver_, slots_.at(slot), bytes, tensor_bytes, slot);
  slots_.at(slot).is_checked = !failure;
  return failure;
}

Result<RawSample> CudaDevice::run(const RunRequest& request, std::size_t index) {
  const int slot = request.order.at(index);
  CudaModule& loaded = slots_.at(slot);
  if (!loaded.loaded() || !slots_.tensors().attached()) {
    throw std::logic_error("asked to run before load and attach");
  }
  if (auto failure = loaded.is_checked ? std::nullopt : check_arguments(slot)) {
    return *failure;
  }
  const StageRange range(fmt::format("timed slot{}", slot));
  status_.running_slot.store(slot);
  // A recorded call is one on its memory as it was.
  if (loaded.plan.keeps_state && (loaded.plan.recorded || !request.keep_state) && guard_is_on(Guard::state)) {
    if (auto failure = restore_module(*driver_, loaded, slot, slots_.stream())) {
      return *failure;
    }
  }
  return timer_.sample(request, index);
}

// Libraries choose, compile and load at their first calls: those may not be alike yet, or copy to the host.
Result<RecordedCall> CudaDevice::record(int slot) {
  constexpr int kMostCalls = 12;
  const Launcher launcher = slots_.at(slot).launcher;
  if (launcher == nullptr || !slots_.tensors().attached()) {
    throw std::logic_error("asked to record before a library is loaded and tensors are attached");
  }
  const StageRange range(fmt::format("record slot{}", slot));
  Settling settling;
  Failure failure;
  for (int call = 0; call < kMostCalls; ++call) {
    const int set = call % slots_.tensors().input_sets();
    cuda::Result error = slots_.prepare(CachePolicy::warm, {set}, slot);
    error = error != 0 ? error : driver_->synchronize_context();
    if (auto failed = slots_.check(error, "cannot prepare the tensors")) {
      return *failed;
    }
    const std::vector<std::uint64_t> words = slots_.tensors().arguments(0, slot, set);
    const apo_call arguments = call_on(words, static_cast<int>(usable_cpus().size()), slots_.stream());
    recorder_.begin(slots_.tensors().of_call(slot, set), slots_.stream());
    status_.running_slot.store(slot);
    const auto refused = guarded(slot, [&] { return refusal(launcher(&arguments), slot); });
    const cuda::Result finished = driver_->synchronize_context();
    status_.running_slot.store(-1);
    Result<RecordedCall> recorded = recorder_.end();
    if (auto failed = refused ? refused : slots_.check(finished, "the kernel", slot)) {
      return *failed;
    }
    if (!recorded) {
      settling.forget();
      failure = recorded.failure();
      continue;
    }
    const std::string why_not = settling.add(*recorded);
    if (why_not.empty()) {
      return recorded;
    }
    failure = Failure{Outcome::refused, why_not, slot};
  }
  return failure;
}

Result<std::string> CudaDevice::keep(std::int64_t bytes, const FileDescriptor& file) {
  Mapping mapping;
  if (!mapping.map(file.get(), bytes)) {
    return Failure{Outcome::out_of_memory, "cannot map the inputs to keep"};
  }
  return keep_on_gpu(*driver_, mapping.memory(), mapping.size());
}

Result<bool> CudaDevice::read_back(int set) {
  const StageRange range("read back");
  return slots_.tensors().read_back(slots_.last_image, set);
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
    missing = fmt::format("there is no GPU {}: the driver shows {}", index, count);
    return nullptr;
  }
  error = error != 0 ? error : driver->device_get(&device, index);
  error = error != 0 ? error : driver->retain_context(&context, device);
  error = error != 0 ? error : driver->set_context(context);
  if (error != cuda::kSuccess) {
    missing = fmt::format("GPU {} cannot be used: {}", index, cuda::describe(*driver, error));
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
