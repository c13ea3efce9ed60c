// harness/applications/ncu_csv.h - reads what `ncu --csv` prints: the details page (a row a metric) and the raw
// page (a column a metric).
#pragma once

#include <string>
#include <string_view>

#include "harness/core/applications/application_profile.h"

namespace apo {

// True when the text has the header line of one of the two pages; output of the program may precede it.
bool is_ncu_csv(std::string_view text);

// Returns kernels with their durations (gpu__time_duration, or Duration of the details page) and the mean of every
// numeric metric. ncu serialises kernels, so there are no gaps. Throws UserError naming `where` and the line.
ApplicationProfile read_ncu_csv(std::string_view text, const std::string& where);

}  // namespace apo
