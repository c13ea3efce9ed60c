// harness/cli/look/bench.cpp - `apo bench`: the variants as Google Benchmark benchmarks, timed in the isolated worker.
#include <benchmark/benchmark.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <memory>

#include "harness/cli/command.h"
#include "harness/cli/console.h"
#include "harness/core/error.h"
#include "harness/core/system/secret.h"
#include "harness/core/text.h"
#include "harness/implement/variant/settings.h"
#include "harness/loop/workspace/chosen_workload.h"
#include "harness/loop/workspace/workspace.h"
#include "harness/profile/gpu/profile_processes.h"
#include "harness/runtime/runtime.h"
#include "harness/worker/parent/evidence.h"

namespace apo {
namespace {

// On a GPU: calls until its clock has risen.
constexpr int kCudaWarmupCalls = 64;

struct BenchOptions {
  std::vector<std::string> names;
  std::string target;
  std::string workload;
  std::string cache = "cold";
};

// One configuration on one workload of one target. The worker starts when the benchmark first runs: a filter may leave
// it out.
class Benchmarked {
 public:
  Benchmarked(Runtime runtime, Configuration configuration, const Workload& workload, CachePolicy cache)
      : runtime_(std::move(runtime)), configuration_(std::move(configuration)), workload_(workload), cache_(cache) {}

  std::string name() const { return configuration_.label() + "/" + workload_.name; }
  const Work work() const { return runtime_.family->work(workload_.axes); }
  std::int64_t units() const { return runtime_.family->unit_count(workload_.axes); }

  // Throws EnvironmentError where it does not run.
  void start() {
    if (process_ != nullptr && process_->worker().alive()) {
      return;
    }
    const Build build = runtime_.build(configuration_, workload_.axes, false);
    if (build.outcome != Outcome::valid) {
      throw EnvironmentError("it does not build: " + build.evidence);
    }
    inputs_ = make_inputs(*runtime_.family, workload_.axes, secret_seed(), runtime_.family->regimes.front(),
                          runtime_.threads);
    process_ = std::make_unique<CandidateProcess>(build, configuration_,
                                                  process_tensors(runtime_, configuration_, workload_.axes, inputs_),
                                                  std::make_unique<Worker>(runtime_.worker), runtime_.worker.target);
    if (runtime_.worker.target == Target::cuda) {
      warm_up();
    }
  }

  // Times `calls` or a few more in a turn on the device: of those of one sample their mean. Throws as start().
  std::vector<double> time(std::int64_t calls) {
    const DeviceTurns::Turn turn =
        runtime_.take_turn([](const std::string& line) { std::fprintf(stderr, "apo: %s\n", line.c_str()); });
    const auto samples = static_cast<int>((calls + repetitions_ - 1) / repetitions_);
    std::vector<double> ns;
    for (const double one : process_->time(samples, cache_, repetitions_)) {
      ns.insert(ns.end(), static_cast<std::size_t>(repetitions_), one);
    }
    last_ns_ = std::max(ns.back(), 1.0);
    return ns;
  }

  // As many calls in one request as take about 50 ms, so that the exchange of messages costs little.
  std::int64_t batch() const {
    const double samples = std::clamp(50e6 / (last_ns_ * repetitions_), 1.0, 64.0);
    return static_cast<std::int64_t>(samples) * repetitions_;
  }

 private:
  // Also finds how many calls a sample needs for its events not to count.
  void warm_up() {
    repetitions_ = 1;
    const std::vector<double> ns = time(kCudaWarmupCalls);
    const double shortest = *std::min_element(ns.begin(), ns.end());
    repetitions_ = calls_in_sample(*runtime_.family, workload_.axes, std::max(shortest, 1.0), cache_);
  }

  Runtime runtime_;
  Configuration configuration_;
  const Workload& workload_;
  CachePolicy cache_;
  double last_ns_ = 50e6;  // of a call
  int repetitions_ = 1;    // calls in one sample
  InputSet inputs_;
  std::unique_ptr<CandidateProcess> process_;
};

// Has any benchmark failed? Google Benchmark itself tells only the reader.
bool any_failed = false;

void run_benchmark(benchmark::State& state, Benchmarked& one) try {
  one.start();
  std::vector<double> ns;
  std::size_t next = 0;
  auto left = static_cast<std::int64_t>(state.max_iterations);
  for ([[maybe_unused]] const auto iteration : state) {
    if (next == ns.size()) {
      next = 0;
      const std::int64_t calls = std::min(one.batch(), std::max<std::int64_t>(left, 1));
      left -= calls;
      ns = one.time(calls);
    }
    state.SetIterationTime(1e-9 * ns[next++]);
  }
  const Work work = one.work();
  const auto calls = static_cast<double>(state.iterations());
  state.SetItemsProcessed(state.iterations() * one.units());
  state.SetBytesProcessed(static_cast<std::int64_t>(calls * work.bytes));
  if (work.flops > 0) {
    state.counters["flops"] = benchmark::Counter(calls * work.flops, benchmark::Counter::kIsRate);
  }
} catch (const EnvironmentError& error) {
  any_failed = true;
  state.SkipWithError(error.what());
}

// What the command line names: every variant of a family for the target with its default settings, or one
// configuration, whose target has to be the one that --target names.
std::vector<Configuration> chosen(Workspace& workspace, const std::vector<std::string>& names,
                                  const std::string& target) {
  std::vector<Configuration> configurations;
  const Target wanted = target == "cuda" ? Target::cuda : Target::host;
  const auto add_family = [&](const Family& family) {
    for (const Variant* variant : workspace.catalogue().of_family(family.name)) {
      if (variant->target == wanted) {
        configurations.push_back({variant->id(), default_settings(*variant)});
      }
    }
  };
  for (const std::string& name : names) {
    if (name.find('/') == std::string::npos) {
      add_family(workspace.family(name));
      continue;
    }
    configurations.push_back(workspace.catalogue().configuration(name));
    const Target its = workspace.catalogue().get(configurations.back().variant).target;
    if (!target.empty() && its != wanted) {
      throw UserError(name + " is for target " + std::string(to_string(its)) + ", and --target says " + target,
                      "drop --target: a named variant runs on its own target");
    }
  }
  if (names.empty()) {
    for (const Family& family : families()) {
      add_family(family);
    }
  }
  return configurations;
}

std::vector<std::unique_ptr<Benchmarked>> prepare(Workspace& workspace, const BenchOptions& options,
                                                  const std::vector<std::string>& names, CachePolicy cache) {
  std::vector<std::unique_ptr<Benchmarked>> all;
  for (const Configuration& configuration : chosen(workspace, names, options.target)) {
    const Variant& variant = workspace.catalogue().get(configuration.variant);
    const Family& family = workspace.family(variant.family);
    workspace.use(variant.target);
    const Workload& workload = options.workload.empty() ? first_workload(family, workspace.target())
                                                        : workspace.workload(family, options.workload);
    const Runtime runtime = workspace.runtime(family);
    if (const std::string why = runtime.unsupported(configuration, workload.axes); !why.empty()) {
      std::fprintf(stderr, "apo: %s left out: %s\n", configuration.label().c_str(), why.c_str());
      continue;
    }
    all.push_back(std::make_unique<Benchmarked>(runtime, configuration, workload, cache));
  }
  return all;
}

// Google Benchmark answers these with its usage and exit code 0, which no script would notice.
void check_flag(const std::string& flag) {
  const std::vector<std::string> formats = {"console", "json", "csv"};
  for (const std::string name : {"--benchmark_format=", "--benchmark_out_format="}) {
    if (flag.starts_with(name)) {
      const std::string value = flag.substr(name.size());
      if (std::find(formats.begin(), formats.end(), value) == formats.end()) {
        throw UserError("unknown format '" + value + "' in " + flag,
                        did_you_mean(value, formats) + "\nknown: " + join(formats, ", "));
      }
    }
  }
}

void hand_over(const std::vector<std::string>& flags) {
  static std::vector<std::string> words = {"apo"};  // Google Benchmark keeps pointers into it
  words.insert(words.end(), flags.begin(), flags.end());
  std::vector<char*> argv;
  for (std::string& word : words) {
    argv.push_back(word.data());
  }
  auto argc = static_cast<int>(argv.size());
  argv.push_back(nullptr);
  benchmark::Initialize(&argc, argv.data());
  if (argc > 1) {
    throw UserError("Google Benchmark does not take '" + std::string(argv[1]) + "'",
                    "'apo bench --benchmark_help' shows its flags");
  }
}

int run_benchmarks(const BenchOptions& options, const std::vector<std::string>& extras, const Globals& globals) {
  std::vector<std::string> names;
  std::vector<std::string> flags =
      globals.json ? std::vector<std::string>{"--benchmark_format=json"} : std::vector<std::string>{};
  std::vector<std::string> words = options.names;
  words.insert(words.end(), extras.begin(), extras.end());
  for (const std::string& word : words) {
    if (word.starts_with("--benchmark_") || word.starts_with("--v=")) {
      check_flag(word);
      flags.push_back(word);
    } else if (word.starts_with("-")) {
      throw UserError("unknown option '" + word + "'", "'apo bench --help' shows its options");
    } else {
      names.push_back(word);
    }
  }
  const CachePolicy cache = checked_cache_policy(options.cache);
  if (!options.target.empty() && options.target != "host" && options.target != "cuda") {
    throw UserError("unknown target '" + options.target + "'", "known: host, cuda");
  }
  hand_over(flags);
  Workspace workspace(make_paths(globals.journal));
  const auto all = prepare(workspace, options, names, cache);
  if (all.empty()) {
    throw UserError("none of these variants supports the workload", "'apo list' shows variants and workloads");
  }
  for (const auto& one : all) {
    benchmark::RegisterBenchmark(one->name().c_str(), [&one](benchmark::State& state) { run_benchmark(state, *one); })
        ->UseManualTime()
        ->Unit(benchmark::kMicrosecond);
  }
  const std::size_t matched = benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  if (!std::cout.flush()) {
    throw EnvironmentError("cannot write to standard output");
  }
  if (matched == 0) {
    throw UserError("no benchmark matches the filter", "'apo bench --benchmark_list_tests' shows their names");
  }
  return any_failed ? kGateFailed : kDone;
}

}  // namespace

Action define_bench(CLI::App& app, Globals& globals) {
  const auto options = std::make_shared<BenchOptions>();
  app.add_option("names", options->names, "families and variants (default: all of them)");
  app.add_option("--workload", options->workload, "workload (default: each family's first for the target)");
  app.add_option("--target", options->target, "variants of a family to time: host or cuda (default: host)");
  app.add_option("--cache", options->cache, "cold (flush the caches before every call) or warm (default: cold)");
  app.allow_extras();
  app.footer(
      "Google Benchmark's own flags pass through, for instance --benchmark_filter=REGEX, --benchmark_min_time=0.1,\n"
      "--benchmark_repetitions=5, --benchmark_format=json. It only times: use 'apo verify' for correctness "
      "and\n"
      "'apo compare' for a judgement.");
  return [options, &app, &globals] { return run_benchmarks(*options, app.remaining(), globals); };
}

}  // namespace apo
