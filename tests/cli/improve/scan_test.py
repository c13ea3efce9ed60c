# tests/cli/improve/scan_test.py - `apo scan` measures what is not known, whatever ends it; `apo run` judges by it.
import os
import signal
import subprocess

from apo_test import PROGRAM, CommandTest, main, slow_variant, variant, wait_until

SCAN = ("scan", "copy", "--workload", "n4k", "--target", "host", "--cache", "warm")


class Scan(CommandTest):
    def rows(self):
        """(label, level, outcome) of each, the oldest first."""
        return self.journal_rows("SELECT label, level, outcome FROM scanned s JOIN configuration c ON"
                                 " c.id = s.configuration ORDER BY s.id")

    def test_it_ranks_leaves_out_what_fails_and_does_nothing_twice(self):
        loop = "  for (int64_t i = 0;"
        self.place.write("crashes.cpp", variant("crashes", loop, "  __builtin_trap();\n" + loop))
        self.place.write("slow.cpp", slow_variant("slow"))
        for name in ("crashes", "slow"):
            self.apo("register", name + ".cpp", "--no-verify")
        document = self.json(*SCAN)
        labels = [one["configuration"]["label"] for one in document["scanned"]]
        rows = self.rows()
        self.assertEqual(document["left"], 0)
        [crash] = [one for one in document["scanned"] if one["configuration"]["label"] == "copy/crashes"]
        self.assertIn("SIGILL", crash["evidence"])
        speeds = [one["speedup"] or 0 for one in document["scanned"]]  # what failed has none
        self.assertEqual(speeds, sorted(speeds, reverse=True))
        self.assertLessEqual({"copy/simple", "copy/slow"}, set(labels))
        self.assertEqual(len(labels), len({label for label, _, _ in rows}))
        self.assertEqual(document["measured"], len(rows))
        self.assertEqual(len({(label, level) for label, level, _ in rows}), len(rows))
        ran = self.apo(*SCAN)
        self.assertEqual(self.rows(), rows, "all of it is known")
        self.said(ran.out, "0 measured now")
        self.assertLessEqual(len([line for line in ran.out.splitlines() if " +-" in line]), 10)
        self.said(self.apo("query", "--sql", "SELECT count(*) FROM scanned").out, str(len(rows)))

    def test_the_budget_ends_a_build_that_is_under_way(self):
        endless = ("template <int N>\nconstexpr int slow() {\n  int sum = N;\n  for (int i = 0; i < 10000; ++i) {\n"
                   "    for (int k = 0; k < 100; ++k) sum ^= i + k;\n  }\n  return sum;\n}\ntemplate <int... N>\n"
                   "constexpr int all(std::integer_sequence<int, N...>) {\n  int sum = 0;\n"
                   "  ((sum += std::integral_constant<int, slow<N>()>::value), ...);\n  return sum;\n}\n"
                   "constexpr int kSum = all(std::make_integer_sequence<int, 1000>());\n")
        first = "void copy("
        self.place.write("endless.cpp", variant("endless", first, "#include <utility>\n" + endless + first))
        self.apo("register", "endless.cpp", "--no-verify")
        document = self.json(*SCAN, "--budget", "5s")
        self.assertNotIn("copy/endless", [one["configuration"]["label"] for one in document["scanned"]])
        self.assertGreaterEqual(document["left"], 1)
        self.assertEqual(document["measured"], len(self.rows()))
        self.assertEqual(document["scanned"] == [], self.rows() == [])

    def test_what_was_measured_before_a_kill_stays_and_is_not_measured_again(self):
        child = subprocess.Popen([PROGRAM, *SCAN], cwd=self.place.folder, env=self.place.environment(),
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(child.wait)
        self.addCleanup(child.kill)
        wait_until(lambda: len(self.rows()) >= 2 or child.poll() is not None)
        os.kill(child.pid, signal.SIGKILL)
        child.wait()
        before = self.rows()
        self.assertGreaterEqual(len(before), 2)
        self.apo(*SCAN)
        rows = self.rows()
        self.assertEqual(rows[:len(before)], before)
        self.assertEqual(len({(label, level) for label, level, _ in rows}), len(rows))


main()
