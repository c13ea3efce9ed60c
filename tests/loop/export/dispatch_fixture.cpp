// tests/loop/export/dispatch_fixture.cpp - the journal's records, and g++.
#include "tests/loop/export/dispatch_fixture.h"

#include <gtest/gtest.h>

#include "harness/core/hash.h"
#include "harness/core/system/machine.h"
#include "harness/core/system/process.h"
#include "harness/loop/export/dispatch_document.h"
#include "journal/facts/campaigns.h"
#include "journal/facts/checks.h"
#include "journal/facts/comparisons.h"
#include "journal/facts/experiments.h"
#include "journal/facts/machines.h"
#include "journal/facts/replays.h"
#include "journal/facts/variants.h"

namespace apo::test {

Machine a_gpu(const std::string& id, const std::string& model) {
  return {.target = Target::cuda,
          .id = id,
          .model = model,
          .cores = 132,
          .isa = "sm_90",
          .driver = "580.159.04 (CUDA 13.0)",
          .facts = {{"shared_per_block", "232448"}, {"threads_per_block", "1024"}}};
}

const Catalogue& shipped_variants() {
  static const Catalogue kCatalogue = [] {
    Catalogue catalogue;
    catalogue.load({APO_SOURCE_FOLDER "/variants"});
    return catalogue;
  }();
  return kCatalogue;
}

Machine machine_of(const DispatchJournal::Accept& accept) {
  const bool here = accept.machine == "host";
  Machine machine = here || accept.machine == "another host" ? describe_host() : a_gpu(accept.machine, accept.model);
  if (!here) {
    machine.id = accept.machine;
    machine.model = accept.model;
  }
  machine.driver = accept.driver;
  return machine;
}

DispatchJournal::DispatchJournal() : journal_(Journal::open(folder_.path() / "journal.db", Access::read_write)) {}

std::int64_t DispatchJournal::campaign(const Accept& accept) {
  const Machine machine = machine_of(accept);
  add_machine(journal_, machine);
  for (const std::string& text : {accept.candidate, accept.baseline}) {
    add_variant(journal_, shipped_variants().get(shipped_variants().configuration(text).variant));
  }
  Campaign campaign;
  campaign.policy = {
      .family = shipped_variants().get(shipped_variants().configuration(accept.candidate).variant).family,
      .workload_class = accept.workload_class,
      .workloads = accept.workloads,
      .baseline = accept.baseline,
      .target = machine.target};
  campaign.baseline = shipped_variants().configuration(accept.baseline);
  campaign.machine = machine.id;
  return begin_campaign(journal_, campaign);
}

Experiment experiment_of(const DispatchJournal::Accept& accept) {
  Experiment experiment;
  experiment.candidate = shipped_variants().configuration(accept.candidate);
  experiment.incumbent = shipped_variants().configuration(accept.baseline);
  const Variant& variant = shipped_variants().get(experiment.candidate.variant);
  experiment.family = variant.family;
  experiment.workload_class = accept.workload_class;
  experiment.workloads = accept.workloads;
  experiment.candidate_source_hash = variant.source_hash;
  experiment.incumbent_source_hash = shipped_variants().get(experiment.incumbent.variant).source_hash;
  experiment.candidate_build = {.key = "key", .code_hash = sha256(accept.candidate), .toolchain = {"nvrtc", "13.0"}};
  experiment.machine = machine_of(accept).id;
  experiment.started_at = accept.finished_at;
  experiment.finished_at = accept.finished_at;
  experiment.judgement = Judgement{.verdict = accept.verdict,
                                   .reason = accept.verdict == Verdict::accepted   ? Reason::faster
                                             : accept.verdict == Verdict::reverted ? Reason::regression
                                                                                   : Reason::noisy,
                                   .effect = accept.effect,
                                   .lower = accept.effect - 0.01,
                                   .upper = accept.effect + 0.01,
                                   .rounds = 14,
                                   .cache_policy = CachePolicy::cold,
                                   .rule_version = "apo-judge-1"};
  return experiment;
}

std::int64_t DispatchJournal::accept(const Accept& accept, std::int64_t campaign) {
  Experiment experiment = experiment_of(accept);
  experiment.campaign = campaign;
  experiment.id = begin_experiment(journal_, experiment);
  return finish(experiment);
}

std::int64_t DispatchJournal::again(std::int64_t original, const Accept& accept) {
  add_machine(journal_, machine_of(accept));
  Experiment experiment = experiment_of(accept);
  experiment.id = begin_replay(journal_, experiment, original, ReplayKind::replay);
  return finish(experiment);
}

std::int64_t DispatchJournal::finish(const Experiment& experiment) {
  add_build(journal_, experiment.id, BuildRole::candidate, experiment.candidate_build);
  finish_experiment(journal_, experiment);
  return experiment.id;
}

std::int64_t DispatchJournal::judge_by_application(std::int64_t campaign, Verdict verdict) {
  DeclaredApplication application{
      .command = {"true"},
      .metrics = {{.name = "step"}, {.name = "loss", .role = MetricRole::quality, .margin = 0.01}},
      .steps = 4,
      .seeds = {1, 2, 3, 4, 5}};
  ProgramComparison one{
      .kind = ComparisonKind::application,
      .campaign = campaign,
      .a = "before",
      .b = "after",
      .application = std::move(application),
      .machine = find_campaign(journal_, campaign)->machine,
      .judgement = Judgement{.verdict = verdict,
                             .reason = verdict == Verdict::accepted ? Reason::faster : Reason::quality_lost,
                             .sentence = "as it was asked to say",
                             .rule_version = "apo-judge-1"}};
  one.id = begin_comparison(journal_, one);
  finish_comparison(journal_, one);
  return one.id;
}

void DispatchJournal::certify(std::int64_t campaign, const Accept& accept, bool alarm) {
  Certification one;
  one.campaign = campaign;
  one.incumbent = shipped_variants().configuration(accept.candidate);
  one.baseline = shipped_variants().configuration(accept.baseline);
  one.cache_policy = CachePolicy::cold;
  one.effect = 1;
  one.lower = 0.9;
  one.upper = 1.1;
  one.rounds = 38;
  one.alarm = alarm;
  add_certification(journal_, one);
}

std::string run_with_headers(const Dispatch& dispatch, const std::string& body, const std::string& functions,
                             const std::vector<std::string>& flags) {
  const TemporaryFolder folder("apo-dispatch-test");
  std::string program = "#include <cstdio>\n";
  for (const DispatchTable& table : dispatch.tables) {
    const std::string name = dispatch_header_name(*table.family);
    write_file_atomically(folder.path() / name, dispatch_header(table));
    program = "#include \"" + name + "\"\n" + program + "namespace " + table.family->name +
              " = apo_dispatch::" + table.family->name + ";\n";
  }
  write_file_atomically(folder.path() / "main.cpp", program + functions + "int main() {\n" + body + "\n}\n");
  std::vector<std::string> argv = {"g++",        "-std=c++17",   "-Wall",    "-Wextra",
                                   "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror"};
  argv.insert(argv.end(), flags.begin(), flags.end());
  argv.insert(argv.end(), {"main.cpp", "-o", "main"});
  const ProcessResult built = run_process(argv, {.timeout_s = 1000, .working_folder = folder.path()});
  EXPECT_TRUE(built.ok()) << built.error.substr(0, 3000);
  const ProcessResult ran = run_process({(folder.path() / "main").string()});
  EXPECT_TRUE(ran.ok()) << ran.error;
  return ran.output;
}

}  // namespace apo::test
