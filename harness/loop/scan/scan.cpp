// harness/loop/scan/scan.cpp - chooses what to measure next, has it measured, keeps it.
#include "harness/loop/scan/scan.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "harness/core/error.h"
#include "harness/loop/scan/own_bench.h"
#include "harness/research/search/space_options.h"
#include "journal/facts/research/scans.h"
#include "journal/facts/variants.h"
#include "kernels/random.h"

namespace apo {
namespace {

constexpr std::array<std::size_t, 3> kLeaders = {0, 16, 4};  // of each level of effort: successive halving
constexpr double kFirstPart = 0.7;          // of the budget: then no other configurations begin, where two are known
constexpr std::size_t kSearchedAtOnce = 3;  // spaces, of the fastest variants
constexpr double kMuch = 0.2;  // a log: by it faster than the reference is the next one, by it slower no leader
constexpr double kFailed = 1;  // what the model takes a failed setting for: slower than all by this log

using Time = ScanBench::Time;

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
        incumbent_(subject(request.incumbent)),
        own_(request.workspace, request.observer, request.runtime, request.workload, place_,
             derive_seed(request.seed, "scan")),
        bench_(request.bench == nullptr ? static_cast<ScanBench&>(own_) : *request.bench) {
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
  // When a part of the budget is spent.
  Time end_of(double part) const {
    const std::chrono::duration<double> seconds(part * request_.budget_s);
    return request_.budget_s <= 0 ? Time::max()
                                  : request_.started + std::chrono::duration_cast<Time::duration>(seconds);
  }
  static bool in_time(Time end) { return std::chrono::steady_clock::now() < end; }

  // Reads what is known beside it. False where the budget ends before.
  bool built_incumbent() {
    const std::optional<Build> build = own_.built(incumbent_.configuration, end_of(1));
    if (build && build->outcome != Outcome::valid) {
      throw EnvironmentError("the incumbent " + incumbent_.configuration.label() + " does not build here",
                             build->evidence);
    }
    if (build) {
      read_rows(build->key);
      measure_beside(incumbent_, build->key);
    }
    return build.has_value();
  }

  void measure_all() {
    while (in_time(end_of(1))) {
      const Time end = end_of(rows_.size() < 2 ? 1 : kFirstPart);
      if (const std::size_t most = in_time(end) ? bench_.wants() : 0; most > 0) {
        choose_reference();
        add(next_batch(most), 0);
      }
      if (asked_.empty() || !measure(end)) {
        break;
      }
    }
    stop();
  }

  void measure_leaders() {
    for (int level = 1; level < std::ssize(kLeaders) && in_time(end_of(1)); ++level) {
      choose_reference();
      const std::vector<Configuration> leading = leaders(level);
      add(leading, level);
      while (!asked_.empty() && measure(end_of(1))) {
      }
      stop();
      level = leading.empty() ? level : 0;  // who leads may have changed
    }
  }

  void stop() {
    bench_.stop();
    asked_.clear();
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
        add_variant(request_.journal, request_.workspace.catalogue().get(fastest.variant));
        measure_beside(subject(fastest), one.row.build_key);
      }
      return;
    }
  }

  void measure_beside(const Subject& reference, const std::string& build_key) {
    reference_ = reference;
    bench_.measure_beside({reference.configuration, reference.source_hash, build_key});
  }

  // Those that were neither measured nor asked for: the incumbent itself, what each variant is by default, what was
  // proposed; then of the fastest variants the settings that the model suggests.
  std::vector<Configuration> next_batch(std::size_t most) const {
    const Scans scans = known();
    std::vector<Configuration> batch;
    const auto add = [&](const Configuration& configuration) {
      const Subject one = subject(configuration);
      if (batch.size() < most && all_.contains(one.configuration.label()) && scans.find(one) == nullptr &&
          !holds(batch, one.configuration) && !holds(asked_, one.configuration)) {
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
      for (const Settings& settings : suggestions(*space, scans)) {
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

  // What was asked for and is not measured counts as fast as the fastest: the model looks elsewhere.
  std::vector<Settings> suggestions(const Space& space, const Scans& scans) const {
    std::vector<KnownSettings> known;
    std::vector<Settings> failed, awaited;
    double slowest = 0, fastest = -INFINITY;
    for (const Settings& settings : space.legal) {
      const Subject one = subject({space.variant->id(), settings});
      const ScannedEffect* scan = scans.find(one);
      if (scan == nullptr && holds(asked_, one.configuration)) {
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
        std::min(kLeaders.at(static_cast<std::size_t>(level)), std::max(kFewest, all_.size() >> level));
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

  void add(std::vector<Configuration> batch, int level) {
    Random random(derive_seed(request_.seed, "order of a scan", rows_.size()));
    shuffle(batch, random);
    for (const Configuration& one : batch) {  // with what its author promised, before anything is known
      add_variant(request_.journal, request_.workspace.catalogue().get(one.variant));
    }
    asked_.insert(asked_.end(), batch.begin(), batch.end());
    bench_.add(batch, level);
  }

  // One of those that were asked for. False where it is too late for another one.
  bool measure(Time end) {
    const auto tell = [&](const std::string& what) {
      request_.observer.progress({.what = "scan " + what,
                                  .done = static_cast<int>(rows_.size()),
                                  .expected = static_cast<int>(std::max(all_.size(), rows_.size()))});
    };
    std::optional<ScanMeasurement> one = bench_.take(end, tell);
    if (!one) {
      return false;
    }
    one->row.id = add_scanned(request_.journal, one->row);
    std::erase(asked_, one->row.configuration);
    rows_.push_back(std::move(one->row));
    summary_.build_s += one->build_s;
    summary_.timing_s += one->timing_s;
    ++summary_.measured;
    if (rows_.back().times.effect > kMuch) {
      choose_reference();
    }
    return true;
  }

  const ScanRequest& request_;
  ScanPlace place_;
  Subject incumbent_;
  Subject reference_ = incumbent_;  // what candidates are measured beside
  std::vector<Space> spaces_;
  std::set<std::string> all_;  // labels
  std::vector<Scanned> rows_;  // of the journal
  OwnBench own_;               // of this process
  ScanBench& bench_;
  std::vector<Configuration> asked_;  // of the bench, and not measured
  ScanSummary summary_;
};

}  // namespace

ScanSummary scan(const ScanRequest& request) {
  return Scan(request).run();
}

}  // namespace apo
