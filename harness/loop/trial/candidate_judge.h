// harness/loop/trial/candidate_judge.h - a campaign over candidates that somebody names, with an answer for each.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/core/observer.h"
#include "harness/core/records/records.h"
#include "harness/loop/campaign_progress.h"
#include "harness/loop/trial/candidate_answer.h"
#include "harness/loop/workspace/workspace.h"
#include "journal/journal.h"

namespace apo {

// How to judge, as a command line chooses it; empty members mean the defaults.
struct TrialChoice {
  std::string family;
  std::vector<std::string> workloads;  // default: the first for the target
  std::string cache;
  std::string launch;
  std::string judge;  // a preset, or "quick"
};

// Judges each variant against the incumbent of this machine, else against the family's baseline; an accepted one is the
// incumbent from then on. The journal gets the rows of a campaign with one candidate an iteration. One that is not
// finished is marked as abandoned by the next command.
class Trial {
 public:
  // Judges on the workspace's target, which must not change meanwhile. `policy` needs no iterations.
  Trial(Workspace& workspace, const Policy& policy, Observer& observer);

  const Policy& policy() const { return frame_.policy; }
  const Runtime& runtime() const { return frame_.runtime; }
  Journal& journal() { return journal_; }
  const Configuration& incumbent() const { return state_.incumbent; }
  // True for a variant that others are judged against: the incumbent, or the baseline that certifies it.
  bool relies_on(const std::string& variant) const;
  // Returns the shortest possible time of a call of the first workload; 0 when it is not known.
  double floor_ns() const;

  // Judges a configuration of the workspace's catalogue that is not the incumbent. `judge` names a preset in place of
  // the policy's. Throws EnvironmentError when this machine cannot judge.
  Experiment judge(const Configuration& configuration, const std::string& judge = "");
  // Certifies what was accepted, ends the campaign, and returns the incumbent that stands.
  Configuration finish();

 private:
  Journal journal_;
  CampaignFrame frame_;
  CampaignProgress state_;
  int iterations_ = 0;
};

// Returns the author's prediction when it is about this incumbent, else none.
Prediction prediction_over(const Variant& candidate, const Variant& incumbent);

// A file, or a known variant with settings.
struct GivenCandidate {
  std::string path = {};
  std::string source = {};   // in place of the file's text; see GivenFile
  std::string shown = {};    // in evidence, in place of the whole path
  std::string variant = {};  // "family/name[SETTING=VALUE]"
  std::string judge = {};    // the word of a preset; "" is that of the choice
};

// A candidate that comes as text, as a file of `folder` that is named by its text, so that the same text is the same
// variant. `extension` is ".cpp", ".cu" or ".py"; "" goes by what only a source of that language has. Throws UserError
// for a text that is empty or too long, and for another extension.
GivenCandidate file_of_source(const std::string& source, const std::string& extension,
                              const std::filesystem::path& folder);
// Returns `file`, or for "-" a file of `folder` with the text of standard input. Throws UserError for one that is empty
// or too long.
GivenCandidate candidate_file(const std::string& file, const std::filesystem::path& folder);

// All candidates for one target share a campaign, the build of the incumbent, and the check of the machine. A candidate
// that passed its gates is kept below .apo/variants; one that failed is not. One whose text is known is judged under
// the known name; one without a name of its own gets another when its file's name is taken. One that was only ranked is
// not kept: the journal has its text.
class CandidateJudge {
 public:
  // UserError for an unknown family, workload or word.
  CandidateJudge(Workspace& workspace, TrialChoice choice, Observer& observer);

  // Compiles the files, which takes most of a trial's time, as many at once as there are CPUs; each answer() finds its
  // build. Nothing for one alone.
  void build_ahead(const std::vector<GivenCandidate>& all);

  // Of a family without a variant for the target, the first that passes its gates is the baseline.
  // Answers for an invalid variant and for a missing capability of this machine too. Throws UserError only for a
  // mistake outside the candidate.
  CandidateAnswer answer(const GivenCandidate& given);
  // Certifies what was accepted, and ends the campaigns; returns the incumbent of each.
  std::vector<Configuration> finish();

 private:
  struct Judged {  // a variant of the catalogue, or one that is about to join it
    Variant variant;
    Settings settings = {};  // but for a known one those that the variant has by default
    bool is_known = false;
  };
  Judged read(const GivenCandidate& given) const;
  Judged read_file(const GivenFile& file) const;
  Judged known(const std::string& configuration) const;
  Trial& trial_for(Target target);
  bool check_device(const Judged& candidate, CandidateAnswer& answer);
  bool make_baseline(const Judged& candidate, CandidateAnswer& answer);
  bool is_kept(const Judged& candidate, CandidateAnswer& answer);
  void judge(const Judged& candidate, const std::string& judge, CandidateAnswer& answer);
  void diagnose(const Configuration& configuration, const Trial& trial, CandidateAnswer& answer);

  Workspace& workspace_;
  TrialChoice choice_;
  Observer& observer_;
  Catalogue registered_;  // the workspace's, without candidates that were not kept
  std::map<Target, Trial> trials_;
};

}  // namespace apo
