// harness/loop/workspace/known_incorrect.h - what the journal has against a configuration before it is judged again.
#pragma once

#include <string>

#include "harness/core/records/records.h"
#include "journal/journal.h"

namespace apo {

// "copy/x gave wrong results in experiment 7: 'apo show 7' has the evidence" for this text of the variant; "" where
// none did.
std::string known_incorrect(Journal& journal, const Variant& variant, const Configuration& configuration);

}  // namespace apo
