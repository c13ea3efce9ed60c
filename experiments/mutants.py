#!/usr/bin/env python3
"""experiments/mutants.py [NAME...] - plants mistakes in the simple E88 kernels, and asks the gates for each.

Each mutant is e88_forward/simple or e88_backward/simple with one change of its source; `apo register` builds, verifies and sanitizes it
in a journal of its own. Prints a table of what was refused and why, and the count; honest variations have to pass.
"""
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
HEADERS = {
    "e88_forward": ["common/bf16.h", "common/e88.h", "common/e88_scalar.h", "e88_forward/phases.h"],
    "e88_backward": ["common/bf16.h", "common/e88.h", "common/e88_scalar.h", "e88_backward/phases.h", "e88_backward/scalar_phases.h"],
}
TANH = "std::tanh(decay * S[i * kV + j] + k[i] * delta[j])"
P = "decay * S[i * kV + j] + k[i] * delta[j]"
STEP = "    update(S, k, delta, load(a.decay[row]), S);\n    query"
EVERY = "for (int64_t i = 0; i < kN; ++i) {\n    for (int64_t j = 0; j < kV; ++j) {\n      next"

# (name, old, new); the old text stands in exactly one place of the kernel's files.
FORWARD = [
    ("epsilon_missing", "squares + 1e-12f) : 1.0f;\n    for", "squares) : 1.0f;\n    for"),
    ("epsilon_1e-6", "squares + 1e-12f) : 1.0f;\n    for", "squares + 1e-6f) : 1.0f;\n    for"),
    ("epsilon_outside", "1.0f / std::sqrt(squares + 1e-12f) : 1.0f;\n    for", "1.0f / (std::sqrt(squares) + 1e-4f) : 1.0f;\n    for"),
    ("tanh_overflows", TANH, f"[](float x) {{ const float e = std::exp(2 * x); return (e - 1) / (e + 1); }}({P})"),
    ("tanh_rational", TANH, f"[](float x) {{ return x * (27 + x * x) / (27 + 9 * x * x); }}(std::clamp({P}, -3.0f, 3.0f))"),
    ("tanh_clipped_at_0.998", TANH, f"std::clamp({TANH}, -0.998f, 0.998f)"),
    ("tanh_1.002", TANH, f"1.002f * {TANH}"),
    ("sigmoid_overflows", "y[i] * raw / (1.0f + std::exp(-raw))", "y[i] * raw * std::exp(raw) / (1.0f + std::exp(raw))"),
    ("gate_is_relu", "y[i] * raw / (1.0f + std::exp(-raw))", "y[i] * std::max(raw, 0.0f)"),
    ("gate_is_sigmoid", "y[i] * raw / (1.0f + std::exp(-raw))", "y[i] / (1.0f + std::exp(-raw))"),
    ("gate_always", "store(kGATE ?", "store(true ?"),
    ("norm_always", "const float scale = kNORM ? 1.0f / std::sqrt(squares + 1e-12f) : 1.0f;\n    for", "const float scale = 1.0f / std::sqrt(squares + 1e-12f);\n    for"),
    ("norm_of_half", "float squares = 0;\n    for (int64_t i = 0; i < kN; ++i)", "float squares = 0;\n    for (int64_t i = 0; i < (kN + 1) / 2; ++i)"),
    ("q_not_normalised", "  normalise(a.q, a.B * a.T * a.H, static_cast<float*>(a.unit_q));", "  for (int64_t i = 0; i < a.B * a.T * a.H * kN; ++i) static_cast<float*>(a.unit_q)[i] = load(a.q[i]);"),
    ("wrong_behind_step_300", STEP, "    if (t <= 300) update(S, k, delta, load(a.decay[row]), S);\n    query"),
    ("wrong_behind_step_1000", STEP, "    if (t <= 1000) update(S, k, delta, load(a.decay[row]), S);\n    query"),
    ("wrong_where_T_mod_16_is_15", STEP, "    if (a.T % 16 != 15 || t + 1 < a.T) update(S, k, delta, load(a.decay[row]), S);\n    query"),
    ("one_call_in_1000", STEP, "    static int calls = 0;\n    if (t > 0 || ++calls % 1000 != 0) update(S, k, delta, load(a.decay[row]), S);\n    query"),
    ("bf16_state", EVERY, EVERY.replace("next", "const float keep = load(store(S[i * kV + j])); (void)keep; const_cast<float*>(S)[i * kV + j] = keep; next")),
    ("output_1.002", "store(kGATE ? y[i]", "store(kGATE ? 1.002f * y[i]"),
    ("y_cache_1.002", "    store(y, a.y_cache + row * kV);", "    for (float& one : y) one *= 1.002f;\n    store(y, a.y_cache + row * kV);"),
    ("final_state_1.002", "  store(S, a.s_final", "  for (float& one : S) one *= 1.002f;\n  store(S, a.s_final"),
    ("decay_of_step_before", STEP, "    update(S, k, delta, load(a.decay[t > 0 ? row - a.H : row]), S);\n    query"),
    ("decay_near_1_is_1", STEP, "    update(S, k, delta, load(a.decay[row]) > 0.99f ? 1.0f : load(a.decay[row]), S);\n    query"),
    ("query_before_update", STEP, "    query(S, q, y);\n    update(S, k, delta, load(a.decay[row]), S);\n    if (false) query"),
    ("checkpoint_late", "if (t % kSegment == 0) {", "if (t % kSegment == 1 || a.T == 1) {"),
    ("one_s0_for_all", "load(a.s0 + sequence * kN * kV, S);", "load(a.s0, S);"),
    ("s0_ignored", "load(a.s0 + sequence * kN * kV, S);", "std::fill_n(S, kN * kV, 0.0f);"),
    ("one_head", "const int64_t row = (b * a.T + t) * a.H + h;", "const int64_t row = (b * a.T + t) * a.H;"),
    ("v_loses_two_bits", "load(a.v + row * kV, v);", "load(a.v + row * kV, v);\n    for (float& one : v) one = load(static_cast<uint16_t>(store(one) & 0xfffc));"),
    ("last_column_forgotten", "delta[j] -= S[i * kV + j] * k[i];", "delta[j] -= j + 1 < kV || kV == 1 ? S[i * kV + j] * k[i] : 0;"),
    ("heads_behind_32", STEP, "    if (h < 32) update(S, k, delta, load(a.decay[row]), S);\n    query"),
]
BACKWARD = [
    ("dk_without_second_term", "  subtract_product(S, d_delta, dk);\n", ""),
    ("slope_of_old_state", "  differentiate_tanh(S_next, slope);", "  differentiate_tanh(S, slope);"),
    ("ddecay_1.004", "store(d_decay)", "store(1.004f * d_decay)"),
    ("ddecay_without_last_row", "for (int64_t e = 0; e < kN * kV; ++e) {\n    sum += dS[e] * S[e];", "for (int64_t e = 0; e < (kN - 1) * kV; ++e) {\n    sum += dS[e] * S[e];"),
    ("dv_1.002", "store(d_delta, a.dv + row * kV);", "for (float& one : d_delta) one *= 1.002f;\n  store(d_delta, a.dv + row * kV);"),
    ("dg_without_slope", "sigmoid * (1.0f + g * (1.0f - sigmoid))", "sigmoid"),
    ("dg_of_positive_gates", "? d_output * load(a.y_cache", "&& g > 0 ? d_output * load(a.y_cache"),
    ("silu_is_sigmoid", "kGATE ? d_output * g * sigmoid", "kGATE ? d_output * sigmoid"),
    ("sigmoid_overflows", "1.0f / (1.0f + std::exp(-g))", "std::exp(g) / (1.0f + std::exp(g))"),
    ("tanh_overflows", TANH, f"[](float x) {{ const float e = std::exp(2 * x); return (e - 1) / (e + 1); }}({P})"),
    ("chain_rule_without_projection", "(gradient[i] - unit[i] * along) * scale", "gradient[i] * scale"),
    ("projection_1.01", "(gradient[i] - unit[i] * along) * scale", "(gradient[i] - 1.01f * unit[i] * along) * scale"),
    ("chain_rule_always", "store(kNORM ? (gradient", "store(true ? (gradient"),
    ("wrong_behind_step_300", "    Cache::replay_segment(a, b, h, first, steps, history);", "    if (first < 300) Cache::replay_segment(a, b, h, first, steps, history);"),
    ("stale_where_T_mod_16_is_15", "const int64_t steps = std::min(kSegment, a.T - first);", "const int64_t steps = std::min(kSegment, a.T - first) - (a.T % 16 == 15 && a.T - first == 15 ? 1 : 0);"),
    ("checkpoint_before", "(first / kSegment * a.B", "(std::max<int64_t>(first / kSegment - 1, 0) * a.B"),
    ("bf16_gradient_of_state", "    dS[i * kV + j] = decay * dS", "    dS[i * kV + j] = decay * load(store(dS[i * kV + j])); dS[i * kV + j] += 0 * dS"),
    ("d_s_final_ignored", "load(a.d_s_final + sequence * kN * kV, dS);", "std::fill_n(dS, kN * kV, 0.0f);"),
    ("dq_of_old_state", "multiply(S_next, dy, dq);", "multiply(S, dy, dq);"),
    ("small_terms_dropped", "sum += M[i * kV + j] * x[j];\n    }\n    result[i] = sum;", "sum += std::fabs(M[i * kV + j] * x[j]) < 1e-3f ? 0 : M[i * kV + j] * x[j];\n    }\n    result[i] = sum;"),
]
HONEST = [
    ("e88_forward", "sums_backwards", "for (int64_t i = 0; i < kN; ++i) {\n    for (int64_t j = 0; j < kV; ++j) {\n      y[j] +=", "for (int64_t i = kN; i-- > 0;) {\n    for (int64_t j = 0; j < kV; ++j) {\n      y[j] +="),
    ("e88_forward", "tanh_within_2^-11", TANH, f"[](float x) {{ return std::tanh(x) * (1 + std::sin(1e4f * x) / 2400); }}({P})"),
    ("e88_forward", "fma", "delta[j] -= S[i * kV + j] * k[i];", "delta[j] = std::fma(-S[i * kV + j], k[i], delta[j]);"),
    ("e88_backward", "sums_in_double", "float sum = 0;\n  for (int64_t e = 0;", "double sum = 0;\n  for (int64_t e = 0;"),
    ("e88_backward", "fma", "sum += dS[e] * S[e];", "sum = std::fma(dS[e], S[e], sum);"),
    ("e88_backward", "tanh_within_2^-11", TANH, f"[](float x) {{ return std::tanh(x) * (1 + std::sin(1e4f * x) / 2400); }}({P})"),
]


def verdict(family, name, old, new):
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        found = 0
        kernel = (ROOT / "variants" / family / "simple.cpp").read_text().replace(f"{family}/simple", f"{family}/mutant", 1)
        for path in HEADERS[family] + [None]:
            text = kernel if path is None else (ROOT / "variants" / path).read_text()
            found += text.count(old)
            (folder / ("mutant.cpp" if path is None else pathlib.Path(path).name)).write_text(text.replace(old, new, 1))
        if found != 1:
            sys.exit(f"{family} {name}: the text that it changes stands in {found} places")
        result = subprocess.run([ROOT / "apo", "register", "--journal", folder / "journal.db", folder / "mutant.cpp"],
                                capture_output=True, text=True, cwd=ROOT)
        lines = [line for line in (result.stdout + result.stderr).splitlines() if line.strip()]
        why = next((line for line in lines if "incorrect" in line or "faulted" in line or "outside" in line or "error" in line), lines[-1])
        return result.returncode == 0, why.strip()[:150]


def main():
    wanted = set(sys.argv[1:])
    rows = [("e88_forward", *one, False) for one in FORWARD] + [("e88_backward", *one, False) for one in BACKWARD]
    rows += [(*one, True) for one in HONEST]
    refused = passed = 0
    print("| kernel | change | gates | evidence |\n|---|---|---|---|")
    for family, name, old, new, honest in rows:
        if wanted and name not in wanted:
            continue
        valid, why = verdict(family, name, old, new)
        refused += not honest and not valid
        passed += honest and valid
        word = "valid" if valid else "refused"
        print(f"| {family} | {'honest: ' if honest else ''}{name} | {word if valid == honest else '**' + word + '**'} | {why} |", flush=True)
    print(f"\n{refused} of {len(FORWARD) + len(BACKWARD)} mistakes refused, {passed} of {len(HONEST)} honest variations valid")


if __name__ == "__main__":
    main()
