// tests/executor/cpu_runtime_fixture.h - a runtime whose device variants run on this CPU.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>

#include "harness/core/expression/expression.h"
#include "harness/evaluate/correctness/correctness.h"
#include "harness/implement/builder.h"
#include "harness/implement/executor_builder.h"
#include "harness/implement/variant/catalogue.h"
#include "harness/implement/variant/settings.h"

namespace apo::testing {

class CpuRuntime {
 public:
  // Variants are found under `folder` of the source tree.
  CpuRuntime(const std::string& family, const std::string& folder, std::chrono::milliseconds deadline)
      : family_(*find_family(family)), builder_(options(false)), sanitized_(options(true)) {
    catalogue_.load({std::filesystem::path(APO_SOURCE_FOLDER) / folder});
    const Symbols device = device_symbols(executor_device());
    runtime_.family = &family_;
    runtime_.build = [this](const Configuration& configuration, const Axes& axes, bool sanitize) {
      return (sanitize ? sanitized_ : builder_)
          .build(family_, catalogue_.get(configuration.variant), axes, configuration.settings);
    };
    runtime_.unsupported = [this, device](const Configuration& configuration, const Axes& axes) {
      std::string why;
      return supports(catalogue_.get(configuration.variant), family_, axes, configuration.settings, &why, device) ? ""
                                                                                                                  : why;
    };
    runtime_.scratch = [this, device](const Configuration& configuration, const Axes& axes) {
      return scratch_bytes(catalogue_.get(configuration.variant), axes, configuration.settings, device);
    };
    runtime_.worker.program = APO_WORKER_PROGRAM;
    runtime_.worker.executor = true;
    runtime_.worker.deadline = deadline;
    runtime_.threads = 2;
    runtime_.sanitizer_runtime = sanitized_.sanitizer_runtime();
  }
  const Runtime& runtime() const { return runtime_; }
  const Family& family() const { return family_; }
  const Catalogue& catalogue() const { return catalogue_; }

 private:
  static BuildOptions options(bool sanitize) {
    const std::filesystem::path root = APO_SOURCE_FOLDER;
    return {.cache = std::filesystem::path(APO_BINARY_FOLDER) / "test-cache/builds",
            .home = root,
            .sanitize = sanitize,
            .device = executor_device(),
            .executor = true};
  }
  const Family& family_;
  Catalogue catalogue_;
  Builder builder_;
  Builder sanitized_;
  Runtime runtime_;
};

}  // namespace apo::testing
