// tests/evaluate/runtime_fixture.h - a runtime with real builds and real workers for variants of a family, by default
// copy.
#pragma once

#include <filesystem>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "harness/core/system/files.h"
#include "harness/evaluate/evaluate.h"
#include "harness/implement/builder.h"
#include "harness/implement/variant/catalogue.h"
#include "tests/shipped_families.h"

namespace apo::testing {

// Hands each step to the test.
class ProgressObserver : public SilentObserver {
 public:
  explicit ProgressObserver(std::function<void(const Progress&)> seen) : seen_(std::move(seen)) {}
  void progress(const Progress& progress) override { seen_(progress); }

 private:
  std::function<void(const Progress&)> seen_;
};

class CopyRuntime {
 public:
  CopyRuntime() : CopyRuntime("copy", {"tests/zoo/evaluate", "tests/zoo/host", "variants"}) {}
  // Variants are found under these folders of the source tree.
  CopyRuntime(const std::string& family, const std::vector<std::string>& folders) : family_(*find_family(family)) {
    const std::filesystem::path root = APO_SOURCE_FOLDER;
    std::vector<std::filesystem::path> found;
    for (const std::string& folder : folders) {
      found.push_back(root / folder);
    }
    catalogue_.load(found);
    // Kept in the build folder: the second run of a test compiles nothing.
    const std::filesystem::path cache = std::filesystem::path(APO_BINARY_FOLDER) / "test-cache/builds";
    plain_ = std::make_unique<Builder>(BuildOptions{.cache = cache, .home = root});
    sanitized_ = std::make_unique<Builder>(BuildOptions{.cache = cache, .home = root, .sanitize = true});
    runtime_.family = &family_;
    runtime_.build = [this](const Configuration& configuration, const Axes& axes, bool sanitize) {
      return (sanitize ? sanitized_ : plain_)
          ->build(family_, catalogue_.get(configuration.variant), axes, configuration.settings);
    };
    runtime_.unsupported = [this](const Configuration& configuration, const Axes& axes) {
      std::string why;
      return supports(catalogue_.get(configuration.variant), family_, axes, configuration.settings, &why) ? "" : why;
    };
    runtime_.scratch = [this](const Configuration& configuration, const Axes& axes) {
      return scratch_bytes(catalogue_.get(configuration.variant), axes, configuration.settings);
    };
    runtime_.worker.program = APO_WORKER_PROGRAM;
    runtime_.sanitizer_runtime = sanitized_->sanitizer_runtime();
    watching_ = std::make_unique<Builder>(BuildOptions{.cache = cache, .home = root, .watch_threads = true});
    runtime_.thread_sanitizer = watching_->thread_sanitizer();
    runtime_.build_for_threads = [this](const Configuration& configuration, const Axes& axes) {
      return build_for_threads(*plain_, *watching_, family_, catalogue_.get(configuration.variant), axes,
                               configuration.settings);
    };
  }

  const Runtime& runtime() const { return runtime_; }
  const Family& family() const { return family_; }
  const Catalogue& catalogue() const { return catalogue_; }

  // Short rounds: a verdict in about a second, where the effect is large. None is void for taking long, so that no
  // verdict depends on what else runs on the machine.
  EvaluatePlan plan() const {
    EvaluatePlan plan;
    plan.workloads = {find_workload(family_, "n4k")};
    plan.preset = standard_preset();
    plan.preset.round_s = 0.02;
    plan.preset.warmup_min_s = 0.0002;
    plan.preset.pause_s = 0;
    plan.preset.slow_round = std::numeric_limits<double>::infinity();
    plan.cache = CachePolicy::warm;
    plan.seed = 7;
    plan.sanitize = false;
    return plan;
  }

  Experiment experiment(const std::string& candidate, const std::string& incumbent = "copy/once") const {
    return {
        .id = 1, .family = "copy", .workloads = {"n4k"}, .candidate = {candidate, {}}, .incumbent = {incumbent, {}}};
  }

 private:
  const Family& family_;
  Catalogue catalogue_;
  std::unique_ptr<Builder> plain_;
  std::unique_ptr<Builder> sanitized_;
  std::unique_ptr<Builder> watching_;  // threads
  Runtime runtime_;
};

}  // namespace apo::testing
