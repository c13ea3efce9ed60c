// harness/implement/cubin_builder.cpp - architecture, NVRTC or nvcc, the cubin's facts, the launch plan.
#include "harness/implement/cubin_builder.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/core/error.h"
#include "harness/core/hash.h"
#include "harness/core/pattern.h"
#include "harness/core/system/process.h"
#include "harness/core/text.h"
#include "harness/implement/includes.h"
#include "harness/implement/nvrtc.h"
#include "harness/implement/object/elf.h"
#include "harness/implement/toolkit.h"
#include "harness/implement/variant/args_header.h"
#include "harness/implement/variant/headers.h"
#include "harness/implement/variant/launch_plan.h"

namespace apo {
namespace fs = std::filesystem;
namespace {

// Raised when the way of building changes, so that entries of an older program are not taken for new ones.
constexpr int kCudaRecipe = 4;
constexpr const char* kDefaultArch = "sm_90";

// Names that nvcc's code sees without an #include and NVRTC's does not; the same types as libcu++ gives these names
// there.
constexpr const char* kPreludeName = "apo_prelude.h";
constexpr const char* kPrelude = R"(#pragma once
using int8_t = signed char;
using int16_t = short;
using int32_t = int;
using int64_t = long long;
using uint8_t = unsigned char;
using uint16_t = unsigned short;
using uint32_t = unsigned int;
using uint64_t = unsigned long long;
#define INFINITY __int_as_float(0x7f800000)
#define NAN __int_as_float(0x7fffffff)
)";

// A level of optimisation is that of host code alone.
Words device_flags(const Words& usual, const Variant& variant) {
  Words own = variant.flags;
  std::erase_if(own, [](const std::string& flag) { return flag.starts_with("-O"); });
  return with_flags(usual, own);
}

// No fast-math: a variant that wants it says so by an apo:flags line, where the journal sees it. -lineinfo changes no
// code.
Words nvrtc_flags(const std::string& arch, const Variant& variant) {
  return device_flags(
      {"--gpu-architecture=" + arch, "-std=c++20", "-default-device", "-lineinfo", "--ptxas-options=-v"}, variant);
}

Words nvcc_flags(const std::string& arch, const Variant& variant) {
  const std::string number = arch.substr(3);
  return device_flags(
      {"-gencode=arch=compute_" + number + ",code=" + arch, "-std=c++20", "-lineinfo", "--ptxas-options=-v"}, variant);
}

bool lacks_a_header(const std::string& log) {
  return log.find("could not open source file") != std::string::npos ||
         log.find("cannot open source file") != std::string::npos;
}

std::string arch_number(const std::string& arch) {
  const std::string number = arch.substr(3);
  return number.substr(0, number.find_first_not_of("0123456789"));
}

std::string first_cuda_error(const std::string& log) {
  const bool unlinked = log.find("undefined reference") != std::string::npos;
  return first_error(log, unlinked ? std::vector<std::string_view>{"undefined reference"}
                                   : std::vector<std::string_view>{"error", "fatal"});
}

// Reads code hash, resources and kernels of the cubin in the folder of a build.
void use_cubin(Built& built, const fs::path& folder) {
  CubinFacts facts = read_cubin(read_file(folder / kCubin));
  built.build.code_hash = facts.code_hash;
  built.build.resources = facts.resources;
  built.kernels = std::move(facts.kernels);
}

// Gives the build of a cubin its plan, or the outcome of one that cannot be launched.
void use_plan(Build& build, const PlannedLaunches& planned) {
  build.outcome = planned.outcome;
  build.evidence = planned.evidence;
  build.plan = planned.plan;
  build.plan.keeps_state = build.resources["writable_bytes"] > 0;
  Words launched;
  for (const KernelLaunch& launch : build.plan.launches) {
    launched.push_back(launch.kernel);
  }
  // The same code under another grid is another candidate.
  const std::string code = read_cubin(read_file(build.object_path), launched).code_hash;
  build.code_hash = sha256_of_parts(Words{code, plan_text(build.plan)});
}

}  // namespace

CompileStep run_nvcc(const Words& command, const fs::path& folder, double timeout_s, const std::stop_token& stop) {
  const ProcessResult result =
      run_process(command, {.timeout_s = timeout_s,
                            .working_folder = folder.string(),
                            .environment = {"LC_ALL=C", "TMPDIR=" + folder.string(), "SOURCE_DATE_EPOCH=0"},
                            .stop = stop});
  CompileStep step{.ok = result.ok(),
                   .log = without_foreign_text(result.output + result.error, folder),
                   .evidence = "",
                   .timed_out = result.timed_out};
  if (!step.ok) {
    step.evidence = result.timed_out ? "nvcc " + sudden_end(result, timeout_s) : first_cuda_error(step.log);
  }
  return step;
}

std::int64_t spill_bytes(const std::string& log) {
  static const Pattern kSpills(R"((\d+) bytes spill stores, (\d+) bytes spill loads)");
  std::int64_t most = 0;
  for (const PatternMatch& match : kSpills.all(log)) {
    most = std::max(most, parse_int(match[1]).value_or(0) + parse_int(match[2]).value_or(0));
  }
  return most;
}

std::string choose_arch(const Variant& variant, const std::optional<DeviceFacts>& device, std::string& refusal) {
  const std::string& asked = variant.arch;
  if (asked.empty()) {
    return device ? device->arch() : kDefaultArch;
  }
  const auto needed = parse_int(arch_number(asked)).value_or(0);
  const bool special = asked.back() > '9';  // sm_90a runs on compute capability 9.0 and nowhere else
  if (!device) {
    return needed > parse_int(arch_number(kDefaultArch)) || special ? asked : kDefaultArch;
  }
  const auto here = device->major * 10 + device->minor;
  if (needed > here || (special && needed != here)) {
    refusal = variant.id() + " is for " + asked + ", and this device is " + device->arch();
  }
  return special ? asked : device->arch();
}

CudaBuilder::CudaBuilder(fs::path cache, std::optional<DeviceFacts> device, double timeout_s)
    : cache_(std::move(cache)),
      device_(std::move(device)),
      timeout_s_(timeout_s),
      nvrtc_(Nvrtc::load()),
      nvcc_(find_toolkit_program("nvcc")) {
  if (nvrtc_ == nullptr && nvcc_.empty()) {
    throw EnvironmentError("target cuda needs a compiler, and neither libnvrtc nor nvcc is here",
                           "install CUDA Toolkit 13, or set CUDA_HOME to its folder");
  }
  for (const fs::path& toolkit : toolkit_folders()) {
    if (fs::is_directory(toolkit / "include")) {
      include_folders_ = {(toolkit / "include").string(), (toolkit / "include" / "cccl").string()};
      break;
    }
  }
  nvcc_version_ = nvcc_.empty() ? "" : nvcc_version(nvcc_);
  toolchain_ = nvrtc_ != nullptr ? Toolchain{.compiler = nvrtc_->path(), .version = nvrtc_->version()}
                                 : Toolchain{.compiler = nvcc_, .version = nvcc_version_};
}

CudaBuilder::~CudaBuilder() = default;

CompileStep CudaBuilder::run_nvrtc(const std::vector<SourceFile>& files, const IncludeFolders& others, Words options,
                                   const fs::path& folder) const {
  std::vector<SourceFile> given = files;
  // NVRTC takes the names of given headers as they are written, and an #include in "mine/a.h" is relative to mine/.
  const auto below = [](const SourceFile& file) { return file.name.find('/') != std::string::npos; };
  if (std::ranges::any_of(files, below)) {
    std::erase_if(given, below);
    options.push_back("--include-path=" + folder.string());
  }
  given.push_back({.name = kPreludeName, .text = kPrelude, .path = ""});
  options.push_back(std::string("--pre-include=") + kPreludeName);
  for (const std::string& include : include_folders_) {
    options.push_back("--include-path=" + include);
  }
  for (const fs::path& include : others.all()) {
    options.push_back("--include-path=" + include.string());
  }
  CompileStep step = nvrtc_->compile(given, options, folder, timeout_s_, stop_);
  if (!step.ok && step.evidence.empty()) {
    step.evidence = first_cuda_error(step.log);
  }
  return step;
}

CompileStep CudaBuilder::run_nvcc_on(const std::string& source, const IncludeFolders& others, const Words& flags,
                                     const fs::path& folder) const {
  return run_nvcc(joined(joined({nvcc_, "-cubin", source, "-o", kCubin, "-I."}, flags), include_flags(others)), folder,
                  timeout_s_, stop_);
}

Built CudaBuilder::build_cubin(const Family& family, const Variant& variant, const Axes& axes, const Settings& settings,
                               const IncludeFolders& others, const std::string& arch) const {
  const Words flags = nvrtc_flags(arch, variant);
  BuildRecipe recipe{.key = joined(joined({fmt::format("cuda recipe {}", kCudaRecipe), toolchain_.compiler,
                                           toolchain_.version, nvcc_version_},
                                          flags),
                                   include_folders_),
                     .files = files_to_build(family, variant, args_header(family, variant, axes, settings)),
                     .object = kCubin,
                     .built_for = variant.id(),
                     .known = {.flags = flags, .toolchain = toolchain_}};
  if (!others.all().empty()) {
    recipe.key = joined(joined(recipe.key, include_flags(others)), included_files(recipe.files, "/", others.own));
  }
  return cached_build(cache_, recipe, [&](const fs::path& folder, Built& built) {
    CompileStep step;
    if (nvrtc_ != nullptr) {
      step = run_nvrtc(recipe.files, others, flags, folder);
    }
    const bool is_for_nvcc = lacks_a_header(step.log) || !others.all().empty();
    if (nvrtc_ == nullptr || (!step.ok && !nvcc_.empty() && is_for_nvcc)) {
      built.build.flags = nvcc_flags(arch, variant);
      step = run_nvcc_on(recipe.files.front().name, others, built.build.flags, folder);
      built.build.toolchain = {.compiler = nvcc_, .version = nvcc_version_};
    }
    if (!step.ok) {
      step.evidence = in_users_words(step.evidence, variant);
      return step;
    }
    use_cubin(built, folder);
    built.build.resources["spill_bytes"] = spill_bytes(step.log);
    return step;
  });
}

Build CudaBuilder::build(const Family& family, const Variant& variant, const Axes& axes,
                         const Settings& settings) const {
  std::string refusal;
  const std::string arch = choose_arch(variant, device_, refusal);
  if (!refusal.empty()) {
    return not_built(Outcome::refused, refusal, {.toolchain = toolchain_});
  }
  const IncludeFolders others = include_folders(variant);
  if (!others.missing.empty()) {
    return not_built(Outcome::build_failed, others.missing, {.toolchain = toolchain_});
  }
  auto [build, kernels] = build_cubin(family, variant, axes, settings, others, arch);
  if (build.outcome != Outcome::valid || !device_) {
    return build;
  }
  use_plan(build, plan_launches(family, variant, axes, settings, *device_, kernels));
  return build;
}

}  // namespace apo
