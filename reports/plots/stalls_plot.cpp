// reports/plots/stalls_plot.cpp - bars of the share of the warps in each state, of the first and the last incumbent.
#include <algorithm>
#include <cmath>
#include <tuple>

#include "harness/core/records/profile.h"
#include "reports/numbers.h"
#include "reports/plots/plots.h"
#include "reports/plots/svg.h"

namespace apo::report {
namespace {

using svg::Ink;

constexpr std::size_t kMostStates = 10;
constexpr double kStateHeight = 30;
constexpr double kBarHeight = 10;

// The first profile that knows of stalls.
const Profile* sampled(const std::vector<Profile>& profiles) {
  const auto found =
      std::find_if(profiles.begin(), profiles.end(), [](const Profile& one) { return !top_stalls(one).empty(); });
  return found == profiles.end() ? nullptr : &*found;
}

double share(const Profile* profile, const std::string& state) {
  const double value = profile == nullptr ? 0 : profile->metric("stall_" + state);
  return std::isfinite(value) ? value : 0;
}

// Sorts by the larger share of the two, the largest first.
std::vector<std::string> states_of(const Profile* first, const Profile* last) {
  std::vector<std::string> states;
  for (const Profile* profile : {first, last}) {
    for (const auto& [state, unused] : profile == nullptr ? decltype(top_stalls({}))() : top_stalls(*profile)) {
      if (std::find(states.begin(), states.end(), state) == states.end()) {
        states.push_back(state);
      }
    }
  }
  const auto larger = [&](const std::string& state) { return std::max(share(first, state), share(last, state)); };
  std::stable_sort(states.begin(), states.end(),
                   [&](const std::string& a, const std::string& b) { return larger(a) > larger(b); });
  states.resize(std::min(states.size(), kMostStates));
  return states;
}

void draw_bar(svg::Canvas& canvas, const Profile* profile, const std::string& state, const svg::Scale& x, double top,
              Ink ink) {
  if (profile == nullptr) {
    return;
  }
  const double value = share(profile, state);
  const std::string text = percent_text(value);
  canvas.bar({x(0), top, std::max(x(value), x(0) + 1), top + kBarHeight}, ink,
             profile->configuration.label() + ": " + state + " " + text);
  canvas.text({x(value) + 6, top + kBarHeight - 1}, text, Ink::text);
}

}  // namespace

std::string stalls_plot(const ReportModel& model) {
  const Profile* first = sampled(model.first_profiles);
  const Profile* last = sampled(model.last_profiles);
  const std::vector<std::string> states = states_of(first, last);
  if (states.empty()) {
    return "";
  }
  const double top = 74;
  const svg::Box frame{180, top, 820, top + static_cast<double>(states.size()) * kStateHeight + 8};
  svg::Canvas canvas(920, frame.bottom + 52, "What the warps wait for",
                     "Share of the warps in each state, of the first and the last incumbent that were sampled.");
  std::vector<svg::LegendEntry> legend;
  for (const auto& [profile, ink, when] :
       {std::tuple{first, Ink::inconclusive, "first: "}, std::tuple{last, Ink::band, "last: "}}) {
    if (profile != nullptr) {
      legend.push_back({{}, ink, false, when + profile->configuration.label()});
    }
  }
  svg::draw_legend(canvas, {16, 46}, 888, legend);
  const double most = std::max(share(first, states.front()), share(last, states.front()));
  const svg::Scale x{0, 100 * std::min(1.0, 1.1 * most), false, frame.left, frame.right};
  const svg::Scale y{0, 1, false, frame.bottom, frame.top};
  svg::draw_axes(canvas, frame, x, y, svg::linear_ticks(x.low, x.high, 6), {}, {"percent of the warps", ""});
  const svg::Scale of_share{x.low / 100, x.high / 100, false, x.pixel_low, x.pixel_high};
  double row = frame.top + 8;
  for (const std::string& state : states) {
    canvas.text({16, row + kBarHeight + 3}, svg::shorten(state, frame.left - 32), Ink::text, svg::Anchor::start, state);
    draw_bar(canvas, first, state, of_share, row, Ink::inconclusive);
    draw_bar(canvas, last, state, of_share, row + kBarHeight + 2, Ink::band);
    row += kStateHeight;
  }
  return canvas.finish();
}

}  // namespace apo::report
