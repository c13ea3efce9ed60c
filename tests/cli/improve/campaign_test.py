# tests/cli/improve/campaign_test.py - real campaigns and comparisons, then every command that reads their journal.
# Nothing here depends on which verdict the timings give.
import os
import re
import sqlite3
import unittest
import uuid
from concurrent.futures import ThreadPoolExecutor

from apo_test import (COPY_HEAD, EIGHT_COPIES, HAS_GPU, RIGHT_COPY, CommandTest, HeldTurn, binary, main,
                      read_file, replaced, running_processes, source_path, variant, wait_until)

VERDICTS = ("accepted", "reverted", "inconclusive")
RUN = "run {} --workload {} --iterations 1 --candidates 1 --judge standard --solo-run 10ms --json"
NVTX_TOOL = binary("libnvtx_injection.so")  # writes down a program's ranges


def nested_ranges(lines):
    """"iteration 1 / evaluate copy/x / gate timing": the paths of all ranges, without their domain."""
    paths, open_ones = set(), []
    for line in lines:
        if line == "-":
            open_ones.pop()
        else:
            assert line.startswith("+apo:"), line
            open_ones.append(line[5:])
            paths.add(" / ".join(open_ones))
    assert not open_ones, f"never ended: {open_ones}"
    return paths


class Campaigns(CommandTest):
    """Two beside each other on one journal, and what all readers make of it."""

    @classmethod
    def setUpClass(cls):
        place = cls.share_place()
        run = {family: RUN.format(family, workload).split() for family, workload in (("copy", "n4k"), ("spin", "s5k"))}
        nvtx = {"NVTX_INJECTION64_PATH": NVTX_TOOL, "NVTX_RANGES_FILE": place.path("ranges")}
        nvtx = nvtx if os.path.exists(NVTX_TOOL) else {}
        turn = HeldTurn(place)  # so that neither ends before the other has begun
        with ThreadPoolExecutor() as threads:
            copy = threads.submit(cls.judged, place, *run["copy"], environment=nvtx)
            spin = threads.submit(cls.judged, place, *run["spin"])
            try:
                open_ones = ("query", "--csv", "--sql", "SELECT count(*) FROM campaigns WHERE state = 'open'")
                wait_until(lambda: place.apo(*open_ones, code=None).out == "count(*)\r\n2\r\n" or
                           copy.done() or spin.done(), "both run")
                cls.third = place.apo(*run["copy"], code=1)
            finally:
                turn.end()
            cls.copy, cls.spin = copy.result().document, spin.result().document
        cls.experiment = cls.copy["iterations"][0]["experiments"][0]
        cls.id = str(cls.experiment["id"])
        cls.candidate = cls.experiment["candidate"]["label"]

    def test_each_keeps_its_experiments_and_a_second_run_of_the_same_one_is_told_who_runs_it(self):
        self.said(self.third.err, "of copy, class any, on this machine is being run by process")
        for summary in (self.copy, self.spin):
            self.assertEqual([len(iteration["experiments"]) for iteration in summary["iterations"]], [1])
            rows = self.json("query", f"campaign={summary['campaign']}", "columns=id,family,state")["rows"]
            self.assertEqual(rows, [[summary["iterations"][0]["experiments"][0]["id"], summary["family"], "finished"]])
            self.assertIn(summary["iterations"][0]["experiments"][0]["judgement"]["verdict"], VERDICTS)
            self.assertTrue(os.path.exists(summary["report"]))
        self.said(self.apo("doctor").out, ", 0 open campaigns, 0 unfinished experiments")

    def test_ranges_of_the_stages_nest(self):
        if not os.path.exists(NVTX_TOOL):
            self.skipTest("built without NVTX's header")
        paths = nested_ranges(self.place.read("ranges").strip().split("\n"))
        evaluate = "iteration 1 / evaluate " + self.candidate
        timed = evaluate + " / gate timing / round search 0"
        self.assertLessEqual(
            {"iteration 1", "iteration 1 / profile " + self.experiment["incumbent"]["label"], "iteration 1 / research",
             evaluate, evaluate + " / implement", evaluate + " / gate correctness", evaluate + " / gate sanitizers",
             evaluate + " / gate timing", timed, timed + " / warm-up", timed + " / timed"}, paths)
        self.assertNotIn("timed slot0", paths, "a range of a confined worker")

    def test_every_variant_is_judged_or_the_incumbent_or_untried_for_one_reason(self):
        named = [self.copy["incumbent"]["variant"], self.experiment["candidate"]["variant"]]
        if self.copy["baseline"]["variant"] not in named:
            named.append(self.copy["baseline"]["variant"])
        for group in self.copy["untried"]:
            self.assertNotEqual(group["why"], "")
            named += group["variants"]
        known = "cuda_cublas_copy cuda_simple cuda_vector4 memcpy parallel simple streaming"
        self.assertEqual(sorted(set(named)), ["copy/" + name for name in known.split()])
        others = [variant for group in self.copy["untried"] for variant in group["variants"]]
        self.assertEqual(len(others), len(set(others)), "one is named twice")
        self.assertFalse({self.copy["incumbent"]["variant"], self.copy["baseline"]["variant"],
                          self.experiment["candidate"]["variant"]} & set(others))

    def test_query(self):
        table = self.json("query", "family=copy", f"campaign={self.copy['campaign']}")
        self.assertEqual((len(table["rows"]), table["columns"][0]), (1, "id"))
        self.assertEqual(self.json("query", "family=e88_forward")["rows"], [])
        csv = self.apo("query", "family=copy", "--columns", "id,candidate", "--csv").out
        self.assertEqual(csv, f"id,candidate\r\n{self.id},{self.candidate}\r\n")
        sql = self.json("query", "--sql", "SELECT count(*) AS n FROM experiments")
        self.assertEqual((sql["columns"], sql["rows"]), (["n"], [[2]]))

    def test_show(self):
        plain = self.json("show", self.id)
        self.assertIn(plain["judgement"]["verdict"], VERDICTS)
        self.assertTrue(plain["gates"])
        self.assertNotIn("blocks", plain["rounds"][0]["workloads"][0])
        full = self.json("show", self.id, "--samples", "--source", "--log")
        self.assertEqual(len(full["rounds"][0]["workloads"][0]["blocks"][0]), 4)
        self.assertIn("apo:variant", full["candidate_source"])
        self.said(self.apo("show", self.id, "--samples").out, "judgement", "Predicted: ", "gates", "correctness",
                  "builds", "rounds", "samples")
        self.said(self.apo("show", "77", code=1).err, "there is no experiment 77")

    def test_report(self):
        campaign = str(self.copy["campaign"])
        for format, file in {"markdown": "report.md", "html": "report.html", "json": "report.json"}.items():
            path = f".apo/reports/campaign-{campaign}/{file}"
            self.assertEqual(self.apo("report", "--campaign", campaign, "--format", format).out, path + "\n")
            self.assertTrue(os.path.exists(self.place.path(path)))
        first = self.apo("report", "--output", "-").out
        self.assertTrue(first.startswith("# "), first[:80])
        self.assertEqual(first, self.apo("report", "--output", "-").out, "a report is a pure function of the journal")
        self.assertIsInstance(self.json("report"), dict)
        self.apo("report", "--campaign", "7", code=1)
        self.apo("report", "--output", ".apo/journal.db", code=1)

    def test_lessons_list_and_doctor(self):
        for lesson in self.json("query", "--lessons", "family=copy")["lessons"]:
            self.assertIn(lesson["verdict"], VERDICTS)
            self.assertEqual(str(lesson["experiment"]), self.id)
        self.said(self.apo("query", "--lessons", "technique=adaptive-thread", code=1).err,
                  "did you mean 'adaptive-threads'", "docs/research.md#the-catalogue")
        self.said(self.apo("list", "copy").out, "* incumbent of class any")
        self.assertTrue(self.json("doctor")["host_works"])


class HangingCandidate(CommandTest):
    @staticmethod
    def beginning_with(first, name):
        """A right variant of copy; `calls` counts the calls of its process."""
        return variant(name, '#include "copy.args.h"', '#include <unistd.h>\n#include "copy.args.h"',
                       "  for (int64_t i", f"  static volatile int64_t calls = 0;\n  calls = calls + 1;\n  {first}\n"
                       "  for (int64_t i", "scalar-loop", "library-call\n// apo:parent copy/simple")

    def test_is_gone_when_its_deadline_has_passed_and_the_campaign_goes_on(self):
        # A home with few variants, none of which is accepted: so every candidate has its turn.
        for folder in ("kernels", "harness"):
            os.symlink(source_path(folder), self.place.path(folder))
        self.place.write("variants/copy/simple.cpp", read_file(source_path("variants/copy/simple.cpp")))
        # A process of a scan makes three calls at least, however slow the machine, and the first is checked.
        for name, first in (("hangs_when_timed", "while (calls > 2) { sleep(1); }"),
                            ("slower", "for (volatile int i = 0; i < 20000; i = i + 1) {}")):
            self.place.write(f"variants/copy/{name}.cpp", self.beginning_with(first, name))
        home = {"APO_HOME": self.place.folder, "APO_CACHE": self.place.path("cache")}
        words = replaced(RUN.format("copy", "n4k"), "--candidates 1", "--candidates 2 --baseline copy/simple").split()
        summary = self.judged(self.place, *words, environment=home).document
        outcomes = {}
        for experiment in summary["iterations"][0]["experiments"]:
            outcomes[experiment["candidate"]["variant"]] = experiment["outcome"]
            self.is_not_accepted(experiment["judgement"])
        self.assertEqual(outcomes, {"copy/slower": "valid"}, "the scan leaves the other one out, and judges nobody")
        sql = ("SELECT label, evidence FROM scanned s JOIN configuration c ON c.id = s.configuration"
               " WHERE outcome = 'timed_out'")
        [[label, evidence]] = self.json("query", "--sql", sql, environment=home)["rows"]
        self.assertEqual(label, "copy/hangs_when_timed")
        self.assertRegex(evidence, r"no answer in \d+ ms")
        self.assertEqual(running_processes(self.place.folder), {})


class Compare(CommandTest):
    def test_waits_for_its_turn_and_profiles_afterwards_are_of_the_workload_it_was_judged_on(self):
        others = HeldTurn(self.place).end_when_waited_for()
        experiment = self.json("compare", "copy/simple", "copy/parallel", "--workload", "n4k", "--judge", "standard",
                               "--skip-correctness")
        self.assertTrue(others.waited_for, "it did not wait")
        self.assertIn(experiment["judgement"]["verdict"], VERDICTS)
        self.assertEqual(experiment["incumbent"]["variant"], "copy/simple")
        shown = self.json("show", "1")
        self.assertEqual(shown["candidate"]["variant"], "copy/parallel")
        self.assertGreater(shown["rounds"][0]["environment"]["waited_for_turn_s"], 0.02)
        if experiment["judgement"]["speedup"] is None:
            self.skipTest("not timed: " + experiment["judgement"]["sentence"])
        profiled = self.apo("profile", "copy/simple", "--no-journal", "--json")  # n4k is not the family's first
        self.assertEqual(profiled.document["workload"], "n4k")
        self.said(profiled.err, "on n4k, where experiment 1 judged")

    def copy_row(self, database, table, where, **changes):
        row = dict(database.execute(f"SELECT * FROM {table} WHERE {where} LIMIT 1").fetchone(), **changes)
        database.execute(f"INSERT INTO {table} ({', '.join(row)}) VALUES ({', '.join('?' * len(row))})",
                         list(row.values()))

    def test_the_level_falls_with_all_that_was_judged_and_what_was_proved_wrong_is_not_timed_again(self):
        words = "compare copy/simple copy/parallel --workload n4k --judge standard".split()
        self.json(*words)
        database = sqlite3.connect(self.place.path(".apo", "journal.db"), isolation_level=None)
        self.addCleanup(database.close)
        database.row_factory = sqlite3.Row
        database.execute("BEGIN")
        for number in range(2, 51):
            self.copy_row(database, "experiment", "id = 1", id=number)
            self.copy_row(database, "experiment_workload", "experiment = 1", experiment=number)
            self.copy_row(database, "round", "experiment = 1", experiment=number, id=None)
        database.execute("COMMIT")
        second = self.apo(*words, "--json")
        self.said(second.err, "candidate 51 of copy any on this machine: its confirmation has the level 0.0098\n")
        self.assertAlmostEqual(second.document["judgement"]["alpha"], 0.5 / 51)
        self.assertIn(second.document["judgement"]["verdict"], VERDICTS)
        self.copy_row(database, "experiment", "id = 1", id=60)
        self.copy_row(database, "experiment_workload", "experiment = 1", experiment=60)
        self.copy_row(database, "judgement", "experiment = 1", experiment=60, outcome="incorrect", verdict="reverted")
        third = self.json(*words, code=3)
        self.assertEqual([third["outcome"], third["gates"][-1]["gate"], third["judgement"]["rounds"]],
                         ["incorrect", "history", 0])
        self.said(third["judgement"]["sentence"],
                  "] gave wrong results in experiment 60: 'apo show 60' has the evidence; right results now")

    def test_identical_code_is_not_timed_and_quiet_means_no_progress_and_the_verdict_all_the_same(self):
        self.place.write(".apo/variants/copy/twin.cpp", variant("twin"))
        words = "compare copy/simple copy/twin --workload n4k --judge standard --no-journal".split()
        self.assertEqual(self.json(*words)["outcome"], "no_change")
        self.assertFalse(self.place.exists(".apo/journal.db"))
        quiet = self.apo(*words, "--quiet")
        self.assertEqual(quiet.err, "")
        self.said(quiet.out, "verdict: reverted (gate_failed)")

    def test_one_configuration_as_both_sides_is_refused_before_anything_is_built(self):
        self.said(self.apo("compare", "copy/parallel", "copy/parallel[KILOBYTES_PER_THREAD=256]", code=1).err,
                  "both variants are copy/parallel", "--same-code")
        self.assertFalse(self.place.exists(".apo/journal.db"))

    def test_a_failed_gate_exits_with_three_and_the_next_campaign_names_the_query_that_shows_it(self):
        self.place.write("scaled.h", "// apo:family scaled\n// apo:axis n 1..65536\n// apo:input x f32[n] normal\n"
                         "// apo:output y f32[n]\n// apo:unit n/4096\n// apo:workload w small n=4096\n"
                         "template <class Real>\nvoid reference(int64_t n, const Real* x, Real* y) {\n"
                         "  for (int64_t i = 0; i < n; ++i) y[i] = Real(2) * x[i];\n}\n")
        right = ("#include <cstdint>\nvoid scaled(const float* x, float* y, int64_t n) {\n"
                 "  for (int64_t i = 0; i < n; ++i) y[i] = 2 * x[i];\n}\n")
        self.place.write(".apo/variants/scaled/simple.cpp", right)
        self.place.write(".apo/variants/scaled/wrong.cpp", replaced(right, "2 *", "3 *"))
        compare = "compare scaled/simple scaled/wrong --families scaled.h".split()
        first = self.apo(*compare, code=3)
        self.said(first.out, "verdict: reverted (gate_failed)")
        self.not_said(first.err, "note: ")
        note = "note: scaled/wrong gave wrong results in experiment 1: 'apo show 1' has the evidence\n"
        self.said(self.apo(*compare, "--no-journal", code=3).err, note)  # it is judged all the same
        campaign = self.judged(self.place, *"run scaled --families scaled.h --iterations 1".split())
        self.said(campaign.out, "1 refuted by experiments or a scan ('apo research FAMILY --json'): scaled/wrong\n")
        self.said(self.apo(*"research scaled --families scaled.h --json".split()).out, "refuted by experiment 1: ")
        self.assertEqual(self.apo("query", "variant=scaled/wrong", "--columns", "id,outcome", "--csv").out,
                         "id,outcome\r\n1,incorrect\r\n")
        self.said(self.apo(*"try scaled .apo/variants/scaled/wrong.cpp --families scaled.h".split(), code=None).err,
                  note)


class ProfileAndExplain(CommandTest):
    @classmethod
    def setUpClass(cls):
        place = cls.share_place()
        place.write("apo", "no folder for locks")
        explain = "explain copy/simple copy/memcpy --workload n4k".split()
        cls.cold = place.apo(*"profile copy/simple --workload n4k --json".split())
        cls.explained = place.apo(*explain, "--json")
        cls.again = place.apo(*explain)
        cls.explained_warm = place.apo(*explain, "--cache", "warm")
        cls.warm = place.apo(*"profile copy/simple --workload n4k --cache warm".split())

    def test_profile_reports_time_floor_roofs_and_scaling(self):
        profile = self.cold.document
        self.assertGreater(profile["time_ns"], 0)
        self.assertGreater(profile["floor_ns"], 0)
        self.assertTrue(profile["roofs"])
        self.said(self.warm.out, "thread scaling", "Metrics", "Roofs", "bottlenecks", "floor",
                  "bytes that must move and no arithmetic")
        self.not_said(self.warm.err, "measuring the roofs")  # the journal has them

    def test_where_turns_cannot_be_taken_profile_says_so_once(self):
        self.said(self.warm.err, "'apo' is no folder of this user")
        self.assertEqual(self.warm.err.count("other processes that measure here are not waited for"), 1)

    def test_explain_takes_profiles_from_the_journal_and_says_what_differs(self):
        self.not_said(self.explained.err, "profiling copy/simple")
        self.said(self.explained.err, "profiling copy/memcpy")
        document = self.explained.document
        self.assertAlmostEqual(document["time_difference_ns"], document["a"]["time_ns"] - document["b"]["time_ns"],
                               delta=1e-3)
        self.assertNotEqual(document["sentence"], "")
        self.not_said(self.again.err, "profiling")
        self.said(self.again.out, "code size in bytes")
        self.said(self.explained_warm.err, "profiling copy/simple")  # a cold profile says nothing of warm caches

    def test_roofs_are_kept_and_measured_anew_when_asked(self):
        def fma(*more):
            document = self.json("profile", "--roofs", "--target", "host", *more)
            self.assertEqual(document["machine"]["target"], "host")
            return [roof["value"] for roof in document["roofs"] if roof["name"] == "fp32_fma"][0]

        def measured():
            table = self.apo("query", "--csv", "--sql", "SELECT value FROM roof WHERE name = 'fp32_fma' ORDER BY id")
            return [float(value) for value in table.out.split()[1:]]

        first = fma()
        self.assertGreater(first, 0)
        self.assertEqual(fma(), first)
        self.assertEqual(measured()[-1:], [first])
        before = len(measured())
        second = fma("--remeasure")
        self.assertEqual(measured()[before:], [second], "equal numbers are two measurements too")
        self.assertEqual(fma(), second, "the newest ones count")


class Try(CommandTest):
    def test_each_file_gets_one_line_of_verdict(self):
        self.place.write("slow.cpp", EIGHT_COPIES)
        self.place.write("wrong.cpp", COPY_HEAD + " y[0] = n; }\n")
        self.place.write("broken.cpp", "void copy(float* x) {}\n")
        self.place.write("known.cpp", read_file(source_path("variants/copy/simple.cpp")))
        out = self.judged(self.place, *"try copy slow.cpp wrong.cpp broken.cpp known.cpp --workload n4k".split(),
                          code=3).out
        self.said(out, "copy/wrong: incorrect: ", "copy/broken: build failed: n4k: broken.cpp:1: ",
                  "'void copy(const float* x, float* y, int64_t n)'", "incumbent: copy/simple",
                  "copy/simple: is the incumbent already: ")
        [verdict, experiment] = re.search(r"copy/slow: (\S+) .*; experiment (\d+)\)\n", out).groups()
        shown = self.json("show", experiment)
        self.is_not_accepted(shown["judgement"])
        self.assertEqual(verdict, shown["judgement"]["verdict"])
        self.assertTrue(self.place.exists(".apo/variants/copy/slow.cpp"))
        self.assertFalse(self.place.exists(".apo/variants/copy/wrong.cpp"), "it failed")
        self.not_said(out, "1.00x")  # nothing was predicted
        self.assertIsNone(shown["prediction"])

    def test_the_document_holds_the_experiment_of_each_file(self):
        self.place.write("same.cpp", RIGHT_COPY)
        [verdict] = self.json(*"try copy same.cpp --workload n4k --judge quick".split())["verdicts"]
        self.assertEqual(verdict["variant"], "copy/same")
        self.assertNotEqual(verdict["experiment"]["id"], 0)

    def test_the_first_file_that_passes_is_the_baseline_of_a_family_without_variants(self):
        self.place.write("halves.h", "// apo:family halves\n// apo:axis n 1..65536\n// apo:input x f32[n]\n"
                         "// apo:output y f32[n]\n// apo:workload w production n=4096\ntemplate <class Real>\n"
                         "void reference(int64_t n, const Real* x, Real* y) {\n"
                         "  for (int64_t i = 0; i < n; ++i) y[i] = x[i] / 2;\n}\n")
        self.apo("register", "halves.h")
        head = f"// {uuid.uuid4()}: in no cache of builds\nvoid halves(const float* x, float* y, long n) {{ "
        self.place.write("wrong.cpp", head + "y[0] = x[0]; }\n")
        self.place.write("z_first.cpp", head + "for (long i = 0; i < n; ++i) y[i] = x[i] / 2; }\n")
        self.place.write("a_second.cpp", head + "for (int k = 0; k < 9; ++k) { for (long i = 0; i < n; ++i) y[i] = x[i] / 2;"
                         ' __asm__ volatile("" ::: "memory"); } }\n')
        ran = self.judged(self.place, *"try halves wrong.cpp z_first.cpp a_second.cpp".split(), code=3)
        self.said(ran.out, "halves/wrong: incorrect: ",
                  "halves/z_first: the first variant of halves for target host: the baseline")
        self.assertRegex(ran.out, r"halves/a_second: (reverted|inconclusive) .* over halves/z_first")
        self.assertRegex(ran.err, r"compiled in .* 6 builds on .* the longest, of halves/")
        self.assertEqual(self.json("show", "halves/a_second")["parent"], "halves/z_first")

    def test_nothing_that_passes_the_gates_is_a_failed_gate(self):
        self.place.write("broken.cpp", "int x;\n")
        self.apo("try", "copy", "broken.cpp", code=3)
        self.apo("try", "copi", "broken.cpp", code=1)


@unittest.skipIf(HAS_GPU, "there is a GPU")
class TryWithoutAGpu(CommandTest):
    def test_a_device_variant_is_checked_and_registered(self):
        self.said(self.apo("compare", "copy/cuda_simple", "copy/cuda_vector4", "--no-journal", code=2).err,
                  "target cuda does not work here", "'apo verify VARIANT --on cpu'")
        self.place.write("mine.cu", "// apo:launch mine grid=ceil_div(n,64) block=64\n#include \"copy.args.h\"\n"
                         'extern "C" __global__ void mine(const copy_args a) {\n'
                         "  const long long i = 64LL * blockIdx.x + threadIdx.x;\n  if (i < a.n) a.y[i] = a.x[i];\n}\n")
        self.said(self.apo("compare", "copy/cuda_simple", "mine.cu", code=1).err, "'apo register mine.cu' adds it")
        self.said(self.apo("try", "copy", "mine.cu", code=2).out, "copy/mine: not judged: its time needs a GPU")
        self.assertTrue(self.place.exists(".apo/variants/copy/mine.cu"))


main()
