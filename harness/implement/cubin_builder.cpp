// harness/implement/cubin_builder.cpp - chooses architecture and compiler, reads the cubin's facts, plans the launch.
#include "harness/implement/cubin_builder.h"

#include <chrono>
#include <nlohmann/json.hpp>
#include <regex>

#include "harness/core/error.h"
#include "harness/core/hash.h"
#include "harness/core/stopwatch.h"
#include "harness/core/system/process.h"
#include "harness/core/text.h"
#include "harness/implement/build_record.h"
#include "harness/implement/nvrtc.h"
#include "harness/implement/object/cubin.h"
#include "harness/implement/toolkit.h"
#include "harness/implement/variant/args_header.h"
#include "harness/implement/variant/launch_plan.h"

namespace apo {
namespace fs = std::filesystem;
namespace {

using Words = std::vector<std::string>;

// Raised when the way of building changes, so that entries of an older program are not taken for new ones.
constexpr int kCudaRecipe = 2;
constexpr const char* kDefaultArch = "sm_90";

// No fast-math: a variant that wants it says so in its source, where the journal sees it. -lineinfo changes no code.
Words nvrtc_flags(const std::string& arch) {
  return {"--gpu-architecture=" + arch, "-std=c++20", "-default-device", "-lineinfo", "--ptxas-options=-v"};
}

Words nvcc_flags(const std::string& arch) {
  const std::string number = arch.substr(3);
  return {"-gencode=arch=compute_" + number + ",code=" + arch, "-std=c++20", "-lineinfo", "--ptxas-options=-v"};
}

bool lacks_a_header(const std::string& log) {
  return log.find("could not open source file") != std::string::npos ||
         log.find("cannot open source file") != std::string::npos;
}

std::string arch_number(const std::string& arch) {
  const std::string number = arch.substr(3);
  return number.substr(0, number.find_first_not_of("0123456789"));
}

// Facts of kernels travel in the cache's info, so that a cached cubin need not be read again.
nlohmann::json to_json(const std::vector<KernelFacts>& kernels) {
  nlohmann::json list = nlohmann::json::array();
  for (const KernelFacts& kernel : kernels) {
    list.push_back({kernel.name, kernel.shared_bytes});
  }
  return list;
}

std::vector<KernelFacts> kernels_from(const nlohmann::json& list) {
  std::vector<KernelFacts> kernels;
  for (const auto& one : list) {
    kernels.push_back({.name = one.at(0), .shared_bytes = one.at(1)});
  }
  return kernels;
}

std::string info_of(const Build& build, const std::vector<KernelFacts>& kernels, const std::string& variant) {
  return nlohmann::json{{"built_for", variant},
                        {"object_hash", build.object_hash},
                        {"code_hash", build.code_hash},
                        {"flags", build.flags},
                        {"compiler", build.toolchain.compiler},
                        {"compiler_version", build.toolchain.version},
                        {"resources", build.resources},
                        {"kernels", to_json(kernels)},
                        {"seconds", build.seconds}}
      .dump();
}

Build from_entry(const CacheEntry& entry, const std::string& key) {
  const auto info = nlohmann::json::parse(entry.info);
  Build build;
  build.key = key;
  build.object_path = (entry.folder / kCubin).string();
  build.object_hash = info.at("object_hash");
  build.code_hash = info.at("code_hash");
  build.flags = info.at("flags").get<Words>();
  build.toolchain = {.compiler = info.at("compiler"), .version = info.at("compiler_version")};
  build.log = read_file(entry.folder / kLog);
  build.seconds = info.at("seconds");
  build.from_cache = true;
  build.resources = info.at("resources").get<std::map<std::string, std::int64_t>>();
  return build;
}

}  // namespace

std::string first_cuda_error(const std::string& log) {
  for (const std::string& line : split(log, '\n')) {
    if (line.find("error") != std::string::npos || line.find("fatal") != std::string::npos) {
      return trim(line).substr(0, 500);
    }
  }
  return trim(split(log, '\n').front()).substr(0, 500);
}

std::int64_t spill_bytes(const std::string& log) {
  static const std::regex kSpills(R"((\d+) bytes spill stores, (\d+) bytes spill loads)");
  std::int64_t most = 0;
  for (std::sregex_iterator match(log.begin(), log.end(), kSpills); match != std::sregex_iterator(); ++match) {
    most = std::max(most, parse_int((*match)[1].str()).value_or(0) + parse_int((*match)[2].str()).value_or(0));
  }
  return most;
}

std::string naming_users_file(std::string evidence, const Variant& variant) {
  if (evidence.starts_with(kCudaSource) && !variant.path.empty()) {
    evidence.replace(0, std::string(kCudaSource).size(), variant.path);
  }
  return evidence;
}

std::string choose_arch(const Variant& variant, const std::optional<DeviceFacts>& device, std::string& refusal) {
  const std::string asked = variant.arch.empty() ? "" : variant.arch;
  if (!device) {
    const bool newer = !asked.empty() && parse_int(arch_number(asked)) > parse_int(arch_number(kDefaultArch));
    const bool special = !asked.empty() && asked.back() > '9';
    return newer || special ? asked : kDefaultArch;
  }
  if (asked.empty()) {
    return device->arch();
  }
  const auto needed = parse_int(arch_number(asked)).value_or(0);
  const auto here = device->major * 10 + device->minor;
  const bool special = asked.back() > '9';  // sm_90a runs on compute capability 9.0 and nowhere else
  if (needed > here || (special && needed != here)) {
    refusal = variant.id() + " is for " + asked + ", and this device is " + device->arch();
  }
  return special ? asked : device->arch();
}

struct CudaBuilder::Attempt {
  std::string cubin;  // empty when it failed
  std::string log;
  std::string evidence;
  Words flags;
  Toolchain toolchain;
};

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

CudaBuilder::Attempt CudaBuilder::compile(const std::string& source, const std::string& header,
                                          const std::string& header_name, const std::string& arch,
                                          const CacheDraft& draft) const {
  Attempt attempt;
  if (nvrtc_ != nullptr) {
    attempt.flags = nvrtc_flags(arch);
    attempt.toolchain = toolchain_;
    NvrtcRequest request{.source = source,
                         .source_name = kCudaSource,
                         .header = header,
                         .header_name = header_name,
                         .options = attempt.flags,
                         .folder = draft.path(),
                         .timeout_s = timeout_s_};
    for (const std::string& folder : include_folders_) {
      request.options.push_back("--include-path=" + folder);
    }
    NvrtcResult result = nvrtc_->compile(request);
    attempt.cubin = std::move(result.cubin);
    attempt.log = std::move(result.log);
    attempt.evidence = result.evidence.empty() ? first_cuda_error(attempt.log) : result.evidence;
    if (!attempt.cubin.empty() || nvcc_.empty() || !lacks_a_header(attempt.log)) {
      return attempt;
    }
  }
  attempt.flags = nvcc_flags(arch);
  attempt.toolchain = {.compiler = nvcc_, .version = nvcc_version_};
  Words command = {nvcc_, "-cubin", kCudaSource, "-o", kCubin, "-I."};
  command.insert(command.end(), attempt.flags.begin(), attempt.flags.end());
  const ProcessResult result =
      run_process(command, {.timeout_s = timeout_s_,
                            .working_folder = draft.path().string(),
                            .environment = {"LC_ALL=C", "TMPDIR=" + draft.path().string(), "SOURCE_DATE_EPOCH=0"}});
  attempt.log = result.output + result.error;
  attempt.cubin = result.ok() ? read_file(draft.path() / kCubin) : "";
  attempt.evidence =
      result.timed_out ? "nvcc did not finish in " + format_seconds(timeout_s_) : first_cuda_error(attempt.log);
  return attempt;
}

Build CudaBuilder::build_cubin(const Family& family, const Variant& variant, const Axes& axes, const Settings& settings,
                               const std::string& arch) const {
  const std::string header = args_header(family, variant, axes, settings);
  Build build;
  Words parts = {"cuda recipe " + std::to_string(kCudaRecipe),
                 toolchain_.compiler,
                 toolchain_.version,
                 nvcc_version_,
                 variant.source,
                 header};
  for (const Words& flags : {nvrtc_flags(arch), include_folders_}) {
    parts.insert(parts.end(), flags.begin(), flags.end());
  }
  build.key = sha256_of_parts(parts);
  if (const auto entry = cache_.find(build.key)) {
    return from_entry(*entry, build.key);
  }
  const CacheDraft draft = cache_.draft();
  write_file_atomically(draft.path() / kCudaSource, variant.source);
  write_file_atomically(draft.path() / args_header_name(family), header);
  const auto start = std::chrono::steady_clock::now();
  Attempt attempt = compile(variant.source, header, args_header_name(family), arch, draft);
  build.seconds = seconds_since(start);
  build.flags = attempt.flags;
  build.toolchain = attempt.toolchain;
  build.log = attempt.log.substr(0, kLongestLog);
  if (attempt.cubin.empty()) {
    build.outcome = Outcome::build_failed;
    build.evidence =
        naming_users_file(attempt.evidence.empty() ? "the compiler said nothing" : attempt.evidence, variant);
    return build;
  }
  const CubinFacts facts = read_cubin(attempt.cubin);
  build.code_hash = facts.code_hash;
  build.resources = facts.resources;
  build.resources["spill_bytes"] = spill_bytes(build.log);
  build.object_hash = sha256(attempt.cubin);
  write_file_atomically(draft.path() / kCubin, attempt.cubin);
  write_file_atomically(draft.path() / kLog, build.log);
  const std::string info = info_of(build, facts.kernels, variant.id());
  const CacheEntry entry =
      cache_.publish(draft, build.key, {kCudaSource, args_header_name(family), kCubin, kLog}, info);
  if (entry.info != info) {
    build = from_entry(entry, build.key);  // whoever built the same beside us was faster: its files are those that stay
    build.from_cache = false;
  }
  build.object_path = (entry.folder / kCubin).string();
  return build;
}

Build CudaBuilder::build(const Family& family, const Variant& variant, const Axes& axes,
                         const Settings& settings) const {
  std::string refusal;
  const std::string arch = choose_arch(variant, device_, refusal);
  if (!refusal.empty()) {
    Build build;
    build.toolchain = toolchain_;
    build.outcome = Outcome::refused;
    build.evidence = refusal;
    return build;
  }
  Build build = build_cubin(family, variant, axes, settings, arch);
  if (build.outcome != Outcome::valid || !device_) {
    return build;
  }
  const auto entry = cache_.find(build.key);
  APO_CHECK(entry.has_value());
  const PlannedLaunches planned = plan_launches(family, variant, axes, settings, *device_,
                                                kernels_from(nlohmann::json::parse(entry->info).at("kernels")));
  build.outcome = planned.outcome;
  build.evidence = planned.evidence;
  build.plan = planned.plan;
  build.plan.keeps_state = build.resources["writable_bytes"] > 0;
  // The same code under another grid is another candidate.
  build.code_hash = sha256_of_parts(Words{build.code_hash, plan_text(build.plan)});
  return build;
}

}  // namespace apo
