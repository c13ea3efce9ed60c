// harness/cli/trust/doctor_gpu.cpp - checks what target cuda needs: toolkit, driver, GPU, CUPTI, sanitizer, counters.
#include <dlfcn.h>
#include <fmt/format.h>

#include <filesystem>
#include <fstream>

#include "harness/cli/trust/doctor_check.h"
#include "harness/core/system/process.h"
#include "harness/core/system/secret.h"
#include "harness/core/text.h"
#include "harness/implement/toolkit.h"
#include "harness/implement/variant/settings.h"
#include "harness/worker/cupti/cupti.h"

namespace apo {
namespace {

namespace fs = std::filesystem;

Check check_toolkit() {
  const std::string compiler = find_toolkit_program("nvcc");
  if (compiler.empty()) {
    return limited("cuda toolkit", "not found",
                   "only target cuda needs it: install CUDA Toolkit 13 and put its bin folder in PATH");
  }
  const ProcessResult result = run_process({compiler, "--version"});
  std::string release = "of unknown version";
  for (const std::string& line : split(result.output, '\n')) {
    release = line.find("release") != std::string::npos ? trim(line) : release;
  }
  return {.name = "cuda toolkit", .finding = release + " (" + compiler + ")"};
}

// Loading the driver's library starts nothing on a device.
Check check_driver() {
  void* library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
  if (library == nullptr) {
    return limited("cuda driver", "libcuda.so.1 does not load",
                   "only target cuda needs it: install the NVIDIA driver, in a container with --gpus all");
  }
  dlclose(library);
  return {.name = "cuda driver", .finding = "libcuda.so.1 loads"};
}

std::vector<std::string> gpu_models() {
  std::vector<std::string> models;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/proc/driver/nvidia/gpus", error)) {
    std::ifstream stream(entry.path() / "information");
    std::string line;
    while (std::getline(stream, line)) {
      if (line.starts_with("Model:")) {
        models.push_back(trim(line.substr(6)));
      }
    }
  }
  return models;
}

Check check_devices() {
  const std::vector<std::string> models = gpu_models();
  if (models.empty()) {
    return limited("cuda devices", "none", "only target cuda needs one: target host judges on this CPU");
  }
  return {.name = "cuda devices", .finding = join(models, ", ")};
}

// Loading CUPTI starts nothing on a device.
Check check_cupti() {
  const std::string name = "CUPTI";
  std::string missing;
  const auto cupti = cupti::load_library(missing);
  if (cupti == nullptr) {
    return limited(name, missing,
                   "only target cuda needs it, for profiles and for variants with host code: install CUDA Toolkit 13 "
                   "with CUPTI, or set APO_CUPTI_LIBRARY to its libcupti.so");
  }
  return {.name = name, .finding = fmt::format("'{}', version {}", cupti->path, cupti->version)};
}

// What it says of itself needs no GPU; whether it knows the one here shows when a gate uses it.
Check check_compute_sanitizer() {
  const std::string program = find_toolkit_program("compute-sanitizer");
  if (program.empty()) {
    return limited("compute-sanitizer", "not found: on target cuda the sanitizer gate does not run",
                   "only target cuda needs it: sudo apt-get install cuda-sanitizer-13-0, or put it in PATH");
  }
  const ProcessResult result = run_process({program, "--version"}, {.timeout_s = 20});
  std::string version = "of unknown version";
  for (const std::string& line : split(result.output, '\n')) {
    version = line.starts_with("Version") ? trim(line) : version;
  }
  return {.name = "compute-sanitizer", .finding = version + " (" + program + ")"};
}

constexpr const char* kCounters = "counters of the GPU";

Check no_counters(const std::string& why) {
  return limited(
      kCounters, why,
      "profiles fall back to timers and resources; verdicts never need counters. A driver that keeps them to "
      "administrators gives them to all with the module option NVreg_RestrictProfilingToAdminUsers=0, a "
      "container with --cap-add=SYS_ADMIN");
}

// One small call of a bundled variant under the range profiler.
Check count_one(Workspace& workspace) {
  workspace.use(Target::cuda);
  const Family& family = workspace.family("copy");
  const Workload& workload = workspace.workload(family, "n4k");
  const Variant& variant = workspace.catalogue().get("copy/cuda_simple");
  const Runtime runtime = workspace.runtime(family);
  const Build build = runtime.build({variant.id(), default_settings(variant)}, workload.axes, false);
  if (build.outcome != Outcome::valid) {
    return no_counters(variant.id() + " does not build: " + build.evidence);
  }
  SharedTensors shared_tensors(shared_tensors_spec(family, workload.axes, 1, {}, {}, secret_seed(), Target::cuda));
  Worker worker(runtime.worker);
  const auto loaded = load_build(worker, 0, build);
  const auto attached = loaded ? worker.attach(shared_tensors) : loaded;
  if (!attached) {
    return no_counters(variant.id() + " does not load: " + attached.failure().evidence);
  }
  const auto counted = worker.count({.metrics = {"smsp__inst_executed.sum"}});
  if (!counted || !counted->missing.empty()) {
    return no_counters(counted ? counted->missing : counted.failure().evidence);
  }
  return {.name = kCounters, .finding = "read on " + counted->chip};
}

}  // namespace

std::vector<Check> check_gpu_software() {
  return {check_toolkit(), check_driver(), check_devices(), check_cupti(), check_compute_sanitizer()};
}

Check check_gpu_counters(Workspace& workspace) {
  std::string why_not;
  if (!workspace.has_gpu(&why_not)) {
    return limited(kCounters, why_not, "only target cuda has them: target host judges on this CPU");
  }
  Check check = guarded(kCounters, [&] { return count_one(workspace); });
  return check.state == CheckState::broken ? no_counters(check.finding) : check;
}

}  // namespace apo
