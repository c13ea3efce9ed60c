// tests/executor/cpu_lab.h - a lab whose device variants run on this CPU.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>

#include "harness/evaluate/correctness.h"
#include "harness/implement/build.h"
#include "harness/implement/catalogue.h"
#include "harness/implement/executor_build.h"
#include "harness/implement/expression.h"
#include "harness/implement/settings.h"

namespace apo::testing {

class CpuLab {
 public:
  // Variants are found under `folder` of the source tree.
  CpuLab(const std::string& family, const std::string& folder, std::chrono::milliseconds deadline)
      : family_(*find_family(family)), builder_(options(false)), sanitized_(options(true)) {
    catalogue_.load({std::filesystem::path(APO_SOURCE_FOLDER) / folder});
    const Symbols device = device_symbols(executor_device());
    lab_.family = &family_;
    lab_.build = [this](const Configuration& configuration, const Axes& axes, bool sanitize) {
      return (sanitize ? sanitized_ : builder_)
          .build(family_, catalogue_.get(configuration.variant), axes, configuration.settings);
    };
    lab_.unsupported = [this, device](const Configuration& configuration, const Axes& axes) {
      std::string why;
      return supports(catalogue_.get(configuration.variant), family_, axes, configuration.settings, &why, device) ? ""
                                                                                                                  : why;
    };
    lab_.scratch = [this, device](const Configuration& configuration, const Axes& axes) {
      return scratch_bytes(catalogue_.get(configuration.variant), axes, configuration.settings, device);
    };
    lab_.worker.program = APO_WORKER_PROGRAM;
    lab_.worker.executor = true;
    lab_.worker.deadline = deadline;
    lab_.threads = 2;
    lab_.sanitizer_runtime = sanitized_.sanitizer_runtime();
  }
  const Lab& lab() const { return lab_; }
  const Family& family() const { return family_; }
  const Catalogue& catalogue() const { return catalogue_; }

 private:
  static BuildOptions options(bool sanitize) {
    const std::filesystem::path root = APO_SOURCE_FOLDER;
    return {.cache = std::filesystem::path(APO_BINARY_FOLDER) / "test-builds",
            .home = root,
            .sanitize = sanitize,
            .device = executor_device(),
            .executor = true};
  }
  const Family& family_;
  Catalogue catalogue_;
  Builder builder_;
  Builder sanitized_;
  Lab lab_;
};

}  // namespace apo::testing
