// harness/profile/explain.cpp - pairs the metrics of two profiles and ranks them by the time they account for.
#include "harness/profile/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "harness/core/text.h"

namespace apo {
namespace {

constexpr double kLeastChange = 0.05;      // of the quantity
constexpr double kLeastTimeChange = 0.01;  // of A's time

std::string arrow(const std::string& before, const std::string& after) {
  return before + " -> " + after;
}

// A share of the time in which a unit works or is idle, independent of other units.
struct TimedShare {
  const char* metric;
  const char* words;
  const char* of;
};

constexpr TimedShare kShares[] = {
    {"dram_utilisation", "DRAM busy", "of the time"},
    {"issue_utilisation", "issue slots used", "of all"},
    {"pipe_special", "special-function pipe busy", "of the time"},
    {"pipe_fp32", "FP32 pipe busy", "of the time"},
    {"pipe_tensor", "tensor pipe busy", "of the time"},
    {"pipe_fp64", "double-precision pipe busy", "of the time"},
    {"pipe_shared", "data path of shared memory busy", "of the time"},
    {"l2_utilisation", "L2 busy", "of the time"},
    {"idle_share", "SMs idle in the last round of blocks", "of the time"},
};

struct Quantity {
  const char* metric;
  const char* words;
  bool is_bytes;
};

constexpr Quantity kQuantities[] = {
    {"bytes_moved", "bytes moved by DRAM", true},
    {"smsp__inst_executed.sum", "warp instructions", false},
    {"executed_flops", "executed FP32 operations", false},
    {"local_bytes", "bytes of local memory accessed", true},
    {"atomics", "atomic instructions", false},
    {"barriers_per_step", "barriers that a warp passes in a step", false},
    {"barriers_per_warp", "barriers that a warp passes in a call", false},
    {"l2_hit_rate", "L2 hit rate", false},
    {"bank_conflict_share", "share of shared-memory wavefronts that are bank conflicts", false},
    {"load_efficiency", "bytes used of those loaded", false},
    {"store_efficiency", "bytes used of those stored", false},
    {"sectors_per_load", "sectors touched by a load", false},
    {"threads_per_instruction", "active lanes of an instruction", false},
    {"divergent_share", "share of divergent branch targets", false},
    {"integer_share", "share of integer instructions", false},
    {"fp64_share", "share of double-precision instructions", false},
    {"sm_active", "share of the time in which an SM has a warp", false},
    {"occupancy", "theoretical occupancy", false},
    {"achieved_occupancy", "achieved occupancy", false},
    {"waves", "rounds of blocks", false},
    {"vector_share", "vectors among the floating-point instructions of the innermost loops", false},
    {"cycles", "CPU cycles", false},
    {"cache_misses", "cache misses", false},
    {"branch_misses", "branch misses", false},
    {"page_faults", "page faults", false},
    {"ipc", "instructions a cycle", false},
    {"scaling", "speed-up over one thread", false},
    {"spread", "spread of the calls", false},
};

// "barrier stalls", "issuing" of the sampled states.
std::string state_words(std::string state) {
  if (state == "selected") {
    return "issuing";
  }
  state = replace_all(state, "_", " ");
  return state + (state.ends_with(" stall") ? "s" : " stalls");
}

struct Alone {
  std::vector<std::string> kernels;
  double ns = 0;
  void add(const ProfiledLaunch& one) {
    kernels.push_back(one.kernel);
    ns += one.time_ns;
  }
  std::string text() const {
    constexpr std::size_t kNamed = 3;
    std::vector<std::string> names = each_once(kernels);
    const std::size_t more = names.size() - std::min(names.size(), kNamed);
    names.resize(names.size() - more);
    return kernels.empty() ? "none"
                           : fmt::format("{}{}, {}", join(names, ", "),
                                         more > 0 ? fmt::format(" and {} more", more) : "", format_ns(ns));
  }
};

class Comparison {
 public:
  Comparison(const Profile& a, const Profile& b) : a_(a), b_(b) {}

  void add_stalls() {
    if (!of_both("stall_selected")) {
      return;
    }
    std::map<std::string, std::pair<double, double>> states;
    for (const Metric& metric : a_.metrics) {
      states[metric.name].first = metric.value;
    }
    for (const Metric& metric : b_.metrics) {
      states[metric.name].second = metric.value;
    }
    constexpr std::string_view kStall = "stall_";
    for (const auto& [name, shares] : states) {
      if (name.starts_with(kStall)) {
        add_part(name,
                 state_words(name.substr(kStall.size())) + " " +
                     arrow(format_share(shares.first), format_share(shares.second)) + " of the warps' time" +
                     (name == "stall_barrier" ? barriers() : ""),
                 shares.first, shares.second);
      }
    }
  }
  // The launches of one kernel are paired in their order; what one of the two alone launches is told together.
  void add_launches() {
    if (std::max(a_.launches.size(), b_.launches.size()) < 2 || a_.launches.empty() || b_.launches.empty()) {
      return;
    }
    std::vector<const ProfiledLaunch*> rest;  // of B
    for (const ProfiledLaunch& one : b_.launches) {
      rest.push_back(&one);
    }
    std::map<std::string, int> met;
    Alone of_a;
    for (const ProfiledLaunch& one : a_.launches) {
      const int nth = ++met[one.kernel];
      const auto same = std::ranges::find(rest, one.kernel, &ProfiledLaunch::kernel);
      if (same == rest.end()) {
        of_a.add(one);
        continue;
      }
      add_part("launch",
               fmt::format("launch {} of {} {}", nth, one.kernel,
                           arrow(format_ns(one.time_ns), format_ns((*same)->time_ns))),
               one.time_ns / a_.time_ns, (*same)->time_ns / b_.time_ns);
      rest.erase(same);
    }
    Alone of_b;
    std::ranges::for_each(rest, [&](const ProfiledLaunch* one) { of_b.add(*one); });
    if (of_a.ns + of_b.ns > 0) {
      add_part("launches", "launches of one alone: A's " + of_a.text() + "; B's " + of_b.text(), of_a.ns / a_.time_ns,
               of_b.ns / b_.time_ns);
    }
  }
  void add_shares() {
    for (const TimedShare& one : kShares) {
      if (const auto both = of_both(one.metric)) {
        const auto& [before, after] = *both;
        add_overlapping(one.metric,
                        std::string(one.words) + " " + arrow(format_share(before), format_share(after)) + " " + one.of,
                        before, after);
      }
    }
  }
  // The time at A's rate of instructions, then the rest, which the other rate explains.
  void add_host_instructions() {
    const auto both = of_both("instructions");
    if (both && both->first > 0 && both->second > 0) {
      add_part("instructions",
               "instructions a call " + arrow(format_g(both->first), format_g(both->second)) + ", at A's rate", 1,
               both->second / both->first * a_.time_ns / b_.time_ns);
    }
  }
  void add_quantities() {
    for (const Quantity& one : kQuantities) {
      const double before = a_.metric(one.metric);
      const double after = b_.metric(one.metric);
      const auto text = [&](double value) { return one.is_bytes ? format_bytes(value) : format_g(value, 3); };
      add_plain(one.metric, std::string(one.words) + " " + arrow(text(before), text(after)), before, after);
    }
  }
  void add_resources(const std::map<std::string, std::int64_t>& of_a, const std::map<std::string, std::int64_t>& of_b) {
    for (const auto& [name, value] : of_a) {
      const auto other = of_b.find(name);
      if (other != of_b.end()) {
        const std::string words = name == "text_bytes" ? "code size in bytes" : replace_all(name, "_", " ");
        add_plain(name, words + " " + arrow(std::to_string(value), std::to_string(other->second)),
                  static_cast<double>(value), static_cast<double>(other->second));
      }
    }
  }
  std::vector<Difference> ranked();

 private:
  // Nothing unless both profiles have the metric.
  std::optional<std::pair<double, double>> of_both(const std::string& metric) const {
    const std::pair both(a_.metric(metric), b_.metric(metric));
    return std::isfinite(both.first) && std::isfinite(both.second) ? std::optional(both) : std::nullopt;
  }
  // Parts of the two times; a state that one profile never saw is absent there and took no time.
  void add_part(const std::string& metric, const std::string& words, double before, double after) {
    const double ns = before * a_.time_ns - after * b_.time_ns;
    if (std::fabs(ns) >= kLeastTimeChange * a_.time_ns) {
      differences_.push_back(
          {.name = metric, .words = words, .before = before, .after = after, .in_time = true, .accounts_ns = ns});
    }
  }
  void add_overlapping(const std::string& metric, const std::string& words, double before, double after) {
    const double whole = a_.time_ns - b_.time_ns;
    const double ns = before * a_.time_ns - after * b_.time_ns;
    const bool same_way = whole * ns > 0 && whole * (before - after) > 0;
    if (!same_way || std::fabs(ns) < kLeastTimeChange * a_.time_ns) {
      return add_plain(metric, words, before, after);
    }
    add_part(metric, words, before, after);
    differences_.back().at_most = true;
    differences_.back().accounts_ns = std::copysign(std::min(std::fabs(ns), std::fabs(whole)), whole);
  }
  void add_plain(const std::string& name, const std::string& words, double before, double after) {
    const double largest = std::max(std::fabs(before), std::fabs(after));
    if (std::isfinite(before) && std::isfinite(after) && std::fabs(before - after) > kLeastChange * largest) {
      differences_.push_back({.name = name, .words = words, .before = before, .after = after});
    }
  }
  // "; 6.1 -> 0.9 barriers a step", or a call if the work has no steps; "" if one of them was not counted.
  std::string barriers() const {
    for (const auto& [metric, of] :
         {std::pair{"barriers_per_step", " barriers a step"}, std::pair{"barriers_per_warp", " barriers a call"}}) {
      if (const auto both = of_both(metric)) {
        return "; " + arrow(format_g(both->first, 4), format_g(both->second, 4)) + of;
      }
    }
    return "";
  }

  const Profile& a_;
  const Profile& b_;
  std::vector<Difference> differences_;
};

std::vector<Difference> Comparison::ranked() {
  const double sign = a_.time_ns >= b_.time_ns ? 1 : -1;
  const auto place = [&](const Difference& one) {
    return !one.in_time ? 3 : sign * one.accounts_ns <= 0 ? 2 : one.at_most ? 1 : 0;
  };
  const auto change = [](const Difference& one) {
    return std::fabs(one.before - one.after) / std::max(std::fabs(one.before), std::fabs(one.after));
  };
  std::stable_sort(differences_.begin(), differences_.end(), [&](const Difference& x, const Difference& y) {
    if (place(x) != place(y)) {
      return place(x) < place(y);
    }
    return x.in_time ? sign * x.accounts_ns > sign * y.accounts_ns : change(x) > change(y);
  });
  return differences_;
}

// Returns nullopt unless both have an interval.
bool intervals_overlap(const Profile& a, const Profile& b) {
  const auto of_a = std::ranges::find(a.metrics, "time", &Metric::name);
  const auto of_b = std::ranges::find(b.metrics, "time", &Metric::name);
  return of_a != a.metrics.end() && of_b != b.metrics.end() && of_a->lower && of_b->lower && of_a->upper &&
         of_b->upper && *of_a->lower <= *of_b->upper && *of_b->lower <= *of_a->upper;
}

std::string sentence_of(const Profile& a, const Profile& b, const std::vector<Difference>& differences) {
  const double difference = a.time_ns - b.time_ns;
  std::string text = arrow(format_ns(a.time_ns), format_ns(b.time_ns)) + " a call";
  if (std::fabs(difference) < kLeastTimeChange * a.time_ns) {
    return text + ": less than a percent apart, so there is little to explain";
  }
  text += ", " + format_ns(std::fabs(difference)) + (difference > 0 ? " less" : " more");
  text +=
      intervals_overlap(a, b) ? " (their 95 % intervals overlap: it may be noise, which 'apo compare' decides)" : "";
  const bool known =
      !differences.empty() && differences.front().in_time && differences.front().accounts_ns * difference > 0;
  if (!known) {
    return text + "; no counter that both profiles have accounts for it";
  }
  const Difference& first = differences.front();
  return text +
         (first.at_most ? "; at most " + format_ns(std::fabs(first.accounts_ns)) + " of it: "
                        : "; " + format_share(first.accounts_ns / difference) + " of it: ") +
         first.words;
}

}  // namespace

Explanation explain(const Profile& a, const Profile& b, const std::map<std::string, std::int64_t>& resources_of_a,
                    const std::map<std::string, std::int64_t>& resources_of_b) {
  Comparison comparison(a, b);
  comparison.add_launches();
  comparison.add_stalls();
  comparison.add_shares();
  comparison.add_host_instructions();
  comparison.add_quantities();
  comparison.add_resources(resources_of_a, resources_of_b);
  Explanation explanation{.time_difference_ns = a.time_ns - b.time_ns, .differences = comparison.ranked()};
  explanation.sentence = sentence_of(a, b, explanation.differences);
  return explanation;
}

}  // namespace apo
