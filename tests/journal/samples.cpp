// tests/journal/samples.cpp - builds the records that the tests write.
#include "tests/journal/samples.h"

#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <limits>

#include "harness/core/hash.h"
#include "harness/core/sources.h"
#include "journal/facts/experiments.h"
#include "journal/facts/machines.h"
#include "journal/facts/variants.h"

namespace apo::test {

Machine a_machine(const std::string& id) {
  return {.target = Target::host,
          .id = id,
          .model = "Intel(R) Xeon(R) Processor",
          .cores = 2,
          .kernel = "6.1.0",
          .governor = "unknown",
          .isa = "avx512",
          .driver = "",
          .l2_bytes = 2 << 20,
          .l3_bytes = 33'554'432,
          .memory_bytes = 8'000'000'000,
          .facts = {{"hypervisor", "KVM"}, {"text", kAwkward}}};
}

Variant a_variant(const std::string& name, const std::string& family) {
  Variant variant;
  variant.family = family;
  variant.name = name;
  variant.arch = "sm_80";
  variant.techniques = {"register-owned", "padded-cache"};
  variant.parent = family + "/simple";
  variant.idea = kAwkward;
  variant.prediction = Prediction{1.5, 1.8, "parent", "barriers vanish"};
  variant.requires_expression = "N <= 64 && V <= 32";
  variant.tunables = {{"HEADS_PER_BLOCK", {1, 2, 4}},
                      {"CHUNK", {-1, std::numeric_limits<std::int64_t>::max()}},
                      {"FUSED", {0, 1}, "fused-l2-norm"}};
  variant.scratch = {{"history", "2*B*H*16*(N*V+N+V+1)"}, {"unit", "4*N", "!FUSED"}};
  variant.launches = {{"backward", {{"grid", "B*ceil_div(H,2)"}, {"block", "64"}}}, {"reduce", {}}};
  variant.path = "/variants/" + name + ".cu";
  variant.source = "// apo:variant " + variant.id() + "\n" + kAwkward + std::string("\0\xff", 2);
  variant.source_hash = sha256(variant.source);
  return variant;
}

Build a_build(const std::string& key) {
  return {.key = key,
          .outcome = Outcome::valid,
          .object_path = "/cache/" + key + ".so",
          .object_hash = sha256(key + "object"),
          .code_hash = sha256(key + "code"),
          .flags = {"-O3", "-DNAME=\"a b\"", kAwkward},
          .toolchain = {"/usr/bin/g++", "g++ 12.2.0"},
          .log = std::string("warning: \0 \xff\xfe unused", 20),
          .seconds = 1.0 / 3,
          .from_cache = true,
          .resources = {{"registers", 168}, {"spills", 0}, {"text_bytes", 1LL << 40}}};
}

Round a_round(int index, std::uint64_t seed) {
  Round round{.stage = index < 2 ? RoundStage::search : RoundStage::confirm,
              .index = index,
              .seed = seed,
              .candidate_in_slot0 = index % 2 == 0};
  RoundWorkload workload{.workload = "e88_backward/b16_t512_h83_n32", .repetitions = 3};
  workload.warmup = {Block{{{0, 1'000'000}, {1, 999'999}}}, Block{}};
  for (int block = 0; block < 6; ++block) {
    workload.blocks.push_back(Block{{{0, 712'345 + block}, {1, 700'001}, {1, 0}, {0, 4'000'000'000'000 + block}}});
  }
  workload.blocks.push_back(Block{{{-7, -1},
                                   {std::numeric_limits<int>::max(), std::numeric_limits<std::int64_t>::min()},
                                   {std::numeric_limits<int>::min(), std::numeric_limits<std::int64_t>::max()}}});
  workload.effect = 0.1 + 0.2;
  workload.incumbent_p90_ns = 1e6 / 3;
  workload.candidate_p90_ns = 5e-324;
  workload.incumbent_median_ns = 1.7976931348623157e308;
  workload.candidate_median_ns = std::numeric_limits<double>::infinity();
  workload.checks = {.activity_incumbent = 1e6 / 3, .alone_fresh_work = -1};
  round.workloads = {workload, RoundWorkload{.workload = "empty"}};
  round.effect = std::nextafter(0.01, 1);
  round.void_why = index == 1 ? kAwkward : "";
  round.seconds = 0.31;
  round.environment = {.steal_percent = 0.1,
                       .layout = Layout::fixed,
                       .process_start_s = 1e-300,
                       .same_process = true,
                       .second_clock = false,
                       .sm_mhz_before = -std::numeric_limits<double>::infinity(),
                       .sm_mhz_after = 1980,
                       .throttle_bits = 0x44};
  return round;
}

Judgement a_judgement(Verdict verdict, double effect) {
  return {.verdict = verdict,
          .reason = verdict == Verdict::accepted ? Reason::faster : Reason::regression,
          .sentence = std::string("measured: ") + kAwkward,
          .effect = effect,
          .lower = effect - 0.01,
          .upper = effect + 0.01,
          .confidence = 0.98,
          .rounds = 14,
          .processes = 33,
          .samples = 5280,
          .seconds = 9.87654321,
          .search_effect = effect * 1.1,
          .alpha = 0.01,
          .minimum_detectable = 0.003,
          .incumbent_ns = 712345.6,
          .candidate_ns = 600000.1,
          .preset = "standard",
          .cache_policy = CachePolicy::cold,
          .rule_version = "judge-1",
          .minimum_claim = 0.0125};
}

Campaign a_campaign() {
  Campaign campaign;
  campaign.policy = {.family = "e88_backward",
                     .workload_class = "n32",
                     .workloads = {"b16_t512_h83_n32", kAwkward},
                     .baseline = "e88_backward/simple",
                     .iterations = 4,
                     .candidates_per_iteration = 2,
                     .budget_s = 90.5,
                     .cache_policy = CachePolicy::warm,
                     .judge_preset = "extended",
                     .seed = 0xFFFF'FFFF'FFFF'FFFEu,
                     .target = Target::host,
                     .layout = Layout::fixed};
  campaign.baseline = {"e88_backward/simple", {}};
  campaign.machine = "cpu-1";
  campaign.started_at = "2026-02-03T04:05:06Z";
  return campaign;
}

Experiment an_experiment(std::int64_t campaign, std::int64_t iteration) {
  Experiment experiment;
  experiment.campaign = campaign;
  experiment.iteration = iteration;
  experiment.index = 7;
  experiment.family = "e88_backward";
  experiment.workload_class = "n32";
  experiment.workloads = {"b16_t512_h83_n32", "ragged"};
  experiment.candidate = {"e88_backward/padded_cache", {{"CHUNK", -16}, {"HEADS_PER_BLOCK", 2}}};
  experiment.incumbent = {"e88_backward/simple", {}};
  experiment.candidate_source_hash = a_variant("padded_cache").source_hash;
  experiment.incumbent_source_hash = a_variant("simple").source_hash;
  experiment.techniques = {"padded-cache", "adaptive-threads"};
  experiment.prediction = {1.05, 1.25, "incumbent", kAwkward};
  experiment.candidate_build = a_build("candidate");
  experiment.incumbent_build = a_build("incumbent");
  experiment.gates = {{"build", Outcome::valid, kAwkward, 0.5}, {"correctness", Outcome::valid, "", 1e-9}};
  experiment.gates.back().errors = {{kAwkward, 0.25, 1e-300, true, false}, {"n4k", 0, 0, false, true}};
  experiment.rounds = {a_round(0, 0), a_round(1, std::numeric_limits<std::uint64_t>::max()), a_round(2, 1ULL << 63)};
  experiment.judgement = a_judgement(Verdict::accepted, 0.15);
  experiment.started_at = "2026-02-03T04:05:06Z";
  experiment.finished_at = "2026-02-03T04:06:06Z";
  experiment.machine = "cpu-1";
  return experiment;
}

DeclaredApplication an_application() {
  return {.command = {"./train", kAwkward},
          .metrics = {{.name = "step", .unit = "s", .role = MetricRole::speed},
                      {.name = "loss", .role = MetricRole::quality, .margin = 0.01, .last = 2}},
          .steps = 4,
          .seeds = {-7, 2}};
}

Lesson a_lesson(const Experiment& experiment) {
  return {.experiment = experiment.id,
          .family = experiment.family,
          .workload_class = experiment.workload_class,
          .machine = experiment.machine,
          .configuration = experiment.candidate,
          .source_hash = experiment.candidate_source_hash,
          .incumbent = experiment.incumbent,
          .incumbent_source_hash = experiment.incumbent_source_hash,
          .techniques = experiment.techniques,
          .verdict = experiment.judgement->verdict,
          .speedup = experiment.judgement->speedup(),
          .text = kAwkward};
}

Variant a_variant_with_headers() {
  Variant variant = a_variant("headed", "e88_backward");
  variant.headers = {{"phases.cuh", kAwkward, "/variants/phases.cuh"}, {"words.cuh", variant.source, ""}};
  variant.contract = "// apo:family of_the_file\n";
  variant.source_hash = source_identity(variant);
  return variant;
}

void prepare(Journal& journal) {
  add_machine(journal, a_machine());
  add_variant(journal, a_variant("simple"));
  add_variant(journal, a_variant("padded_cache"));
}

std::int64_t add_quick(Journal& journal, const Quick& quick) {
  Experiment experiment = an_experiment(quick.campaign, 0);
  experiment.workload_class = quick.workload_class;
  experiment.workloads = {"b1_" + quick.workload_class};
  experiment.techniques = {quick.technique, "every"};
  experiment.candidate.settings = {{"K", quick.setting}};
  experiment.started_at = quick.started_at;
  experiment.rounds.clear();
  experiment.judgement = a_judgement(quick.verdict, quick.effect);
  experiment.id = begin_experiment(journal, experiment);
  finish_experiment(journal, experiment);
  return experiment.id;
}

void begin_with_evidence(Journal& journal, Experiment& experiment) {
  experiment.id = begin_experiment(journal, experiment);
  add_build(journal, experiment.id, BuildRole::candidate, experiment.candidate_build);
  add_build(journal, experiment.id, BuildRole::incumbent, experiment.incumbent_build);
  for (const GateResult& gate : experiment.gates) {
    add_gate(journal, experiment.id, gate);
  }
  for (const Round& round : experiment.rounds) {
    add_round(journal, experiment.id, round);
  }
}

void add_lesson(Journal& journal, const Lesson& lesson) {
  Experiment experiment = an_experiment(0, 0);
  experiment.rounds.clear();
  experiment.id = begin_experiment(journal, experiment);
  finish_experiment(journal, experiment, lesson);
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::string attack(const std::filesystem::path& path, const std::string& sql) {
  sqlite3* handle = nullptr;
  char* message = nullptr;
  sqlite3_open(path.c_str(), &handle);
  sqlite3_exec(handle, sql.c_str(), nullptr, nullptr, &message);
  const std::string result = message == nullptr ? "" : message;
  sqlite3_free(message);
  sqlite3_close(handle);
  return result;
}

int as_ordinary_user(const std::filesystem::path& owned, bool (*action)(const std::filesystem::path&),
                     const std::filesystem::path& argument) {
  constexpr uid_t kNobody = 65534;
  std::filesystem::permissions(owned, std::filesystem::perms{0755});
  const pid_t child = fork();
  if (child == 0) {
    if (getuid() == 0 && setuid(kNobody) != 0) {
      _exit(3);
    }
    bool done = false;
    try {
      done = action(argument);
    } catch (const std::exception& error) {
      std::fprintf(stderr, "%s\n", error.what());
      _exit(2);
    }
    _exit(done ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace apo::test
