// reports/load.h - reads a campaign's records from the journal; everything after this is pure.
#pragma once

#include <cstdint>

#include "reports/model.h"

namespace apo {
class Journal;
}

namespace apo::report {

// Throws UserError when the journal has no such campaign.
ReportModel load_model(Journal& journal, std::int64_t campaign);
// The newest campaign's id; throws UserError when there is none.
std::int64_t newest_campaign(Journal& journal);

}  // namespace apo::report
