// harness/implement/builder.h - builds a variant once per content: a shared object, or on cuda a cubin.
#pragma once

#include <filesystem>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "harness/core/records/records.h"
#include "harness/implement/cached_build.h"

namespace apo {

class CudaBuilder;
struct PlainCall;

// Asks the compiler for its version and the meaning of -march=native once for many builds.
class Builder {
 public:
  // Throws EnvironmentError when there is no working compiler, no kernels/abi.h under `home`, or no writable cache.
  explicit Builder(BuildOptions options);

  // A source that does not build is Outcome::build_failed with its log and evidence. Throws UserError for axes that are
  // not the family's or settings that are not the variant's, EnvironmentError when this machine fails the compiler.
  Build build(const Family& family, const Variant& variant, const Axes& axes, const Settings& settings) const;

  // The object of `base` linked in the order that `seed` draws (layout_script()), into `folder` and never into the
  // cache, so that every round can have a layout of its own: a few hundredths of a second. Only for what build() made
  // for target host. Throws EnvironmentError when it does not link, as what was linked before always does.
  Build relink(const Build& base, std::uint64_t seed, const std::filesystem::path& folder) const;

  // A stop ends later builds, which then throw Cancelled. No build runs meanwhile.
  void stop_by(std::stop_token stop);

  const Toolchain& toolchain() const { return toolchain_; }  // for target host
  // The library that LD_PRELOAD has to name for a process that loads a sanitized build.
  std::string sanitizer_runtime() const;
  // The same for a build whose threads are watched; "" where the compiler has none.
  std::string thread_sanitizer() const { return companion("libtsan.so"); }

 private:
  std::string companion(const char* name) const;  // a library that the compiler brings along; "": it has none
  Build record_to_launch(const std::string& text) const;
  Build build_object(const Family& family, const Variant& variant, const Axes& axes, const Settings& settings) const;
  const CudaBuilder& cuda() const;
  CompileStep compile_and_link(const PlainCall& call, const Variant& variant, const IncludeFolders& others,
                               const Words& included, const std::filesystem::path& folder) const;
  Build with_layout(const Build& base) const;
  // Returns a file that the compilation read and that belongs to neither the variant nor the compiler, else "".
  std::string read_besides(const std::filesystem::path& folder, const IncludeFolders& others,
                           const std::vector<std::string>& included) const;
  CompileStep link(const Build& base, std::uint64_t layout_seed, const std::filesystem::path& folder) const;

  BuildOptions options_;
  BuildCache cache_;
  Toolchain toolchain_;
  std::string native_;  // how the compiler resolved -march=native: the identity of this CPU
  std::vector<std::filesystem::path> compiler_folders_;  // where it looks for headers
  mutable std::shared_ptr<CudaBuilder> cuda_;            // on first use: it looks for NVIDIA's compilers
};

// Target host: the build of `watching`, whose threads ThreadSanitizer watches. nullopt for a variant that starts no
// threads, as the undefined symbols of its build by `plain` tell, and for a shared object; not_checkable, with the
// library's name, where threads wait for each other within one that ThreadSanitizer does not see.
std::optional<Build> build_for_threads(const Builder& plain, const Builder& watching, const Family& family,
                                       const Variant& variant, const Axes& axes, const Settings& settings);

}  // namespace apo
