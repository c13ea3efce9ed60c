// harness/implement/cubin_builder.h - builds variants for target cuda, once per content: device variants into cubins,
// those with host code into shared objects.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "harness/core/records/records.h"
#include "harness/implement/cached_build.h"

namespace apo {

class Nvrtc;

// Compiles with NVRTC; with nvcc where there is no NVRTC, or where a source needs a header that only nvcc has.
// Build::toolchain names the compiler.
class CudaBuilder {
 public:
  // Without `device` it builds for the architecture that the variant names (sm_90 where it names none), and plans no
  // launches. Throws EnvironmentError when this machine has neither compiler.
  CudaBuilder(std::filesystem::path cache, std::optional<DeviceFacts> device, double timeout_s);
  ~CudaBuilder();
  CudaBuilder(const CudaBuilder&) = delete;
  CudaBuilder& operator=(const CudaBuilder&) = delete;

  // Outcomes: build_failed with log and evidence; refused when the device cannot run it; wrong_abi when a kernel that
  // apo:launch names is not there. Throws UserError for settings that are not the variant's.
  Build build(const Family& family, const Variant& variant, const Axes& axes, const Settings& settings) const;

  void stop_by(std::stop_token stop) { stop_ = std::move(stop); }  // as Builder's
  const Toolchain& toolchain() const { return toolchain_; }

 private:
  Built build_cubin(const Family& family, const Variant& variant, const Axes& axes, const Settings& settings,
                    const IncludeFolders& others, const std::string& arch) const;
  // Each leaves kCubin in the folder when it succeeds.
  CompileStep run_nvrtc(const std::vector<SourceFile>& files, const IncludeFolders& others, Words options,
                        const std::filesystem::path& folder) const;
  CompileStep run_nvcc_on(const std::string& source, const IncludeFolders& others, const Words& flags,
                          const std::filesystem::path& folder) const;

  BuildCache cache_;
  std::optional<DeviceFacts> device_;
  double timeout_s_;
  std::stop_token stop_;
  std::unique_ptr<Nvrtc> nvrtc_;
  std::string nvcc_;          // empty: none
  std::string nvcc_version_;  // its last line but one: "Cuda compilation tools, release 13.0, V13.0.88"
  std::vector<std::string> include_folders_;
  Toolchain toolchain_;
};

// Builds a variant with host code. Outcomes: build_failed with log and evidence; refused when this machine has no nvcc
// or not a library that the variant names, or when the device cannot run it. Resources are those of the host code and
// of its own kernels; what a linked library launches is its own affair.
Build build_library(const BuildOptions& options, const BuildCache& cache, const Family& family, const Variant& variant,
                    const Axes& axes, const Settings& settings);

// Returns the architecture to build for; `refusal` is set when `device` cannot run what the variant asks for.
std::string choose_arch(const Variant& variant, const std::optional<DeviceFacts>& device, std::string& refusal);
// Runs nvcc once. The evidence of a failure is the first line that names an error or a symbol that the linker lacks.
CompileStep run_nvcc(const Words& command, const std::filesystem::path& folder, double timeout_s,
                     const std::stop_token& stop = {});
// Returns the spilled bytes that ptxas reports, stores and loads of the kernel with most of them.
std::int64_t spill_bytes(const std::string& log);

}  // namespace apo
