// reports/sections/campaign_sections.cpp - environment, trajectory, lessons, what was left out, how to reproduce.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "harness/core/error.h"
#include "harness/core/interval.h"
#include "harness/core/text.h"
#include "reports/formats/escape.h"
#include "reports/numbers.h"
#include "reports/sections/sections.h"

namespace apo::report {
namespace {

void add_row(Table& table, const std::string& name, const std::string& value) {
  if (!value.empty()) {
    table.rows.push_back({name, value});
  }
}

std::string bytes_or_nothing(std::int64_t bytes) {
  return bytes > 0 ? format_bytes(static_cast<double>(bytes)) : "";
}

std::string budget_text(const Policy& policy) {
  if (policy.iterations == kNamedCandidates) {
    return "the candidates that were named";
  }
  return counted(static_cast<std::size_t>(std::max(policy.iterations, 0)), "iteration") + " of up to " +
         counted(static_cast<std::size_t>(std::max(policy.candidates_per_iteration, 0)), "candidate") +
         (policy.budget_s > 0 ? ", at most " + format_seconds(policy.budget_s) : "");
}

std::string what_happened(const TrajectoryPoint& point, const Experiment& experiment) {
  return point.withdrawn ? "accepted, withdrawn after the ratchet alarm"
                         : std::string(to_string(experiment.judgement->verdict));
}

std::string seed_text(const ReportModel& model) {
  return model.campaign.state == CampaignState::open ? "stays secret until the campaign ends"
                                                     : std::to_string(model.campaign.policy.seed);
}

std::string compare_command(const ReportModel& model) {
  const Policy& policy = model.campaign.policy;
  std::string command = "apo compare " + shell_word(one_line(model.campaign.baseline.label())) + " " +
                        shell_word(one_line(model.incumbent));
  for (const std::string& workload : policy.workloads) {
    command += " --workload " + shell_word(one_line(workload));
  }
  return command + " --cache " + std::string(to_string(policy.cache_policy));
}

// The journal keeps a reason as the sentence that research wrote; here sentences of one kind are counted together.
std::string group_title(LeftOutKind kind) {
  switch (kind) {
    case LeftOutKind::other_target:
      return "for another target";
    case LeftOutKind::unsupported:
      return "whose requirements this workload does not meet";
    case LeftOutKind::incumbent:
      return "identical to the incumbent";
    case LeftOutKind::below_resolution:
      return "predicted to gain less than this machine resolves";
    case LeftOutKind::refuted:
      return "refuted before under the same condition";
    case LeftOutKind::unknown:
      return "for another reason";
  }
  check_failed("a known kind", __FILE__, __LINE__);
}

void write_counted(std::size_t count, const std::string& of, const Table& table, Writer& writer) {
  writer.begin_fold({strong(fmt::format("{} ", count)), of}, "");
  writer.table(table);
  writer.end_fold();
}

// As the last iteration ranked them.
std::vector<Candidate> not_reached(const ReportModel& model) {
  std::vector<Candidate> left =
      model.iterations.empty() ? std::vector<Candidate>() : model.iterations.back().brief.ranked;
  std::erase_if(left, [&](const Candidate& candidate) {
    const auto is_it = [&](const Experiment& one) { return one.candidate == candidate.configuration; };
    return std::ranges::any_of(model.experiments, is_it) || std::ranges::any_of(model.under_way, is_it);
  });
  return left;
}

}  // namespace

void write_environment(const ReportModel& model, Writer& writer) {
  const Machine& machine = model.machine;
  const Policy& policy = model.campaign.policy;
  writer.heading(2, "Environment");
  Table table{{"what", "value"}, {}};
  add_row(table, "device",
          machine.model + (machine.cores > 0
                               ? fmt::format(", {} {}", machine.cores, machine.target == Target::cuda ? "SMs" : "CPUs")
                               : ""));
  add_row(table, "device id", machine.id.empty() ? model.campaign.machine : machine.id);
  add_row(table, "instruction set", machine.isa);
  add_row(table, "driver", machine.driver);
  add_row(table, "kernel", machine.kernel);
  add_row(table, "frequency governor", machine.governor);
  add_row(table, "L2 cache", bytes_or_nothing(machine.l2_bytes));
  add_row(table, "L3 cache", bytes_or_nothing(machine.l3_bytes));
  add_row(table, "memory", bytes_or_nothing(machine.memory_bytes));
  for (const auto& [name, value] : machine.facts) {
    add_row(table, name, value);
  }
  for (const Toolchain& toolchain : model.toolchains) {
    add_row(table, "compiler", toolchain.version + " (" + toolchain.compiler + ")");
  }
  add_row(table, "workloads", join(policy.workloads, ", "));
  add_row(table, "target", std::string(to_string(policy.target)));
  add_row(table, "judge", fmt::format("{} preset, {} cache", policy.judge_preset, to_string(policy.cache_policy)));
  add_row(table, "layout",
          !policy.layout                    ? ""
          : *policy.layout == Layout::fixed ? "fixed: code and buffers where they fell"
                                            : "random: code and buffers laid out anew in every round");
  add_row(table, "budget", budget_text(policy));
  add_row(table, "baseline", model.campaign.baseline.label());
  add_row(table, "started", known(model.campaign.started_at));
  add_row(table, "last event", known(model.last_event_at));
  add_row(table, "state",
          std::string(to_string(model.campaign.state)) +
              (model.campaign.end_note.empty() ? "" : ": " + model.campaign.end_note));
  writer.table(table);
}

void write_trajectory(const ReportModel& model, Writer& writer) {
  writer.heading(2, "Trajectory");
  writer.plot("trajectory");
  Table table{{"after experiment", "incumbent", "what happened", "own effect", "naive product over the baseline"}, {}};
  for (std::size_t i = 0; i < model.trajectory.size(); ++i) {
    const TrajectoryPoint& point = model.trajectory[i];
    const bool moved = i > 0 && model.trajectory[i - 1].incumbent != point.incumbent;
    if (i == 0) {
      table.rows.push_back({"0", code(point.incumbent), "baseline", "none", "1.00x"});
    } else if (point.accepted || moved) {
      const Experiment& experiment = model.experiments[i - 1];
      table.rows.push_back({Span(std::to_string(point.index), Style::plain, "#" + anchor_of(point.index)),
                            code(point.incumbent), point.accepted ? what_happened(point, experiment) : "rolled back",
                            point.accepted ? measured_text(experiment) : "none", ratio_text(point.cumulative)});
    }
  }
  writer.table(table);
  writer.paragraph(
      "The naive product multiplies effects that were measured separately. It is not a claim; the "
      "certification below is.");
}

void write_lessons(const std::vector<Lesson>& lessons, Writer& writer, const NoteOfLesson& note) {
  for (const auto& [verdict, title] :
       {std::pair(Verdict::accepted, "What helped"), std::pair(Verdict::reverted, "What did not help"),
        std::pair(Verdict::inconclusive, "What stays open")}) {
    std::vector<Line> items;
    for (const Lesson& lesson : lessons) {
      if (lesson.verdict == verdict) {
        items.push_back({lesson.text, " (", code(lesson.configuration.label()),
                         (lesson.techniques.empty() ? "" : ", " + join(lesson.techniques, ", ")) +
                             (lesson.experiment > 0 ? fmt::format(", experiment id {})", lesson.experiment) : ")") +
                             (note ? "; " + note(lesson) : "")});
      }
    }
    if (!items.empty()) {
      writer.paragraph(strong(title));
      writer.list(items);
    }
  }
}

void write_lessons(const ReportModel& model, Writer& writer) {
  writer.heading(2, "Lessons");
  if (model.lessons.empty()) {
    writer.paragraph("No lesson was written.");
  }
  write_lessons(model.lessons, writer);
}

void write_left_out(const std::vector<IterationRecord>& iterations, Writer& writer) {
  using Rows = std::map<std::pair<std::string, std::string>, std::vector<std::string>>;
  std::map<LeftOutKind, Rows> groups;  // candidate and why -> the iterations that left it out
  for (const IterationRecord& iteration : iterations) {
    for (const LeftOut& one : iteration.brief.left_out) {
      groups[one.kind][{one.configuration.label(), one.why}].push_back(std::to_string(iteration.index));
    }
  }
  for (const auto& [kind, rows] : groups) {
    Table table{{"candidate", "why", "iterations"}, {}};
    std::set<std::string> candidates;
    for (const auto& [row, in] : rows) {
      candidates.insert(row.first);
      table.rows.push_back({code(row.first), row.second, join(in, ", ")});
    }
    write_counted(candidates.size(), group_title(kind), table, writer);
  }
}

void write_ideas(const std::vector<Idea>& ideas, Writer& writer) {
  Table open{{"technique", "attacks", "expected", "source"}, {}};
  Table ruled_out{{"technique", "attacks", "expected", "source", "not now, because"}, {}};
  for (const Idea& idea : ideas) {
    std::vector<Line> row = {code(idea.technique.name), idea.attacks,
                             format_band(idea.technique.low, idea.technique.high), idea.technique.source};
    if (idea.why_not.empty()) {
      open.rows.push_back(std::move(row));
    } else {
      row.push_back(idea.why_not);
      ruled_out.rows.push_back(std::move(row));
    }
  }
  if (!open.rows.empty()) {
    writer.paragraph("Techniques that nobody has written for the incumbent:");
    writer.table(open);
  }
  if (!ruled_out.rows.empty()) {
    write_counted(ruled_out.rows.size(), "techniques that nobody has written, and that something rules out here",
                  ruled_out, writer);
  }
}

void write_left_out(const ReportModel& model, Writer& writer) {
  writer.heading(2, "What was left out, and why");
  const std::vector<Candidate> ranked = not_reached(model);
  const bool any = std::ranges::any_of(model.iterations, [](const auto& one) { return !one.brief.left_out.empty(); });
  if (!any && ranked.empty() && model.abandoned.empty() && model.under_way.empty()) {
    writer.paragraph("Nothing was left out.");
  }
  if (!ranked.empty()) {
    write_ranking("Ranked by the last iteration, and not reached", ranked, writer);
  }
  write_left_out(model.iterations, writer);
  if (!model.iterations.empty()) {
    write_ideas(model.iterations.back().brief.unwritten, writer);  // as the last iteration found them
  }
  std::vector<Line> unjudged;
  for (const Experiment& experiment : model.abandoned) {
    unjudged.push_back({fmt::format("abandoned, experiment id {}: ", experiment.id), code(experiment.candidate.label()),
                        ", " + known(experiment.abandoned)});
  }
  for (const Experiment& experiment : model.under_way) {
    unjudged.push_back(
        {fmt::format("under way, experiment id {}: ", experiment.id), code(experiment.candidate.label())});
  }
  if (!unjudged.empty()) {
    writer.list(unjudged);
  }
}

void write_reproduction(const ReportModel& model, Writer& writer) {
  const Policy& policy = model.campaign.policy;
  writer.heading(2, "How to reproduce");
  writer.paragraph("Workloads: " + known(join(policy.workloads, ", ")) +
                   ". Add --journal FILE where the journal "
                   "is not the working directory's own.");
  std::string commands = fmt::format("apo report --campaign {0}\napo query campaign={0}\n", model.campaign.id);
  if (!model.experiments.empty()) {
    commands += fmt::format("apo show {}\n", model.experiments.front().id);
  }
  if (model.incumbent != model.campaign.baseline.label()) {
    commands += compare_command(model) + "\n";
  }
  const auto accepted = std::find_if(model.experiments.rbegin(), model.experiments.rend(), [](const auto& one) {
    return one.judgement && one.judgement->verdict == Verdict::accepted;
  });
  if (accepted != model.experiments.rend()) {
    commands += fmt::format("apo replay {}\n", accepted->id);
  }
  writer.code_block(commands);
  if (accepted != model.experiments.rend()) {
    writer.paragraph({code("apo replay"), " measures an experiment again from the sources that the journal keeps, ",
                      code("apo compare"), " the variants as they are registered now."});
  }
  writer.paragraph("Seed of the campaign: " + seed_text(model) +
                   ". The seed of every round is in the JSON report and in the journal.");
}

}  // namespace apo::report
