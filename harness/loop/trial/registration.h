// harness/loop/trial/registration.h - takes a file in as a variant: its gates, its version, its place in the catalogue.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/core/observer.h"
#include "harness/core/records/records.h"
#include "harness/loop/workspace/workspace.h"

namespace apo {

struct RegistrationRequest {
  std::string file;
  std::string family;    // of a file whose block names none; "" takes the folder's name
  bool verify = true;    // build it and check its results
  bool executor = true;  // a device variant on this CPU too
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
