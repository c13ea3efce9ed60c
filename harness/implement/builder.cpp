// harness/implement/builder.cpp - what a host build depends on, its commands, and what its object says.
#include "harness/implement/builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <mutex>

#include "harness/core/error.h"
#include "harness/core/hash.h"
#include "harness/core/pattern.h"
#include "harness/core/recording/recorded_call.h"
#include "harness/core/sources.h"
#include "harness/core/system/elf_object.h"
#include "harness/core/system/files.h"
#include "harness/core/system/machine.h"
#include "harness/core/system/process.h"
#include "harness/core/text.h"
#include "harness/implement/cached_build.h"
#include "harness/implement/compile.h"
#include "harness/implement/cubin_builder.h"
#include "harness/implement/executor_builder.h"
#include "harness/implement/includes.h"
#include "harness/implement/object/elf.h"
#include "harness/implement/plain_call.h"
#include "harness/implement/python_builder.h"
#include "harness/implement/toolkit.h"
#include "harness/implement/tvm_ffi.h"
#include "harness/implement/variant/args_header.h"
#include "harness/implement/variant/headers.h"
#include "harness/implement/variant/settings.h"
#include "harness/implement/variant/shared_object.h"
#include "kernels/abi.h"

namespace apo {
namespace fs = std::filesystem;
namespace {

// Raised when the way of building changes, so that entries of an older program are not taken for new ones.
constexpr int kRecipe = 5;
constexpr const char* kLayout = "layout.ld";
constexpr const char* kReadByCompiler = "read.d";
constexpr const char* kReadByAssembler = "assembled.d";

// One function a section lets layout.h reorder them; 64-byte alignment keeps a neighbour's size out of a loop's time.
// No fast-math: a variant that wants it says so by an apo:flags line, where the journal sees it.
Words compile_flags(const BuildOptions& options) {
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
  const Words mode = options.watch_threads ? Words{"-O1", "-g", "-fsanitize=thread"}
                     : options.sanitize    ? Words{"-O1", "-g", "-fsanitize=address,undefined",
                                                "-fno-sanitize-recover=all", "-fno-omit-frame-pointer"}
                                           : Words{"-O3", "-g1"};
  flags.insert(flags.end(), mode.begin(), mode.end());
  return flags;
}

// An undefined symbol fails here, with its name, rather than in the worker.
Words link_flags(const BuildOptions& options) {
  Words flags = {"-shared", "-fopenmp", "-Wl,-z,relro,-z,now,-z,defs", "-Wl,--build-id=none"};
  if (options.watch_threads || options.sanitize) {
    flags.emplace_back(options.watch_threads ? "-fsanitize=thread" : "-fsanitize=address,undefined");
  }
  return flags;
}

// Instead of the compiler's own list of libraries, those that an earlier link of the same object needed: looking
// through libstdc++ takes half of the time of a link.
Words only_needed_libraries(const std::string& library) {
  Words flags = {"-nodefaultlibs"};
  for (const std::string& name : ElfObject(library, ET_DYN).needed()) {
    flags.push_back("-l:" + name);
  }
  flags.emplace_back("-lgcc");
  return flags;
}

// Environment variables that change the headers, programs and libraries of the compiler.
std::string compilers_environment() {
  std::string all;
  for (const char* name : {"CPATH", "CPLUS_INCLUDE_PATH", "LIBRARY_PATH", "COMPILER_PATH", "GCC_EXEC_PREFIX"}) {
    if (const char* value = std::getenv(name); value != nullptr) {
      all += std::string(name) + "=" + value + "\n";
    }
  }
  return all;
}

// The compiler's own expansion of -march=native on this CPU.
std::string resolve_native(const std::string& compiler, const std::stop_token& stop) {
  const ProcessResult result = run_process({compiler, "-march=native", "-###", "-E", "-x", "c++", "/dev/null"},
                                           {.environment = {"LC_ALL=C"}, .stop = stop});
  for (const std::string& line : split(result.error, '\n')) {
    if (result.ok() && line.find("cc1") != std::string::npos) {
      return trim(line);
    }
  }
  throw EnvironmentError(
      "the compiler '" + compiler + "' does not say what -march=native is: " + first_error(result.error),
      "sudo apt-get install g++");
}

// What a compiler does on this machine. Each is asked once by a process, which has several builders.
struct CompilerFacts {
  std::string native;
  std::vector<fs::path> folders;
};

CompilerFacts facts_of(const std::string& compiler, const std::stop_token& stop) {
  static std::mutex asking;
  static std::map<std::string, CompilerFacts> known;
  const std::lock_guard lock(asking);
  const auto found = known.find(compiler);
  return found != known.end() ? found->second
                              : known[compiler] = {.native = resolve_native(compiler, stop),
                                                   .folders = compiler_header_folders(compiler, stop)};
}

// How a variant runs beside itself, as its undefined symbols tell.
struct ThreadUse {
  bool starts = false;    // threads of its own
  std::string unwatched;  // a library whose waiting ThreadSanitizer does not see
};

ThreadUse thread_use(const Build& build) {
  static const Pattern kStarts(R"(^(pthread_create|thrd_create|_ZNSt6thread15_M_start_thread.*)$)");
  static const Pattern kUnwatched(R"(^(GOMP_|_ZN3tbb).*)");
  const std::string object = read_file(fs::path(build.object_path).parent_path() / kObject);
  const ElfObject elf(object, ET_REL);
  ThreadUse use;
  for (std::size_t i = 0; i < elf.symbol_count(); ++i) {
    if (const Elf64_Sym symbol = elf.symbol(i); symbol.st_shndx == SHN_UNDEF) {
      const std::string name = elf.name(symbol);
      use.starts |= kStarts.matches(name);
      use.unwatched = kUnwatched.matches(name) ? (name.starts_with("GOMP_") ? "OpenMP" : "TBB") : use.unwatched;
    }
  }
  return use;
}

}  // namespace

Builder::Builder(BuildOptions options)
    : options_(std::move(options)), cache_(options_.cache), toolchain_(describe_compiler(options_.compiler)) {
  CompilerFacts facts = facts_of(toolchain_.compiler, options_.stop);
  native_ = std::move(facts.native);
  compiler_folders_ = std::move(facts.folders);
  if (!fs::is_regular_file(options_.home / "kernels" / "abi.h")) {
    throw EnvironmentError("'" + options_.home.string() + "' does not hold kernels/abi.h",
                           "set APO_HOME to the folder of this program's data");
  }
  options_.home = fs::canonical(options_.home);
}

Build Builder::build(const Family& family, const Variant& whole, const Axes& axes, const Settings& settings) const {
  if (const std::string illegal = check_axes(family, axes); !illegal.empty()) {
    throw UserError(illegal, "'apo list " + family.name + "' shows the axes and their ranges");
  }
  const Variant variant = as_set(whole, settings);
  if (options_.executor && variant.target == Target::cuda) {
    return is_python(variant.source) ? not_checkable("a Python file")
           : !variant.object.empty()
               ? not_checkable(is_recorded(variant) ? "a recorded call" : "a shared object")
               : build_for_executor(options_, toolchain_, cache_, family, variant, axes, settings);
  }
  if (is_recorded(variant)) {
    return record_to_launch(object_of(variant).text);
  }
  if (is_python(variant.source)) {
    return build_python(options_, cache_, family, variant, settings);
  }
  if (variant.target == Target::host || !variant.object.empty()) {
    const Build base = build_object(family, variant, axes, settings);
    const bool moves = variant.object.empty() && options_.layout_seed != 0;
    return base.outcome == Outcome::valid && moves ? with_layout(base) : base;
  }
  if (!is_device_variant(variant)) {
    return build_library(options_, cache_, family, variant, axes, settings);
  }
  return cuda().build(family, variant, axes, settings);
}

// Nothing is compiled: what was recorded is the code.
Build Builder::record_to_launch(const std::string& text) const {
  Build build{.key = sha256(text), .object_hash = sha256(text), .code_hash = sha256(text)};
  const auto call = decode_recorded_call(text);
  if (!call) {
    build.outcome = Outcome::build_failed;
    build.evidence = "the file that its apo:record line names is no record, or a part of one";
    return build;
  }
  const fs::path file = options_.cache / ("record-" + build.key) / "call";
  if (!fs::exists(file)) {
    fs::create_directories(file.parent_path());
    write_file_atomically(file, text);
  }
  build.object_path = file.string();
  build.plan = plan_of(*call);
  return build;
}

const CudaBuilder& Builder::cuda() const {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  if (!cuda_) {
    cuda_ = std::make_shared<CudaBuilder>(options_.cache, options_.device, options_.timeout_s);
    cuda_->stop_by(options_.stop);
  }
  return *cuda_;
}

void Builder::stop_by(std::stop_token stop) {
  options_.stop = std::move(stop);
  if (cuda_) {
    cuda_->stop_by(options_.stop);
  }
}

Build Builder::build_object(const Family& family, const Variant& variant, const Axes& axes,
                            const Settings& settings) const {
  const bool ffi = !variant.object.empty();
  const PlainCall call = ffi ? PlainCall() : plain_call(family, variant);
  const Words flags = with_flags(compile_flags(options_), variant.flags);
  BuildRecipe recipe{.key = {fmt::format("recipe {}", kRecipe), fmt::format("abi {}", APO_ABI_VERSION),
                             toolchain_.compiler, toolchain_.version, native_, compilers_environment()},
                     .files = ffi ? ffi_sources(family, variant, axes)
                                  : files_to_build(family, variant, args_header(family, variant, axes, settings)),
                     .object = kLibrary,
                     .more = {kObject},
                     .built_for = variant.id(),
                     .known = {.flags = joined(flags, link_flags(options_)), .toolchain = toolchain_}};
  if (!call.problem.empty() && !call.found_none) {
    recipe.known.log = call.sides;
    return not_built(Outcome::build_failed, call.problem, recipe.known);
  }
  if (!ffi) {
    recipe.files.push_back(call.source);
  }
  const IncludeFolders others = include_folders(variant);
  if (!others.missing.empty()) {
    return not_built(Outcome::build_failed, others.missing, recipe.known);
  }
  const Words included = included_files(recipe.files, options_.home, others.own);
  recipe.key = joined(recipe.key, include_flags(others));
  recipe.key = joined(joined(recipe.key, recipe.known.flags), included);
  if (ffi) {
    recipe.files.push_back(ffi_object(variant));
    recipe.more.push_back(ffi_stub_path(variant));
  }
  Build build = cached_build(cache_, recipe, [&](const fs::path& folder, Built& built) {
                  CompileStep step = compile_and_link(call, variant, others, included, folder);
                  explain_call(step, call);
                  step.evidence = in_users_words(step.evidence, variant);
                  if (step.ok) {
                    const ObjectFacts facts = read_object(read_file(folder / kObject));
                    built.build.code_hash =
                        ffi ? sha256_of_parts(Words{facts.code_hash, object_of(variant).text}) : facts.code_hash;
                    built.build.resources = facts.resources;
                  }
                  return step;
                }).build;
  build.plan.library = build.outcome == Outcome::valid && variant.target == Target::cuda;
  return build;
}

CompileStep Builder::compile_and_link(const PlainCall& call, const Variant& variant, const IncludeFolders& others,
                                      const Words& included, const fs::path& folder) const {
  // A renamed file is no other code, so that __FILE__ is always the same.
  const Words where = {"-I.",
                       "-I" + options_.home.string(),
                       "-fmacro-prefix-map=" + source_name(variant) + "=variant.cpp",
                       "-ffile-prefix-map=" + folder.string() + "=.",
                       "-ffile-prefix-map=" + options_.home.string() + "=apo",
                       "-MD",
                       "-MF",
                       kReadByCompiler,
                       std::string("-Wa,--MD,") + kReadByAssembler};
  const Words flags = with_flags(compile_flags(options_), variant.flags);
  const bool ffi = !variant.object.empty();
  CompileStep step = run_step(
      joined(
          joined(joined({toolchain_.compiler, "-c", ffi ? kFfiCall : call.source.name, "-o", kObject}, flags), where),
          include_flags(others)),
      folder, options_.timeout_s, options_.stop);
  if (step.ok && ffi) {
    fs::create_directories((folder / ffi_stub_path(variant)).parent_path());
    step = run_step({toolchain_.compiler, "-shared", "-nostdlib", "-fPIC", kFfiStub, "-o", ffi_stub_path(variant)},
                    folder, options_.timeout_s, options_.stop);
  }
  if (!step.ok) {
    return step;
  }
  if (const std::string besides = read_besides(folder, others, included); !besides.empty()) {
    step.ok = false;
    step.evidence = fmt::format(
        "it reads '{}': a variant is its own file, the headers that it includes as \"NAME\", and headers of the "
        "compiler or of an apo:include folder, named where they are included",
        besides);
    return step;
  }
  CompileStep link = run_step(
      joined(joined({toolchain_.compiler, kObject, "-o", kLibrary}, link_flags(options_)), ffi_link_flags(folder)),
      folder, options_.timeout_s, options_.stop);
  link.log = step.log + link.log;
  return link;
}

std::string Builder::read_besides(const fs::path& folder, const IncludeFolders& others,
                                  const std::vector<std::string>& included) const {
  ReadableFolders readable{.draft = folder, .compilers = compiler_folders_, .home = options_.home, .known = {}};
  readable.compilers.insert(readable.compilers.end(), others.toolkit.begin(), others.toolkit.end());
  for (std::size_t i = 0; i < included.size(); i += 2) {  // names and contents in turn
    const fs::path file = (options_.home / included[i]).lexically_normal();
    const auto holds_it = [&](const fs::path& own) { return file.string().starts_with(own.string() + "/"); };
    if (!included[i].starts_with("..") || std::ranges::any_of(others.own, holds_it)) {
      readable.known.insert(included[i]);
    }
  }
  const std::string compiled = foreign_file(read_dependencies(read_file(folder / kReadByCompiler)), readable);
  // An assembler needs nothing but what the compiler hands it.
  readable.compilers.clear();
  readable.known.clear();
  const std::string assembled = foreign_file(read_dependencies(read_file(folder / kReadByAssembler)), readable);
  fs::remove(folder / kReadByCompiler);  // no part of the build: they name temporary files
  fs::remove(folder / kReadByAssembler);
  return compiled.empty() ? assembled : compiled;
}

// The object of `base`, linked within `folder` in the order that the seed draws.
CompileStep Builder::link(const Build& base, std::uint64_t layout_seed, const fs::path& folder) const {
  const fs::path object = fs::path(base.object_path).parent_path() / kObject;
  // Not synced to the disk: a round waits for this, and its keeper syncs it.
  std::ofstream(folder / kLayout) << layout_script(read_object(read_file(object)), layout_seed);
  const Words others = ffi_link_flags(object.parent_path());
  const Words flags = joined(joined(link_flags(options_), {std::string("-Wl,-T,") + kLayout}), others);
  if (const fs::path companions = object.parent_path() / kCompanions; fs::is_directory(companions)) {
    fs::create_directory_symlink(companions, folder / kCompanions);
  }
  const auto link_with = [&](const Words& libraries) {
    return run_step(joined(joined({toolchain_.compiler, object.string(), "-o", kLibrary}, flags), libraries), folder,
                    options_.timeout_s);
  };
  if (others.empty() && !options_.sanitize && !options_.watch_threads) {
    if (CompileStep step = link_with(only_needed_libraries(read_file(base.object_path))); step.ok) {
      return step;  // what it may lack is a static library that only the compiler's list has
    }
  }
  return link_with({});
}

// The same object linked in another order: code_hash and resources stay, object_hash changes.
Build Builder::with_layout(const Build& base) const {
  BuildRecipe recipe{.key = {base.key, "layout", std::to_string(options_.layout_seed)},
                     .files = {},
                     .object = kLibrary,
                     .more = {kLayout},
                     .built_for = "",
                     .known = base};
  recipe.known.flags = joined(base.flags, {std::string("-Wl,-T,") + kLayout});
  return cached_build(cache_, recipe,
                      [&](const fs::path& folder, Built&) {
                        CompileStep step = link(base, options_.layout_seed, folder);
                        step.log = base.log + step.log;
                        return step;
                      })
      .build;
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

std::string Builder::companion(const char* name) const {
  const Words words = {toolchain_.compiler, std::string("-print-file-name=") + name};
  const std::string path = trim(run_process(words, {.stop = options_.stop}).output);
  return fs::path(path).is_absolute() ? fs::canonical(path).string() : "";
}

std::string Builder::sanitizer_runtime() const {
  std::string path = companion("libasan.so");
  if (path.empty()) {
    throw EnvironmentError("the compiler '" + toolchain_.compiler + "' has no AddressSanitizer runtime",
                           "sudo apt-get install libasan8");
  }
  return path;
}

std::optional<Build> build_for_threads(const Builder& plain, const Builder& watching, const Family& family,
                                       const Variant& variant, const Axes& axes, const Settings& settings) {
  const Build build = plain.build(family, variant, axes, settings);
  if (!variant.object.empty() || build.outcome != Outcome::valid) {
    return std::nullopt;
  }
  const ThreadUse use = thread_use(build);
  if (!use.unwatched.empty()) {
    return not_built(Outcome::not_checkable, use.unwatched);
  }
  return use.starts ? std::optional(watching.build(family, variant, axes, settings)) : std::nullopt;
}

}  // namespace apo
