# tests/cli/improve/kill_test.py - a run that is killed loses at most the experiment under way, and goes on.
import os
import signal
import subprocess
import time

from apo_test import PROGRAM, CommandTest, HeldTurn, main, running_processes, wait_until

RUN = ("run", "copy", "--workload", "n4k", "--judge", "standard", "--candidates", "1", "--cache", "warm")


class Kill(CommandTest):
    def setUp(self):
        super().setUp()
        self.own = {"TMPDIR": self.place.folder, "XDG_RUNTIME_DIR": self.place.path("turns")}
        os.mkdir(self.own["XDG_RUNTIME_DIR"])

    def start(self, *words):
        """What it says goes to the file "said"."""
        with open(self.place.path("said"), "w", encoding="utf-8") as said:
            child = subprocess.Popen([PROGRAM, *words], cwd=self.place.folder, env=self.place.environment(self.own),
                                     stdout=subprocess.DEVNULL, stderr=said)
        self.addCleanup(child.wait)
        self.addCleanup(child.kill)
        return child

    def end(self, child, by):
        child.send_signal(by)
        child.wait()

    def count(self, sql):
        rows = self.journal_rows("SELECT count(*) FROM " + sql)
        return rows[0][0] if rows else 0

    def expect_whole(self):
        checks = self.json("doctor", code=None)["checks"]
        [journal] = [check for check in checks if check["name"] == "journal"]
        self.assertNotEqual(journal["state"], "broken", journal)

    OPEN = ("experiment WHERE id NOT IN (SELECT experiment FROM judgement) AND id NOT IN"
            " (SELECT experiment FROM abandonment WHERE experiment IS NOT NULL)")

    def test_a_killed_campaign_keeps_what_was_finished_and_is_resumed(self):
        words = (*RUN, "--baseline", "copy/simple", "--iterations", "2")
        finished = 0
        for seconds in (0.7, 2.5, 4.5):
            child = self.start(*words)
            time.sleep(seconds)
            self.end(child, signal.SIGKILL)
            if not self.journal_rows("SELECT 1 FROM campaign"):
                continue  # killed before its first row
            self.expect_whole()
            self.assertGreaterEqual(self.count("judgement"), finished, "a finished experiment is gone")
            finished = self.count("judgement")
            self.assertLessEqual(self.count(self.OPEN), 1)
        self.judged(self.place, *words, environment=self.own)
        self.assertEqual([name for name in os.listdir(self.place.folder) if name.startswith("apo")], [],
                         "the next program removes temporary folders")
        self.assertEqual(self.count("campaign WHERE id NOT IN (SELECT campaign FROM campaign_end)"), 0)
        self.assertEqual(self.count(self.OPEN), 0)
        self.expect_whole()
        self.assertGreaterEqual(self.count("judgement"), finished)

    def test_an_interrupted_campaign_goes_on_for_the_iterations_that_were_typed_and_from_its_own_baseline(self):
        child = self.start(*RUN, "--baseline", "copy/simple", "--iterations", "6")
        wait_until(lambda: self.count("iteration"))
        self.end(child, signal.SIGKILL)
        begun = self.count("iteration")  # on a busy machine more than one
        self.mistake([*RUN, "--baseline", "copy/parallel", "--iterations", "6"],
                     "cannot go on with another --baseline", "--baseline copy/parallel --iterations 6 --new")
        again = self.judged(self.place, *RUN, "--baseline", "copy/simple", "--iterations", "1", environment=self.own)
        self.said(again.err, f"resuming campaign 1 at iteration {begun + 1} of {begun + 1}")
        ended = [count for [count] in self.journal_rows("SELECT (SELECT count(*) FROM iteration_end WHERE"
                                                        " iteration = i.id) FROM iteration i ORDER BY id")]
        self.assertIn(ended[begun - 1:], ([0, 1], [1, 1]), "the one that was killed, and the one that was typed")

    def test_a_comparison_has_a_row_before_its_first_round_and_the_next_command_that_judges_ends_it(self):
        self.own["XDG_RUNTIME_DIR"] = self.place.folder
        turn = HeldTurn(self.place)
        self.addCleanup(turn.end)
        commands = "comparison WHERE id NOT IN (SELECT comparison FROM comparison_verdict)"
        for words, begun in (("copy/simple copy/parallel --workload n4k --skip-correctness", self.OPEN),
                             ("--command-a true --command-b true --metric seconds", commands)):
            child = self.start("compare", *words.split())
            wait_until(turn.is_waited_for, "the A/A run waits for its turn")
            self.end(child, signal.SIGINT)
            self.assertEqual(self.count(begun), 1, words)
        self.said(self.place.read("said"), "an earlier run was interrupted in experiment 1: copy/parallel")
        judged = self.apo("compare", "--command-a", "true", "--command-b", "exit 3", "--metric", "seconds", code=3)
        self.said(judged.err, "an earlier run was interrupted in comparison c1: true against true")
        self.assertEqual(self.count(self.OPEN) + self.count(commands), 0)
        self.assertEqual(self.journal_rows("SELECT verdict, reason FROM comparison_verdict WHERE comparison = 1"),
                         [("inconclusive", "interrupted")])
        self.expect_whole()

    def test_after_ctrl_c_a_trial_says_what_is_kept_and_readers_that_its_experiment_was_interrupted(self):
        self.place.write("hangs.cpp", "#include <unistd.h>\nvoid copy(const float* x, float* y, long n) {\n"
                         "  for (;;) sleep(1);\n  for (long i = 0; i < n; ++i) y[i] = x[i];\n}\n")
        words = ("try", "copy", "hangs.cpp", "--workload", "n4k")
        child = self.start(*words)
        wait_until(lambda: self.count(self.OPEN))
        self.not_said(self.apo("query").err, "interrupted")
        self.end(child, signal.SIGINT)
        self.assertEqual(child.returncode, -signal.SIGINT)
        self.said(self.place.read("said"), "apo: interrupted; the journal keeps every finished experiment",
                  "try again with: apo " + " ".join(words))
        self.said(self.apo("show", "1").out, "never: the run that measured it was interrupted")
        self.said(self.apo("query").err, "running no longer, but interrupted: 1;")

    def test_after_ctrl_c_a_reference_that_never_ends_is_not_registered(self):
        self.place.write("endless.h", "// apo:family endless\n// apo:axis n 1..64\n// apo:input x f32[n] normal\n"
                         "// apo:output y f32[n]\n// apo:workload w ragged n=33\ntemplate <class Real>\n"
                         "void reference(int64_t n, const Real* x, Real* y) {\n"
                         "  for (volatile int go = 1; go != 0;) y[n - 1] = x[0];\n}\n")
        child = self.start("register", "endless.h")
        wait_until(lambda: any(command.partition("\0")[0].endswith("/oracle")
                               for command in running_processes(self.place.folder).values()))
        self.end(child, signal.SIGINT)
        self.said(self.place.read("said"), "apo: interrupted; nothing is registered\n"
                  "     register it with: apo register endless.h\n")


main()
