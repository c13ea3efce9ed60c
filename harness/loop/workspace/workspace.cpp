// harness/loop/workspace/workspace.cpp - assembles the stages' tools for one working directory.
#include "harness/loop/workspace/workspace.h"

#include <cstdlib>
#include <mutex>

#include "harness/core/error.h"
#include "harness/core/nvtx.h"
#include "harness/core/sources.h"
#include "harness/core/system/files.h"
#include "harness/core/system/machine.h"
#include "harness/core/text.h"
#include "harness/evaluate/rounds/clocks.h"
#include "harness/implement/executor_builder.h"
#include "harness/implement/object/elf.h"
#include "harness/implement/toolkit.h"
#include "harness/implement/variant/launch_plan.h"
#include "harness/implement/variant/metadata.h"
#include "harness/implement/variant/settings.h"
#include "harness/profile/host/perf_counters.h"
#include "harness/profile/roofs/gpu_roofs.h"
#include "harness/profile/roofs/roofs.h"
#include "harness/runtime/recorded_build.h"

namespace apo {
namespace fs = std::filesystem;
namespace {

// The reference cycles of a CPU count at the rate of its time stamps.
ClockWatch watch_clock(int pid) {
  const auto clock = std::make_shared<CpuClock>(pid);
  if (std::string missing = clock->missing(); !missing.empty()) {
    return {.mhz = {}, .missing = std::move(missing)};
  }
  constexpr double kNsPerUs = 1000;
  const auto mhz = [clock]() -> std::optional<double> {
    const auto ratio = clock->ratio();
    return ratio ? std::optional(*ratio * kNsPerUs / measured_ns_per_tick()) : std::nullopt;
  };
  return {.mhz = mhz, .missing = ""};
}

}  // namespace

Paths make_paths(const std::string& journal) {
  Paths paths;
  const char* variable = std::getenv("APO_JOURNAL");
  if (!journal.empty()) {
    paths.journal = journal;
  } else if (variable != nullptr && *variable != '\0') {
    paths.journal = variable;
  } else {
    paths.journal = fs::path(".apo") / "journal.db";
  }
  paths.folder = fs::absolute(paths.journal).parent_path();
  paths.variants = paths.folder / "variants";
  paths.families = paths.folder / "families";
  const char* cache = std::getenv("APO_CACHE");
  paths.builds = (cache != nullptr && *cache != '\0' ? fs::absolute(cache) : paths.folder / "cache") / "builds";
  // Of each journal in the folder its own.
  const std::string name = paths.journal.stem().string();
  paths.reports = paths.folder / (name == "journal" ? "reports" : "reports-" + name);
  paths.home = home_folder();
  return paths;
}

const Family& known_family(std::string_view name, const std::string& where) {
  if (const Family* found = find_family(name)) {
    return *found;
  }
  std::vector<std::string> names;
  for (const Family& one : families()) {
    names.push_back(one.name);
  }
  throw UserError("unknown family '" + std::string(name) + "'" + where,
                  did_you_mean(name, names) + "\n'apo list' shows all families");
}

const Workload& known_workload(const Family& family, std::string_view name, const std::string& where) {
  const std::string prefix = family.name + "/";
  const std::string_view bare = name.starts_with(prefix) ? name.substr(prefix.size()) : name;
  if (const Workload* found = find_workload(family, bare)) {
    return *found;
  }
  std::vector<std::string> names;
  for (const Workload& one : family.workloads) {
    names.push_back(one.name);
  }
  throw UserError("unknown workload '" + std::string(name) + "' of family " + family.name + where,
                  did_you_mean(bare, names) + "\n'apo list " + family.name + "' shows all workloads");
}

OracleOptions oracle_options(const Paths& paths) {
  return {.cache = paths.builds, .home = paths.home};
}

Workspace::Workspace(Paths paths) : paths_(std::move(paths)), host_(describe_host()), machine_(host_) {
  catalogue_.load({paths_.home / "variants", paths_.variants});
}

void Workspace::use_executor(bool debugger) {
  machine_ = host_;
  device_ = executor_device();
  executor_ = true;
  debugger_ = debugger;
  forget_builds();
}

void Workspace::use_recorded(const Machine& machine) {
  machine_ = machine;
  if (machine.target == Target::cuda) {
    device_ = device_facts(machine);
    forget_builds();
  }
}

void Workspace::keep_to(const std::vector<int>& cpus) {
  if (!allow_cpus(cpus)) {
    throw EnvironmentError("this process may not run on the CPUs that its workers or --cpus name",
                           "'taskset -pc $$' shows those that it may run on");
  }
  host_ = describe_host();
  machine_ = machine_.target == Target::host ? host_ : machine_;
}

void Workspace::forget_builds() {
  plain_.reset();
  sanitized_.reset();
  built_.clear();
}

void Workspace::use(Target target, AskedWorker asked) {
  if (executor_) {
    executor_ = false;
    device_.reset();
    forget_builds();
  }
  if (target == Target::host) {
    machine_ = host_;
    return;
  }
  if (!device_) {
    const StageRange range("start of the worker that tells of the GPU");
    asked_ = std::make_unique<Worker>(WorkerOptions{.target = Target::cuda});
    device_ = asked_->device();
    APO_CHECK(device_.has_value());
    forget_builds();  // made without the device's facts
  }
  machine_ = describe_cuda(*device_);
  if (asked == AskedWorker::ends) {
    asked_.reset();
  }
}

Symbols Workspace::device_symbols() const {
  return machine_.target == Target::cuda || executor_ ? apo::device_symbols(*device_) : Symbols();
}

bool Workspace::has_gpu(std::string* why_not) {
  const Machine before = machine_;
  try {
    use(Target::cuda);
    machine_ = before;
    return true;
  } catch (const EnvironmentError& error) {
    if (why_not != nullptr) {
      *why_not = error.what();
    }
    return false;
  }
}

std::vector<Roof> Workspace::measure_roofs() {
  constexpr double kHostBudgetS = 1.5;
  const DeviceTurns::Turn turn = turns()->take({});
  if (machine_.target == Target::host) {
    return measure_host_roofs(machine_.cores, kHostBudgetS);
  }
  const auto build = [this](const Family& family, const Variant& variant, const Axes& axes) {
    return builder(false).build(family, variant, axes, {});
  };
  return measure_cuda_roofs(parse_variant(cuda_roof_source(*device_), "harness/profile/roofs/roofs.cu"), build,
                            {.target = Target::cuda}, *device_);
}

void Workspace::stop_builds_by(const std::stop_token& stop) {
  stop_ = stop;
  for (Builder* builder : {plain_.get(), sanitized_.get(), watching_.get()}) {
    if (builder != nullptr) {
      builder->stop_by(stop);
    }
  }
}

const Builder& Workspace::builder(bool sanitize) {
  static std::mutex mutex;  // gates check several workloads at once
  const std::lock_guard lock(mutex);
  std::unique_ptr<Builder>& slot = sanitize ? sanitized_ : plain_;
  if (!slot) {
    slot = std::make_unique<Builder>(BuildOptions{.cache = paths_.builds,
                                                  .home = paths_.home,
                                                  .sanitize = sanitize,
                                                  .device = device_,
                                                  .executor = executor_,
                                                  .debugger = debugger_,
                                                  .stop = stop_});
  }
  return *slot;
}

const Builder& Workspace::thread_builder() {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  if (!watching_) {
    watching_ = std::make_unique<Builder>(
        BuildOptions{.cache = paths_.builds, .home = paths_.home, .watch_threads = true, .stop = stop_});
  }
  return *watching_;
}

Build Workspace::build(const Family& family, const Variant& variant, const Configuration& configuration,
                       const Axes& axes, bool sanitize) {
  const std::string key =
      configuration.label() + " " + variant.source_hash + " " + describe_axes(axes) + (sanitize ? " sanitized" : "");
  static std::mutex mutex;  // gates check several workloads at once
  {
    const std::lock_guard lock(mutex);
    if (const auto known = built_.find(key); known != built_.end()) {
      return known->second;
    }
  }
  const Build built = builder(sanitize).build(family, variant, axes, configuration.settings);
  if (built.outcome == Outcome::valid) {
    const std::lock_guard lock(mutex);
    built_[key] = built;
  }
  return built;
}

std::shared_ptr<DeviceTurns> Workspace::turns() {
  std::shared_ptr<DeviceTurns>& turns = turns_[machine_.id];
  if (turns == nullptr) {
    turns = machine_.target == Target::host ? std::make_shared<DeviceTurns>(runtime_folder(), "host", usable_cpus())
                                            : std::make_shared<DeviceTurns>(runtime_folder(), machine_.id);
  }
  return turns;
}

Runtime Workspace::runtime(const Family& family, std::map<std::string, Variant> sources) {
  const auto kept = std::make_shared<const std::map<std::string, Variant>>(std::move(sources));
  const auto find = [this, kept](const std::string& id) -> const Variant& {
    const auto own = kept->find(id);
    return own != kept->end() ? own->second : catalogue_.get(id);
  };
  Runtime runtime;
  runtime.family = &family;
  runtime.worker.target = machine_.target;
  runtime.worker.executor = executor_;
  runtime.worker.stop = executor_ ? stop_ : std::stop_token();
  if (asked_ != nullptr && machine_.target == Target::cuda) {
    runtime.worker_pool->keep(std::move(asked_));
  }
  if (executor_) {
    constexpr std::chrono::seconds kPatience{30};  // the slowest of our variants takes 2 s for a call on two busy cores
    runtime.worker.deadline = kPatience;
  }
  runtime.device_bytes = machine_.target == Target::cuda ? device_->memory_bytes : 0;
  const Symbols device = device_symbols();
  runtime.build = [this, &family, find](const Configuration& configuration, const Axes& axes, bool sanitize) {
    return build(family, find(configuration.variant), configuration, axes, sanitize);
  };
  runtime.unsupported = [&family, device, find](const Configuration& configuration, const Axes& axes) {
    std::string why;
    return supports(find(configuration.variant), family, axes, configuration.settings, &why, device) ? "" : why;
  };
  runtime.grids = [device, find](const Configuration& configuration, const Axes& axes) {
    return grids_of_call(find(configuration.variant), axes, configuration.settings, device);
  };
  runtime.scratch = [device, find](const Configuration& configuration, const Axes& axes) {
    return scratch_bytes(find(configuration.variant), axes, configuration.settings, device);
  };
  runtime.sources = [find](const Configuration& configuration) { return all_sources(find(configuration.variant)); };
  if (machine_.target == Target::cuda) {
    record_libraries(runtime, device_->name);  // host code is not there when its work is checked and timed
  }
  if (launch_ == LaunchForm::graph) {
    launch_as_graph(runtime);
  }
  runtime.code_of = [](std::string_view image) { return read_cubin(image).code_hash; };
  runtime.turns = executor_ ? nullptr : turns();  // nothing is timed on the executor
  runtime.threads = host_.cores;
  if (machine_.target == Target::host && !executor_) {
    runtime.relink = [this](const Build& base, std::uint64_t seed, const fs::path& folder) {
      return builder(false).relink(base, seed, folder);
    };
    runtime.watch_clock = watch_clock;
  }
  if (machine_.target == Target::host && !executor_) {
    runtime.build_for_threads = [this, &family, find](const Configuration& configuration,
                                                      const Axes& axes) -> std::optional<Build> {
      return build_for_threads(builder(false), thread_builder(), family, find(configuration.variant), axes,
                               configuration.settings);
    };
  }
  if (machine_.target == Target::host) {
    runtime.sanitizer_runtime = builder(true).sanitizer_runtime();
    runtime.thread_sanitizer = executor_ ? "" : builder(true).thread_sanitizer();
  } else {
    runtime.compute_sanitizer = find_toolkit_program("compute-sanitizer");
  }
  return runtime;
}

}  // namespace apo
