# tests/cli/improve/application_test.py - `apo compare --application` on a program that trains with an exported
# dispatch, with kernels that are slow, wrong, or misbehave; and a campaign that ends with it.
import hashlib
import json
import os
import shutil
import subprocess

from apo_test import BINARY, CommandTest, Workplace, main, read_file, replaced, running_processes, source_path

EXAMPLE = source_path("examples", "softmax_training")
WORK = "{ float s = 0; for (int64_t k = 0; k < rows * cols; ++k) s += y[k] = std::exp(x[k]); y[0] = s; }"
METRICS = [{"name": "step", "role": "speed"}, {"name": "loss", "role": "quality", "margin": 0.01, "last": 10}]


def application(**declared):
    """`declared`: keys in place of the usual ones."""
    return {"command": '"$APO_DISPATCH/training"', "metrics": METRICS, "warmup_steps": 5, "steps": 150,
            "seeds": [1, 2, 3, 4, 5], "pairs": 10, "time_limit": "600s", **declared}


def kernel(first, last=""):
    """What a kernel does, around a softmax that is right."""
    return """#include <signal.h>
#include <unistd.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>

void row_softmax(const float* x, float* y, int64_t rows, int64_t cols) {
  static int calls = 0;
  ++calls;
  """ + first + """
  for (int64_t r = 0; r < rows; ++r) {
    float sum = 0, largest = x[r * cols];
    for (int64_t c = 0; c < cols; ++c) largest = x[r * cols + c] > largest ? x[r * cols + c] : largest;
    for (int64_t c = 0; c < cols; ++c) sum += y[r * cols + c] = std::exp(x[r * cols + c] - largest);
    for (int64_t c = 0; c < cols; ++c) y[r * cols + c] /= sum;
  }
  """ + last + "\n}\n"


RIGHT = kernel("")
SLOW = kernel("usleep(8000);")  # some thirty times as slow: no noise hides it
WRONG_GRADIENT = kernel("", "for (int64_t k = 0; k < rows * cols; k += 8) y[k] *= 0.2f;")  # of one class in eight
CRASH = kernel("if (calls == 9) abort();")


def prepared_dispatch():
    """The dispatch of a recorded journal with the program. All tests share it, and put a kernel in its place."""
    place = Workplace()
    place.apo("export", "--dispatch", "row_softmax", "--fallback", "row_softmax/simple", "--with-sources", "--journal",
              source_path("experiments/host-xeon/journal.db"), "--output", "dispatch")
    made_from = place.read("dispatch/row_softmax_dispatch.h") + "".join(
        read_file(os.path.join(EXAMPLE, name)) for name in ("training.cpp", "prepare.sh"))
    path = os.path.join(BINARY, "test-applications", hashlib.sha256(made_from.encode()).hexdigest())
    if not os.path.exists(path):
        subprocess.run(["sh", EXAMPLE + "/prepare.sh"], env={**os.environ, "APO_DISPATCH": place.path("dispatch")},
                       check=True, capture_output=True)
        draft = f"{path}.{os.getpid()}"
        shutil.copytree(place.path("dispatch"), draft)
        try:
            os.rename(draft, path)
        except OSError:
            shutil.rmtree(draft)  # another process was first
    place.remove()
    return path


class ApplicationTest(CommandTest):
    @classmethod
    def setUpClass(cls):
        cls.prepared = prepared_dispatch()

    def dispatch(self, name, source):
        shutil.copytree(self.prepared, self.place.path(name))
        self.place.write(name + "/kernel.cpp", source)
        built = self.place.run(["g++", "-O2", "-march=native", "-shared", "-fPIC", name + "/kernel.cpp", "-o",
                                name + "/kernel.so"])
        self.assertEqual(built.code, 0, built.err)

    def compare(self, a, b, *more, **declared):
        self.place.write("application.json", json.dumps({"application": application(**declared)}))
        ran = self.apo("compare", a, b, "--application", "application.json", "--target", "host",
                       "--json", "-q", *more, code=None)
        judged = ran.document
        judged.update({key: judged["judgement"][key] for key in ("verdict", "reason", "sentence")})
        self.assertEqual(ran.code, 3 if judged["reason"] in ("gate_failed", "quality_lost") else 0, ran.err)
        return judged

    def compare_with_fault(self, source, **declared):
        """The kernel in one arm alone."""
        self.dispatch("right", RIGHT)
        self.dispatch("fault", source)
        return self.compare("right", "fault", **declared)


class ApplicationVerdicts(ApplicationTest):
    def resolved(self, judged, verdict, reason):
        """Or not: whether all pairs agree is the machine's matter."""
        self.assertIn((judged["verdict"], judged["reason"]), ((verdict, reason), ("inconclusive", "unresolved")),
                      judged["sentence"])

    def test_a_faster_kernel_that_learns_as_well_is_accepted_and_kept(self):
        self.dispatch("slow", SLOW)
        self.dispatch("right", RIGHT)
        judged = self.compare("slow", "right", warmup_steps=1)
        self.resolved(judged, "accepted", "faster")
        self.assertEqual([figure["metric"] for figure in judged["figures"]], ["step", "start-up", "loss"])
        speed, start_up, quality = judged["figures"]
        self.assertGreater(speed["upper"], 1)
        self.assertGreater(start_up["value_a"], 0)
        self.assertEqual((quality["finding"], quality["count"], len(judged["runs"])), ("equivalent", 5, 20))
        sql = "SELECT verdict, reason, pairs, quality FROM application_comparisons"
        self.assertEqual(self.apo("query", "--csv", "-q", "--sql", sql).out, "verdict,reason,pairs,quality\r\n"
                         f"{judged['verdict']},{judged['reason']},10,loss equivalent\r\n")
        self.said(self.apo("query").err, "comparisons by an application: 1 (the view application_comparisons")
        for check in self.json("doctor", code=None)["checks"]:
            self.assertFalse(check["name"] == "journal" and check["state"] == "broken", check)

    def test_a_faster_kernel_with_a_wrong_gradient_loses_by_its_quality(self):
        self.dispatch("slow", SLOW)
        self.dispatch("wrong", WRONG_GRADIENT)
        judged = self.compare("slow", "wrong")
        self.assertEqual((judged["verdict"], judged["reason"]), ("reverted", "quality_lost"), judged["sentence"])
        self.assertEqual(judged["figures"][2]["finding"], "worse")
        self.assertGreater(judged["figures"][0]["upper"], 1, "what it gained is shown beside it")

    def test_the_program_cannot_tell_which_dispatch_it_has_and_the_same_one_is_not_accepted(self):
        self.dispatch("incumbent", RIGHT)
        self.dispatch("candidate", RIGHT)
        judged = self.compare("incumbent", "candidate",
                              command='echo "$APO_DISPATCH" >> seen; "$APO_DISPATCH/training"')
        self.assertNotEqual(judged["verdict"], "accepted")
        seen = self.place.read("seen").split()
        self.assertGreaterEqual(len(seen), 20)  # more where the first pair was too short
        self.assertEqual(len(set(seen)), len(seen), "each run has a path of its own")
        for path in seen:
            self.not_said(path, "incumbent", "candidate")
            self.assertEqual(len(path), len(seen[0]))
            self.assertFalse(os.path.exists(path), "it is gone with its run")

    def test_noise_beyond_the_margin_is_inconclusive_with_the_number_of_seeds_it_needs(self):
        self.dispatch("slow", SLOW)
        # Off by -0.7, -0.4, 0.1, 0.8 and 1.7 % for the five seeds: the loss is more or less by as much.
        self.dispatch("noisy", kernel('const int seed = std::atoi(std::getenv("APO_SEED"));',
                                      "for (int64_t k = 0; k < rows * cols; ++k)"
                                      " y[k] *= 1 + 1e-3f * (seed * seed - 8);"))
        judged = self.compare("slow", "noisy", metrics=[METRICS[0], {**METRICS[1], "margin": 1e-9}])
        self.assertEqual(judged["verdict"], "inconclusive", judged["sentence"])
        self.assertEqual(judged["figures"][2]["finding"], "inconclusive")
        self.assertGreater(judged["figures"][2]["needed"], 5)

    def test_mistakes_name_the_fix(self):
        self.place.write("application.json", json.dumps({"application": application()}))
        self.place.write("other.json", "{}")
        compare = "compare no no --application".split()
        self.said(self.apo(*compare, "application.json", code=1).err, "there is no dispatch 'no'")
        self.said(self.apo(*compare, "other.json", code=1).err, "declares no application")


class ApplicationFaults(ApplicationTest):
    def test_a_crash_in_one_arm_is_that_arms_and_is_shown_with_its_runs_and_repeated(self):
        judged = self.compare_with_fault(CRASH)
        self.assertEqual((judged["outcome"], judged["failed"], judged["reason"]), ("faulted", "b", "gate_failed"))
        self.said(judged["sentence"], "SIGABRT")
        self.said(self.apo("show", "c1").out, "comparison c1 of two dispatches", "faulted", "SIGABRT", "loss ")
        shown = self.json("show", "c1")
        self.assertEqual(shown, {key: judged[key] for key in shown})
        again = self.json("replay", "c1", "-q")
        self.assertTrue(again["reproduced"], again["because"])
        self.assertEqual(again["comparison"]["id"], 2)
        self.assertNotEqual(again["comparison"]["b"], "")
        shutil.rmtree(self.place.path("fault"))
        self.said(self.apo("replay", "c1", "-q", code=1).err, "which is gone")
        self.said(self.apo("show", "c9", code=1).err, "there is no comparison c9")
        self.said(self.apo("show", "c1", "--log", code=1).err, "prints every run")

    def test_a_crash_in_both_arms_is_the_applications(self):
        self.dispatch("crashes", kernel("abort();"))
        judged = self.compare("crashes", "crashes")
        self.assertEqual((judged["failed"], judged["verdict"]), ("both", "inconclusive"))

    def test_a_hang_is_ended_at_its_deadline(self):
        self.dispatch("hangs", kernel("while (calls > 8) pause();"))
        judged = self.compare("hangs", "hangs", time_limit="1s")  # a right kernel needs as long on a busy machine
        self.assertEqual([run["outcome"] for run in judged["runs"]], 2 * ["timed_out"], "the pair is whole")
        self.assertEqual((judged["outcome"], judged["failed"]), ("timed_out", "both"))
        self.assertEqual(judged["verdict"], "inconclusive")
        self.assertEqual(running_processes(self.place.folder), {})

    def test_a_loss_that_is_no_number_voids_the_run(self):
        judged = self.compare_with_fault(kernel(
            "", "if (calls == 9) for (int64_t k = 0; k < rows * cols; ++k) y[k] = NAN;"))
        self.assertEqual((judged["outcome"], judged["failed"]), ("not_finite", "b"))

    def test_memory_that_is_not_there_has_an_outcome_of_its_own(self):
        judged = self.compare_with_fault(kernel(
            'if (calls == 9) { std::fprintf(stderr, "%p", (void*)new char[1L << 60]); }'))
        self.assertEqual(judged["outcome"], "out_of_memory", judged["sentence"])

    def test_processes_that_are_left_behind_are_found_and_ended(self):
        part, pid = self.place.path("part"), self.place.path("pid")
        judged = self.compare_with_fault(kernel(
            f'if (calls == 9 && fork() == 0) {{ setsid(); FILE* f = fopen("{part}", "w");'
            f' fprintf(f, "%d", getpid()); fclose(f); rename("{part}", "{pid}"); sleep(100000); _exit(0); }}'
            f' while (calls == 9 && access("{pid}", F_OK) != 0) usleep(1000);'))
        self.assertEqual(judged["outcome"], "left_processes", judged["sentence"])
        self.assertNotIn(int(self.place.read("pid")), running_processes())

    def test_a_dispatch_that_cannot_be_prepared_is_reverted(self):
        self.dispatch("right", RIGHT)
        self.dispatch("broken", RIGHT)
        self.place.write("broken/broken", "")
        judged = self.compare("right", "broken", prepare='test ! -e "$APO_DISPATCH/broken"')
        self.assertEqual((judged["outcome"], judged["verdict"]), ("build_failed", "reverted"))
        self.apo("compare", "broken", "right", "--application", "application.json", "-q",
                 code=1)  # with A nothing can be compared


class ApplicationPrograms(ApplicationTest):
    def setUp(self):
        super().setUp()
        self.dispatch("right", RIGHT)

    def outcome(self, command, dispatch="right", *more):
        return self.compare(dispatch, dispatch, *more, command=command)["outcome"]

    def test_what_a_run_writes_into_its_dispatch_reaches_no_other_run(self):
        trace = '"$APO_DISPATCH/trace"'
        self.assertEqual(self.outcome(f'[ ! -e {trace} ] && touch {trace} && "$APO_DISPATCH/training"'), "valid")
        self.assertFalse(self.place.exists("right/trace"))

    def test_without_a_metric_or_with_two_it_is_not_judged(self):
        self.assertEqual(self.outcome("echo done"), "no_metric")
        twice = self.compare("right", "right", command='"$APO_DISPATCH/training" | '
                             "awk '{ print; fflush() } NR == 9 { print; fflush() }'")
        self.assertEqual(twice["outcome"], "no_metric")
        self.said(twice["sentence"], "step 9 has two lines")

    def test_a_buffered_one_is_told_to_flush(self):
        self.dispatch("slow", SLOW)
        self.assertEqual(self.outcome('"$APO_DISPATCH/training" > lines; cat lines', "slow"), "unstable_clock")

    def test_lines_that_come_late_in_one_run_only_are_not_held_against_it(self):
        self.assertEqual(self.outcome('if mkdir late; then "$APO_DISPATCH/training" > lines; cat lines; '
                                      'else "$APO_DISPATCH/training"; fi'), "valid")

    def test_a_library_may_be_named_in_place_of_a_folder(self):
        # The program looks for kernel.so in the folder that it is given.
        self.assertEqual(self.outcome('mkdir -p d$$ && cp "$APO_DISPATCH" d$$/kernel.so && '
                                      "APO_DISPATCH=$PWD/d$$ right/training", "right/kernel.so", "--no-journal"),
                         "valid")
        self.assertFalse(self.place.exists(".apo/journal.db"))


class ApplicationOfACampaign(ApplicationTest):
    """Of a variant that is faster where the campaign measures it, and slower at the size that the program uses."""

    def test_ends_it_and_says_that_it_refuses(self):
        shutil.copytree(source_path("kernels"), self.place.path("kernels"))
        os.symlink(source_path("harness"), self.place.path("harness"))
        self.place.write("kernels/rows/row_softmax.h", replaced(  # with a workload whose calls are short
            read_file(source_path("kernels/rows/row_softmax.h")), "r256_c4096", "r128_c600 ", "rows=256 cols=4096",
            "rows=128 cols=600"))
        for name, work in (("slow", "for (volatile int i = 0; i < 1; i = i + 1) "),
                           ("tuned", "for (volatile int i = 0; cols == 512 && i < 5; i = i + 1) ")):
            self.place.write(f"variants/row_softmax/{name}.cpp",
                             f"// apo:variant    row_softmax/{name}\n// apo:target     host\n"
                             f"// apo:technique  {name}\n// apo:idea       Takes its time.\n{kernel(work + WORK)}")
        self.place.write("campaign.json", json.dumps({
            "application": application(prepare=f"sh '{EXAMPLE}/prepare.sh'"), "family": "row_softmax",
            "workloads": ["r128_c600"], "baseline": "row_softmax/slow", "judge_preset": "standard", "target": "host"}))
        ran = self.judged(self.place, *"run --campaign campaign.json --iterations 1 --json -q".split(), code=None,
                          environment={"APO_HOME": self.place.folder})
        summary = ran.document
        judged = summary["application"] or {}
        judgement = judged.get("judgement", {"verdict": "none"})
        self.assertEqual(ran.code, 3 if judgement["verdict"] == "reverted" else 0, ran.both)
        if judgement["verdict"] != "reverted":
            self.skipTest("this machine is too restless to tell two passes from one")
        self.assertEqual(summary["incumbent"]["variant"], "row_softmax/tuned")
        self.assertEqual(judgement["reason"], "regression", judgement["sentence"])
        self.assertEqual(judged["campaign"], summary["campaign"])
        self.said(read_file(summary["report"]), "The application refuses the incumbent", "## Comparisons")
        sql = "SELECT campaign, verdict FROM application_comparisons"
        self.assertEqual(self.apo("query", "--csv", "-q", "--sql", sql).out, "campaign,verdict\r\n1,reverted\r\n")
        export = "export --dispatch row_softmax".split()
        self.said(self.apo(*export, "--json", code=1).err, "refused row_softmax/tuned")
        all_the_same = self.apo(*export, "--refused", "--output", "table")
        self.said(all_the_same.err, "exported, row_softmax class")
        self.said(all_the_same.out, "refused by its application in comparison c1")


main()
