// harness/loop/trial/registration.h - takes a file in as a variant: its gates, its version, its place in the catalogue.
#pragma once

#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

#include "harness/core/observer.h"
#include "harness/core/records/records.h"
#include "harness/loop/workspace/workspace.h"

namespace apo {

struct VariantChecks {
  bool verify = true;    // build it and check its results
  bool executor = true;  // a device variant on this CPU too
};
// The gates of a variant of the workspace's catalogue that is compared with nothing, cheapest first, up to the one that
// fails: those of an evaluation before its timing. Without a GPU, what the CPU says of a variant for one; the
// executor's evidence says why when it cannot check the variant, and then the variant is compiled, where there is a
// toolkit. `log` gets the compiler's output.
std::vector<GateResult> check_variant(Workspace& workspace, const Variant& variant, const VariantChecks& checks,
                                      Observer& observer, std::string& log);

// The rule: a device variant that is not registered yet takes the executor's gate first, inside of its experiment.
bool takes_executor_gate(const Catalogue& catalogue, const Variant& variant);
// That gate on a machine with a GPU, whose mistakes in the candidate are gates too. Needs nothing of the caller's
// workspace, so that it may run beside it. Nothing when the executor's guard is switched off. Throws Cancelled after a
// stop, and leaves neither a process nor half of a build.
std::vector<GateResult> executor_gates(const Paths& paths, const Variant& variant, const std::stop_token& stop = {});

struct RegistrationRequest {
  std::string file;
  std::string family;  // of a file whose block names none; "" takes the folder's name
  VariantChecks checks = {};
};

enum class RegistrationState : std::uint8_t { registered, already_registered, refused, guard_switched_off };

struct RegistrationResult {
  Variant variant;
  RegistrationState state = RegistrationState::registered;
  std::string path;  // where the catalogue has it; empty when it does not
  int version = 1;   // of the texts that this journal has had under the name
  std::vector<GateResult> gates;
  std::vector<std::string> notes;  // what the author may want to know or change
  std::string log;                 // the compiler's
};

// Nothing but the workspace's own catalogue changes when a gate fails. UserError for what is no valid variant.
RegistrationResult register_file(Workspace& workspace, const RegistrationRequest& request, Observer& observer);

// The file of a variant that passed its gates, in the journal and below .apo/variants; what is written is what was
// verified, whatever happens to the user's file meanwhile.
struct KeptVariant {
  std::string path;
  int version = 1;
};
// `registered` is the catalogue without what was only added to it, and gets the variant too.
KeptVariant keep_variant(Catalogue& registered, const Paths& paths, const Variant& variant);

// The gates know the whole path of a file; users know the one that they gave.
void name_users_file(std::vector<GateResult>& gates, const std::string& path, const std::string& file);

// Retires a registered variant: its file moves to .apo/retired/, whose path is returned, and the journal keeps what it
// has. UserError with "did you mean" for an unknown name.
std::string unregister(Workspace& workspace, const std::string& id);

}  // namespace apo
