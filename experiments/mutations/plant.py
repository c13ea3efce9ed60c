#!/usr/bin/env python3
"""experiments/mutations/plant.py [--check] [NUMBER|NAME]... - plants a defect in the program and asks the default tests for it; all of them one
by one where none is named.

Each defect replaces a text that stands once in the sources of its room, wherever blanks and lines break. It is built into $BUILD
(build/release), the tests of the room run until one fails, and if none does, those of the rooms above. Then the source is as it was, and the
next build right again. Prints a row of number, name, file and finder for each. --check only says which texts are no longer there, or more than once;
exit code 1 then.
"""
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = pathlib.Path(os.environ.get("BUILD", ROOT / "build/release"))
JUDGE, EVALUATE, JOURNAL, VARIANT, WORKER = ("harness/evaluate/judge", "harness/evaluate", "journal", "harness/implement/variant",
                                             "harness/worker")
# GoogleTest programs and Python files, the room's own first.
TESTS = {
    JUDGE: ["evaluate_test"],
    EVALUATE: ["evaluate_test", "trust/attacks_test.py"],
    JOURNAL: ["journal_test", "loop_test", "cli_test"],
    VARIANT: ["implement_test", "executor_test"],
    WORKER: ["worker_tests", "evaluate_test"],
}
# (name, room, old, new)
DEFECTS = [
    ("confirmation-by-the-upper-bound", JUDGE, "averages.lower(confirm_alpha_) > 0", "averages.upper(confirm_alpha_) > 0"),
    ("first-look-without-margin", JUDGE, "if (lower > profile_.margin)", "if (lower > 0)"),
    ("void-rounds-of-all-stages", JUDGE, "other.stage == round.stage && !other.void_why.empty()", "!other.void_why.empty()"),
    ("lower-bound-off-by-one", JUDGE, "pairs(n_) - signed_rank_critical(n_, alpha) + 1", "pairs(n_) - signed_rank_critical(n_, alpha) + 2"),
    ("claim-in-the-wrong-unit", JUDGE, "1 - std::exp(-workload.effect)", "std::exp(workload.effect) - 1"),
    ("regression-at-full-alpha", JUDGE, "look.alpha / static_cast<double>(workloads)", "look.alpha"),
    ("slots-of-the-arms", JUDGE, "round.candidate_in_slot0 ? round.effect : -round.effect", "round.effect"),
    ("only-workload-may-lose-the-margin", JUDGE, "workloads.size() == 1 ? 1 : std::exp(preset.guard_margin)", "std::exp(preset.guard_margin)"),
    ("wrong-units-of-the-last-part", EVALUATE, "sum.wrong_units += part.found.wrong_units;", "sum.wrong_units = part.found.wrong_units;"),
    ("repeated-call-without-poison", EVALUATE, "shared_tensors.poison_outputs(); if (const auto sample = worker.call(0, 0); !sample)", "if (const auto sample = worker.call(0, 0); !sample)"),
    ("code-not-checked-after-a-call", EVALUATE, "return worker.check_code();", "return std::nullopt;"),
    ("long-shapes-never-ragged", EVALUATE, "(blocks - fewer) * kBlock - 1", "(blocks - fewer) * kBlock"),
    ("errors-of-the-last-process", EVALUATE, "log.errors += parse_int", "log.errors = parse_int"),
    ("same-code-on-one-workload", EVALUATE, "return std::ranges::all_of(pairs, [](const TimedWorkload& pair) {", "return std::ranges::any_of(pairs, [](const TimedWorkload& pair) {"),
    ("host-clock-not-compared", EVALUATE, "!(host >= events * (1 - kOscillators))", "false"),
    ("outer-samples-not-inspected", EVALUATE, "random.coin() ? 0 : 3", "random.coin() ? 1 : 2"),
    ("failure-of-neither-arm", EVALUATE, "failure.slot == 1;", "failure.slot != 0;"),
    ("withdrawn-accepts-stand", JOURNAL, "|| taken_back.contains(experiment.id);", ";"),
    ("withdrawn-decisions-count", JOURNAL, '" AND e.id NOT IN (SELECT experiment FROM withdrawn) ORDER BY e.id, w.position"', '" ORDER BY e.id, w.position"'),
    ("oldest-version-of-a-variant", JOURNAL, "SELECT source_hash, max(rowid) FROM variant", "SELECT source_hash, min(rowid) FROM variant"),
    ("compacting-leaves-facts-open", JOURNAL, "sum_by_line(database); make_append_only(database);", "sum_by_line(database);"),
    ("numbers-may-come-twice", JOURNAL, "GROUP BY e.campaign, e.idx HAVING count(*) > 1", "GROUP BY e.campaign, e.idx HAVING count(*) > 2"),
    ("day-ends-as-it-begins", JOURNAL, 'text + "T23:59:59Z"', 'text + "T00:00:00Z"'),
    ("lock-of-the-process", "harness/core/system", "if (!file_ || fcntl(file_.get(), F_OFD_SETLK, &range) == 0)", "if (!file_ || fcntl(file_.get(), F_SETLK, &range) == 0)"),
    ("scratch-of-other-settings", VARIANT, "std::erase_if(set.scratch, [&](const ScratchBuffer& buffer) { return is_out(buffer.when); });", ""),
    ("condition-of-an-axis", VARIANT, "check_expression_of(key, index, expression, names);", "check_expression_of(key, index, expression, symbols_);"),
    ("space-one-too-small", VARIANT, "count > kMaxConfigurations", "count >= kMaxConfigurations"),
    ("static-shared-memory-not-counted", VARIANT, "check_shared(planned.shared_bytes + kernel.shared_bytes, kernel);", "check_shared(planned.shared_bytes, kernel);"),
    ("depth-of-a-grid-unchecked", VARIANT, "planned.grid[1] > kMaxGridYZ || planned.grid[2] > kMaxGridYZ", "planned.grid[1] > kMaxGridYZ"),
    ("modulo-of-cpp", VARIANT, "number(a.value - floor_divide(a.value, b.value) * b.value)", "number(a.value % b.value)"),
    ("last-gap-unguarded", WORKER, "gaps_.push_back({.begin = end, .end = layout_.bytes, .previous = previous});", ""),
    ("leftovers-behind-the-tensors", WORKER, "std::fill(memory_->data() + layout_.bytes, memory_->data() + memory_->bytes(), kLeftover);", ""),
    ("cut-messages-taken", WORKER, "(message.msg_flags & MSG_TRUNC) != 0 ? Receipt::too_long : Receipt::message", "Receipt::message"),
    ("input-sets-of-samples-unchecked", WORKER, "samples[i].slot != request.order[i] || samples[i].set != (request.sets.empty() ? 0 : request.sets[i])", "samples[i].slot != request.order[i]"),
    ("pause-unasked-taken", WORKER, "if (reply && reply->paused) { return forged(", "if (false) { return forged("),
]


def places(room, old):
    """Of the text in the sources of a room: (file, its text, the match)."""
    pattern = re.compile(r"\s+".join(re.escape(word) for word in old.split()))
    found = []
    for path in sorted((ROOT / room).rglob("*")):
        if path.suffix in (".h", ".cpp", ".sql"):
            text = path.read_text(encoding="utf-8")
            found += [(path, text, match) for match in pattern.finditer(text)]
    return found


def first_failure(test):
    """Of one program or file; "" where all passes."""
    if test.endswith(".py"):
        tests = ROOT / "tests/cli"
        ran = subprocess.run([sys.executable, "-B", str(tests / test), "--failfast"], capture_output=True, text=True,
                             env={**os.environ, "PYTHONPATH": str(tests), "APO_BINARY_FOLDER": str(BUILD)})
        failed = re.search(r"^(?:FAIL|ERROR): .*", ran.stderr, re.MULTILINE)
        passed = ran.returncode in (0, 77)
    else:
        ran = subprocess.run([str(BUILD / "bin" / test), "--gtest_fail_fast", "--gtest_brief=1"], capture_output=True, text=True,
                             errors="replace")
        failed = re.search(r"^\[  FAILED  \] ([^ ,]+)", ran.stdout, re.MULTILINE)
        passed = ran.returncode == 0
    return "" if passed else f"{test}: {failed.group(failed.lastindex or 0) if failed else f'ended with {ran.returncode}'}"


def caught_by(defect):
    name, room, old, new = defect
    [(path, text, match)] = places(room, old)
    path.write_text(text[:match.start()] + new + text[match.end():], encoding="utf-8")
    try:
        programs = [test for test in TESTS[room] if not test.endswith(".py")]
        subprocess.run(["cmake", "--build", str(BUILD), "--target", "apo", *programs], check=True, stdout=subprocess.DEVNULL)
        return next(filter(None, map(first_failure, TESTS[room])), "**no test**"), path.relative_to(ROOT)
    finally:
        path.write_text(text, encoding="utf-8")


def main():
    words = sys.argv[1:]
    check = "--check" in words
    wanted = [word for word in words if word != "--check"]
    wrong = 0
    for number, defect in enumerate(DEFECTS, 1):
        if wanted and str(number) not in wanted and defect[0] not in wanted:
            continue
        count = len(places(defect[1], defect[2]))
        if count != 1:
            print(f"{number} {defect[0]}: its text stands {count} times in {defect[1]}", file=sys.stderr)
            wrong += 1
        elif not check:
            caught, path = caught_by(defect)
            print(f"| {number} | {defect[0]} | `{path}` | {caught} |", flush=True)
    sys.exit(1 if wrong else 0)


main()
