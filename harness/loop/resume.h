// harness/loop/resume.h - what was asked for against what an interrupted campaign began with.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/core/records/records.h"
#include "harness/loop/proposers/ask_proposers.h"
#include "harness/loop/satellites.h"

namespace apo {

// Marks the options that a person typed; their values are in the policy.
struct TypedOptions {
  bool iterations = false;
  bool candidates = false;
  bool budget = false;
  bool workloads = false;
  bool baseline = false;
  bool cache = false;
  bool judge = false;
  bool layout = false;
};

struct CampaignRequest {
  Policy policy;
  TypedOptions typed;
  std::vector<std::string> command;  // as typed, for messages: {"apo", "run", "copy", "--iterations", "1"}
  bool begin_anew = false;           // although an interrupted campaign could go on
  bool remeasure_roofs = false;      // although the journal has them
  ProposerOptions proposers = {};
  StartRemoteJudge start_remote = {};  // without it this process judges
  JudgeByApplication judge_by_application = {};
};

// Returns the policy of the interrupted campaign with the iterations, candidates and budget that were typed. `baseline`
// is the typed one. Throws UserError with a command for each choice when an option contradicts how the campaign began.
Policy resumed_policy(const Campaign& interrupted, const CampaignRequest& request,
                      const std::optional<Configuration>& baseline);

// Returns the last iteration of a campaign that has begun `begun` iterations, of which `unfinished` were interrupted
// and do not count. A number other than the campaign's own counts from here.
int last_iteration(const Campaign& interrupted, const CampaignRequest& request, int begun, int unfinished);

// "resuming campaign 1 at iteration 4 of 6, ...", or that its certification alone is left.
std::string resumption_text(const Campaign& interrupted, const TypedOptions& typed, int first, int last);

// Returns the words without these options and their values, which are written as "--option value" or "--option=value".
std::vector<std::string> without_options(const std::vector<std::string>& words,
                                         const std::vector<std::string>& options);
// Returns a command line to copy, with quotes round words that contain blanks.
std::string command_line(const std::vector<std::string>& words);

}  // namespace apo
