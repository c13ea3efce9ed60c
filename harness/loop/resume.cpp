// harness/loop/resume.cpp - what was typed wins where it can; where it cannot, a message names both ways on.
#include <fmt/format.h>

#include <algorithm>

#include "harness/core/error.h"
#include "harness/core/text.h"
#include "harness/loop/campaign.h"

namespace apo {
namespace {

// Options that were typed, differ from the campaign's, and cannot change in it.
std::vector<std::string> contradictions(const Campaign& interrupted, const CampaignRequest& request,
                                        const std::optional<Configuration>& baseline) {
  const Policy& began = interrupted.policy;
  const Policy& asked = request.policy;
  std::vector<std::string> options;
  const auto check = [&](const char* option, bool differs) {
    if (request.typed.contains(option) && differs) {
      options.emplace_back(option);
    }
  };
  check("--workload", asked.workloads != began.workloads);
  check("--baseline", baseline && !(*baseline == interrupted.baseline));
  check("--cache", asked.cache_policy != began.cache_policy);
  check("--judge", asked.judge_preset != began.judge_preset);
  check("--launch", asked.launch != began.launch);
  check("--layout", asked.layout != began.layout);
  return options;
}

void refuse_contradictions(const Campaign& interrupted, const CampaignRequest& request,
                           const std::optional<Configuration>& baseline) {
  const std::vector<std::string> options = contradictions(interrupted, request, baseline);
  if (options.empty()) {
    return;
  }
  std::vector<std::string> anew = request.command;
  anew.emplace_back("--new");
  throw UserError(fmt::format("campaign {} was interrupted; it began from {} on {} and cannot go on with another {}",
                              interrupted.id, interrupted.baseline.label(), join(interrupted.policy.workloads, ", "),
                              join(options, " and ")),
                  fmt::format("go on with it:      {}\nbegin another one:  {}",
                              command_line(without_options(request.command, options)), command_line(anew)));
}

}  // namespace

Policy resumed_policy(const Campaign& interrupted, const CampaignRequest& request,
                      const std::optional<Configuration>& baseline) {
  const Policy& asked = request.policy;
  Campaign began = interrupted;
  if (!began.policy.layout) {
    began.policy.layout = asked.layout;
  }
  refuse_contradictions(began, request, baseline);
  Policy policy = began.policy;
  policy.iterations = request.typed.contains("--iterations") ? asked.iterations : policy.iterations;
  policy.candidates_per_iteration =
      request.typed.contains("--candidates") ? asked.candidates_per_iteration : policy.candidates_per_iteration;
  policy.budget_s = request.typed.contains("--budget") ? asked.budget_s : policy.budget_s;
  policy.solo_run_s = asked.solo_run_s;
  policy.application_kernels = asked.application_kernels;
  policy.application = asked.application;
  return policy;
}

int last_iteration(const Campaign& interrupted, const CampaignRequest& request, int begun, int unfinished) {
  const bool another =
      request.typed.contains("--iterations") && request.policy.iterations != interrupted.policy.iterations;
  return another ? begun + request.policy.iterations : interrupted.policy.iterations + unfinished;
}

std::string resumption_text(const Campaign& interrupted, const TypedOptions& typed, int first, int last) {
  if (first > last) {
    return fmt::format("resuming campaign {}: its certification is left", interrupted.id);
  }
  return fmt::format("resuming campaign {} at iteration {} of {}, with the settings that it began with{}",
                     interrupted.id, first, last,
                     typed.contains("--iterations") || typed.contains("--candidates") || typed.contains("--budget")
                         ? " and what was typed"
                         : "");
}

std::vector<std::string> without_options(const std::vector<std::string>& words,
                                         const std::vector<std::string>& options) {
  std::vector<std::string> left;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string name = words[i].substr(0, words[i].find('='));
    if (std::find(options.begin(), options.end(), name) == options.end()) {
      left.push_back(words[i]);
    } else if (name == words[i]) {
      ++i;
    }
  }
  return left;
}

std::string command_line(const std::vector<std::string>& words) {
  std::vector<std::string> quoted;
  std::ranges::transform(words, std::back_inserter(quoted), shell_word);
  return join(quoted, " ");
}

}  // namespace apo
