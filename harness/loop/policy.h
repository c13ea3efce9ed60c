// harness/loop/policy.h - reads a campaign file: family, workloads, baseline, budget.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "harness/core/records/records.h"

namespace apo {

// Returns the default campaign of a family: its first workload, one iteration. Throws UserError for an unknown family.
Policy default_policy(std::string_view family);

// A campaign file is a JSON object with the keys family, workloads, baseline, iterations, candidates_per_iteration,
// budget ("10m"), cache_policy ("cold", "warm"), judge_preset ("auto", "standard", "extended", "strict", "precise")
// layout ("random", "fixed"), launch ("stream", "graph"), solo run ("2s": how long a certification runs each arm alone
// at a time), target ("host", "cuda") and application_kernels (a regular expression: the kernels of the newest profile
// of an application, `apo profile -- COMMAND`, that this family stands for) and application (declared_application.h);
// only family is required. UserError names the file, the line and the nearest right word.
Policy load_policy(const std::filesystem::path& file);

// Parses a positive time with its unit. Throws UserError otherwise: `what` names the key or option.
double budget_seconds(const std::string& text, const std::string& what, const std::string& where);

// Parses the length of a solo run, from 10ms to 10m. Throws UserError otherwise: `what` names the key or option.
double solo_run_seconds(const std::string& text, const std::string& what, const std::string& where);

// Checks a judge preset's word for one candidate: that of a campaign, or "quick". Throws UserError.
void check_candidate_judge(const std::string& word);

// Checks the policy that loader and command line have put together. Fills workload_class from the workloads, which all
// have to be of one class.
void complete_policy(Policy& policy, const std::string& where);

}  // namespace apo
