// harness/loop/workspace/workspace.h - what all commands share: paths, this machine, catalogue, builders, runtimes.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "harness/core/records/records.h"
#include "harness/implement/builder.h"
#include "harness/implement/variant/catalogue.h"
#include "harness/implement/variant/expression.h"
#include "harness/runtime/runtime.h"

namespace apo {

struct Paths {
  std::filesystem::path journal;   // .apo/journal.db
  std::filesystem::path folder;    // .apo
  std::filesystem::path variants;  // .apo/variants: registered from elsewhere
  std::filesystem::path builds;    // .apo/cache/builds
  std::filesystem::path reports;   // .apo/reports
  std::filesystem::path home;      // of the program: variants/, kernels/abi.h, experiments/
};

// `journal` is the option's value; when empty $APO_JOURNAL, then .apo/journal.db in the working directory.
Paths make_paths(const std::string& journal);

class Workspace {
 public:
  explicit Workspace(Paths paths);

  const Paths& paths() const { return paths_; }
  const Machine& machine() const { return machine_; }
  Catalogue& catalogue() { return catalogue_; }
  const Catalogue& catalogue() const { return catalogue_; }
  const Toolchain& toolchain() { return builder(false).toolchain(); }

  // Builds for `runtime` and friends; the compiler is asked who it is on first use.
  const Builder& builder(bool sanitize);
  // Throws UserError with "did you mean".
  const Family& family(std::string_view name) const;
  const Workload& workload(const Family& family, std::string_view name) const;

  // What becomes of the worker that was asked who the GPU is: it ends, or it serves what the next runtime checks first,
  // or what it measures first.
  enum class AskedWorker : std::uint8_t { ends, serves, measures };
  // Where variants run from here on: machine(), builders and runtimes are the target's. For cuda it starts a worker to
  // ask the GPU who it is; throws EnvironmentError when there is no usable one.
  void use(Target target, AskedWorker asked = AskedWorker::ends);
  // The CPU executor from here on: device variants run on this CPU under its checks, launched as on its nominal device.
  void use_executor();
  Target target() const { return machine_.target; }
  Symbols device_symbols() const;  // what expressions see of the target; nothing on host
  // Whether use(Target::cuda) would work; `why_not` (unless null) gets one sentence when it would not.
  bool has_gpu(std::string* why_not = nullptr);
  // Of the target, measured; the caller keeps them. Takes about a second and a half.
  std::vector<Roof> measure_roofs();

  // Of the target: one for all of its runtimes.
  std::shared_ptr<DeviceTurns> turns();

  // What the evaluate stage needs. Keeps a reference to this. A configuration of one of `sources`, by variant name, is
  // that variant whatever the catalogue holds under the name: sources of a journal or of a file.
  Runtime runtime(const Family& family, std::map<std::string, Variant> sources = {});

 private:
  void forget_builds();
  Build build(const Family& family, const Variant& variant, const Configuration& configuration, const Axes& axes,
              bool sanitize);

  Paths paths_;
  Machine host_;
  Machine machine_;  // of the target: host_, or the GPU
  std::optional<DeviceFacts> device_;
  std::unique_ptr<Worker> asked_;
  std::map<std::string, std::shared_ptr<DeviceTurns>> turns_;  // by the machine's id
  bool executor_ = false;
  Catalogue catalogue_;
  std::unique_ptr<Builder> plain_;
  std::unique_ptr<Builder> sanitized_;
  std::map<std::string, Build>
      built_;  // by label, source, axes, kind: one campaign asks for the same build again and again
};

std::string describe_axes(const Axes& axes);  // "B=2 T=64"

}  // namespace apo
