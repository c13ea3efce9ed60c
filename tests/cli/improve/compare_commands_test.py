# tests/cli/improve/compare_commands_test.py - `apo compare` and `apo gate` on two commands, and what shows them later.
from apo_test import CommandTest, binary, main

STANDARD = ("--judge", "standard", "--json")


def noisy(seed, centre):
    """Metrics with 0.1 % of noise from a seed: no verdict depends on the machine, and chance (the order of each round
    is secret) can't move identical commands apart by the 0.25 % at which the sentinel stops."""
    return (f"n=$(cat n{seed} 2>/dev/null || echo 0); echo $((n + 1)) > n{seed}; awk -v s={seed} -v n=$n -v c={centre}"
            " 'BEGIN { srand(7919 * s + n); rand(); x = 0; for (i = 0; i < 12; ++i) x += rand();"
            ' printf "{\\"t\\": %.9g}\\n", c * (1 + 0.001 * (x - 6)) }\'')


class CommandsTest(CommandTest):
    def on(self, word, a, b, *more, metric="json:t", code=0):
        return self.apo(word, "--command-a", a, "--command-b", b, "-q", "--metric", metric, *more, code=code)

    def compare(self, a, b, *more, **options):
        return self.on("compare", a, b, *more, **options)

    def gate(self, a, b, *more, **options):
        return self.on("gate", a, b, *more, **options)

    def least(self, side):
        """Of the numbers that the runs of this side reported."""
        return min(run["value"] for one in self.json("show", "c1")["rounds"] for run in one["runs"] if run["side"] == side)


class CompareCommands(CommandsTest):
    def test_a_known_gain_is_accepted_and_says_that_nothing_was_checked_of_correctness(self):
        self.said(self.compare(noisy(1, 100), noisy(2, 94)).out, "x better, 98 % interval [",
                  "Correctness was not checked.\nverdict: accepted (faster); 'apo show c1' has every run")

    def test_seconds_is_the_wall_time_of_the_run(self):
        self.compare("sleep 0.05", "true", *STANDARD, metric="seconds")
        self.assertGreaterEqual(self.least("a"), 0.05)
        self.assertGreater(self.least("b"), 0)

    def test_a_google_benchmark_program_is_judged_by_the_number_that_it_reports(self):
        # The known difference is in what both are asked to do: one and thirty dependent steps an iteration.
        both = binary("benchmark_program") + " --benchmark_min_time=0.001"
        one = both + " --benchmark_repetitions=5 --benchmark_filter=steps/"
        self.compare(one + "30$", one + "1$", *STANDARD, metric="gbench")
        self.assertGreater(self.least("a"), self.least("b"))
        self.said(self.compare(both, both, metric="gbench", code=1).err, "steps/1, steps/30")

    def test_nothing_is_kept_where_the_journal_is_not_wanted(self):
        ran = self.compare("echo '{\"t\": 2}'", "exit 3", "--no-journal", code=3)  # a failed B is a failed gate
        self.said(ran.out, "verdict: reverted (gate_failed)\n")
        self.assertFalse(self.place.exists(".apo/journal.db"))


class KeptComparison(CommandsTest):
    @classmethod
    def setUpClass(cls):
        cls.share_place()
        cls.document = cls().compare(noisy(1, 100), noisy(2, 94), "--correct", "true", "--runs", "2",
                                     "--json").document

    def test_is_a_document_and_shown(self):
        self.assertEqual((self.document["id"], self.document["asked"]["correct"]), (1, "true"))
        self.assertEqual(self.document["judgement"]["verdict"], "accepted")
        self.assertRegex(self.document["judgement"]["rule_version"], r"^apo-judge-\d+$")
        self.said(self.apo("show", "c1").out, "Correctness was checked by 'true' alone.", "sentinel")
        last = self.json("show", "c1")["rounds"][-1]
        self.assertEqual((last["stage"], len(last["runs"])), ("confirm", 4))
        self.assertEqual(last["runs"][0]["side"], "b" if last["b_first"] else "a")
        self.said(self.apo("show", "c9", code=1).err, "there is no")

    def test_is_found_reported_and_audited(self):
        sql = "SELECT verdict, speedup > 1.03 FROM command_comparisons WHERE id = 1"
        self.assertEqual(self.apo("query", "--csv", "-q", "--sql", sql).out,
                         "verdict,speedup > 1.03\r\naccepted,1\r\n")
        self.assertRegex(self.apo("report", "--commands", "--output", "-").out,
                         r"comparisons? of two commands(?s:.*)(\*\*accepted\*\*|accepted \(faster\))")
        for check in self.json("doctor", code=None)["checks"]:
            self.assertFalse(check["name"] == "journal" and check["state"] == "broken", check)

    def test_is_replayed(self):
        again = self.json("replay", "c1", "-q")
        self.assertEqual((again["comparison"]["id"], again["comparison"]["asked"]["correct"]), (2, "true"))
        self.assertEqual(again["original"]["judgement"]["verdict"], again["comparison"]["judgement"]["verdict"])


class GateOfCommands(CommandsTest):
    def test_ends_with_the_code_that_ci_reads(self):
        margin = ("--margin", "5%")
        worse = self.gate(noisy(5, 100), noisy(6, 115), *margin, "--junit", "gate.xml", code=3)
        self.said(worse.out, "worse by more than 5 %")
        self.said(self.place.read("gate.xml"), '<failure type="regressed"')
        one = "echo '{\"t\": 1}'"
        self.gate(one, "exit 4", code=3)
        self.gate(one, one, "--judge", "standard", "--budget", "1ms", code=2)
        document = self.gate(noisy(9, 100), noisy(10, 100), *margin, "--json").document
        self.assertEqual(document["commands"]["purpose"], "gate")
        self.assertIsNone(document["variants"][0]["baseline_source"])
        self.said(self.apo("show", "c1").out, "verdict: regressed")


def suite(seed, centres):
    """Benchmarks b0, b1, ... as lines with 0.3 % of noise from a seed, those that the filter wants."""
    return (f"n=$(cat n{seed} 2>/dev/null || echo 0); echo $((n + 1)) > n{seed}; awk -v s={seed} -v n=$n"
            f" -v wanted={{filter}} 'BEGIN {{ srand(7919 * s + n); rand(); m = split(\"{' '.join(map(str, centres))}\","
            ' c, " "); for (b = 1; b <= m; ++b) { x = 0; for (i = 0; i < 12; ++i) x += rand(); name = "b" (b - 1);'
            ' if (name ~ wanted) printf "%s %.9g us\\n", name, c[b] * (1 + 0.003 * (x - 6)) } }\'')


class GateOfSuite(CommandsTest):
    def test_names_what_became_slower_for_people_ci_and_reviewers(self):
        old, new = [100] * 8, [100] * 7 + [104]
        ran = self.gate(suite(1, old), suite(2, new), "--judge", "standard", "--junit", "gate.xml", "--markdown",
                        "gate.md", metric="lines", code=3)
        self.said(ran.out, "1 slower (b7 -", "7 not slower; geometric mean", "verdict: regressed")
        self.not_said(ran.out, "  b3  ")
        self.said(self.place.read("gate.xml"), 'tests="8" failures="1" errors="0" skipped="0"',
                  '<failure type="regressed"')
        self.said(self.place.read("gate.md"), "**apo gate: regressed**", "<details>", "b7")
        sql = "SELECT metric, finding FROM comparison_figure WHERE comparison = 1 AND finding = 'worse'"
        self.assertEqual(self.apo("query", "--csv", "-q", "--sql", sql).out, "metric,finding\r\nb7,worse\r\n")
        self.said(self.apo("show", "c1").out, "a slowdown of ", "8 benchmarks")
        self.said(self.apo("report", "--commands", "--format", "html", "--output", "-").out, "Effect on each benchmark")
        for check in self.json("doctor", code=None)["checks"]:
            self.assertFalse(check["name"] == "journal" and check["state"] == "broken", check)

    def test_a_command_against_itself_plans_later_gates(self):
        both = suite(3, [100, 100, 100])
        ran = self.apo("gate", "--command-a", both, "--same", "--metric", "lines", "-q", code=None)  # a false alarm in some runs
        self.said(ran.out, "noise: a round of the usual benchmark spreads by ", "none is restless")
        document = self.gate(both, suite(4, [100, 100, 100]), "--alpha", "0.05", "--json", metric="lines").document
        one = document["variants"][0]
        self.assertEqual((one["judge_preset"], one["alpha"]), ("standard", 0.05))
        self.assertEqual(self.json("replay", "c2", "-q")["comparison"]["judgement"]["alpha"], 0.05)

    def test_mistakes_are_one_clear_error(self):
        two = ["gate", "--command-a", "echo a 1 s", "--command-b", "echo b 1 s", "-q", "--metric"]
        for words, said in [([*two, "lines"], "can be compared: 2 left out: a (only A has it), b (only B has it)"),
                            ([*two, "lines:a", "--markdown", "m.md"], "is one number"),
                            ([*two, "lines", "--alpha", "0.9"], "--alpha"), ([*two, "lines", "--same"], "--same"),
                            (["gate", "--same"], "--command-a"),
                            ([*two[:2], "true", *two[3:], "lines"], "no line of stdout is NAME VALUE UNIT")]:
            with self.subTest(said):
                self.mistake(words, said)


class MistakesWithCommands(CommandsTest):
    def test_are_one_clear_error_each(self):
        one = "echo '{\"t\": 1}'"
        both = ["compare", "--command-a", one, "--command-b", one]
        seconds = [*both, "--metric", "seconds"]
        for words, said in [(["compare", "--command-a", one, "--metric", "json:t"], "--command-b is missing"),
                            (["compare", "--command-b", one], "--command-a is missing"),
                            (both, "--metric is missing"), (["compare"], "two variants, two commands"),
                            (["compare", "copy/simple"], "two variants, two commands"),
                            ("compare copy/simple copy/memcpy --metric seconds".split(), "--metric"),
                            ([*both, "--metric", "second"], "did you mean 'seconds'"),
                            ([*seconds, "--workload", "n4k"], "--workload"),
                            ([*seconds, "--higher-is-better"], "less time is better"),
                            ([*seconds, "--timeout", "5"], "is not a duration"), ([*seconds, "--runs", "0"], "--runs"),
                            ([*both, "--metric", "json:u", "-q"], "nothing at '/u'"),
                            (["compare", "--command-a", "./no-such-program", *seconds[3:], "-q"], "cannot be found"),
                            (["gate", *seconds[1:], "--baseline", "b.json"], "--baseline")]:
            with self.subTest(said):
                self.mistake(words, said)


main()
