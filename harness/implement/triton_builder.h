// harness/implement/triton_builder.h - builds a Triton kernel into a cubin with the user's own Triton, once per
// content.
//
// A device variant like others from then on: no Python runs when it is judged. When it is compiled the file's own code
// runs, in a process that can write to its draft alone where the system has Landlock.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "harness/core/records/records.h"
#include "harness/implement/build_cache.h"

namespace apo {

struct TritonBuildOptions {
  std::filesystem::path home;         // holds harness/implement/compile_triton.py
  std::optional<DeviceFacts> device;  // as CudaBuilder's
  double timeout_s = 120;
};

// Takes the python3 in PATH. Outcomes: build_failed with log and evidence; refused when there is no python3 with a
// Triton that is new enough, or when the device cannot run it.
Build build_triton(const TritonBuildOptions& options, const BuildCache& cache, const Family& family,
                   const Variant& variant, const Axes& axes, const Settings& settings);

}  // namespace apo
