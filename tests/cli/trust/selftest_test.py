# tests/cli/trust/selftest_test.py - a small selftest for real, and what its result keeps other commands from claiming.
import shutil

from apo_test import CommandTest, harm, main, replaced, variant


class Selftest(CommandTest):
    @classmethod
    def setUpClass(cls):
        cls.share_place()
        cls.document = cls.place.apo(*"selftest --json -q --target host --quick --kernels spin/chain@s5k --parts"
                                     " identical --comparisons 1 --round-time 21ms".split()).document

    def test_judges_identical_code_and_says_what_the_machine_resolves(self):
        total = self.document["identical_code"]["total"]
        self.assertEqual(total["comparisons"], 1)
        self.assertIn(total["accepted"], (0, 1))  # one accept in some ten thousand
        self.assertAlmostEqual(total["accepted_upper_95"], 0.95 if total["accepted"] == 0 else 1, delta=0.001)
        kernel = self.document["kernels"][0]
        self.assertEqual(kernel["configuration"], "spin/chain[EXTRA=0]")
        self.assertGreater(kernel["call_ns"], 1000)
        self.assertGreater(kernel["levels"]["sample"], 0)
        self.assertGreater(self.document["smallest_claim"], 0)

    def test_is_in_the_journal(self):
        sql = "SELECT kind, comparisons, accepted FROM selftest_totals"
        accepted = self.document["identical_code"]["total"]["accepted"]
        self.said(self.apo("query", "-q", "--csv", "--sql", sql).out, f"aa,1,{accepted}")
        self.said(self.apo("query").err, "0 rows\nthe journal has no experiments\n"
                  "comparisons of selftests: 1 (the view selftest_totals ")

    def noisy_machine(self):
        """The journal of a machine on which identical code once seemed to differ by a factor of e^6."""
        shutil.copy(self.place.path(".apo/journal.db"), self.place.path("journal.db"))
        harm(self.place.path("journal.db"), "UPDATE selftest_kernel SET smallest_claim = 6")
        self.place.write("variants/copy/slow.cpp", replaced(
            variant("slow"), "y[i] = x[i];", "for (volatile int k = 0; k < 4; k = k + 1) {}\n    y[i] = x[i];"))

    def test_compare_refuses_to_claim_a_large_gain_below_it_and_gate_cannot_tell_with_a_smaller_margin(self):
        self.noisy_machine()
        journal = ("--journal", "journal.db")
        ran = self.apo(*"compare copy/slow copy/simple --workload n4k --cache warm --judge precise --skip-correctness"
                       " --json".split(), *journal)
        self.said(ran.err, "claims below")
        self.is_not_accepted(ran.document["judgement"])
        self.apo(*"gate --store baseline.json copy/slow --workload n4k".split(), *journal)
        self.place.write("variants/copy/slow.cpp", variant("slow"))
        self.said(self.apo(*"gate --baseline baseline.json --margin 50%".split(), *journal, code=2).out,
                  "smaller than what this machine resolves")


class SelftestMistakes(CommandTest):
    def test_are_named(self):
        for line, said in [("--parts identcal", "did you mean 'identical'"),
                           ("--parts known,nose", "did you mean 'noise'"),
                           ("--parts known --parts nose", "did you mean 'noise'"),
                           ("--layout odd", "known: random, fixed"),
                           ("--target host --kernels copy/cuda_simple", "is for target cuda"),
                           ("--target host --kernels copy/simple@n4", "n4k"),
                           ("--seconds soon", "'soon' is not a duration"),
                           *[("--differences " + value, "such as 0.3,1,-1")
                             for value in ("much", "0.25", "0", "1,", "1e9", "nan")],
                           *[(f"{option} {count}", option) for option in ("--comparisons", "--rounds")
                             for count in ("0", "-1", "many")]]:
            with self.subTest(line):
                self.said(self.apo("selftest", *line.split(), code=1).err, said)
        self.said(self.apo("compare", "copy/simple", "copy/memcpy", "--layout", "odd", code=1).err,
                  "known: random, fixed")


main()
