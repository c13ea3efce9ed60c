// journal/columns.h - which members of a record are columns of its table (schema.sql). Keys, times that may be now and
// what is no single value are added where the row is written.
#pragma once

#include "harness/core/comparisons/comparison.h"
#include "harness/core/records/selftest_record.h"
#include "journal/row.h"

namespace apo {

APO_COLUMNS_AS(Machine,
               "key, target, model, cores, kernel, governor, isa, driver, l2_bytes, l3_bytes, memory_bytes, facts", id,
               target, model, cores, kernel, governor, isa, driver, l2_bytes, l3_bytes, memory_bytes, facts)
APO_COLUMNS_AS(Variant, "family, name, target, arch, parent, idea, requires, tunables, scratch, launches, path", family,
               name, target, arch, parent, idea, requires_expression, tunables, scratch, launches, path)
APO_COLUMNS(Toolchain, compiler, version)

// ---- campaigns
APO_COLUMNS_AS(Campaign,
               "baseline, family, workload_class, workloads, policy_baseline, iterations, candidates_per_iteration,"
               " budget_s, cache_policy, preset, layout, target, started_at",
               baseline, policy.family, policy.workload_class, policy.workloads, policy.baseline, policy.iterations,
               policy.candidates_per_iteration, policy.budget_s, policy.cache_policy, policy.judge_preset,
               policy.layout, policy.target, started_at)
APO_COLUMNS_AS(IterationRow, "campaign, idx, incumbent, started_at", campaign, index, incumbent, started_at)
APO_COLUMNS_AS(Incumbent, "family, workload_class, machine_id, configuration, source_hash, experiment, campaign, since",
               family, workload_class, machine, configuration, source_hash, experiment, campaign, since)

// ---- profiles
APO_COLUMNS(Metric, name, value, unit, lower, upper, samples)
APO_COLUMNS(Roof, name, value, unit, lower, upper, samples, note)
APO_COLUMNS(StallSample, kernel, pc_offset, file, line, stall, samples)
APO_COLUMNS(SourceLine, file, line, text)
APO_COLUMNS(Profile, configuration, workload, rung, missing, conditions, floor_ns, floor_roof, time_ns, floor_fraction)
APO_COLUMNS_AS(ProfileRow, "id, configuration, source, workload, conditions, at", id, configuration, source_hash,
               workload, conditions, at)

// ---- research
APO_COLUMNS(Bottleneck, name, evidence, bound, file, line)
APO_COLUMNS_AS(Candidate,
               "configuration, techniques, predicted_low, predicted_high, predicted_over, predicted_because,"
               " prediction_source, attacks, score, why, origin",
               configuration, techniques, prediction.low, prediction.high, prediction.relative_to, prediction.because,
               prediction.source, attacks, score, why, origin)
APO_COLUMNS_AS(LeftOut, "configuration, why, left_out_kind", configuration, why, kind)
APO_COLUMNS_AS(Idea, "technique, low, high, source, attacks, score, why_not", technique.name, technique.low,
               technique.high, technique.source, attacks, score, why_not)
APO_COLUMNS_AS(ProposerCall, "command, outcome, note, seconds, tokens, usd, reported_seconds", command, outcome, note,
               seconds, cost.tokens, cost.usd, cost.seconds)
APO_COLUMNS_AS(Proposal, "author, configuration, idea, state, why, tokens, usd, seconds", author, configuration, idea,
               state, why, cost.tokens, cost.usd, cost.seconds)
APO_COLUMNS_AS(Lesson,
               "experiment, family, workload_class, machine, configuration, source_hash, incumbent, incumbent_source,"
               " techniques, verdict, speedup, text",
               experiment, family, workload_class, machine, configuration, source_hash, incumbent,
               incumbent_source_hash, techniques, verdict, speedup, text)

// ---- experiments
APO_COLUMNS_AS(Experiment,
               "campaign, iteration, idx, family, workload_class, candidate, incumbent, candidate_source,"
               " incumbent_source, predicted_low, predicted_high, predicted_over, predicted_because,"
               " prediction_source, started_at",
               campaign, iteration, index, family, workload_class, candidate, incumbent, candidate_source_hash,
               incumbent_source_hash, prediction.low, prediction.high, prediction.relative_to, prediction.because,
               prediction.source, started_at)
APO_COLUMNS(Build, key, outcome, object_path, object_hash, code_hash, flags, seconds, from_cache)
APO_COLUMNS(GateResult, gate, outcome, evidence, seconds)
APO_COLUMNS(OutputErrors, workload, max_absolute, max_relative, has_nan, has_inf)
APO_COLUMNS_AS(Round, "stage, idx, seed, candidate_in_slot0, effect, void_why, seconds", stage, index, seed,
               candidate_in_slot0, effect, void_why, seconds)
APO_COLUMNS(RoundWorkload, workload, repetitions, effect, incumbent_p90_ns, candidate_p90_ns, incumbent_median_ns,
            candidate_median_ns)
APO_COLUMNS(Judgement, verdict, reason, sentence, effect, lower, upper, confidence, rounds, processes, samples, seconds,
            search_effect, alpha, minimum_detectable, minimum_claim, incumbent_ns, candidate_ns, preset, cache_policy,
            rule_version)

// ---- what keeps the judge honest
APO_COLUMNS(Certification, campaign, incumbent, baseline, cache_policy, effect, lower, upper, rounds, claimed_effect,
            alarm, seconds, at)
APO_COLUMNS(ClockCoupling, missing, coupled, blocks, solo_run_s, confidence, time_effect, time_lower, time_upper,
            cycle_effect, clock_effect, clock_lower, clock_upper)
APO_COLUMNS(SoloRun, workload, candidate, seconds, calls, mhz, readings)
APO_COLUMNS(SentinelRow, campaign, configuration, effect, lower, upper, confidence, sd, p_value, rounds, alarm, preset,
            cache_policy, rule_version, seconds, at)
APO_COLUMNS_AS(Selftest, "cache_policy, preset, rule_version, started_at", cache_policy, judge_preset, rule_version,
               started_at)
APO_COLUMNS_AS(SelftestComparison,
               "kind, incumbent, candidate, workload, truth, random_layout, verdict, reason, effect, lower, upper,"
               " rounds, processes, seconds, effects, sentence, calls, blocks, several_cpus",
               kind, incumbent, candidate, workload, truth, random_layout, verdict, reason, effect, lower, upper,
               rounds, processes, seconds, effects, sentence, samples.calls, samples.blocks, samples.several_cpus)
APO_COLUMNS(SelftestKernel, configuration, workload, preset, call_ns, round_s, kernel_s, start_s, rounds_per_process,
            round_sd, sample_sd, block_sd, within_sd, layout_sd, process_sd, resolves_1s, resolves_10s, resolves_60s,
            smallest_claim)

// ---- two commands, or two dispatches
APO_COLUMNS(ProgramComparison, kind, purpose, campaign, a, b, folder, margin, started_at)
APO_COLUMNS(CommandQuestion, metric, higher_is_better, correct, judge, layout, runs, timeout_s, budget_s)
APO_COLUMNS(Expectation, missing, profile, share, kernel, kernel_speedup, kernel_lower, kernel_upper, speedup, lower,
            upper, agrees)
APO_COLUMNS_AS(ApplicationRun, "view, pair, side, seed, outcome, evidence, start_up_s, steps, seconds, wall_s, metrics",
               view, pair, side, seed, outcome, evidence, start_up_s, steps, seconds, wall_s, values)
APO_COLUMNS(Figure, view, kind, metric, unit, value_a, value_b, change, lower, upper, confidence, count, margin, needed,
            finding)

// ---- whole applications
APO_COLUMNS_AS(WorkRow, "kind, name, category, calls, total_ns, min_ns, max_ns, bytes, share", work.kind, work.name,
               category, work.calls, work.total_ns, work.min_ns, work.max_ns, work.bytes, share)
APO_COLUMNS_AS(KernelMetric, "kernel, name, unit, value, samples", kernel, name, unit, mean, samples)
APO_COLUMNS_AS(CategoryRow, "category, calls, total_ns", name, calls, total_ns)
APO_COLUMNS(RangeRow, name, path, depth, entered, calls, total_ns, own_ns)
APO_COLUMNS(RecordedApplication, id, at, source, command, total_ns, busy_ns, span_ns, notes)
APO_COLUMNS_AS(ApplicationRow, "id, command, total_ns, span_ns, busy_ns, longest_gap_ns", id, command, summary.total_ns,
               summary.span_ns, summary.busy_ns, summary.longest_gap_ns)
APO_COLUMNS(ReplayRow, experiment, original, kind, at)

// ---- jobs and workers
APO_COLUMNS(JobRow, tool, arguments, started_at)
APO_COLUMNS_AS(JobEnd, "state, exit_code, document, message, ended_at", state, exit_code, document, message, at)
APO_COLUMNS(JobExperiment, id, candidate, state, verdict)
APO_COLUMNS(WorkerRow, campaign, number, command, device, started_at)
APO_COLUMNS_AS(Placement, "worker, iteration, idx, candidate, incumbent, predicted_low, predicted_high, started_at",
               worker, iteration, index, candidate, incumbent, prediction.low, prediction.high, started_at)
APO_COLUMNS(PlacementEnd, state, experiment, note, seconds)

}  // namespace apo
