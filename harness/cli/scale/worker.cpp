// harness/cli/scale/worker.cpp - `apo worker --serve` judges for a driver elsewhere; `apo worker` alone is the isolated
// process of a candidate, which only the program itself starts.
#include <CLI/CLI.hpp>
#include <cstdlib>
#include <memory>

#include "harness/cli/command.h"
#include "harness/cli/target_choice.h"
#include "harness/core/system/files.h"
#include "harness/fleet/serve.h"
#include "harness/loop/workspace/workspace.h"
#include "harness/worker/child/worker_main.h"

namespace apo {
namespace {

namespace fs = std::filesystem;

struct ServeCommand {
  bool serve = false;
  std::string target = "auto";
  std::vector<int> cpus;
};

// Builds outlive this process, so that the next one finds them; the rest is for this one alone.
Paths paths_of_worker(const fs::path& folder) {
  Paths paths = make_paths((folder / "journal.db").string());
  const char* cache = std::getenv("XDG_CACHE_HOME");
  const char* home = std::getenv("HOME");
  if (std::getenv("APO_CACHE") == nullptr && (cache != nullptr || home != nullptr)) {
    paths.builds = (cache != nullptr ? fs::path(cache) : fs::path(home) / ".cache") / "apo" / "builds";
  }
  return paths;
}

int serve_driver(const ServeCommand& options) {
  static_cast<void>(asked_target(options.target));
  const TemporaryFolder folder("apo-serve");
  Workspace workspace(paths_of_worker(folder.path()));
  if (!options.cpus.empty()) {
    workspace.keep_to(options.cpus);
  }
  workspace.use(resolve_target(options.target, workspace));
  serve(workspace, identity_of_program(APO_VERSION));
  return kDone;
}

}  // namespace

Action define_worker(CLI::App& app, Globals&) {
  const auto options = std::make_shared<ServeCommand>();
  app.add_flag("--serve", options->serve,
               "hold one device and judge what a driver (apo run --workers) sends on standard input");
  app.add_option("--target", options->target, "host, cuda or auto: a GPU when one is usable (default: auto)");
  app.add_option("--cpus", options->cpus, "CPUs that it may use, for example 0,1 (default: all)")->delimiter(',');
  app.footer("CUDA_VISIBLE_DEVICES chooses the GPU. A driver starts workers by itself: docs/scale.md.");
  return [options] { return options->serve ? serve_driver(*options) : worker_main(); };
}

}  // namespace apo
