// harness/implement/executor_builder.cpp - composes the sources, compiles, gives shared memory its place, links.
#include "harness/implement/executor_builder.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "harness/core/error.h"
#include "harness/core/hash.h"
#include "harness/core/sources.h"
#include "harness/core/system/elf_object.h"
#include "harness/core/system/files.h"
#include "harness/core/text.h"
#include "harness/implement/cached_build.h"
#include "harness/implement/object/compiler_names.h"
#include "harness/implement/object/ptx.h"
#include "harness/implement/plain_call.h"
#include "harness/implement/variant/args_header.h"
#include "harness/implement/variant/launch_plan.h"

namespace apo {
namespace fs = std::filesystem;
namespace {

// Raised when the way of building changes, so that entries of an older program are not taken for new ones.
constexpr int kExecutorRecipe = 7;
constexpr const char* kPlaces = "shared.s";
constexpr const char* kConstants = "constants.ld";
// Adds to the linker's own script.
constexpr const char* kGatherConstants =
    "SECTIONS { apo_constants : { apo_cpu_constants_begin = .; *(apo_constants.*) apo_cpu_constants_end = .; } } "
    "INSERT AFTER .data;\n";
constexpr const char* kLaunches = "apo:launch";  // the name that our own lines have in messages
constexpr const char* kNotCheckable = "not checkable on the CPU: ";
constexpr std::int64_t kStaticLimit = 48 << 10;  // of a kernel's static shared memory, on every GPU

// -Og keeps loads and stores where the source has them. GCC announces them to functions that libtsan would define;
// ours do. AddressSanitizer sees three calls, so that compiling is all its time: -O0 takes a fifth of it. Where
// variables are costs a quarter of the time, and only a debugger asks. Errno and traps are none of a kernel's.
Words checked_compile_flags(const BuildOptions& options, const Variant& variant) {
  Words flags = {"-x",
                 "c++",
                 "-std=c++20",
                 options.debugger ? "-g" : "-g1",
                 "-gno-statement-frontiers",
                 "-fPIC",
                 "-fno-semantic-interposition",  // else g++ takes no always_inline without inline
                 "-w",
                 "-fno-gnu-unique",
                 "-fno-math-errno",
                 "-fno-extern-tls-init",
                 "-fno-threadsafe-statics",  // a call has one thread
                 "-fmax-errors=20",
                 "-fdiagnostics-color=never",
                 "-frandom-seed=apo",
                 "-ffp-contract=off"};
  // GCC announces no load of a struct that is an argument and no store of one that is a result: copies it announces.
  const Words mode = options.sanitize ? Words{"-O0", "-fsanitize=address,undefined", "-fno-sanitize-recover=all",
                                              "-fno-omit-frame-pointer"}
                                      : Words{"-Og",
                                              "-fno-elide-constructors",
                                              "-fsanitize=thread,alignment,bounds",
                                              "-fno-sanitize-recover=all",
                                              "--param=tsan-instrument-func-entry-exit=0",
                                              "--param=tsan-distinguish-volatile=1"};
  Words own = variant.flags;  // what a GPU's compiler makes of its arithmetic has no equivalent here
  std::erase_if(own, [](const std::string& flag) { return !flag.starts_with("-std=") && !flag.starts_with("-D"); });
  return with_flags(joined(flags, mode), own);
}

// -Bsymbolic: a kernel and a variable of it may be called what one of the C library is called, such as step. Without it
// the library's would be taken, which the program has loaded before.
Words checked_link_flags(bool sanitize, const Variant& variant) {
  Words flags = {"-shared", "-Wl,--build-id=none", "-Wl,-z,now", "-Wl,-Bsymbolic", std::string("-Wl,-T,") + kConstants};
  if (is_device_variant(variant)) {
    flags.emplace_back("-nostartfiles");  // no code of the host's, such as a static object's
  }
  for (const char* name : {"malloc", "free", "_Znwm", "_Znam", "_ZdlPv", "_ZdaPv", "_ZdlPvm", "_ZdaPvm"}) {
    flags.push_back(std::string("-Wl,--wrap=") + name);  // harness/executor/device/cuda.h defines them
  }
  return sanitize ? joined(flags, {"-fsanitize=address,undefined"}) : flags;
}

std::string quoted(const std::string& text) {
  return nlohmann::json(text).dump();
}

// Symbols that the program asks the object for: see harness/executor/module.h.
std::string exports(const Family& family, const Variant& variant) {
  std::string text = "\n# 1 \"" + std::string(kLaunches) + "\"\nextern \"C\" {\n";
  std::vector<std::string> kernels;
  for (const Launch& launch : variant.launches) {
    if (std::find(kernels.begin(), kernels.end(), launch.kernel) == kernels.end()) {
      kernels.push_back(launch.kernel);
      text += "APO_CPU_UNSEEN void apo_cpu_run_" + launch.kernel + "(const void* arguments) {\n" +
              "  const apo_cpu::Thread* volatile thread = &apo_cpu::self();  // for debuggers\n  " + family.name +
              "_args own;\n  __builtin_memcpy(&own, arguments, sizeof own);\n  " + launch.kernel + "(own);\n}\n";
    }
  }
  text += "extern const char* const apo_cpu_buffers[] = {";
  for (const bool outputs : {false, true}) {
    for (const TensorSpec& tensor : arguments_of(family)) {
      text += (tensor.role == Role::output) == outputs ? quoted(tensor.name) + ", " : "";
    }
  }
  for (const ScratchBuffer& buffer : variant.scratch) {
    text += quoted(buffer.name) + ", ";
  }
  return text +
         "nullptr};\nextern const bool apo_cpu_loads_seen =\n#ifdef __SANITIZE_THREAD__\n    true;\n#else\n"
         "    false;\n#endif\n}\n";
}

// The user's lines keep their numbers and their file, for messages, findings and debuggers.
std::vector<SourceFile> compose(const Family& family, const Variant& variant, const std::string& header) {
  std::vector<SourceFile> files = all_sources(variant);
  for (SourceFile& file : files) {
    file.text = for_host_compiler(file.text);
  }
  SourceFile& own = files.front();
  own.text = fmt::format("# 1 {}\n{}{}", quoted(variant.path.empty() ? own.name : variant.path), own.text,
                         exports(family, variant));
  files.push_back({.name = args_header_name(family), .text = header, .path = ""});
  if (!is_device_variant(variant)) {
    files.push_back(plain_call(family, variant).source);
  }
  return files;
}

// Static shared memory, then one stretch that every `extern __shared__` array is a name of. What lies between them and
// behind is touched by mistakes only.
std::string shared_places(const std::vector<std::string>& dynamic, std::int64_t most, bool uses_heap) {
  constexpr std::int64_t kGuard = 4096;
  std::string text = fmt::format(
      ".section .tbss.end,\"awT\",@nobits\n.globl apo_cpu_static_end\napo_cpu_static_end:\n.zero {}\n"
      ".section .tbss.dynamic,\"awT\",@nobits\n.balign 1024\n.globl apo_cpu_dynamic_shared\napo_cpu_dynamic_shared:\n",
      kGuard);
  for (const std::string& name : dynamic) {
    text += ".globl " + name + "\n" + name + ":\n";
  }
  text += fmt::format(".zero {}\n.globl apo_cpu_shared_end\napo_cpu_shared_end:\n", most + kGuard);
  for (const char* name : {"apo_cpu_static_end", "apo_cpu_dynamic_shared", "apo_cpu_shared_end"}) {
    text += std::string(".type ") + name + ", @tls_object\n";
  }
  text += fmt::format(".data\n.globl apo_cpu_uses_heap\napo_cpu_uses_heap:\n.byte {:d}\n", uses_heap);
  return text + ".section .note.GNU-stack,\"\",@progbits\n";
}

struct SharedVariables {
  std::vector<std::string> dynamic;                  // declared, not defined
  std::map<std::string, std::int64_t> static_bytes;  // by symbol
  bool heap = false;                                 // a kernel or host code allocates
};

SharedVariables read_shared(const std::string& object) {
  const ElfObject elf(object, ET_REL);
  SharedVariables variables;
  for (std::size_t i = 0; i < elf.symbol_count(); ++i) {
    const Elf64_Sym symbol = elf.symbol(i);
    const bool local = ELF64_ST_TYPE(symbol.st_info) == STT_TLS;
    variables.heap |= symbol.st_shndx == SHN_UNDEF &&
                      (elf.name(symbol) == "malloc" || elf.name(symbol) == "_Znwm" || elf.name(symbol) == "_Znam");
    if (local && symbol.st_shndx == SHN_UNDEF) {
      variables.dynamic.push_back(elf.name(symbol));
    } else if (local) {
      variables.static_bytes[elf.name(symbol)] += static_cast<std::int64_t>(symbol.st_size);
    }
  }
  return variables;
}

// Static shared memory of a kernel: its own arrays, and those of functions that any kernel may call.
std::vector<KernelFacts> kernel_facts(const Variant& variant, const SharedVariables& variables) {
  std::vector<KernelFacts> kernels;
  for (const Launch& launch : variant.launches) {
    KernelFacts facts{.name = launch.kernel};
    for (const auto& [symbol, bytes] : variables.static_bytes) {
      bool of_another = false;
      for (const Launch& other : variant.launches) {
        of_another |= other.kernel != launch.kernel &&
                      symbol.starts_with(fmt::format("_ZZ{}{}E", other.kernel.size(), other.kernel));
      }
      facts.shared_bytes += of_another ? 0 : bytes;
    }
    kernels.push_back(facts);
  }
  return kernels;
}

// A kernel that the launches need and the file lacks is the variant's mistake. Anything else that this compiler does
// not take may well be right for a GPU's.
void classify(Build& build) {
  build.outcome = Outcome::not_checkable;
  if (build.evidence.starts_with(kLaunches)) {
    build.outcome = Outcome::wrong_abi;
    build.evidence = "a kernel that apo:launch names is not there, or does not take one argument struct: " +
                     build.evidence.substr(build.evidence.find("error:") + 7);
  } else if (const auto at = build.evidence.find(kNotCheckable); at != std::string::npos) {
    build.evidence = build.evidence.substr(at);
  } else {
    build.evidence = kNotCheckable + build.evidence;
  }
}

std::string check_launches(const Build& build) {
  for (const KernelLaunch& launch : build.plan.launches) {
    if (launch.cluster != std::array<std::int64_t, 3>{1, 1, 1}) {
      return kNotCheckable + std::string("the clusters of ") + launch.kernel;
    }
  }
  return "";
}

std::string device_headers(const fs::path& folder) {
  std::string text;
  for (const fs::path& file : files_below(folder)) {
    text += file.lexically_relative(folder).string() + "\n" + read_file(file);
  }
  return text;
}

// Compiles, gives shared memory its place, links.
CompileStep compile_checked(const BuildOptions& options, const std::string& compiler, const Family& family,
                            const Variant& variant, const fs::path& folder, Built& built) {
  const fs::path headers = options.home / "harness" / "executor" / "device";
  const bool device = is_device_variant(variant);
  const Words before = {"-I.", "-I" + headers.string(), "-include", (headers / "cuda.h").string()};
  const Words host = {"-I" + options.home.string(), "-I" + (headers / "host").string(), "-include",
                      (headers / "host" / "runtime.h").string()};
  const PlainCall call = device ? PlainCall{.source = {.name = source_name(variant)}} : plain_call(family, variant);
  // The flags say that it is C++, so they stand before the name that does not. __FILE__ is what it is for a GPU.
  const Words named = {"-fmacro-prefix-map=" + variant.path + "=" + source_name(variant), "-c", "-o", kObject,
                       call.source.name};
  CompileStep step = run_step(joined(joined(joined({compiler}, checked_compile_flags(options, variant)),
                                            joined(before, device ? Words{} : host)),
                                     named),
                              folder, options.timeout_s, options.stop);
  explain_call(step, call);
  if (step.ok) {
    const SharedVariables shared = read_shared(read_file(folder / kObject));
    built.kernels = kernel_facts(variant, shared);
    write_file_atomically(folder / kPlaces,
                          shared_places(shared.dynamic, executor_device().shared_per_block, shared.heap));
    write_file_atomically(folder / kConstants, kGatherConstants);
    const std::string log = step.log;
    step = run_step(joined({compiler, kObject, kPlaces, "-o", kLibrary}, checked_link_flags(options.sanitize, variant)),
                    folder, options.timeout_s, options.stop);
    step.log = log + step.log;
  }
  if (step.ok) {
    built.build.code_hash = sha256(read_file(folder / kLibrary));
  }
  step.evidence = in_users_words(step.evidence, variant);
  return step;
}

Built build_checked(const BuildOptions& options, const Toolchain& compiler, const BuildCache& cache,
                    const Family& family, const Variant& variant, const std::string& header) {
  const Words flags = joined(checked_compile_flags(options, variant), checked_link_flags(options.sanitize, variant));
  const BuildRecipe recipe{
      .key = joined({fmt::format("executor recipe {}", kExecutorRecipe), compiler.compiler, compiler.version,
                     device_headers(options.home / "harness" / "executor" / "device")},
                    flags),
      .files = compose(family, variant, header),
      .object = kLibrary,
      .built_for = variant.id(),
      .known = {.flags = flags, .toolchain = compiler}};
  Built built = cached_build(cache, recipe, [&](const fs::path& folder, Built& in_the_making) {
    return compile_checked(options, compiler.compiler, family, variant, folder, in_the_making);
  });
  if (built.build.outcome != Outcome::valid) {
    classify(built.build);
  }
  return built;
}

}  // namespace

DeviceFacts executor_device() {
  return {.name = "CPU executor as sm_90",
          .uuid = "CPU",
          .major = 9,
          .minor = 0,
          .sms = 132,
          .threads_per_block = 1024,
          .threads_per_sm = 2048,
          .blocks_per_sm = 32,
          .shared_per_block = 232448,
          .shared_per_sm = 233472,
          .registers_per_sm = 65536,
          .l2_bytes = 62914560,
          .persisting_l2_bytes = 39321600,
          .memory_bytes = 150000000000,
          .sm_mhz = 1980,
          .memory_mhz = 3201,
          .driver = "none"};
}

Build not_checkable(const std::string& what) {
  return not_built(Outcome::not_checkable, kNotCheckable + what);
}

Build build_for_executor(const BuildOptions& options, const Toolchain& compiler, const BuildCache& cache,
                         const Family& family, const Variant& variant, const Axes& axes, const Settings& settings) {
  for (const SourceFile& file : all_sources(variant)) {
    if (const std::string name = asks_for_compiler(file.text); !name.empty()) {
      return not_checkable(
          fmt::format("{} in {} tells which compiler it is, so that a GPU may run something else", name, file.name));
    }
  }
  auto [build, kernels] =
      build_checked(options, compiler, cache, family, variant, args_header(family, variant, axes, settings));
  if (build.outcome != Outcome::valid) {
    return build;
  }
  for (const KernelFacts& kernel : kernels) {
    if (kernel.shared_bytes > kStaticLimit) {
      build.outcome = Outcome::build_failed;
      build.evidence = fmt::format("kernel {} has {} bytes of static shared memory, and no GPU takes more than {}",
                                   kernel.name, kernel.shared_bytes, kStaticLimit);
      return build;
    }
  }
  const PlannedLaunches planned = plan_launches(family, variant, axes, settings, executor_device(), kernels);
  build.outcome = planned.outcome;
  build.evidence = planned.evidence;
  build.plan = planned.plan;
  build.plan.library = !is_device_variant(variant);
  if (const std::string why = check_launches(build); build.outcome == Outcome::valid && !why.empty()) {
    build.outcome = Outcome::not_checkable;
    build.evidence = why;
  }
  return build;
}

}  // namespace apo
