// tests/reports/fixture.cpp - see fixture.h.
#include "tests/reports/fixture.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "harness/core/system/files.h"
#include "harness/core/text.h"

namespace apo::report::fixture {
namespace {

std::string at_minute(int minute) {
  const std::string two = (minute < 10 ? "0" : "") + std::to_string(minute % 60);
  return "2025-03-04T1" + std::to_string(minute / 60) + ":" + two + ":00Z";
}

Configuration e88(const std::string& name, Settings settings = {}) {
  return {.variant = "e88_backward/" + name, .settings = std::move(settings)};
}

Campaign campaign_of(CampaignState state) {
  return {.id = 3,
          .policy = {.family = "e88_backward",
                     .workload_class = "n32",
                     .workloads = {"b2_t64_h4_n32"},
                     .baseline = "e88_backward/simple",
                     .iterations = 2,
                     .candidates_per_iteration = 3,
                     .budget_s = 900,
                     .cache_policy = CachePolicy::cold,
                     .judge_preset = "standard",
                     .seed = 8675309,
                     .target = Target::host},
          .baseline = e88("simple"),
          .machine = "cpu-3f9a",
          .started_at = at_minute(0),
          .state = state};
}

Machine machine_of() {
  return {.target = Target::host,
          .id = "cpu-3f9a",
          .model = "Example CPU 9000",
          .cores = 8,
          .kernel = "6.1.0",
          .governor = "performance",
          .isa = "avx512",
          .l2_bytes = 2 << 20,
          .l3_bytes = 32 << 20,
          .memory_bytes = std::int64_t{64} << 30,
          .facts = {{"microcode", "0x2b000603"}, {"smt", "on"}}};
}

std::vector<Roof> measured_roofs() {
  return {{"fp32_fma", 96.4e9, "flop/s", 96.1e9, 96.7e9, 20, "avx512, 8 threads"},
          {"memory_copy", 11.8e9, "byte/s", 11.6e9, 11.9e9, 20},
          {"special_tanh", 0.62e9, "op/s", 0.61e9, 0.63e9, 20},
          {"fp32_fma_1", 12.1e9, "flop/s", 12.0e9, 12.2e9, 20},
          {"fp32_scalar_1", 7.6e9, "flop/s", 7.5e9, 7.7e9, 20},
          {"libm_tanh", 0.11e9, "op/s", 0.10e9, 0.12e9, 20},
          {"l2_copy", 160e9, "byte/s", 158e9, 162e9, 20},
          {"llc_copy", 31e9, "byte/s", 30e9, 32e9, 20},
          {"memory_copy_1", 6.4e9, "byte/s", 6.3e9, 6.5e9, 20},
          {"thread_start", 21.4e-6, "s", 20.9e-6, 22.0e-6, 40}};
}

Profile profile_of(const Configuration& configuration, double time_ns) {
  const double flops = 1.6e6;
  const double bytes = 0.31e6;
  const double specials = 33e3;
  Profile profile{.configuration = configuration,
                  .workload = "b2_t64_h4_n32",
                  .rung = "perf_event counters",
                  .missing = "",
                  .metrics = {{"time", time_ns, "ns", time_ns * 0.996, time_ns * 1.005, 240},
                              {"gflops", flops / time_ns, "Gflop/s", {}, {}, 240},
                              {"gb_per_s", bytes / time_ns, "GB/s", {}, {}, 240},
                              {"special_per_s", specials / time_ns, "Gop/s", {}, {}, 240},
                              {"instructions", 5.2e6, "", 5.19e6, 5.21e6, 12},
                              {"application_ceiling", kNotMeasured, "x", {}, {}, 0}},
                  .roofs = measured_roofs(),
                  .floor_ns = specials / 0.62,
                  .floor_roof = "special_tanh",
                  .time_ns = time_ns};
  profile.floor_fraction = profile.floor_ns / time_ns;
  return profile;
}

Prediction predicted(double low, double high, const std::string& because) {
  return {.low = low, .high = high, .relative_to = "incumbent", .because = because};
}

Build built(const std::string& code_hash) {
  return {.key = "key-" + code_hash,
          .outcome = Outcome::valid,
          .object_path = "/nowhere/candidate.so",
          .object_hash = "0b" + code_hash,
          .code_hash = code_hash,
          .flags = {"-O3", "-march=native"},
          .toolchain = {.compiler = "/usr/bin/g++", .version = "g++ (Debian 12.2.0) 12.2.0"},
          .seconds = 1.42,
          .resources = {{"rodata_bytes", 512}, {"text_bytes", 8832}}};
}

std::vector<GateResult> gates_passed() {
  return {{"metadata", Outcome::valid, "the block is complete and N <= 64 holds", 0.001},
          {"build", Outcome::valid, "built without warnings", 1.42},
          {"correctness", Outcome::valid, "4 shapes, 4 regimes; worst error 0.31 of its tolerance", 2.8},
          {"timing", Outcome::valid, "28 rounds, 1 void", 6.1}};
}

Experiment stopped_experiment(int index, const Configuration& candidate, const Configuration& incumbent,
                              Outcome outcome, const std::string& gate, const std::string& evidence) {
  Experiment experiment = timed_experiment(index, candidate, incumbent, Verdict::reverted, Reason::gate_failed, 0, 0);
  experiment.outcome = outcome;
  experiment.rounds.clear();
  experiment.gates = {{"metadata", Outcome::valid, "the block is complete", 0.001}, {gate, outcome, evidence, 0.7}};
  experiment.judgement = Judgement{.verdict = Verdict::reverted, .reason = Reason::gate_failed, .sentence = evidence};
  return experiment;
}

Lesson lesson_of(std::int64_t id, const Experiment& experiment, const std::string& text) {
  return {.id = id,
          .experiment = experiment.id,
          .family = experiment.family,
          .workload_class = experiment.workload_class,
          .machine = "cpu-3f9a",
          .configuration = experiment.candidate,
          .incumbent = experiment.incumbent,
          .techniques = experiment.techniques,
          .verdict = experiment.judgement->verdict,
          .speedup = experiment.judgement->speedup(),
          .text = text};
}

ClockCoupling clock_of(double time_effect, double clock_effect) {
  return {.blocks = 6,
          .solo_run_s = 2,
          .confidence = 0.96875,
          .time_effect = time_effect,
          .time_lower = time_effect - 0.005,
          .time_upper = time_effect + 0.005,
          .cycle_effect = time_effect - clock_effect,
          .clock_effect = clock_effect,
          .clock_lower = clock_effect - 0.001,
          .clock_upper = clock_effect + 0.001,
          .coupled = clock_effect < -0.005};
}

Certification certification_of(std::int64_t id, const Configuration& incumbent, CachePolicy cache, double effect) {
  return {.id = id,
          .campaign = 3,
          .incumbent = incumbent,
          .baseline = e88("simple"),
          .cache_policy = cache,
          .effect = effect,
          .lower = effect - 0.007,
          .upper = effect + 0.007,
          .rounds = 38,
          .claimed_effect = 0.4855,
          .alarm = false,
          .seconds = 14.2,
          .at = at_minute(20)};
}

IterationRecord first_iteration() {
  ResearchBrief brief;
  brief.bottlenecks = {{"special-functions", "33 k tanh a call at 0.62 Gop/s take 53 us of 118 us", 1.8},
                       {"single-thread", "1 of 8 CPUs is busy", 6.5}};
  brief.ranked = {{.configuration = e88("chunk_prefetch", {{"CHUNK", 16}}),
                   .techniques = {"chunk-prefetch"},
                   .prediction = predicted(1.2, 1.5, "half of the loads miss L2"),
                   .attacks = "memory-latency",
                   .score = 0.71,
                   .why = "bound 1.6x, cost low, never tried here",
                   .origin = Origin::registered},
                  {.configuration = e88("fast_tanh"),
                   .techniques = {"rational-tanh"},
                   .prediction = predicted(1.1, 1.3, "a rational tanh costs a third"),
                   .attacks = "special-functions",
                   .score = kNotMeasured,
                   .why = "proposed",
                   .origin = Origin::proposer}};
  brief.left_out = {{e88("padded_cache"), "refuted in experiment 7: 0.99x, and source and device are the same",
                     LeftOutKind::refuted}};
  return {.id = 11,
          .index = 1,
          .started_at = at_minute(1),
          .incumbent = e88("simple"),
          .profiles = {profile_of(e88("simple"), 118.2e3)},
          .brief = brief};
}

IterationRecord second_iteration(const Configuration& incumbent) {
  IterationRecord iteration{.id = 12,
                            .index = 2,
                            .started_at = at_minute(9),
                            .incumbent = incumbent,
                            .profiles = {profile_of(incumbent, 84.6e3)}};
  iteration.brief.bottlenecks = {{"special-functions", "tanh takes 63 % of a call", 2.7}};
  iteration.brief.unwritten = {{.technique = {.name = "vectorised-tanh", .low = 1.2, .high = 4, .source = "libmvec"},
                                .attacks = "special-functions"},
                               {.technique = {.name = "half-state", .low = 1.1, .high = 1.5, .source = "a paper"},
                                .attacks = "special-functions",
                                .why_not = "it needs N <= 32, and here N is 128"}};
  return iteration;
}

}  // namespace

Experiment timed_experiment(int index, const Configuration& candidate, const Configuration& incumbent, Verdict verdict,
                            Reason reason, double effect, double half_width) {
  Experiment experiment{.id = 100 + index,
                        .iteration = 11,
                        .campaign = 3,
                        .index = index,
                        .family = "e88_backward",
                        .workload_class = "n32",
                        .workloads = {"b2_t64_h4_n32"},
                        .candidate = candidate,
                        .incumbent = incumbent,
                        .candidate_source_hash = "source of " + candidate.variant,
                        .incumbent_source_hash = "source of " + incumbent.variant,
                        .techniques = {"chunk-prefetch"},
                        .prediction = predicted(1.2, 1.5, "half of the loads miss L2"),
                        .candidate_build = built("c0de" + std::to_string(index)),
                        .incumbent_build = built("c0de0"),
                        .gates = gates_passed(),
                        .started_at = at_minute(index),
                        .finished_at = at_minute(index + 1)};
  const bool confirmed = verdict == Verdict::accepted || reason == Reason::confirm_failed;
  experiment.rounds = {
      {.stage = RoundStage::search, .index = 0, .seed = 42, .effect = effect, .seconds = 0.2},
      {.stage = RoundStage::search, .index = 1, .seed = 43, .effect = 0, .void_why = "steal 12 %", .seconds = 0.3},
      {.stage = confirmed ? RoundStage::confirm : RoundStage::search,
       .index = 2,
       .seed = 44,
       .effect = effect,
       .seconds = 0.2}};
  experiment.judgement = Judgement{.verdict = verdict,
                                   .reason = reason,
                                   .sentence = "the effect and its interval decided it",
                                   .effect = effect,
                                   .lower = effect - half_width,
                                   .upper = effect + half_width,
                                   .confidence = 0.98,
                                   .rounds = 22,
                                   .processes = 37,
                                   .samples = 8880,
                                   .seconds = 9.7,
                                   .search_effect = effect + 0.01,
                                   .alpha = 0.01,
                                   .minimum_detectable = 0.008,
                                   .incumbent_ns = 118.2e3,
                                   .candidate_ns = 118.2e3 * std::exp(-effect),
                                   .preset = "standard",
                                   .cache_policy = CachePolicy::cold,
                                   .rule_version = "1"};
  return experiment;
}

CampaignRecords realistic_campaign() {
  const Configuration simple = e88("simple");
  const Configuration prefetch = e88("chunk_prefetch", {{"CHUNK", 16}});
  const Configuration threads = e88("adaptive_threads", {{"THREADS", 2}});
  CampaignRecords records{.campaign = campaign_of(CampaignState::finished), .machine = machine_of()};
  records.iterations = {second_iteration(prefetch), first_iteration()};

  Experiment accepted = timed_experiment(1, prefetch, simple, Verdict::accepted, Reason::faster, std::log(1.34), 0.006);
  Experiment incorrect =
      stopped_experiment(2, e88("fast_tanh"), prefetch, Outcome::incorrect, "correctness",
                         "dS at [1,7,3,0]: |error| 0.042 > 0.011 in regime 'long-memory' | see the dump");
  incorrect.prediction = predicted(1.1, 1.3, "a rational tanh costs a third");
  incorrect.techniques = {"rational-tanh"};
  Experiment slower =
      timed_experiment(3, e88("padded_cache"), prefetch, Verdict::reverted, Reason::regression, -0.031, 0.004);
  slower.techniques = {"padded-cache"};
  slower.prediction = predicted(1.01, 1.04, "fewer bank conflicts");
  Experiment second = timed_experiment(4, threads, prefetch, Verdict::accepted, Reason::faster, std::log(1.21), 0.009);
  second.techniques = {"adaptive-threads", "chunk-prefetch"};
  Experiment open =
      timed_experiment(5, e88("fused_l2_norm"), threads, Verdict::inconclusive, Reason::unresolved, 0.004, 0.008);
  open.techniques = {"fused-l2-norm"};
  open.prediction = {};
  Experiment killed = open;
  killed.id = 106;
  killed.index = 6;
  killed.candidate = e88("register_owned");
  killed.judgement.reset();
  killed.finished_at.clear();
  killed.abandoned = "the program was killed after 4 rounds";

  records.experiments = {open, accepted, killed, second, incorrect, slower};
  records.diffs[accepted.id] =
      "--- e88_backward/simple\n+++ e88_backward/chunk_prefetch\n@@ -1,2 +1,3 @@\n for (int t = 0; t < T; ++t) {\n"
      "-  load(t);\n+  __builtin_prefetch(k + (t + CHUNK) * N);  // <- 16 steps ahead & back\n+  load(t);\n";
  records.diffs[second.id] = "";
  records.lessons = {lesson_of(2, slower, "Padding the cache costs 3.1 % at N=32: there were no conflicts to remove."),
                     lesson_of(1, accepted, "Prefetching 16 steps ahead gives 1.34x while a chunk fits L2."),
                     lesson_of(3, open, "Fusing the L2 norm is within 1 % of nothing at T=64.")};
  records.certifications = {certification_of(1, threads, CachePolicy::cold, std::log(1.60)),
                            certification_of(2, threads, CachePolicy::warm, std::log(1.71))};
  records.certifications[0].clock = clock_of(std::log(1.59), 0.0002);
  records.certifications[1].clock = clock_of(std::log(1.66), std::log(0.974));
  records.sentinels = {{.configuration = simple,
                        .effect = 0.0002,
                        .lower = -0.0011,
                        .upper = 0.0015,
                        .confidence = 0.99,
                        .sd = 0.0042,
                        .rounds = 14,
                        .at = at_minute(0)}};
  return records;
}

CampaignRecords sampled_campaign() {
  CampaignRecords records = realistic_campaign();
  const auto sample = [](Profile& profile, double barrier, double scoreboard, int line, const std::string& text) {
    profile.rung = "counters+pc";
    profile.conditions = "cold caches: L2 flushed, then 4 passes";
    for (const auto& [state, share] : {std::pair{"barrier", barrier}, std::pair{"long_scoreboard", scoreboard},
                                       std::pair{"wait", 0.125}, std::pair{"selected", 0.1}}) {
      profile.metrics.push_back(
          {.name = std::string("stall_") + state, .value = share, .unit = "ratio", .samples = 1000});
      profile.stalls.push_back({.kernel = "backward",
                                .pc_offset = 16 * line,
                                .file = "variant.cu",
                                .line = line,
                                .stall = state,
                                .samples = static_cast<std::int64_t>(1000 * share)});
    }
    profile.lines = {{.file = "variant.cu", .line = line, .text = text}};
    profile.launches = {{"backward(float*, int)", 0.5 * profile.time_ns, 3e6, 0.5, 0.25, "barrier", barrier},
                        {"sum", 0.25 * profile.time_ns, 1e6, std::nan(""), 0.1, "", std::nan("")}};
  };
  // In the journal's order, which need not be theirs.
  const auto by_index = [](const IterationRecord& a, const IterationRecord& b) { return a.index < b.index; };
  std::sort(records.iterations.begin(), records.iterations.end(), by_index);
  sample(records.iterations.front().profiles.front(), 0.41, 0.25, 42, "__syncthreads();  // | <b> `tick`");
  sample(records.iterations.back().profiles.front(), 0.03, 0.5, 7, "state[i] = fmaf(k, v, state[i]);");
  return records;
}

CampaignRecords empty_campaign() {
  return {.campaign = campaign_of(CampaignState::open), .machine = machine_of()};
}

CampaignRecords failed_campaign() {
  CampaignRecords records{.campaign = campaign_of(CampaignState::finished), .machine = machine_of()};
  const Configuration simple = e88("simple");
  Experiment unbuilt =
      stopped_experiment(1, e88("typo"), simple, Outcome::build_failed, "build", "g++ says: expected ';'");
  unbuilt.candidate_build.outcome = Outcome::build_failed;
  unbuilt.candidate_build.evidence = "typo.cpp:3:7: expected ';' before '}' token";
  unbuilt.candidate_build.code_hash.clear();
  unbuilt.candidate_build.resources.clear();
  unbuilt.candidate_build.log = "typo.cpp:3:7: error: expected ';' before '}' token\n    3 | int x\n";
  records.experiments = {unbuilt,
                         stopped_experiment(2, e88("loops"), simple, Outcome::timed_out, "correctness",
                                            "no answer in 2000 ms (10x the incumbent)"),
                         stopped_experiment(3, e88("crashes"), simple, Outcome::faulted, "correctness", "SIGSEGV")};
  return records;
}

CampaignRecords long_campaign(int count) {
  CampaignRecords records{.campaign = campaign_of(CampaignState::open), .machine = machine_of()};
  Configuration incumbent = e88("simple");
  for (int index = 1; index <= count; ++index) {
    const Configuration candidate = e88("a_rather_long_variant_name_of_the_idea_" + std::to_string(index),
                                        {{"CHUNK", 16}, {"HEADS_PER_BLOCK", index}});
    const int kind = index % 5;
    const double effect = 0.03 * kind - 0.05 + 0.004 * (index % 7);
    if (kind == 4) {
      records.experiments.push_back(timed_experiment(index, candidate, incumbent, Verdict::accepted, Reason::faster,
                                                     std::fabs(effect) + 0.02, 0.006));
      incumbent = candidate;
    } else if (kind == 3) {
      records.experiments.push_back(stopped_experiment(index, candidate, incumbent, Outcome::incorrect, "correctness",
                                                       "dq is wrong in regime 'typical'"));
    } else if (kind == 2) {
      records.experiments.push_back(
          timed_experiment(index, candidate, incumbent, Verdict::inconclusive, Reason::unresolved, 0.003, 0.012));
    } else {
      records.experiments.push_back(
          timed_experiment(index, candidate, incumbent, Verdict::reverted, Reason::no_gain, effect, 0.007));
    }
  }
  records.iterations = {first_iteration(), second_iteration(incumbent)};
  return records;
}

CampaignRecords hostile_campaign() {
  const std::string nasty =
      "</td></svg><script>alert(1)</script> | cell \n# heading\n```\n`tick` \"quote\" 'single' & &amp; \x1b[31m "
      "\xff\xfe "
      "![x](http://example.invalid) \xE2\x80\xAE,\r\n=1+1";
  CampaignRecords records = failed_campaign();
  records.campaign.policy.family = nasty;
  records.campaign.baseline.variant = nasty;
  records.machine.model = nasty;
  records.machine.facts[nasty] = nasty;
  const Configuration candidate = {.variant = nasty};
  Experiment timed =
      timed_experiment(9, candidate, records.campaign.baseline, Verdict::accepted, Reason::faster, 0.1, 0.01);
  timed.techniques = {nasty};
  timed.workloads = {nasty};
  timed.prediction.because = nasty;
  timed.judgement->sentence = nasty;
  timed.gates.push_back({nasty, Outcome::valid, nasty, 1});
  records.experiments.push_back(timed);
  records.experiments[0].candidate_build.log = nasty;
  records.experiments[1].gates[1].evidence = "=HYPERLINK(\"http://example.invalid\")";
  records.lessons = {lesson_of(1, timed, nasty)};
  records.iterations = {first_iteration()};
  records.iterations[0].profiles[0].workload = nasty;
  records.iterations[0].profiles[0].floor_roof = nasty;
  records.iterations[0].profiles[0].roofs[0].name = nasty;
  records.iterations[0].brief.left_out = {{candidate, nasty}};
  records.iterations[0].brief.bottlenecks = {{nasty, nasty, kNotMeasured}};
  return records;
}

void expect_approved(const std::string& name, const std::string& text) {
  const std::filesystem::path path = std::filesystem::path(APO_SOURCE_FOLDER) / "tests" / "golden" / "reports" / name;
  const char* approve = std::getenv("APO_APPROVE");
  if (approve != nullptr && std::string(approve) == "1") {
    write_file_atomically(path, text);
  }
  ASSERT_TRUE(std::filesystem::exists(path)) << "APO_APPROVE=1 writes " << path;
  EXPECT_EQ(text, read_file(path)) << "APO_APPROVE=1 approves the new text of " << path;
}

namespace {

using Lines = std::vector<std::pair<std::string, std::string>>;

void add_lines(const nlohmann::ordered_json& value, const std::string& path, Lines& lines) {
  if (value.is_structured() && !value.empty()) {
    for (const auto& [key, part] : value.items()) {
      add_lines(part, value.is_array() ? path : path + "." + key, lines);
    }
    return;
  }
  auto line = std::ranges::find(lines, path, &Lines::value_type::first);
  if (line == lines.end()) {
    line = lines.insert(line, {path, ":"});
  }
  line->second += " " + value.dump();
}

std::string lines_without(const std::string& text, const std::string& other, const std::string& mark) {
  std::vector<std::string> known = split(other, '\n');
  std::string left;
  for (const std::string& line : split(text, '\n')) {
    if (const auto found = std::ranges::find(known, line); found != known.end()) {
      known.erase(found);
    } else {
      left += mark + line + "\n";
    }
  }
  return left;
}

}  // namespace

std::string lines_by_path(const std::string& json) {
  Lines lines;
  add_lines(nlohmann::ordered_json::parse(json), "", lines);
  std::string text;
  for (const auto& [path, values] : lines) {
    text += path + values + "\n";
  }
  return text;
}

std::string beside_the_realistic(const std::string& markdown) {
  const std::string path = APO_SOURCE_FOLDER "/tests/golden/reports/realistic/report.md";
  const std::string realistic = read_file(path);
  return lines_without(markdown, realistic, "+") + lines_without(realistic, markdown, "-");
}

}  // namespace apo::report::fixture
