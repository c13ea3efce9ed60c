// harness/implement/library_builder.cpp - runs nvcc for the object, the shared object, and a cubin for its facts.
#include "harness/implement/library_builder.h"

#include <chrono>

#include "harness/core/error.h"
#include "harness/core/hash.h"
#include "harness/core/stopwatch.h"
#include "harness/core/system/machine.h"
#include "harness/core/system/process.h"
#include "harness/core/text.h"
#include "harness/implement/build_record.h"
#include "harness/implement/compile.h"
#include "harness/implement/cubin_builder.h"
#include "harness/implement/includes.h"
#include "harness/implement/object/cubin.h"
#include "harness/implement/object/elf.h"
#include "harness/implement/toolkit.h"
#include "harness/implement/variant/args_header.h"

namespace apo {
namespace fs = std::filesystem;
namespace {

// Raised when the way of building changes, so that entries of an older program are not taken for new ones.
constexpr int kLibraryRecipe = 1;

Words nvcc_compile_flags(const std::string& arch) {
  return {"-gencode=arch=compute_" + arch.substr(3) + ",code=" + arch,
          "-std=c++20",
          "-lineinfo",
          "--ptxas-options=-v",
          "-Xcompiler",
          "-O3,-g1,-fPIC,-fvisibility=hidden"};
}

// Where NVIDIA's and Debian's packages put a library; empty when it is in none of these.
fs::path folder_of(const std::string& library, const fs::path& toolkit) {
  for (const char* folder : {"lib64", "lib", "lib/x86_64-linux-gnu", "lib/aarch64-linux-gnu"}) {
    if (fs::exists(toolkit / folder / ("lib" + library + ".so"))) {
      return toolkit / folder;
    }
  }
  return {};
}

// The runtime is linked in unless the variant asks for the shared one. An undefined symbol fails here, with its name,
// rather than in the worker.
Words nvcc_link_flags(const Variant& variant, const fs::path& toolkit) {
  Words flags = {"-shared"};
  bool shared_runtime = false;
  for (const std::string& library : variant.libraries) {
    const std::string folder = folder_of(library, toolkit).string();
    flags = joined(flags, {"-L" + folder, "-Xlinker", "-rpath," + folder});
    shared_runtime = shared_runtime || library == "cudart";
    if (library != "cudart") {
      flags.push_back("-l" + library);
    }
  }
  flags.emplace_back(shared_runtime ? "--cudart=shared" : "--cudart=static");
  return joined(flags, {"-Xlinker", "-z,defs", "-Xlinker", "-z,relro", "-Xlinker", "-z,now"});
}

struct Step {
  bool ok = false;
  std::string log;
  std::string evidence;
};

// The linker says what is missing before the compiler says that the linker failed.
std::string evidence_of(const std::string& log) {
  for (const std::string& line : split(log, '\n')) {
    if (line.find("undefined reference") != std::string::npos) {
      return trim(line).substr(0, 500);
    }
  }
  return first_cuda_error(log);
}

Step run_nvcc(const Words& command, const fs::path& folder, double timeout_s) {
  const ProcessResult result =
      run_process(command, {.timeout_s = timeout_s,
                            .working_folder = folder.string(),
                            .environment = {"LC_ALL=C", "TMPDIR=" + folder.string(), "SOURCE_DATE_EPOCH=0"}});
  Step step{.ok = result.ok(), .log = result.output + result.error, .evidence = ""};
  if (!step.ok) {
    step.evidence = result.timed_out ? "nvcc did not finish in " + format_seconds(timeout_s) : evidence_of(step.log);
  }
  return step;
}

// Host code and device code, each without names, paths and debug information.
void add_facts(Build& build, const fs::path& folder, const Variant& variant) {
  // nvcc's copy of the device code, which stands in the cubin, and its compressed form depends on the source's text.
  const ObjectFacts host = read_object(read_file(folder / kObject), {".nv_fatbin", ".nvFatBinSegment"});
  const CubinFacts device = read_cubin(read_file(folder / kCubin));
  build.code_hash = sha256_of_parts(joined({host.code_hash, device.code_hash}, variant.libraries));
  build.resources = device.resources;
  build.resources["spill_bytes"] = spill_bytes(build.log);
  build.resources["host_text_bytes"] = host.resources.at("text_bytes");
  build.object_hash = sha256(read_file(folder / kLibrary));
}

}  // namespace

CudaLibraryBuilder::CudaLibraryBuilder(fs::path cache, fs::path home, std::optional<DeviceFacts> device,
                                       double timeout_s)
    : cache_(std::move(cache)),
      home_(std::move(home)),
      device_(std::move(device)),
      timeout_s_(timeout_s),
      nvcc_(find_toolkit_program("nvcc")) {
  if (!nvcc_.empty()) {
    toolchain_ = {.compiler = nvcc_, .version = nvcc_version(nvcc_) + ", " + describe_compiler("g++").version};
  }
}

fs::path CudaLibraryBuilder::toolkit() const {
  return fs::weakly_canonical(nvcc_).parent_path().parent_path();
}

std::string CudaLibraryBuilder::missing_for(const Variant& variant) const {
  if (nvcc_.empty()) {
    return variant.id() + " has host code, which needs nvcc, and there is none here: install CUDA Toolkit 13 and put " +
           "its bin folder in PATH, or set CUDA_HOME";
  }
  for (const std::string& library : variant.libraries) {
    if (folder_of(library, toolkit()).empty()) {
      return variant.id() + " links " + library + ", and '" + toolkit().string() + "' has no lib" + library +
             ".so: install " + (library == "cudart" ? "cuda-cudart-dev-13-0" : "libcublas-dev-13-0");
    }
  }
  return "";
}

Build CudaLibraryBuilder::build(const Family& family, const Variant& variant, const Axes& axes,
                                const Settings& settings) const {
  Build build;
  build.toolchain = toolchain_;
  build.evidence = missing_for(variant);
  const std::string arch = build.evidence.empty() ? choose_arch(variant, device_, build.evidence) : "";
  if (!build.evidence.empty()) {
    build.outcome = Outcome::refused;
    return build;
  }
  const std::string header = args_header(family, variant, axes, settings);
  const Words compile = nvcc_compile_flags(arch);
  const Words link = nvcc_link_flags(variant, toolkit());
  build.flags = joined(compile, link);
  build.key = sha256_of_parts(joined(joined({"cuda library recipe " + std::to_string(kLibraryRecipe), nvcc_,
                                             toolchain_.version, variant.source, header},
                                            build.flags),
                                     included_files(variant.source + "\n" + header, home_)));
  if (const auto entry = cache_.find(build.key)) {
    build = recorded_build(*entry, build.key, kLibrary, kLog);
    build.plan.library = true;
    return build;
  }
  const CacheDraft draft = cache_.draft();
  write_file_atomically(draft.path() / kCudaSource, variant.source);
  write_file_atomically(draft.path() / args_header_name(family), header);
  const Words where = {"-I.", "-I" + home_.string()};
  const auto start = std::chrono::steady_clock::now();
  Step step;
  for (const Words& command : {joined(joined({nvcc_, "-c", kCudaSource, "-o", kObject}, compile), where),
                               joined({nvcc_, kObject, "-o", kLibrary}, link),
                               joined(joined({nvcc_, "-cubin", kCudaSource, "-o", kCubin}, compile), where)}) {
    step = run_nvcc(command, draft.path(), timeout_s_);
    build.log += step.log;
    if (!step.ok) {
      break;
    }
  }
  build.seconds = seconds_since(start);
  build.log = build.log.substr(0, kLongestLog);
  if (!step.ok) {
    build.outcome = Outcome::build_failed;
    build.evidence = naming_users_file(step.evidence.empty() ? "nvcc said nothing" : step.evidence, variant);
    return build;
  }
  add_facts(build, draft.path(), variant);
  write_file_atomically(draft.path() / kLog, build.log);
  const std::string record = record_of(build, variant.id());
  const CacheEntry entry = cache_.publish(
      draft, build.key, {kCudaSource, args_header_name(family), kObject, kLibrary, kCubin, kLog}, record);
  if (entry.info != record) {
    build = recorded_build(entry, build.key, kLibrary, kLog);  // somebody who built the same was faster
    build.from_cache = false;
  }
  build.object_path = (entry.folder / kLibrary).string();
  build.plan.library = true;
  return build;
}

}  // namespace apo
