// harness/loop/scan/scan.cpp - chooses what to measure next, has it built on all cores, measures it, keeps it.
#include "harness/loop/scan/scan.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <utility>

#include "harness/core/error.h"
#include "harness/core/stopwatch.h"
#include "harness/core/text.h"
#include "harness/evaluate/scan/scan_process.h"
#include "harness/loop/scan/builds_ahead.h"
#include "harness/research/search/space_options.h"
#include "journal/facts/research/scans.h"
#include "journal/facts/variants.h"
#include "kernels/random.h"

namespace apo {
namespace {

// Of each level, successive halving: the calls, and how many of the leaders it is for.
struct Level {
  ScanEffort effort;
  std::size_t leaders;
};
constexpr std::array kLevels = {Level{{.seconds = 0.03, .most_blocks = 5}, 0},
                                Level{{.seconds = 0.1, .most_blocks = 8, .processes = 2}, 16},
                                Level{{.seconds = 0.4, .most_blocks = 16, .processes = 4}, 4}};
constexpr double kFirstPart = 0.7;          // of the budget: then no other configurations begin, where two are known
constexpr std::size_t kBatch = 32;          // chosen together
constexpr std::size_t kSearchedAtOnce = 3;  // spaces, of the fastest variants
constexpr double kMuch = 0.2;  // a log: by it faster than the reference is the next one, by it slower no leader
constexpr double kFailed = 1;  // what the model takes a failed setting for: slower than all by this log

using Time = std::chrono::steady_clock::time_point;

struct Space {
  const Variant* variant = nullptr;
  std::vector<Settings> legal;  // all tunables stated
};

class Scan {
 public:
  explicit Scan(const ScanRequest& request)
      : request_(request),
        place_{.machine = request.workspace.machine().id,
               .family = request.family.name,
               .workload = request.workload.name,
               .cache = request.cache},
        incumbent_(subject(request.incumbent)) {
    collect_spaces();
  }

  ScanSummary run() {
    if (all_.size() < 2) {
      return {};  // nothing to rank
    }
    if (built_incumbent()) {
      measure_all();
      measure_leaders();
    }
    const Scans scans = known();
    for (const ScannedEffect& one : scans.ranked()) {
      if (all_.contains(one.row.configuration.label()) &&
          subject(one.row.configuration).source_hash == one.row.source_hash) {
        summary_.scanned.push_back(one);
      }
    }
    summary_.left = all_.size() - summary_.scanned.size();
    return std::move(summary_);
  }

 private:
  Subject subject(const Configuration& configuration) const {
    const Variant& variant = request_.workspace.catalogue().get(configuration.variant);
    return {normalised(configuration, variant), variant.source_hash};
  }
  Scans known() const { return {rows_, incumbent_}; }
  Build build(const Configuration& configuration) const {
    return request_.runtime.build(configuration, request_.workload.axes, false);
  }

  // When a part of the budget is spent.
  Time end_of(double part) const {
    const std::chrono::duration<double> seconds(part * request_.budget_s);
    return request_.budget_s <= 0 ? Time::max()
                                  : request_.started + std::chrono::duration_cast<Time::duration>(seconds);
  }
  static Time half_way(Time end) {
    const Time now = std::chrono::steady_clock::now();
    return now + (end - now) / 2;
  }
  static bool in_time(Time end) { return std::chrono::steady_clock::now() < end; }

  // What is not built when the work is done is not built.
  template <class Work>
  void with_builds(Work work) {
    struct Stoppable {
      Workspace& workspace;
      std::stop_source stop;
      explicit Stoppable(Workspace& of) : workspace(of) { workspace.stop_builds_by(stop.get_token()); }
      ~Stoppable() { workspace.stop_builds_by({}); }
    } stoppable(request_.workspace);
    BuildsAhead builds([this](const Configuration& one) { return build(one); }, request_.runtime.threads,
                       stoppable.stop);
    work(builds);
  }

  // Reads what is known beside it. False where the budget ends before.
  bool built_incumbent() {
    std::vector<TimedArm> built;
    with_builds([&](BuildsAhead& builds) {
      add({incumbent_.configuration}, builds);
      built = builds.take(1, end_of(1));
    });
    if (!built.empty() && built.front().build.outcome != Outcome::valid) {
      throw EnvironmentError("the incumbent " + incumbent_.configuration.label() + " does not build here",
                             built.front().build.evidence);
    }
    if (!built.empty()) {
      read_rows(built.front().build.key);
    }
    return !built.empty();
  }

  void measure_all() {
    with_builds([&](BuildsAhead& builds) {
      while (in_time(end_of(1))) {
        const Time end = end_of(rows_.size() < 2 ? 1 : kFirstPart);
        if (builds.added().size() < built_ahead() && in_time(end)) {
          choose_reference();
          add(next_batch(builds.added()), builds);
        }
        if (builds.added().empty() || !in_time(end)) {
          break;
        }
        measure(builds, 0, end);
      }
    });
  }

  void measure_leaders() {
    for (int level = 1; level < std::ssize(kLevels) && in_time(end_of(1)); ++level) {
      choose_reference();
      const std::vector<Configuration> leading = leaders(level);
      with_builds([&](BuildsAhead& builds) {
        for (add(leading, builds); !builds.added().empty() && in_time(end_of(1));) {
          measure(builds, level, end_of(1));
        }
      });
      level = leading.empty() ? level : 0;  // who leads may have changed
    }
  }

  void collect_spaces() {
    for (const Variant* variant : request_.workspace.catalogue().of_family(request_.family.name)) {
      if (variant->target != request_.workspace.target()) {
        continue;
      }
      Space space{.variant = variant, .legal = settings_space(*variant)};
      if (space.legal.empty()) {
        space.legal.emplace_back(default_settings(*variant));
      }
      std::erase_if(space.legal, [&](const Settings& settings) {
        return !request_.runtime
                    .unsupported({variant->id(), stated_settings(*variant, settings)}, request_.workload.axes)
                    .empty();
      });
      for (const Settings& settings : space.legal) {
        all_.insert(normalised({variant->id(), settings}, *variant).label());
      }
      if (!space.legal.empty()) {
        spaces_.push_back(std::move(space));
      }
    }
  }

  // Rows of before the incumbent's build changed, without a change of its text, are of another compiler or of other
  // flags: they are measured anew.
  void read_rows(const std::string& key) {
    rows_ = scanned_at(request_.journal, place_);
    const auto is_stale = [&](const Scanned& row) {
      return row.configuration == incumbent_.configuration && row.source_hash == incumbent_.source_hash &&
             row.build_key != key;
    };
    const auto newest = std::ranges::find_if(rows_.rbegin(), rows_.rend(), is_stale);
    rows_.erase(rows_.begin(), newest.base());
  }

  // Beside what is much slower or faster a ratio has the noise of the slower calls: candidates are measured beside the
  // fastest one that is known.
  void choose_reference() {
    const Scans scans = known();
    for (const ScannedEffect& one : scans.ranked()) {
      const Configuration& fastest = one.row.configuration;
      if (!all_.contains(fastest.label()) || subject(fastest).source_hash != one.row.source_hash) {
        continue;
      }
      const ScannedEffect* now = scans.find(reference_);
      if (now != nullptr && one.effect - 2 * one.sd > now->effect + kMuch) {
        reference_ = subject(fastest);
        add_variant(request_.journal, request_.workspace.catalogue().get(fastest.variant));
        process_.reset();
      }
      return;
    }
  }

  // Those that were neither measured nor added: the incumbent itself, what each variant is by default, what was
  // proposed; then of the fastest variants the settings that the model suggests.
  std::vector<Configuration> next_batch(const std::vector<Configuration>& added) const {
    const Scans scans = known();
    std::vector<Configuration> batch;
    const auto add = [&](const Configuration& configuration) {
      const Subject one = subject(configuration);
      if (batch.size() < batch_size() && all_.contains(one.configuration.label()) && scans.find(one) == nullptr &&
          !holds(batch, one.configuration) && !holds(added, one.configuration)) {
        batch.push_back(one.configuration);
      }
    };
    add(incumbent_.configuration);
    for (const Space& space : spaces_) {
      add({space.variant->id(), space.legal.front()});
    }
    std::ranges::for_each(request_.proposed, add);
    std::size_t searched = 0;
    for (const Space* space : batch.empty() ? fastest_first(scans) : std::vector<const Space*>()) {
      const std::size_t before = batch.size();
      for (const Settings& settings : suggestions(*space, scans, added)) {
        add({space->variant->id(), settings});
      }
      searched += batch.size() > before ? 1U : 0U;
      if (searched == kSearchedAtOnce) {
        break;
      }
    }
    return batch;
  }

  static bool holds(const std::vector<Configuration>& configurations, const Configuration& one) {
    return std::ranges::find(configurations, one) != configurations.end();
  }

  // Of the variants of which one configuration was measured.
  std::vector<const Space*> fastest_first(const Scans& scans) const {
    std::map<std::string, std::size_t> ranks;  // by variant
    for (const ScannedEffect& one : scans.ranked()) {
      ranks.try_emplace(one.row.configuration.variant, ranks.size());
    }
    std::vector<const Space*> sorted;
    for (const Space& space : spaces_) {
      if (ranks.contains(space.variant->id())) {
        sorted.push_back(&space);
      }
    }
    std::ranges::stable_sort(sorted, {}, [&](const Space* space) { return ranks.at(space->variant->id()); });
    return sorted;
  }

  // What was added and is not measured counts as fast as the fastest: the model looks elsewhere.
  std::vector<Settings> suggestions(const Space& space, const Scans& scans,
                                    const std::vector<Configuration>& added) const {
    std::vector<KnownSettings> known;
    std::vector<Settings> failed, awaited;
    double slowest = 0, fastest = -INFINITY;
    for (const Settings& settings : space.legal) {
      const Subject one = subject({space.variant->id(), settings});
      const ScannedEffect* scan = scans.find(one);
      if (scan == nullptr && holds(added, one.configuration)) {
        awaited.push_back(settings);
      } else if (scan != nullptr && std::isnan(scan->effect)) {
        failed.push_back(settings);
      } else if (scan != nullptr) {
        known.push_back({.settings = settings, .effect = scan->effect});
        slowest = std::min(slowest, scan->effect);
        fastest = std::max(fastest, scan->effect);
      }
    }
    for (const Settings& settings : failed) {
      known.push_back({.settings = settings, .effect = slowest - kFailed});
    }
    for (const Settings& settings : awaited) {
      known.push_back({.settings = settings, .effect = std::isinf(fastest) ? slowest : fastest});
    }
    return known.size() == space.legal.size()
               ? std::vector<Settings>()
               : suggested_settings(*space.variant, space.legal, known, derive_seed(request_.seed, "space"));
  }

  // The fastest ones, which had fewer calls and may be the fastest one: half of all, then a quarter. And the incumbent,
  // through which all effects are: its calls may be slow, so that one block had to do.
  std::vector<Configuration> leaders(int level) const {
    constexpr std::size_t kFewest = 2;
    const std::size_t most =
        std::min(kLevels.at(static_cast<std::size_t>(level)).leaders, std::max(kFewest, all_.size() >> level));
    std::vector<Configuration> chosen;
    std::size_t rank = 0;
    double fastest = 0;
    for (const ScannedEffect& one : known().ranked()) {
      fastest = rank == 0 ? one.effect : fastest;
      const bool leads = !std::isnan(one.effect) && rank++ < most && one.effect + 2 * one.sd > fastest - kMuch;
      const Configuration& configuration = one.row.configuration;
      const bool is_root = configuration == incumbent_.configuration && reference_.configuration != configuration;
      if ((leads || is_root) && one.row.level < level && all_.contains(configuration.label())) {
        chosen.push_back(configuration);
      }
    }
    return chosen;
  }

  bool on_gpu() const { return request_.runtime.worker.target == Target::cuda; }
  // The CPUs build while a GPU measures; on a host they do one after the other, but for a build that takes long.
  std::size_t built_ahead() const { return on_gpu() ? static_cast<std::size_t>(request_.runtime.threads) : 1; }

  // A host builds all of a batch before it measures.
  std::size_t batch_size() const {
    constexpr std::size_t kOfThread = 2;
    return on_gpu() ? kBatch : std::min(kBatch, kOfThread * static_cast<std::size_t>(request_.runtime.threads));
  }

  void add(std::vector<Configuration> batch, BuildsAhead& builds) {
    Random random(derive_seed(request_.seed, "order of a scan", rows_.size()));
    shuffle(batch, random);
    for (const Configuration& one : batch) {  // with what its author promised, before anything is known
      add_variant(request_.journal, request_.workspace.catalogue().get(one.variant));
      builds.add(one);
    }
  }

  void measure(BuildsAhead& builds, int level, Time end) {
    const auto note = [&](const std::string& line) { request_.observer.say(line); };
    if (on_gpu() && !process_) {
      const DeviceTurns::Turn turn = request_.runtime.take_turn(note);
      process();
    }
    request_.observer.progress({.what = fmt::format("scan: build {}", builds.added().size())});
    auto start = std::chrono::steady_clock::now();
    const std::vector<TimedArm> built =
        builds.take(on_gpu() ? 1 : builds.added().size(), on_gpu() ? end : half_way(end));
    summary_.build_s += seconds_since(start);
    const DeviceTurns::Turn turn = request_.runtime.take_turn(note);
    start = std::chrono::steady_clock::now();
    for (const TimedArm& arm : built) {
      if (!in_time(end)) {
        break;
      }
      request_.observer.progress({.what = "scan " + arm.configuration.label(),
                                  .done = static_cast<int>(rows_.size()),
                                  .expected = static_cast<int>(std::max(all_.size(), rows_.size()))});
      keep(arm, level);
      if (rows_.back().times.effect > kMuch) {
        choose_reference();
      }
    }
    summary_.timing_s += seconds_since(start);
  }

  void keep(const TimedArm& arm, int level) {
    const auto start = std::chrono::steady_clock::now();
    const Build& build = arm.build;
    Scanned row{.place = place_,
                .configuration = arm.configuration,
                .source_hash = subject(arm.configuration).source_hash,
                .incumbent = reference_.configuration,
                .incumbent_source_hash = reference_.source_hash,
                .build_key = build.key,
                .resources = build.resources,
                .level = level};
    if (build.outcome == Outcome::valid) {
      row.times = process().measure(arm, kLevels.at(static_cast<std::size_t>(level)).effort);
    } else {
      row.times = {.outcome = build.outcome, .evidence = build.evidence};
    }
    row.seconds = seconds_since(start) + (build.from_cache ? 0 : build.seconds);
    row.id = add_scanned(request_.journal, row);
    rows_.push_back(std::move(row));
    ++summary_.measured;
  }

  // Where all is known none is started.
  ScanProcess& process() {
    if (!process_) {
      process_.emplace(request_.runtime, request_.workload, request_.cache,
                       TimedArm{reference_.configuration, build(reference_.configuration)},
                       derive_seed(request_.seed, "scan"));
    }
    return *process_;
  }

  const ScanRequest& request_;
  ScanPlace place_;
  Subject incumbent_;
  Subject reference_ = incumbent_;  // what candidates are measured beside
  std::vector<Space> spaces_;
  std::set<std::string> all_;  // labels
  std::vector<Scanned> rows_;  // of the journal
  std::optional<ScanProcess> process_;
  ScanSummary summary_;
};

}  // namespace

ScanSummary scan(const ScanRequest& request) {
  return Scan(request).run();
}

}  // namespace apo
