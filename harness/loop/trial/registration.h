// harness/loop/trial/registration.h - takes a file in as a variant: its gates, its version, its place in the catalogue.
#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "harness/core/observer.h"
#include "harness/core/records/records.h"
#include "harness/evaluate/plan.h"
#include "harness/loop/trial/candidate_answer.h"
#include "harness/loop/workspace/workspace.h"

namespace apo {

struct VariantChecks {
  bool verify = true;    // build it and check its results
  bool executor = true;  // a device variant on this CPU too
};
// The gates of a variant, which need not be in the catalogue, that is compared with nothing, cheapest first, up to the
// one that fails: those of an evaluation before its timing. Without a GPU, what the CPU says of a variant for one; the
// executor's evidence says why when it cannot check the variant, and then the variant is compiled, where there is a
// toolkit. Adds gates and log; marks the answer as wrong and returns false when a gate fails.
bool passes_checks(Workspace& workspace, const Variant& variant, const VariantChecks& checks, Observer& observer,
                   CandidateAnswer& answer);

// The gate of a device variant on the CPU executor, on a machine with a GPU, whose mistakes in the candidate are gates
// too. Needs nothing of the caller's workspace, so that it may run beside it. Nothing when the executor's guard is
// switched off. Throws Cancelled after a stop, and leaves neither a process nor half of a build.
std::vector<GateResult> executor_gates(const Paths& paths, const Variant& variant, const std::stop_token& stop = {});
// The rule: a device variant that is not registered yet takes that gate first, inside of its experiment; another one
// has none.
BackgroundGates::Run executor_check(const Workspace& workspace, const Variant& variant);

struct RegistrationRequest {
  std::string file;
  std::string function = {};            // of the file, which is called; see brought_file()
  std::vector<std::string> lines = {};  // of a metadata block, for the file as it is
  std::string family;                   // of a file whose block names none; "" takes the folder's name
  VariantChecks checks = {};
};
// The part of a trial without timing. A text that is registered already is checked again: its family may have changed.
// What the author may want to know or change is the feedback of a variant that was
// registered. Nothing but the workspace's own catalogue changes when a gate fails. UserError for what is no valid
// variant.
CandidateAnswer register_file(Workspace& workspace, const RegistrationRequest& request, Observer& observer);

// Keeps a variant that passed its gates in the journal and below .apo/variants, and adds its place: what is written is
// what was verified, whatever happens to the user's file meanwhile. `registered` is the catalogue without what was only
// added to it, and gets the variant too. Does nothing where a guard was switched off.
void keep_variant(Catalogue& registered, const Paths& paths, const Variant& variant, CandidateAnswer& answer);

// Gates and feedback know the whole path of a file; users know the one that they gave.
void name_users_file(CandidateAnswer& answer, const std::string& path, const std::string& file);

// Sets the call of the answer, which is feedback too.
void note_call(CandidateAnswer& answer, const Family& family, const Variant& variant);

// Retires a registered variant: its file moves to .apo/retired/, whose path is returned, and the journal keeps what it
// has. UserError with "did you mean" for an unknown name.
std::string unregister(Workspace& workspace, const std::string& id);

}  // namespace apo
