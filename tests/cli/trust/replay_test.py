# tests/cli/trust/replay_test.py - a small real journal, and its verdicts measured again without the checkout's sources.
import re
import shutil
import unittest

from apo_test import CommandTest, Workplace, harm, main, replaced, slow_variant, variant

SCALED = ("// apo:family scaled\n// apo:axis n 1..64\n// apo:input x f32[n]\n// apo:output y f32[n]\n"
          "// apo:workload w small n=8\ntemplate <class Real>\n"
          "void reference(int64_t n, const Real* x, Real* y) {\n"
          "  for (int64_t i = 0; i < n; ++i) y[i] = Real(2) * x[i];\n}\n")
ANOTHER_MACHINE = "UPDATE machine SET key = 'host-far', model = 'Another CPU', fingerprint = 'x'"


def compare(place, incumbent, candidate, layout="random", code=0):
    place.apo(*f"compare copy/{incumbent} copy/{candidate} --workload n4k --cache warm --judge precise".split(),
              "--layout", layout, "--journal", "journal.db", "-q", code=code)


class TimedReplays(CommandTest):
    """Experiments 1, accepted as many times faster, 2, reverted as slower, 3, which confirms 1, 4 and 5, replays."""

    @classmethod
    def setUpClass(cls):
        place = cls.share_place()
        place.write("variants/copy/slow.cpp", slow_variant("slow"))
        compare(place, "slow", "simple")
        compare(place, "simple", "slow", "fixed")
        shutil.rmtree(place.path("variants"))
        cls.originals = [cls.shown(place, id) for id in (1, 2)]
        if [original["judgement"]["reason"] for original in cls.originals] != ["faster", "regression"]:
            raise unittest.SkipTest("this machine was too busy to tell eight copies from one")
        cls.confirmed = place.apo("replay", "--confirm", "1", "--json", "--journal", "journal.db", "-q", code=None)
        cls.replayed = place.apo("replay", "--all", "--json", "--journal", "journal.db", "-q", code=None)

    @staticmethod
    def shown(place, id):
        return place.apo("show", str(id), "--json", "--journal", "journal.db").document

    def same_verdict(self, experiment, original):
        """Or none: whether there is one again, and whether intervals overlap, is the machine's matter."""
        opposite = {"faster": "regression", "regression": "faster"}[original["judgement"]["reason"]]
        self.assertNotEqual(experiment["judgement"]["reason"], opposite)
        self.assertEqual(experiment["outcome"], "valid")

    def test_confirm_repeats_the_confirmation_alone_and_the_journal_names_the_original(self):
        document = self.confirmed.document
        self.assertEqual(self.confirmed.code, 0 if document["reproduced"] else 3)
        self.assertEqual(document["experiment"]["id"], 3)
        again, original = self.shown(self.place, 3), self.originals[0]
        self.same_verdict(again, original)
        if again["judgement"]["verdict"] != "inconclusive":
            self.assertEqual(again["judgement"]["rounds"], original["judgement"]["rounds"])
        self.assertLessEqual({round["stage"] for round in again["rounds"]}, {"confirm", "second look"})
        self.assertFalse({round["seed"] for round in again["rounds"]} &
                         {round["seed"] for round in original["rounds"]})
        self.assertEqual(again["measures_again"], 1)
        self.apo("replay", "--confirm", "2", "--journal", "journal.db", code=1)

    def test_all_measures_every_original_again_under_its_own_plan(self):
        document = self.replayed.document
        self.assertEqual((document["experiments"], document["measured"]), (2, 2))  # experiment 3 is none
        self.assertEqual(self.replayed.code, 0 if document["reproduced"] == 2 else 3)
        for replay in document["replays"]:
            self.same_verdict(replay["experiment"], replay["original"])
            judgement = replay["experiment"]["judgement"]
            self.assertEqual((judgement["cache_policy"], judgement["judge_preset"]), ("warm", "precise"))
            self.assertEqual(replay["differences"], [])
        self.assertEqual([self.shown(self.place, id)["layout"] for id in (4, 5)], ["random", "fixed"])

    def test_show_says_how_often_it_was_measured_again(self):
        show = self.apo("show", "1", "--journal", "journal.db").out
        self.said(show, "measured again")
        reproduced = self.confirmed.document["reproduced"] and self.replayed.document["replays"][0]["reproduced"]
        self.assertEqual("not reproduced: " not in show, reproduced)


class Replays(CommandTest):
    """Experiments 1, incorrect, and 2, the same machine code, neither of them timed; their sources are gone."""

    @classmethod
    def setUpClass(cls):
        cls.first = Workplace()
        cls.addClassCleanup(cls.first.remove)
        cls.first.write("variants/copy/wrong.cpp", variant("wrong", "x[i];", "2 * x[i];"))
        cls.first.write("variants/copy/same.cpp", variant("same"))
        compare(cls.first, "simple", "wrong", code=3)
        compare(cls.first, "simple", "same")

    def setUp(self):
        super().setUp()
        shutil.copy(self.first.path("journal.db"), self.place.path("journal.db"))

    def apo(self, *words, code=0):
        return super().apo(*words, "--journal", "journal.db", "-q", code=code)

    def harm(self, sql):
        harm(self.place.path("journal.db"), sql)

    def test_all_reproduces_the_outcomes_of_what_was_never_timed(self):
        document = self.json("replay", "--all")
        self.assertEqual(document["reproduced"], 2)
        self.assertEqual([replay["experiment"]["outcome"] for replay in document["replays"]],
                         ["incorrect", "no_change"])
        self.said(self.apo("replay", "--all").out, "2 of 2 reproduced, 2 of 2 with the same verdict")

    def test_another_source_in_the_checkout_under_the_name_changes_nothing(self):
        self.place.write("variants/copy/wrong.cpp", variant("wrong"))  # right now
        self.said(self.apo("replay", "1").out, "reproduced: not timed, for the same outcome 'incorrect'")

    def test_headers_come_from_the_journal_too(self):
        include = '#include "copy.args.h"'
        self.place.write("variants/copy/headed.cpp", variant("headed", include, include + '\n#include "outer.h"',
                                                             "y[i] = x[i]", "y[i] = value(x, i)"))
        self.place.write("variants/copy/outer.h", '#include "inner.h"\n')
        self.place.write("variants/copy/inner.h",
                         "inline float value(const float* x, int64_t i) { return 2 * x[i]; }\n")
        compare(self.place, "simple", "headed", code=3)
        shutil.rmtree(self.place.path("variants"))
        self.said(self.apo("replay", "3").out, "reproduced: not timed, for the same outcome 'incorrect'")
        self.harm("UPDATE blob SET bytes = x'2f2f' WHERE sha256 ="
                  " (SELECT file FROM variant_file WHERE name = 'inner.h')")
        self.mistake(["replay", "3"], "has lost the source of copy/headed")

    def test_a_verdict_under_another_contract_is_not_measured_again(self):
        self.place.write("scaled.h", SCALED)
        for name, factor in (("simple", 2), ("wrong", 3)):
            self.place.write(f"variants/scaled/{name}.cpp",
                             "#include <cstdint>\nvoid scaled(const float* x, float* y, int64_t n) {\n"
                             f"  for (int64_t i = 0; i < n; ++i) y[i] = {factor} * x[i];\n}}\n")
        self.apo("compare", "scaled/simple", "scaled/wrong", "--families", "scaled.h", code=3)
        self.place.write("scaled.h", replaced(SCALED, "Real(2)", "Real(3)"))
        self.mistake(["replay", "3", "--families", "scaled.h"],
                     "the family scaled has changed since scaled/wrong was judged")

    def test_a_verdict_that_does_not_come_back_exits_with_three(self):
        self.harm("UPDATE judgement SET outcome = 'faulted' WHERE experiment = 1")
        self.said(self.apo("replay", "1", code=3).out,
                  "not reproduced: the outcome was 'faulted' and is 'incorrect'")

    def test_another_machine_is_said_once(self):
        self.harm(ANOTHER_MACHINE)
        self.said(self.apo("replay", "1").out, "changed since: machine: Another CPU host-far then")
        [line] = re.findall(".*changed since: machine: Another CPU host-far then.*", self.apo("replay", "--all").out)
        self.not_said(line, "experiment")  # it holds for all of them

    def test_of_all_name_the_experiments_whose_builds_differ(self):
        self.harm("UPDATE build SET flags = '[\"-O0\"]'"
                  " WHERE experiment = 2 AND role = 'candidate'")
        self.assertRegex(self.apo("replay", "--all").out,
                         r"changed since: flags of the candidate: -O0 then.*\(experiment 2\)")

    def test_what_cannot_be_measured_again_is_a_mistake_that_is_named(self):
        for line, said in [("replay 77", "there is no experiment 77"), ("replay", "apo replay --all"),
                           ("replay 1 --all", "--all"), ("replay --confirm", "--confirm"),
                           ("replay --confirm 1", "was not accepted but reverted"),
                           ("replay 1 --confirm 1", "--confirm")]:
            self.mistake(line.split(), said)
        self.apo("replay", "1")
        self.mistake(["replay", "3"], "is itself a replay of experiment 1")
        self.harm("DELETE FROM judgement WHERE experiment = 2")
        self.mistake(["replay", "2"], "was never judged")

    def test_a_lost_or_changed_source_is_named_and_the_others_still_run(self):
        self.harm("UPDATE blob SET bytes = x'2f2f' WHERE sha256 ="
                  " (SELECT f.file FROM variant_file f JOIN experiment e ON e.candidate_source = f.source_hash"
                  " WHERE e.id = 1 AND f.position = 0)")
        self.mistake(["replay", "1"], "has lost the source of copy/wrong")
        self.said(self.apo("replay", "--all", code=2).out,
                  "1 of 2 reproduced, 1 of 2 with the same verdict, 1 could not run here")

    def test_a_journal_of_a_newer_schema_asks_for_a_newer_program(self):
        self.harm("PRAGMA user_version = 9999")
        self.mistake(["replay", "1"], "update apo")
        self.mistake(["replay", "--confirm", "1"], "update apo")

    def test_a_mistyped_journal_is_not_created(self):
        for line in ("replay 1", "replay --confirm 1", "replay --all"):
            self.said(self.place.apo(*line.split(), "--journal", "jornal.db", code=1).err, "there is no journal")
        self.assertFalse(self.place.exists("jornal.db"))


main()
