// reports/sections/sections.h - the sections of a report, each written by one function; document.cpp has their order.
#pragma once

#include <cstddef>
#include <string>

#include "reports/model.h"
#include "reports/sections/writer.h"

namespace apo::report {

void write_environment(const ReportModel& model, Writer& writer);
void write_trajectory(const ReportModel& model, Writer& writer);
void write_experiments(const ReportModel& model, Writer& writer);
void write_profile(const ReportModel& model, Writer& writer);
void write_applications(const ReportModel& model, Writer& writer);
void write_proposals(const ReportModel& model, Writer& writer);
void write_devices(const ReportModel& model, Writer& writer);
void write_lessons(const ReportModel& model, Writer& writer);
void write_predictions(const ReportModel& model, Writer& writer);
void write_certification(const ReportModel& model, Writer& writer);
void write_left_out(const ReportModel& model, Writer& writer);
void write_reproduction(const ReportModel& model, Writer& writer);

// A table, and each whole with its rounds or runs.
void write_comparisons(const std::vector<ProgramComparison>& comparisons, Writer& writer);

// The table, folded away under its title and number of rows.
void write_folded(const Line& title, const Table& table, Writer& writer);
// "experiment-7": where the experiment with this index is told.
std::string anchor_of(int index);
// "3 experiments", "1 experiment".
std::string counted(std::size_t count, const std::string& noun);
// The text, or "unknown" where the journal has none.
std::string known(const std::string& text);

}  // namespace apo::report
