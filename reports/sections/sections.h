// reports/sections/sections.h - the sections of a report, each written by one function; document.cpp has their order.
#pragma once

#include "reports/sections/document.h"

namespace apo::report {

void write_environment(const ReportModel& model, Writer& writer);
void write_trajectory(const ReportModel& model, Writer& writer);
void write_experiments(const ReportModel& model, Writer& writer);
void write_profile(const ReportModel& model, Writer& writer);
void write_applications(const ReportModel& model, Writer& writer);
void write_lessons(const ReportModel& model, Writer& writer);
void write_predictions(const ReportModel& model, Writer& writer);
void write_certification(const ReportModel& model, Writer& writer);
void write_left_out(const ReportModel& model, Writer& writer);
void write_reproduction(const ReportModel& model, Writer& writer);

// "3 experiments", "1 experiment".
std::string counted(std::size_t count, const std::string& noun);
// The text, or "unknown" where the journal has none.
std::string known(const std::string& text);

}  // namespace apo::report
