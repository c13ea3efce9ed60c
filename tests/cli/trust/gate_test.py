# tests/cli/trust/gate_test.py - `apo gate` in a checkout of its own: what stops a build, what does not, broken files.
import copy
import hashlib
import json
import os

from apo_test import CommandTest, Workplace, main, replaced, slow_variant, variant

FILE = ".apo/variants/copy/mine.cpp"
SLOW = slow_variant("mine")
STORE = "gate --store baseline.json copy/mine --workload n4k".split()


class Gate(CommandTest):
    """On a checkout with copy/mine, which is stored in baseline.json."""

    @classmethod
    def setUpClass(cls):
        first = Workplace()
        cls.addClassCleanup(first.remove)
        first.write(FILE, variant("mine"))
        assert first.apo(*STORE).out == "stored copy/mine on n4k\n"
        cls.stored = first.read("baseline.json")

    def setUp(self):
        super().setUp()
        self.place.write(FILE, variant("mine"))
        self.place.write("baseline.json", self.stored)

    def gate(self, *more, code=0):
        return self.apo(*"gate --baseline baseline.json --judge standard --cache warm -q".split(), *more, code=code)

    def timed(self, *more):
        """Which verdict real timings give is the machine's matter; the exit code is the verdict's."""
        ran = self.gate("--json", *more, code=None)
        self.assertEqual(ran.code, {"passed": 0, "regressed": 3, "undecided": 2}[ran.document["verdict"]], ran.both)
        return ran.document

    def refused(self, *parts, more=()):
        ran = self.gate(*more, code=1)
        self.assertEqual(ran.out, "")
        self.said(ran.err, *parts)

    def test_an_unchanged_variant_or_another_comment_passes_without_timing(self):
        self.said(self.gate().out, "machine code identical")
        self.assertFalse(self.place.exists(".apo/journal.db"))
        self.place.write(FILE, variant("mine") + "// the same code\n")
        document = self.gate("--json").document
        one = document["variants"][0]
        self.assertEqual((document["verdict"], one["rounds"]), ("passed", 0))
        self.assertNotEqual(one["baseline_source"], one["current_source"])

    def test_headers_are_stored_and_are_half_of_the_variant(self):
        include = '#include "copy.args.h"'
        value = "inline float value(const float* x, int64_t i) { return x[i]; }\n"
        self.place.write(FILE, variant("mine", include, include + '\n#include "value.h"', "y[i] = x[i]",
                                       "y[i] = value(x, i)"))
        self.place.write(".apo/variants/copy/value.h", value)
        self.apo(*STORE)
        self.place.write(".apo/variants/copy/value.h", value + "// the same code\n")
        same = self.gate("--json").document
        self.assertEqual(same["verdict"], "passed")
        self.assertNotEqual(same["variants"][0]["baseline_source"], same["variants"][0]["current_source"])
        self.place.write(".apo/variants/copy/value.h", replaced(value, "x[i]", "2 * x[i]"))
        self.gate(code=3)
        changed = json.loads(self.place.read("baseline.json"))
        changed["variants"][0]["headers"][0]["name"] = "../value.h"
        self.place.write("baseline.json", json.dumps(changed))
        self.refused("is damaged", "is not the one that its source_sha256 names")

    def test_a_slowed_variant_does_not_pass_and_a_sped_up_one_does_not_regress(self):
        self.place.write(FILE, SLOW)
        document = self.timed("--margin", "2 %", "--junit", "gate.xml")
        self.assertIn(document["verdict"], ("regressed", "undecided"))
        self.assertAlmostEqual(document["margin"], 0.02)
        one = document["variants"][0]
        self.assertAlmostEqual(one["alpha"], 0.01)
        self.assertGreater(one["rounds"], 0)
        if document["verdict"] == "regressed":
            self.assertEqual(one["workloads"][0]["answer"], "regressed")
            self.assertLess(one["workloads"][0]["upper"], -0.01)
            self.said(self.place.read("gate.xml"), 'tests="1" failures="1" errors="0"',
                      '<failure type="regressed" message="slower by more than 2 %">')
        self.apo(*STORE)
        self.place.write(FILE, variant("mine"))
        self.assertIn(self.timed()["verdict"], ("passed", "undecided"))

    def test_a_wrong_variant_fails_and_its_xml_is_escaped(self):
        self.place.write(FILE, variant("mine", "x[i];", "x[i] < 0 ? x[i] : 2 * x[i];"))
        self.said(self.gate("--junit", "gate.xml", code=3).out, "incorrect at the gate 'correctness'",
                  "0 passed, 1 failed, 0 undecided")
        self.said(self.place.read("gate.xml"),
                  '<failure type="failed" message="incorrect at the gate &#39;correctness&#39;')

    def test_a_variant_that_no_longer_builds_fails_with_the_compilers_words(self):
        self.place.write(FILE, variant("mine", "y[i] = x[i];", 'return "<&>";'))
        self.said(self.gate("--junit", "gate.xml", code=3).out, "build_failed at the gate 'build'")
        self.not_said(self.place.read("gate.xml"), "<&>")

    def test_a_broken_file_of_the_variant_is_named_with_its_mistake_and_one_that_is_gone_too(self):
        self.place.write(FILE, variant("mine", "host", "hots"))
        self.refused("this checkout has no variant 'copy/mine'", "unknown target 'hots'")
        os.remove(self.place.path(FILE))
        self.refused("this checkout has no variant 'copy/mine'")

    def test_mistakes_on_the_command_line(self):
        for more, said in [("--variant copy/min", "did you mean 'copy/mine'?"),
                           ("--workload n9k", "no stored variant has the workload 'n9k'"),
                           ("--cache tepid", "known: cold, warm"), ("--judge kind", "kind"),
                           ("copy/mine", "without --store"), ("--store b.json copy/mine", "--store"),
                           *[(f"--margin={margin}", "--margin") for margin in "2 0% -3% nan% 200% %".split()],
                           ("--margin=", "--margin")]:
            with self.subTest(more):
                self.mistake(["gate", "--baseline", "baseline.json", *more.split()], said)
        self.apo("gate", code=1)

    def test_a_junit_file_that_cannot_be_written_is_told_before_anything_runs(self):
        error = self.gate("--junit", ".", code=2).err
        self.said(error, "a folder has that name")
        self.not_said(error, "copy/mine")

    def test_damaged_baseline_files_are_refused(self):
        for text in (self.stored[:len(self.stored) // 2], "[]", ""):
            self.place.write("baseline.json", text)
            self.refused("is damaged")
        source = json.loads(self.stored)["variants"][0]["source"]
        tune = "// apo:tune\n"
        hash_of_tune = hashlib.sha256(tune.encode()).hexdigest()
        for change, said in [({"source": source + " "}, "is not the one that its source_sha256 names"),
                             ({"source": tune, "source_sha256": hash_of_tune}, "apo:tune has no value"),
                             ({"id": "copy/other"}, "calls itself 'copy/mine'"),
                             ({"workloads": ["n9k"]}, "workload 'n9k'"), ({"workloads": []}, "no workload"),
                             ({"settings": {"K": 2}}, "'copy/mine'"), ({"source": None}, "source")]:
            changed = json.loads(self.stored)
            changed["variants"][0].update(change)
            if change == {"source": None}:
                del changed["variants"][0]["source"]
            self.damaged(changed, said)
        twice = json.loads(self.stored)
        twice["variants"].append(copy.deepcopy(twice["variants"][0]))
        self.damaged(twice, "twice")
        self.damaged({**twice, "variants": []}, "no variant")

    def damaged(self, document, said):
        self.place.write("baseline.json", json.dumps(document))
        with self.subTest(said):
            self.refused("is damaged", said)

    def test_a_newer_baseline_file_asks_for_a_newer_program(self):
        self.place.write("baseline.json", json.dumps({**json.loads(self.stored), "version": 2}))
        self.refused("update apo")

    def test_storing_what_is_unknown_leaves_the_old_file(self):
        for words in ("copy/mine copy/nobody", "copy/mine copy/mine", "", "copy/mine --workload n9k",
                      "copy/mine --workload e88/x"):
            self.apo("gate", "--store", "baseline.json", *words.split(), code=1)
        self.assertEqual(self.place.read("baseline.json"), self.stored)


main()
