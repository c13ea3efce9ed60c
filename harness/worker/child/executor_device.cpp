// harness/worker/child/executor_device.cpp - launches in order over the shared tensors; findings are incorrect results.
#include <array>
#include <cerrno>
#include <cstring>
#include <new>
#include <stdexcept>
#include <utility>
#include <vector>

#include "harness/core/guards.h"
#include "harness/executor/module.h"
#include "harness/worker/child/device.h"
#include "harness/worker/child/host_library.h"
#include "harness/worker/protocol/clock.h"
#include "harness/worker/protocol/shared_tensors.h"
#include "kernels/abi.h"
#include "kernels/random.h"

namespace apo {
namespace {

class ExecutorDevice : public Device {
 public:
  ExecutorDevice(int threads, std::uint64_t seed, SharedStatus& status)
      : threads_(threads), seed_(seed), status_(status) {}
  std::optional<Failure> load(int slot, const std::string& path, const LaunchPlan& plan) override;
  Result<std::uint64_t> attach(const SharedTensorsLayout& layout, const FileDescriptor& file) override;
  Result<RawSample> run(const RunRequest& request, std::size_t index) override;

 private:
  struct Loaded {
    std::string path;
    LaunchPlan plan;
    std::unique_ptr<executor::Module> module;
    bool called = false;
  };
  // What the argument struct of kernels/abi.h points at, in its order.
  std::vector<executor::Buffer> buffers(int slot, int set, const char* const* names) const;
  std::optional<Failure> set_launches(int slot, const LaunchPlan& plan);
  std::optional<Failure> call(int slot, int set, bool keep_state);
  void* memory_at(const BufferPlace& place) const { return static_cast<std::byte*>(mapping_.memory()) + place.offset; }
  std::uintptr_t begin() const { return reinterpret_cast<std::uintptr_t>(mapping_.memory()); }

  int threads_;
  std::uint64_t seed_;
  std::uint64_t calls_ = 0;
  SharedStatus& status_;
  Mapping mapping_;
  SharedTensorsLayout layout_;
  std::array<Loaded, 2> loaded_;
};

std::optional<Failure> ExecutorDevice::load(int slot, const std::string& path, const LaunchPlan& plan) {
  if (path.empty()) {
    return set_launches(slot, plan);
  }
  status_.running_slot.store(slot);  // constructors of the object run in here
  std::string why;
  auto module = executor::Module::open(path, why);
  status_.running_slot.store(-1);
  if (module == nullptr) {
    return Failure{Outcome::wrong_abi, why, slot};
  }
  loaded_.at(static_cast<std::size_t>(slot)) = {.path = path, .plan = {}, .module = std::move(module)};
  return set_launches(slot, plan);
}

std::optional<Failure> ExecutorDevice::set_launches(int slot, const LaunchPlan& plan) {
  Loaded& loaded = loaded_.at(static_cast<std::size_t>(slot));
  for (const KernelLaunch& launch : plan.launches) {
    if (!loaded.module->has_kernel(launch.kernel)) {
      return Failure{Outcome::wrong_abi, "the object has no kernel '" + launch.kernel + "'", slot};
    }
  }
  loaded.plan = plan;
  return std::nullopt;
}

Result<std::uint64_t> ExecutorDevice::attach(const SharedTensorsLayout& layout, const FileDescriptor& file) {
  if (!mapping_.map(file.get(), layout.bytes)) {
    return Failure{Outcome::out_of_memory, std::string("cannot map the tensors: ") + std::strerror(errno)};
  }
  layout_ = layout;
  return std::uint64_t{begin()};
}

std::vector<executor::Buffer> ExecutorDevice::buffers(int slot, int set, const char* const* names) const {
  std::vector<executor::Buffer> result;
  for (const std::size_t i : layout_.of_call(slot, set)) {
    const BufferPlace& place = layout_.buffers[i];
    result.push_back({.name = names[result.size()],
                      .begin = begin() + static_cast<std::uintptr_t>(place.offset),
                      .bytes = static_cast<std::size_t>(place.bytes),
                      .writable = place.role != BufferRole::input,
                      .written = place.role == BufferRole::input || place.in_place >= 0});
  }
  return result;
}

apo_cpu::Triple triple(const std::array<std::int64_t, 3>& sizes) {
  return {static_cast<unsigned>(sizes[0]), static_cast<unsigned>(sizes[1]), static_cast<unsigned>(sizes[2])};
}

std::optional<Failure> ExecutorDevice::call(int slot, int set, bool keep_state) {
  for (const SharedTensorsLayout::Copy& copy : layout_.before_call(set)) {
    const BufferPlace& from = layout_.buffers[copy.from];
    std::memcpy(memory_at(layout_.buffers[copy.to]), memory_at(from), static_cast<std::size_t>(from.bytes));
  }
  Loaded& loaded = loaded_.at(static_cast<std::size_t>(slot));
  if (loaded.called && (!keep_state || loaded.plan.library)) {
    // Variables of the module start as the source says, and those of host code, which may point at memory of another
    // call, always: the old one goes first, since both have one path.
    std::string why;
    loaded.module = nullptr;
    loaded.module = executor::Module::open(loaded.path, why);
    if (loaded.module == nullptr) {
      return Failure{Outcome::wrong_abi, why, slot};
    }
  }
  loaded.called = true;
  std::vector<executor::Buffer> all = buffers(slot, set, loaded.module->buffer_names());
  std::vector<std::uint64_t> words;
  for (const executor::Buffer& buffer : all) {
    words.push_back(buffer.begin);
  }
  words.insert(words.end(), layout_.words.begin(), layout_.words.end());
  executor::GlobalMemory memory(std::move(all), begin(), begin() + static_cast<std::uintptr_t>(layout_.bytes));
  const std::uint64_t seed = derive_seed(seed_, "schedule", calls_++);
  const auto failed = [slot](const executor::Finding& finding) {
    return Failure{finding.is_mistake ? Outcome::incorrect : Outcome::not_checkable, finding.sentence, slot};
  };
  if (loaded.plan.library) {
    const apo_call call{.abi_version = APO_ABI_VERSION,
                        .struct_bytes = sizeof(apo_call),
                        .arguments = words.data(),
                        .threads = 1,
                        .reserved = 0,
                        .stream = nullptr};
    executor::HostAnswer answer;
    if (const auto finding = loaded.module->call_host(&call, memory, {.seed = seed, .cpus = threads_}, answer)) {
      return failed(*finding);
    }
    return answer.code != 0 && !answer.impossible.empty() ? Failure{Outcome::refused, answer.impossible, slot}
                                                          : refusal(answer.code, slot);
  }
  for (std::size_t i = 0; i < loaded.plan.launches.size(); ++i) {
    const KernelLaunch& launch = loaded.plan.launches[i];
    const executor::KernelCall kernel{.kernel = launch.kernel,
                                      .arguments = words.data(),
                                      .grid = triple(launch.grid),
                                      .block = triple(launch.block),
                                      .shared_bytes = static_cast<std::size_t>(launch.shared_bytes),
                                      .cooperative = launch.cooperative};
    const auto finding =
        loaded.module->launch(kernel, memory, {.seed = derive_seed(seed, "launch", i), .cpus = threads_});
    if (finding) {
      return failed(*finding);
    }
  }
  return std::nullopt;
}

Result<RawSample> ExecutorDevice::run(const RunRequest& request, std::size_t index) {
  const int slot = request.order.at(index);
  const int set = request.sets.empty() ? 0 : request.sets.at(index);
  if (loaded_.at(static_cast<std::size_t>(slot)).module == nullptr || !mapping_.mapped()) {
    throw std::logic_error("asked to run before load and attach");
  }
  for (const BufferPlace& place : layout_.buffers) {
    if (place.role != BufferRole::input && guard_is_on(Guard::poison)) {
      std::memset(memory_at(place), place.poison, static_cast<std::size_t>(place.bytes));
    }
  }
  RawSample sample{.slot = slot, .set = set, .begin_ns = raw_ns()};
  std::optional<Failure> failure;
  status_.running_slot.store(slot);
  try {
    for (int i = 0; i < request.repetitions && !failure; ++i) {
      failure = call(slot, set, request.keep_state);
    }
  } catch (const std::bad_alloc&) {
    failure = Failure{Outcome::out_of_memory, "no memory for the stacks of the emulated threads", slot};
  }
  status_.running_slot.store(-1);
  sample.end_ns = raw_ns();
  if (failure) {
    return *failure;
  }
  return sample;
}

}  // namespace

std::unique_ptr<Device> make_executor_device(int threads, std::uint64_t seed, SharedStatus& status) {
  return std::make_unique<ExecutorDevice>(threads, seed, status);
}

}  // namespace apo
