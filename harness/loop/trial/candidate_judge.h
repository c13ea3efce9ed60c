// harness/loop/trial/candidate_judge.h - takes candidates of one family, one after the other, and answers for each.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "harness/core/observer.h"
#include "harness/loop/trial/candidate_answer.h"
#include "harness/loop/trial/trial.h"
#include "harness/loop/workspace/workspace.h"

namespace apo {

// A file, or a known variant with settings.
struct GivenCandidate {
  std::string path = {};
  std::string shown = {};    // in evidence, in place of the whole path
  std::string variant = {};  // "family/name[SETTING=VALUE]"
  std::string judge = {};    // the word of a preset; "" is that of the choice
};

// A candidate that comes as text, as a file of `folder` that is named by its text, so that the same text is the same
// variant. `extension` is ".cpp", ".cu" or ".py"; "" goes by what only a source of that language has. Throws UserError
// for a text that is empty or too long, and for another extension.
GivenCandidate file_of_source(const std::string& source, const std::string& extension,
                              const std::filesystem::path& folder);

// All candidates for one target share a campaign, the build of the incumbent, and the check of the machine. A candidate
// that passed its gates is kept below .apo/variants; one that failed is not. One whose text is known is judged under
// the known name; one without a name of its own gets another when its file's name is taken. One that was only ranked is
// not kept: the journal has its text.
class CandidateJudge {
 public:
  // UserError for an unknown family, workload or word.
  CandidateJudge(Workspace& workspace, TrialChoice choice, Observer& observer);

  // Answers for an invalid variant and for a missing capability of this machine too. Throws UserError only for a
  // mistake outside the candidate.
  CandidateAnswer answer(const GivenCandidate& given);
  // Certifies what was accepted, and ends the campaigns.
  std::vector<TrialSummary> finish();

 private:
  struct Judged {  // a variant of the catalogue, or one that is about to join it
    Variant variant;
    Settings settings = {};  // but for a known one those that the variant has by default
    bool is_known = false;
  };
  Judged read(const GivenCandidate& given) const;
  Judged read_file(const std::string& path) const;
  Judged known(const std::string& configuration) const;
  Trial& trial_for(Target target);
  bool check_device(const Judged& candidate, CandidateAnswer& answer);
  void judge(const Judged& candidate, const std::string& judge, CandidateAnswer& answer);
  void diagnose(const Configuration& configuration, const Trial& trial, CandidateAnswer& answer);
  void keep(const Variant& variant);

  Workspace& workspace_;
  TrialChoice choice_;
  Observer& observer_;
  Catalogue registered_;  // the workspace's, without candidates that were not kept
  std::map<Target, Trial> trials_;
};

}  // namespace apo
