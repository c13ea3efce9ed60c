// harness/implement/library_builder.cpp - runs nvcc for the object with the cubin in it, and for the shared object.
#include <fmt/format.h>

#include <set>

#include "harness/core/error.h"
#include "harness/core/hash.h"
#include "harness/core/pattern.h"
#include "harness/core/system/machine.h"
#include "harness/core/text.h"
#include "harness/implement/cached_build.h"
#include "harness/implement/cubin_builder.h"
#include "harness/implement/includes.h"
#include "harness/implement/object/elf.h"
#include "harness/implement/plain_call.h"
#include "harness/implement/toolkit.h"
#include "harness/implement/variant/args_header.h"
#include "harness/implement/variant/headers.h"

namespace apo {
namespace fs = std::filesystem;
namespace {

// Raised when the way of building changes, so that entries of an older program are not taken for new ones.
constexpr int kLibraryRecipe = 6;
constexpr const char* kKept = "kept";

Words nvcc_compile_flags(const std::string& arch) {
  return {"-gencode=arch=compute_" + arch.substr(3) + ",code=" + arch,
          "-std=c++20",
          "-lineinfo",
          "--ptxas-options=-v",
          "-O3",
          "-Xcompiler",
          "-g1,-fPIC,-fvisibility=hidden,-ffunction-sections"};
}

// Finds a library where NVIDIA's and Debian's packages put it; empty when it is in none of these.
fs::path folder_of(const std::string& library, const fs::path& toolkit) {
  for (const char* folder : {"lib64", "lib", "lib/x86_64-linux-gnu", "lib/aarch64-linux-gnu"}) {
    if (fs::exists(toolkit / folder / ("lib" + library + ".so"))) {
      return toolkit / folder;
    }
  }
  return {};
}

// The runtime is linked in unless the variant asks for the shared one. An undefined symbol fails here, with its name,
// rather than in the worker; what nobody calls, a main or a call of cuBLAS, is left out and needs no library.
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
  return joined(flags,
                {"-Xlinker", "--gc-sections", "-Xlinker", "-z,defs", "-Xlinker", "-z,relro", "-Xlinker", "-z,now"});
}

// Host code and device code, each without names, paths and debug information.
void add_facts(Build& build, const fs::path& folder, const Variant& variant, const std::string& log) {
  const ObjectFacts host = read_object(read_file(folder / kObject));
  const CubinFacts device = read_cubin(read_file(folder / kCubin));
  build.code_hash = sha256_of_parts(joined({host.code_hash, device.code_hash}, variant.libraries));
  build.resources = device.resources;
  build.resources["spill_bytes"] = spill_bytes(log);
  build.resources["host_text_bytes"] = host.resources.at("text_bytes");
}

// The apo:link lines that would give the linker the symbols that it lacks; "" for symbols of other libraries.
std::string missing_libraries(const std::string& log) {
  static const Pattern kSymbol("undefined reference to `(cublas(Lt)?|cuda)[A-Z][A-Za-z0-9_]*'");
  std::set<std::string> lines;
  for (const PatternMatch& match : kSymbol.all(log)) {
    lines.insert("'// apo:link " + (match[1] == "cuda" ? "cudart" : match[1]) + "'");
  }
  return lines.empty() ? "" : "; add " + join({lines.begin(), lines.end()}, " and ");
}

// What ptxas says of each kernel stands before what failed, and is none of it.
std::string without_resources(const std::string& log) {
  std::string kept;
  for (const std::string& line : split(log, '\n')) {
    const bool is_resource = line.starts_with("ptxas info") || line.find(" bytes stack frame, ") != std::string::npos;
    kept += is_resource ? "" : line + "\n";
  }
  return kept;
}

// Object and shared object, one after the other. The cubin of the kernels, for its facts, is what nvcc keeps of its
// work on the object: its own run for it would compile the device code once more.
CompileStep compile_all(const std::function<CompileStep(const Words&)>& nvcc, const PlainCall& call,
                        const Words& compile, const Words& link, const fs::path& folder) {
  fs::create_directory(folder / kKept);
  CompileStep all = nvcc(joined({"-c", "-o", kObject, "--keep", "--keep-dir", kKept, call.source.name}, compile));
  if (all.ok) {
    fs::rename(folder / kKept / (fs::path(call.source.name).stem().string() + ".cubin"), folder / kCubin);
    CompileStep link_step = nvcc(joined({kObject, "-o", kLibrary}, link));
    link_step.evidence = replace_all(link_step.evidence, folder.string() + "/", "") + missing_libraries(link_step.log);
    link_step.log = link_step.ok ? all.log + link_step.log : replace_all(link_step.log, folder.string() + "/", "");
    all = std::move(link_step);
  }
  fs::remove_all(folder / kKept);
  if (!all.ok) {
    all.log = without_resources(all.log);
  }
  explain_call(all, call);
  return all;
}

// A sentence about what this machine lacks; "" when it has all.
std::string missing_for(const Variant& variant, const fs::path& toolkit) {
  if (toolkit.empty()) {
    return variant.id() + " has host code, which needs nvcc, and there is none here: install CUDA Toolkit 13 and put " +
           "its bin folder in PATH, or set CUDA_HOME";
  }
  for (const std::string& library : variant.libraries) {
    if (folder_of(library, toolkit).empty()) {
      return variant.id() + " links " + library + ", and '" + toolkit.string() + "' has no lib" + library +
             ".so: install " + (library == "cudart" ? "cuda-cudart-dev-13-0" : "libcublas-dev-13-0");
    }
  }
  return "";
}

}  // namespace

Build build_library(const BuildOptions& options, const BuildCache& cache, const Family& family, const Variant& variant,
                    const Axes& axes, const Settings& settings) {
  const std::string nvcc = find_toolkit_program("nvcc");
  const fs::path toolkit = nvcc.empty() ? fs::path() : fs::weakly_canonical(nvcc).parent_path().parent_path();
  Toolchain toolchain;
  if (!nvcc.empty()) {
    toolchain = {.compiler = nvcc, .version = nvcc_version(nvcc) + ", " + describe_compiler("g++").version};
  }
  std::string refusal = missing_for(variant, toolkit);
  const std::string arch = refusal.empty() ? choose_arch(variant, options.device, refusal) : "";
  const IncludeFolders others = include_folders(variant);
  if (!refusal.empty() || !others.missing.empty()) {
    return refusal.empty() ? not_built(Outcome::build_failed, others.missing, {.toolchain = toolchain})
                           : not_built(Outcome::refused, refusal, {.toolchain = toolchain});
  }
  const PlainCall call = plain_call(family, variant);
  if (!call.problem.empty() && !call.found_none) {
    return not_built(Outcome::build_failed, call.problem, {.toolchain = toolchain, .log = call.sides});
  }
  const Words compile = joined(with_flags(nvcc_compile_flags(arch), variant.flags), include_flags(others));
  const Words link = nvcc_link_flags(variant, toolkit);
  BuildRecipe recipe{.key = {fmt::format("cuda library recipe {}", kLibraryRecipe), nvcc, toolchain.version},
                     .files = files_to_build(family, variant, args_header(family, variant, axes, settings)),
                     .object = kLibrary,
                     .more = {kObject, kCubin},
                     .built_for = variant.id(),
                     .known = {.flags = joined(compile, link), .toolchain = toolchain}};
  recipe.files.push_back(call.source);
  recipe.key = joined(joined(recipe.key, recipe.known.flags), included_files(recipe.files, options.home, others.own));
  Build build =
      cached_build(cache, recipe, [&](const fs::path& folder, Built& built) {
        const auto run = [&](const Words& words) {
          return run_nvcc(joined({nvcc}, words), folder, options.timeout_s, options.stop);
        };
        CompileStep step = compile_all(run, call, joined(compile, {"-I.", "-I" + options.home.string()}), link, folder);
        step.evidence = in_users_words(step.evidence, variant);
        if (step.ok) {
          add_facts(built.build, folder, variant, step.log);
        }
        return step;
      }).build;
  build.plan.library = build.outcome == Outcome::valid;
  return build;
}

}  // namespace apo
