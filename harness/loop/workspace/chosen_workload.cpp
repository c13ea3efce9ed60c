// harness/loop/workspace/chosen_workload.cpp - asks the journal, then the family.
#include "harness/loop/workspace/chosen_workload.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "harness/core/error.h"
#include "harness/core/text.h"
#include "harness/loop/workspace/known.h"
#include "journal/facts/experiments.h"
#include "journal/journal.h"

namespace apo {
namespace {

// Added to an axis that may be 0, which has no logarithm.
std::int64_t shift_of(const AxisSpec& axis) {
  return std::max<std::int64_t>(0, 1 - axis.min);
}

// "min(max(T,128),16384)".
std::string clamped(const AxisSpec& axis, std::int64_t low, std::int64_t high) {
  const std::int64_t shift = shift_of(axis);
  const std::string value = shift == 0 ? axis.name : fmt::format("{}+{}", axis.name, shift);
  return fmt::format("min(max({},{}),{})", value, low, high);
}

std::string product(std::int64_t factor, const std::vector<std::string>& factors) {
  std::vector<std::string> all = factors;
  if (factor != 1 || factors.empty()) {
    all.push_back(std::to_string(factor));
  }
  return join(all, "*");
}

// "less * b <= more * a", where a / b is `ratio` or, below 1, b / a its inverse, in thousandths.
std::string bounded(const std::vector<std::string>& less, double ratio, const std::vector<std::string>& more) {
  constexpr std::int64_t kParts = 1000;
  const bool above = ratio >= 1;
  const auto parts = std::int64_t{std::llround((above ? ratio : 1 / ratio) * kParts)};
  const std::int64_t common = std::gcd(parts, kParts);
  return above ? product(kParts / common, less) + " <= " + product(parts / common, more)
               : product(parts / common, less) + " <= " + product(kParts / common, more);
}

}  // namespace

double distance(const Family& family, const Axes& a, const Axes& b) {
  double sum = 0;
  for (const AxisSpec& axis : family.axes) {
    const auto place = [&](const Axes& axes) {
      return std::log(static_cast<double>(axes.at(axis.name) + shift_of(axis)));
    };
    sum += std::abs(place(a) - place(b));
  }
  return sum;
}

// Between the two values of an axis, c, the distances differ by 2 ln c - ln(low * high), and outside of them by a
// constant. So the sizes nearer to `one` are those with
//   product of c where one < other  <=  product of c where one > other  *  ratio.
std::string nearer_condition(const Family& family, const Axes& one, const Axes& other) {
  std::vector<std::string> less;
  std::vector<std::string> more;
  double log_ratio = 0;
  for (const AxisSpec& axis : family.axes) {
    const std::int64_t from = one.at(axis.name) + shift_of(axis);
    const std::int64_t to = other.at(axis.name) + shift_of(axis);
    if (from != to) {
      (from < to ? less : more).push_back(clamped(axis, std::min(from, to), std::max(from, to)));
      const double middle = (std::log(static_cast<double>(from)) + std::log(static_cast<double>(to))) / 2;
      log_ratio += from < to ? middle : -middle;
    }
  }
  return bounded(less, std::exp(log_ratio), more);
}

namespace {

std::optional<JudgedWorkload> newest_judgement(Journal& journal, const std::vector<Configuration>& configurations,
                                               const std::string& machine) {
  const std::string& first = configurations.front().variant;
  const std::string& last = configurations.back().variant;
  if (first != last) {
    if (auto judged = newest_judged_workload(journal, first, last, machine)) {
      return judged;
    }
  }
  std::optional<JudgedWorkload> newest;
  for (const Configuration& one : configurations) {
    const auto judged = newest_judged_workload(journal, one.variant, "", machine);
    newest = judged && (!newest || judged->experiment > newest->experiment) ? judged : newest;
  }
  return newest;
}

}  // namespace

const Workload& first_workload(const Family& family, Target target) {
  const auto fitting = std::find_if(family.workloads.begin(), family.workloads.end(),
                                    [&](const Workload& one) { return one.target == target; });
  return fitting == family.workloads.end() ? family.workloads.front() : *fitting;
}

const Workload& first_supported(const Family& family, const Runtime& runtime, const Configuration& configuration) {
  std::string why;
  for (const Workload& workload : family.workloads) {
    const std::string reason = runtime.unsupported(configuration, workload.axes);
    if (reason.empty()) {
      return workload;
    }
    why = why.empty() ? workload.name + ": " + reason : why;
  }
  throw UserError(configuration.variant + " supports no workload of family " + family.name + "; " + why,
                  "relax its apo:requires line; 'apo list " + family.name + "' shows the workloads");
}

void check_supported(const Runtime& runtime, const Configuration& configuration, const Workload& workload) {
  if (const std::string why = runtime.unsupported(configuration, workload.axes); !why.empty()) {
    throw UserError(configuration.label() + " does not support " + workload.name + ": " + why,
                    "choose another one with --workload; 'apo list " + runtime.family->name + "' shows them");
  }
}

const Workload& profiled_workload(Workspace& workspace, const Family& family,
                                  const std::vector<Configuration>& configurations, const std::string& name,
                                  Observer& observer) {
  if (!name.empty()) {
    return workspace.workload(family, name);
  }
  const Runtime runtime = workspace.runtime(family);
  const auto supported = [&](const Workload& one) {
    return std::all_of(configurations.begin(), configurations.end(),
                       [&](const Configuration& each) { return runtime.unsupported(each, one.axes).empty(); });
  };
  if (std::optional<Journal> journal = existing_journal(workspace)) {
    const auto judged = newest_judgement(*journal, configurations, workspace.machine().id);
    const Workload* workload = judged ? find_workload(family, judged->workload) : nullptr;
    if (workload != nullptr && supported(*workload)) {
      observer.say(fmt::format("on {}, where experiment {} judged; --workload takes another one", workload->name,
                               judged->experiment));
      return *workload;
    }
  }
  const auto fitting = std::find_if(family.workloads.begin(), family.workloads.end(), [&](const Workload& one) {
    return one.target == workspace.target() && supported(one);
  });
  return fitting == family.workloads.end() ? family.workloads.front() : *fitting;
}

}  // namespace apo
