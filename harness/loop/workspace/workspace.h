// harness/loop/workspace/workspace.h - what all commands share: paths, this machine, catalogue, builders, runtimes.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "harness/core/expression/expression.h"
#include "harness/core/records/records.h"
#include "harness/families/oracle_program.h"
#include "harness/implement/builder.h"
#include "harness/implement/variant/catalogue.h"
#include "harness/runtime/runtime.h"

namespace apo {

struct Paths {
  std::filesystem::path journal;   // .apo/journal.db
  std::filesystem::path folder;    // .apo
  std::filesystem::path variants;  // .apo/variants: registered from elsewhere
  std::filesystem::path families;  // .apo/families: the same
  std::filesystem::path builds;    // .apo/cache/builds
  std::filesystem::path reports;   // .apo/reports
  std::filesystem::path home;      // of the program: variants/, kernels/abi.h, experiments/
};

// `journal` is the option's value; an empty one selects $APO_JOURNAL, else .apo/journal.db in the working directory.
// $APO_CACHE names a folder for builds that several working directories share.
Paths make_paths(const std::string& journal);

// How the program of a family file is built and run.
OracleOptions oracle_options(const Paths& paths);

// Throw UserError with "did you mean", and with `where` behind the name: " in file:2". A workload may be named with its
// family, "copy/n4k".
const Family& known_family(std::string_view name, const std::string& where = "");
const Workload& known_workload(const Family& family, std::string_view name, const std::string& where = "");

class Workspace {
 public:
  explicit Workspace(Paths paths);

  const Paths& paths() const { return paths_; }
  const Machine& machine() const { return machine_; }
  Catalogue& catalogue() { return catalogue_; }
  const Catalogue& catalogue() const { return catalogue_; }
  const Toolchain& toolchain() { return builder(false).toolchain(); }

  // Builds for `runtime` and others. The compiler is asked for its version on first use.
  const Builder& builder(bool sanitize);
  const Builder& thread_builder();
  const Family& family(std::string_view name) const { return known_family(name); }
  const Workload& workload(const Family& family, std::string_view name) const { return known_workload(family, name); }

  // Decides the fate of the worker that identified the GPU: it ends, or serves the first check or measurement of the
  // next runtime.
  enum class AskedWorker : std::uint8_t { ends, serves };
  // Selects the target of machine(), builders and runtimes. For cuda it starts a worker that identifies the GPU; throws
  // EnvironmentError when there is no usable one.
  void use(Target target, AskedWorker asked = AskedWorker::ends);
  // Makes it that of a journal, which need not be here: what was measured there is read, variants for its GPU are
  // built, and nothing can run.
  void use_recorded(const Machine& machine);
  // Keeps this process, and what it starts, on these CPUs of the host, which is a machine with as many cores then.
  // Throws EnvironmentError where the system does not allow it.
  void keep_to(const std::vector<int>& cpus);
  // Selects the CPU executor: device variants run on this CPU under its checks, launched as on its nominal device;
  // for a `debugger` their builds say where variables are.
  void use_executor(bool debugger = false);
  // A stop ends compilers that builds from here on wait for, and calls on the executor of runtimes from here on, which
  // then throw Cancelled. No build runs meanwhile.
  void stop_builds_by(const std::stop_token& stop);
  // How runtimes from here on launch a call. runtime() throws UserError for a graph beside another target than cuda.
  void launch_as(LaunchForm form) { launch_ = form; }
  Target target() const { return machine_.target; }
  Symbols device_symbols() const;  // what expressions see of the target; nothing on host
  // True when use(Target::cuda) would work; otherwise `why_not` (unless null) gets one sentence.
  bool has_gpu(std::string* why_not = nullptr);
  // Measures the target's roofs, which the caller stores. Takes about a second and a half.
  std::vector<Roof> measure_roofs();

  // Returns the turns of the target's device, which all its runtimes share.
  std::shared_ptr<DeviceTurns> turns();

  // Returns what the evaluate stage needs. Keeps a reference to this. `sources`, by variant name, take precedence over
  // the catalogue: sources of a journal or of a file.
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
  LaunchForm launch_ = LaunchForm::stream;
  bool executor_ = false;
  bool debugger_ = false;
  std::stop_token stop_;
  Catalogue catalogue_;
  std::unique_ptr<Builder> plain_;
  std::unique_ptr<Builder> sanitized_;
  std::unique_ptr<Builder> watching_;  // threads
  std::map<std::string, Build>
      built_;  // by label, source, axes, kind: one campaign asks for the same build again and again
};

}  // namespace apo
