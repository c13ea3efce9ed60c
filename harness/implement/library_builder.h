// harness/implement/library_builder.h - builds a library variant for target cuda into a shared object, once per
// content.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "harness/core/records/records.h"
#include "harness/implement/build_cache.h"

namespace apo {

class CudaLibraryBuilder {
 public:
  // `home` holds kernels/abi.h; without `device` it builds as CudaBuilder does.
  CudaLibraryBuilder(std::filesystem::path cache, std::filesystem::path home, std::optional<DeviceFacts> device,
                     double timeout_s);

  // Outcomes: build_failed with log and evidence; refused when this machine has no nvcc or not a library that the
  // variant names, or when the device cannot run it. Resources are those of the host code and of its own kernels; what
  // a linked library launches is its own affair.
  Build build(const Family& family, const Variant& variant, const Axes& axes, const Settings& settings) const;

 private:
  std::string missing_for(const Variant& variant) const;
  std::filesystem::path toolkit() const;

  BuildCache cache_;
  std::filesystem::path home_;
  std::optional<DeviceFacts> device_;
  double timeout_s_;
  std::string nvcc_;  // empty: none
  Toolchain toolchain_;
};

}  // namespace apo
