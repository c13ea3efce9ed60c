// harness/loop/selftest/study.cpp - rounds of identical code, their spread by level, and the plan that follows.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <stdexcept>

#include "harness/core/error.h"
#include "harness/core/text.h"
#include "harness/evaluate/counted_rounds.h"
#include "harness/evaluate/judge/signed_rank.h"
#include "harness/evaluate/rounds/runner.h"
#include "harness/loop/plan.h"
#include "harness/loop/selftest/selftest.h"
#include "harness/loop/workspace/chosen_workload.h"

namespace apo {
namespace {

constexpr const char* kExtra = "EXTRA";  // thousandths, in variants/spin

std::vector<std::string> default_names(Target target) {
  if (target == Target::cuda) {
    return {"spin/cuda_chain@n16k_s1k",
            "spin/cuda_chain@n16k_s8k",
            "spin/cuda_chain@n16k_s80k",
            "copy/cuda_simple@n1m",
            "copy/cuda_vector4@n64m",
            "e88_forward/cuda_best@b8_t128_h83_n32",
            "e88_backward/cuda_best@b8_t128_h83_n32"};
  }
  return {"spin/chain@s5k",
          "spin/chain@s50k",
          "spin/chain@s500k",
          "copy/simple@n1m",
          "copy/memcpy@n1m",
          "e88_forward/combined@b2_t64_h4_n32",
          "e88_backward/combined@b2_t64_h4_n32"};
}

SelftestSubject subject_of(Workspace& workspace, Target target, const std::string& name) {
  const std::size_t at = name.find('@');
  SelftestSubject subject{.configuration = workspace.catalogue().configuration(name.substr(0, at))};
  const Variant& variant = workspace.catalogue().get(subject.configuration.variant);
  if (variant.target != target) {
    throw UserError("'" + variant.id() + "' is for target " + std::string(to_string(variant.target)) +
                        ", this selftest for " + std::string(to_string(target)),
                    "choose the target with --target " + std::string(to_string(variant.target)));
  }
  subject.family = &workspace.family(variant.family);
  subject.workload = at == std::string::npos ? &first_workload(*subject.family, target)
                                             : &workspace.workload(*subject.family, name.substr(at + 1));
  const Runtime runtime = workspace.runtime(*subject.family);
  if (const std::string why = runtime.unsupported(subject.configuration, subject.workload->axes); !why.empty()) {
    throw UserError(subject.configuration.label() + " does not support " + subject.workload->name + ": " + why);
  }
  return subject;
}

Configuration with_extra(Configuration configuration, int thousandths) {
  configuration.settings[kExtra] = thousandths;
  return configuration;
}

}  // namespace

std::vector<SelftestSubject> selftest_subjects(Workspace& workspace, Target target,
                                               const std::vector<std::string>& names,
                                               std::vector<std::string>& left_out) {
  std::vector<SelftestSubject> subjects;
  for (const std::string& name : names) {
    subjects.push_back(subject_of(workspace, target, name));
  }
  for (const std::string& name : names.empty() ? default_names(target) : std::vector<std::string>()) {
    try {
      subjects.push_back(subject_of(workspace, target, name));
    } catch (const UserError& error) {
      left_out.push_back("left out: " + std::string(error.what()));
    }
  }
  if (subjects.empty()) {
    throw EnvironmentError("no bundled kernel runs here: " + join(left_out, "; "), "name some with --kernels");
  }
  return subjects;
}

std::vector<SelftestComparison> known_pairs(const SelftestSubject& subject, std::vector<int> thousandths) {
  if (subject.family->name != "spin" || !subject.configuration.settings.contains(kExtra)) {
    return {};
  }
  if (thousandths.empty()) {
    thousandths = {5, 10, 20, 50, -10};
    if (subject.workload->target == Target::cuda) {
      thousandths.insert(thousandths.begin(), {1, 2, 3});
    }
  }
  const std::int64_t steps = subject.workload->axes.at("steps");
  std::vector<SelftestComparison> pairs;
  for (const int extra : thousandths) {
    const std::int64_t extra_steps = steps * std::abs(extra) / 1000;
    if (extra_steps == 0) {
      continue;
    }
    const double ratio = static_cast<double>(extra_steps) / static_cast<double>(steps);
    pairs.push_back({.kind = SelftestKind::power,
                     .incumbent = with_extra(subject.configuration, std::max(extra, 0)),
                     .candidate = with_extra(subject.configuration, std::max(-extra, 0)),
                     .truth = std::copysign(std::log1p(ratio), extra)});
  }
  return pairs;
}

namespace {

constexpr int kStudies = 3;  // of each kernel, so that processes may be shared
constexpr int kProcessesOfStudy = 4;

void shorten(const SelftestRequest& request, JudgePreset& preset) {
  preset.round_s = request.round_s > 0 ? request.round_s : preset.round_s;
}

EvaluatePlan first_plan(const SelftestRequest& request, const SelftestSubject& what, std::uint64_t seed) {
  EvaluatePlan plan{.workloads = {what.workload},
                    .preset = first_preset(request.judge_preset),
                    .cache = request.cache_policy,
                    .seed = seed,
                    .trusted = true,  // bundled or registered; timed calls are verified all the same
                    .time_same_code = true,
                    .rounds = {.layout = request.layout}};
  shorten(request, plan.preset);
  return plan;
}

// Again where something on the machine disturbed it, or made too many of its rounds void.
std::vector<Round> study_rounds(const StudiedKernel& studied, int index, const NoiseDesign& design, Observer& observer,
                                std::vector<std::string>& remarks) {
  constexpr int kAttempts = 3;
  std::string why;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    try {
      std::vector<Round> rounds = run_noise_study(studied.runtime, studied.what.configuration, studied.plan,
                                                  kAttempts * index + attempt, design, kProcessesOfStudy, observer);
      static_cast<void>(noise_levels(rounds, design));  // throws where too few count
      return rounds;
    } catch (const std::runtime_error& error) {
      why = error.what();
      remarks.push_back("a study of the noise again: " + why);
    }
  }
  throw EnvironmentError(why, "stop other work on this machine and run again");
}

// Of a round under the preset that was chosen.
int planned_blocks(const RoundCost& cost, const JudgePreset& preset) {
  const double blocks = (preset.round_s - cost.warmup_s) / cost.block_s;
  return static_cast<int>(std::clamp<double>(blocks, preset.blocks_min, preset.blocks_max));
}

void note_levels(StudiedKernel& studied, const NoiseLevels& levels, const std::vector<Round>& rounds) {
  SelftestKernel& kernel = studied.kernel;
  kernel.round_sd = levels.total;
  kernel.sample_sd = levels.sample;
  kernel.block_sd = levels.block;
  kernel.within_sd = levels.round;
  kernel.layout_sd = levels.layout;
  kernel.process_sd = levels.process;
  studied.claim_sd = std::min(levels.total, levels.robust);
  studied.cost = cost_of(rounds, levels.total);
  kernel.kernel_s = studied.cost.warmup_s + studied.cost.blocks * studied.cost.block_s;
  std::vector<double> calls;
  std::vector<double> starts;
  std::vector<double> whole;
  for (const Round& round : rounds) {
    calls.push_back(round.workloads.front().incumbent_median_ns);
    if (round.environment.process_start_s) {
      starts.push_back(*round.environment.process_start_s);
      whole.push_back(round.seconds);
    }
  }
  kernel.call_ns = median(calls);
  kernel.start_s = median(starts);
  kernel.round_s = median(whole);
}

// By the noise that was measured.
void choose_plan(const SelftestRequest& request, const std::vector<NoiseLevels>& studies, StudiedKernel& studied) {
  EvaluatePlan& plan = studied.plan;
  if (!asked_preset(request.judge_preset)) {
    plan.preset = choose_preset(studied.kernel.round_sd, layout_control(request.layout));
    plan.preset.minimum_claim = 0;  // here the rule itself is tried
    shorten(request, plan.preset);
  }
  RoundCost planned = studied.cost;
  planned.blocks = planned_blocks(studied.cost, plan.preset);
  // On a CPU a process costs little, and what a fresh one adds is part of what is tried.
  studied.kernel.rounds_per_process =
      request.target == Target::cuda ? rounds_per_process(studies, studied.kernel.start_s, planned) : 1;
  plan.rounds.rounds_per_process = studied.kernel.rounds_per_process;
  studied.kernel.preset = plan.preset.name;
}

}  // namespace

StudiedKernel study_kernel(Workspace& workspace, const SelftestRequest& request, const SelftestSubject& what,
                           std::uint64_t seed, Observer& observer, std::vector<std::string>& remarks) {
  StudiedKernel studied{.what = what,
                        .runtime = workspace.runtime(*what.family),
                        .plan = first_plan(request, what, seed),
                        .kernel = {.configuration = what.configuration, .workload = what.workload->name},
                        .cost = {},
                        .apparent = {},
                        .variances = {}};
  std::vector<NoiseLevels> studies;
  std::vector<Round> all;
  const NoiseDesign design;
  const int wanted = request.quick ? 1 : kStudies;
  for (int index = 0; index < wanted; ++index) {
    const std::vector<Round> rounds = study_rounds(studied, index, design, observer, remarks);
    studies.push_back(noise_levels(rounds, design));
    all.insert(all.end(), rounds.begin(), rounds.end());
  }
  note_levels(studied, noise_levels(all, design), all);
  choose_plan(request, studies, studied);
  observer.say(fmt::format("{} on {}: {} a call, a round spreads by {} %, judge preset {}", what.configuration.label(),
                           what.workload->name, format_ns(studied.kernel.call_ns),
                           format_g(100 * studied.kernel.round_sd, 2), studied.kernel.preset));
  return studied;
}

SelftestKernel conclude(const StudiedKernel& studied, const SelftestRequest& request) {
  constexpr std::size_t kEnough = 5;
  SelftestKernel kernel = studied.kernel;
  RoundCost cost = studied.cost;
  double claim_sd = studied.claim_sd;
  // The spread over the comparisons says more than that of the few rounds of the study, once there are some.
  if (studied.variances.size() >= kEnough) {
    kernel.round_sd = std::sqrt(median(studied.variances));  // a neighbour's burst is in few of them
    claim_sd = kernel.round_sd;
    cost.round_sd = kernel.round_sd;
    cost.blocks = planned_blocks(cost, studied.plan.preset);
  }
  const LayoutControl control = layout_control(request.layout);
  kernel.resolves_1s = detectable_within(1, cost, control);
  kernel.resolves_10s = detectable_within(10, cost, control);
  kernel.resolves_60s = detectable_within(60, cost, control);
  kernel.smallest_claim = smallest_claim(claim_sd, studied.apparent);
  return kernel;
}

}  // namespace apo
