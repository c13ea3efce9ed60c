// harness/loop/export/dispatch.h - reads the journal's accepted configurations as dispatch tables.
#pragma once

#include <string>
#include <vector>

#include "harness/implement/variant/catalogue.h"
#include "harness/loop/export/dispatch_table.h"
#include "journal/journal.h"

namespace apo {

struct DispatchRequest {
  std::string family;                  // "" = all
  std::string device;                  // Machine::id or model; "" = all
  std::vector<std::string> fallbacks;  // configurations, in order, after the measured rows of their family, if any
  bool refused = false;                // also what its application refused
  bool unchecked = false;              // measured rows serve their whole class, beyond the sizes that were verified
};

// Throws UserError when nothing was accepted and there is no fallback, with the command that changes that.
Dispatch load_dispatch(Journal& journal, const Catalogue& catalogue, const DispatchRequest& request);

}  // namespace apo
