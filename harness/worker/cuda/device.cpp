// harness/worker/cuda/device.cpp - a GPU with two slots: loads, attaches, and calls the timer and the profiler.
#include "harness/worker/cuda/device.h"

#include <fmt/format.h>

#include <stdexcept>
#include <utility>
#include <vector>

#include "harness/core/guards.h"
#include "harness/core/nvtx.h"
#include "harness/core/system/files.h"
#include "harness/worker/code/module_watch.h"
#include "harness/worker/cuda/facts.h"
#include "harness/worker/cuda/module.h"
#include "harness/worker/cuda/nvml.h"
#include "harness/worker/cuda/own_kernels.h"
#include "harness/worker/cuda/profiler.h"
#include "harness/worker/cuda/slots.h"
#include "harness/worker/cuda/timer.h"
#include "harness/worker/cupti/activity.h"

namespace apo {
namespace {

class CudaDevice : public Device {
 public:
  CudaDevice(std::unique_ptr<const cuda::Driver> driver, DeviceFacts facts, cuda::Device device, cuda::Context context,
             bool watched, SharedStatus& status)
      : driver_(std::move(driver)),
        facts_(std::move(facts)),
        nvml_(facts_.uuid),
        status_(status),
        slots_(*driver_, facts_, watched),
        timer_(slots_, facts_, activity_, status_),
        profiler_(slots_, activity_, status_,
                  {.device = device, .index = facts_.index, .uuid = facts_.uuid, .context = context}) {
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
  std::string watch_modules() override {
    watch_.start();
    return watch_.missing();
  }
  std::vector<std::string> loaded_images(int slot) override;
  Result<InstructionReport> count_instructions(const InstructionRequest& request) override {
    return profiler_.count_instructions(request);
  }
  std::optional<DeviceFacts> facts() const override { return facts_; }
  std::optional<DeviceState> state() const override { return nvml_.state(); }
  std::string activity_missing() const override { return activity_.missing(); }

 private:
  std::unique_ptr<const cuda::Driver> driver_;
  DeviceFacts facts_;
  Nvml nvml_;
  SharedStatus& status_;
  CudaSlots slots_;
  Activity activity_;
  CudaTimer timer_;
  CudaProfiler profiler_;
  ModuleWatch watch_;
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
  unload_module(*driver_, loaded);
  loaded = {};
  watch_.forget();
  if (plan.library) {
    watch_.stop();  // host code loads what it likes, and some libraries bring hundreds of megabytes
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
    keep_variables(*driver_, loaded);
  }
  return failure;
}

std::vector<std::string> CudaDevice::loaded_images(int slot) {
  return watch_.images(kernel_names(slots_.at(slot)));
}

Result<std::uint64_t> CudaDevice::attach(const SharedTensorsLayout& layout, const FileDescriptor& file) {
  const StageRange range("attach");
  CudaTensors& tensors = slots_.tensors();
  if (auto failure = tensors.attach(layout, file)) {
    return *failure;
  }
  if (!slots_.has_host_code()) {
    tensors.expect_outputs();
  }
  for (const int slot : {0, 1}) {
    const std::size_t bytes = tensors.arguments(0, slot, 0).size() * sizeof(std::uint64_t);
    if (auto failure = check_parameters(*driver_, slots_.at(slot), bytes, slot)) {
      return *failure;
    }
  }
  return tensors.base();
}

Result<RawSample> CudaDevice::run(const RunRequest& request, std::size_t index) {
  const int slot = request.order.at(index);
  CudaModule& loaded = slots_.at(slot);
  if (!loaded.loaded() || !slots_.tensors().attached()) {
    throw std::logic_error("asked to run before load and attach");
  }
  const StageRange range(fmt::format("{} slot{}", request.activity ? "recorded" : "timed", slot));
  status_.running_slot.store(slot);
  if (request.activity) {
    watch_.stop();  // CUPTI has one subscriber
  } else {
    activity_.stop();
  }
  if (loaded.plan.keeps_state && guard_is_on(Guard::state)) {
    if (auto failure = restore_module(*driver_, loaded, slot, slots_.stream())) {
      return *failure;
    }
  }
  return timer_.sample(request, index);
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
