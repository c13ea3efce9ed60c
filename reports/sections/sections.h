// reports/sections/sections.h - the sections of a report, each written by one function; document.cpp has their order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

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

// What stands in these sections, of records alone: `apo` shows it too.
std::string reason_text(const Experiment& experiment);  // "gate failed: incorrect"
std::string staged_text(const Experiment& experiment);  // measured_text, or "..., search only"
void write_facts(const Experiment& experiment, Writer& writer);
void write_gates(const Experiment& experiment, Writer& writer);
void write_diff(const std::string& diff, const Experiment& experiment, Writer& writer);
void write_certifications(const std::vector<Certification>& certifications, Writer& writer);
void write_hot_lines(const Profile& profile, Writer& writer);
// The launches of a call that has several, in their order, and what of its time is in none of them.
void write_launches(const Profile& profile, Writer& writer);
void write_metrics(const Profile& profile, Writer& writer);
void write_roofs(const std::vector<Roof>& roofs, Writer& writer);
void write_bottlenecks(const std::vector<Bottleneck>& bottlenecks, Writer& writer);
void write_ranking(const std::string& title, const std::vector<Candidate>& ranked, Writer& writer);
using NoteOfLesson = std::function<std::string(const Lesson&)>;
void write_lessons(const std::vector<Lesson>& lessons, Writer& writer, const NoteOfLesson& note = {});
void write_left_out(const std::vector<IterationRecord>& iterations, Writer& writer);  // by kind of reason
// The first rows of `all`.
void write_work(std::span<const WorkRow> rows, std::int64_t all, const std::vector<CategoryRow>& categories,
                Writer& writer);
void write_ranges(std::span<const RangeRow> rows, std::int64_t all, Writer& writer);
void write_ideas(const std::vector<Idea>& ideas, Writer& writer);

// A table, and each comparison whole with its rounds or runs.
void write_comparisons(const std::vector<ProgramComparison>& comparisons, Writer& writer);

// What a reviewer of a change reads: a suite's verdict and what changed, the rest folded away.
void write_suite_summary(const ProgramComparison& comparison, Writer& writer);

// The table, folded away under its title and number of rows.
void write_folded(const Line& title, const Table& table, Writer& writer);
// "experiment-7": where the experiment with this index is told.
std::string anchor_of(int index);
// "3 experiments", "1 experiment".
std::string counted(std::size_t count, const std::string& noun);
// The text, or "unknown" where the journal has none.
std::string known(const std::string& text);

}  // namespace apo::report
