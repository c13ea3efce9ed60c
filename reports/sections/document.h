// reports/sections/document.h - writes the report's text once, for every format that people read.
#pragma once

#include <string>

#include "reports/model.h"
#include "reports/sections/writer.h"

namespace apo::report {

// The whole report, in the order in which it is read.
void write_document(const ReportModel& model, Writer& writer);

// The claim: the certified number, or that there is none.
Line claim(const ReportModel& model);
// The support of the claim: the verdicts, its limits, and the naive product beside it.
Line summarise(const ReportModel& model);
std::string report_title(const ReportModel& model);

}  // namespace apo::report
