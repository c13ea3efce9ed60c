// harness/implement/builder.cpp - computes the key, compiles, links, reads the object, publishes.
#include "harness/implement/builder.h"

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <mutex>

#include "harness/core/error.h"
#include "harness/core/hash.h"
#include "harness/core/stopwatch.h"
#include "harness/core/system/machine.h"
#include "harness/core/system/process.h"
#include "harness/core/text.h"
#include "harness/implement/build_record.h"
#include "harness/implement/compile.h"
#include "harness/implement/cubin_builder.h"
#include "harness/implement/executor_builder.h"
#include "harness/implement/includes.h"
#include "harness/implement/library_builder.h"
#include "harness/implement/object/elf.h"
#include "harness/implement/object/layout.h"
#include "harness/implement/read_files.h"
#include "harness/implement/variant/args_header.h"
#include "harness/implement/variant/metadata.h"
#include "harness/implement/variant/settings.h"
#include "kernels/abi.h"

namespace apo {
namespace fs = std::filesystem;
namespace {

// Raised when the way of building changes, so that entries of an older program are not taken for new ones.
constexpr int kRecipe = 2;
constexpr const char* kLayout = "layout.ld";
constexpr const char* kReadByCompiler = "read.d";
constexpr const char* kReadByAssembler = "assembled.d";

// One function a section lets layout.h reorder them; 64-byte alignment keeps a neighbour's size out of a loop's time.
// No fast-math: a variant that wants it says so in its source, where the journal sees it.
Words compile_flags(bool sanitize) {
  Words flags = {"-std=c++20",
                 "-march=native",
                 "-fopenmp",
                 "-fPIC",
                 "-fvisibility=hidden",
                 "-ffunction-sections",
                 "-falign-functions=64",
                 "-falign-loops=64",
                 "-Wall",
                 "-fmax-errors=20",
                 "-fdiagnostics-color=never",
                 "-frandom-seed=apo"};
  const Words mode = sanitize ? Words{"-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all",
                                      "-fno-omit-frame-pointer"}
                              : Words{"-O3", "-g1"};
  flags.insert(flags.end(), mode.begin(), mode.end());
  return flags;
}

// An undefined symbol fails here, with its name, rather than in the worker.
Words link_flags(bool sanitize) {
  Words flags = {"-shared", "-fopenmp", "-Wl,-z,relro,-z,now,-z,defs", "-Wl,--build-id=none"};
  if (sanitize) {
    flags.emplace_back("-fsanitize=address,undefined");
  }
  return flags;
}

// Every file of a draft is written through its own name; publish() syncs it.
void write(const CacheDraft& draft, const std::string& name, std::string_view contents) {
  write_file_atomically(draft.path() / name, contents);
}

// Where the compiler looks for headers, by its own word and by the environment's.
std::vector<fs::path> header_folders(const std::string& compiler) {
  const ProcessResult result =
      run_process({compiler, "-v", "-E", "-x", "c++", "/dev/null"}, {.environment = {"LC_ALL=C"}});
  std::vector<fs::path> folders;
  bool listed = false;
  for (const std::string& line : split(result.error, '\n')) {
    listed = (listed || line.starts_with("#include <...>")) && !line.starts_with("End of search list");
    if (listed && line.starts_with(' ')) {
      folders.emplace_back(trim(line));
    }
  }
  return folders;
}

// What of the environment changes which headers, programs and libraries the compiler takes.
std::string compilers_environment() {
  std::string all;
  for (const char* name : {"CPATH", "CPLUS_INCLUDE_PATH", "LIBRARY_PATH", "COMPILER_PATH", "GCC_EXEC_PREFIX"}) {
    if (const char* value = std::getenv(name); value != nullptr) {
      all += std::string(name) + "=" + value + "\n";
    }
  }
  return all;
}

// What -march=native means on this CPU, in the compiler's own words.
std::string resolve_native(const std::string& compiler) {
  const ProcessResult result =
      run_process({compiler, "-march=native", "-###", "-E", "-x", "c++", "/dev/null"}, {.environment = {"LC_ALL=C"}});
  for (const std::string& line : split(result.error, '\n')) {
    if (result.ok() && line.find("cc1") != std::string::npos) {
      return trim(line);
    }
  }
  throw EnvironmentError(
      "the compiler '" + compiler + "' does not say what -march=native is: " + first_error(result.error),
      "sudo apt-get install g++");
}

}  // namespace

Builder::Builder(BuildOptions options)
    : options_(std::move(options)),
      cache_(options_.cache),
      toolchain_(describe_compiler(options_.compiler)),
      native_(resolve_native(toolchain_.compiler)),
      compiler_folders_(header_folders(toolchain_.compiler)) {
  if (!fs::is_regular_file(options_.home / "kernels" / "abi.h")) {
    throw EnvironmentError("'" + options_.home.string() + "' does not hold kernels/abi.h",
                           "set APO_HOME to the folder of this program's data");
  }
  options_.home = fs::canonical(options_.home);
}

Build Builder::build(const Family& family, const Variant& variant, const Axes& axes, const Settings& settings) const {
  if (const std::string illegal = check_axes(family, axes); !illegal.empty()) {
    throw UserError(illegal, "'apo list " + family.name + "' shows the axes and their ranges");
  }
  if (variant.target == Target::cuda) {
    if (!is_device_variant(variant)) {
      return cuda_library().build(family, variant, axes, settings);
    }
    if (options_.executor) {
      return build_for_executor({.home = options_.home,
                                 .compiler = toolchain_.compiler,
                                 .compiler_version = toolchain_.version,
                                 .sanitize = options_.sanitize,
                                 .timeout_s = options_.timeout_s},
                                cache_, family, variant, axes, settings);
    }
    return cuda().build(family, variant, axes, settings);
  }
  const Build base = build_object(family, variant, axes, settings);
  return base.outcome == Outcome::valid && options_.layout_seed != 0 ? with_layout(base) : base;
}

const CudaBuilder& Builder::cuda() const {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  if (!cuda_) {
    cuda_ = std::make_shared<const CudaBuilder>(options_.cache, options_.device, options_.timeout_s);
  }
  return *cuda_;
}

const CudaLibraryBuilder& Builder::cuda_library() const {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  if (!cuda_library_) {
    cuda_library_ =
        std::make_shared<const CudaLibraryBuilder>(options_.cache, options_.home, options_.device, options_.timeout_s);
  }
  return *cuda_library_;
}

Build Builder::build_object(const Family& family, const Variant& variant, const Axes& axes,
                            const Settings& settings) const {
  const std::string header = args_header(family, variant, axes, settings);
  Build build;
  build.toolchain = toolchain_;
  const Words compile = compile_flags(options_.sanitize);
  const Words link = link_flags(options_.sanitize);
  build.flags = joined(compile, link);
  Words parts = {"recipe " + std::to_string(kRecipe),
                 "abi " + std::to_string(APO_ABI_VERSION),
                 toolchain_.compiler,
                 toolchain_.version,
                 native_,
                 variant.source,
                 header};
  const Words included = included_files(variant.source + "\n" + header, options_.home);
  parts = joined(joined(parts, build.flags), included);
  if (const std::string environment = compilers_environment(); !environment.empty()) {
    parts.push_back(environment);
  }
  build.key = sha256_of_parts(parts);
  if (const auto entry = cache_.find(build.key)) {
    return recorded_build(*entry, build.key, kLibrary, kLog);
  }
  const CacheDraft draft = cache_.draft();
  write(draft, kHostSource, variant.source);
  write(draft, args_header_name(family), header);
  const Words where = {"-I.",
                       "-I" + options_.home.string(),
                       "-ffile-prefix-map=" + draft.path().string() + "=.",
                       "-ffile-prefix-map=" + options_.home.string() + "=apo",
                       "-MD",
                       "-MF",
                       kReadByCompiler,
                       std::string("-Wa,--MD,") + kReadByAssembler};
  const auto start = std::chrono::steady_clock::now();
  CompileStep step = run_step(joined(joined({toolchain_.compiler, "-c", kHostSource, "-o", kObject}, compile), where),
                              draft.path(), options_.timeout_s);
  build.log = step.log;
  if (const std::string besides = step.ok ? read_besides(draft, included) : ""; !besides.empty()) {
    step = {
        .ok = false,
        .log = step.log,
        .evidence = "it reads '" + besides + "': a variant is one file, which includes headers of the compiler only"};
  }
  if (step.ok) {
    step = run_step(joined({toolchain_.compiler, kObject, "-o", kLibrary}, link), draft.path(), options_.timeout_s);
    build.log += step.log;
  }
  build.seconds = seconds_since(start);
  if (!step.ok) {
    build.outcome = Outcome::build_failed;
    build.evidence = in_users_words(step.evidence, kHostSource, variant.path);
    return build;
  }
  const ObjectFacts facts = read_object(read_file(draft.path() / kObject));
  build.code_hash = facts.code_hash;
  build.resources = facts.resources;
  build.object_hash = sha256(read_file(draft.path() / kLibrary));
  write(draft, kLog, build.log);
  const std::string record = record_of(build, variant.id());
  const CacheEntry entry =
      cache_.publish(draft, build.key, {kHostSource, args_header_name(family), kObject, kLibrary, kLog}, record);
  if (entry.info != record) {
    build = recorded_build(entry, build.key, kLibrary, kLog);  // somebody who built the same was faster
    build.from_cache = false;
  }
  build.object_path = (entry.folder / kLibrary).string();
  return build;
}

std::string Builder::read_besides(const CacheDraft& draft, const std::vector<std::string>& included) const {
  ReadableFolders readable{.draft = draft.path(), .compilers = compiler_folders_, .home = options_.home, .known = {}};
  for (std::size_t i = 0; i < included.size(); i += 2) {  // names and contents in turn
    readable.known.insert(included[i]);
  }
  const std::string compiled = foreign_file(read_dependencies(read_file(draft.path() / kReadByCompiler)), readable);
  // An assembler needs nothing but what the compiler hands it.
  readable.compilers.clear();
  readable.known.clear();
  const std::string assembled = foreign_file(read_dependencies(read_file(draft.path() / kReadByAssembler)), readable);
  fs::remove(draft.path() / kReadByCompiler);  // no part of the build: they name temporary files
  fs::remove(draft.path() / kReadByAssembler);
  return compiled.empty() ? assembled : compiled;
}

// The object of `base`, linked within `folder` in the order that the seed draws.
CompileStep Builder::link(const Build& base, std::uint64_t layout_seed, const fs::path& folder) const {
  const fs::path object = fs::path(base.object_path).parent_path() / kObject;
  // Not synced to the disk: a round waits for this, and who keeps it syncs it.
  std::ofstream(folder / kLayout) << layout_script(read_object(read_file(object)), layout_seed);
  const Words flags = joined(link_flags(options_.sanitize), {std::string("-Wl,-T,") + kLayout});
  return run_step(joined({toolchain_.compiler, object.string(), "-o", kLibrary}, flags), folder, options_.timeout_s);
}

// The same object linked in another order: code_hash and resources stay, object_hash changes.
Build Builder::with_layout(const Build& base) const {
  Build build = base;
  build.key = sha256_of_parts(Words{base.key, "layout", std::to_string(options_.layout_seed)});
  if (const auto entry = cache_.find(build.key)) {
    return recorded_build(*entry, build.key, kLibrary, kLog);
  }
  const CacheDraft draft = cache_.draft();
  build.flags = joined(compile_flags(options_.sanitize),
                       joined(link_flags(options_.sanitize), {std::string("-Wl,-T,") + kLayout}));
  const auto start = std::chrono::steady_clock::now();
  const CompileStep step = link(base, options_.layout_seed, draft.path());
  build.seconds = seconds_since(start);
  build.from_cache = false;
  build.log += step.log;
  if (!step.ok) {
    build.outcome = Outcome::build_failed;
    build.evidence = step.evidence;
    build.object_path.clear();
    return build;
  }
  build.object_hash = sha256(read_file(draft.path() / kLibrary));
  write(draft, kLog, build.log);
  const std::string record = record_of(build, "");
  const CacheEntry entry = cache_.publish(draft, build.key, {kLayout, kLibrary, kLog}, record);
  if (entry.info != record) {
    build = recorded_build(entry, build.key, kLibrary, kLog);
    build.from_cache = false;
  }
  build.object_path = (entry.folder / kLibrary).string();
  return build;
}

Build Builder::relink(const Build& base, std::uint64_t seed, const fs::path& folder) const {
  const CompileStep step = link(base, seed, folder);
  if (!step.ok) {
    throw EnvironmentError("a build does not link in another order: " + step.evidence,
                           "--layout fixed measures what the compiler made");
  }
  Build build = base;
  build.object_path = (folder / kLibrary).string();
  return build;
}

std::string Builder::sanitizer_runtime() const {
  const ProcessResult result = run_process({toolchain_.compiler, "-print-file-name=libasan.so"});
  const std::string path = trim(result.output);
  if (!result.ok() || !fs::path(path).is_absolute()) {
    throw EnvironmentError("the compiler '" + toolchain_.compiler + "' has no AddressSanitizer runtime",
                           "sudo apt-get install libasan8");
  }
  return fs::canonical(path).string();
}

}  // namespace apo
