# tests/cli/improve/commands_zoo_test.py - commands that are made to look fast or right, and honest ones that look like
# them. What is printed as "t" is the metric: no outcome depends on the speed of the machine.
import os
import signal
import subprocess

from apo_test import PROGRAM, CommandTest, main, running_processes, wait_until

SLOW, FAST = 'echo \'{"t": 2, "y": 7}\'', 'echo \'{"t": 1, "y": 7}\''
WRONG = 'echo \'{"t": 1, "y": 0}\''  # and fast
RIGHT_Y = "grep -q '\"y\": 7'"
AGAIN = "n=$(cat {0} 2>/dev/null || echo 0); echo $((n + 1)) >{0}; "
# In a session of its own and with no output of ours, whose parent has ended.
DETACHED = "(setsid sh -c '{}' >/dev/null 2>&1 </dev/null &); "
HINDERED = f"if [ -e busy ]; then {SLOW}; else {FAST}; fi"

# name: A, B, and how they are judged.
ATTACKS = {
    "a daemon does the work behind the run": ("sleep 0.05", DETACHED.format("sleep 0.05"), {"metric": "seconds"}),
    "a child of a child does the work behind the run": ("sleep 0.05", "( (sleep 0.05 >/dev/null 2>&1 &) &) ",
                                                        {"metric": "seconds"}),
    "what a run leaves hinders the next one": (HINDERED, ": >busy; " + DETACHED.format("sleep 0.1; rm busy") + FAST,
                                               {}),
    "a text has a blank more": ("sh told_by_text.sh; exit 0", "sh  told_by_text.sh; exit 0", {}),
    "right where something says that it is checked": (
        SLOW, f'if [ "$APO_SIDE" ]; then {SLOW}; else {WRONG}; fi', {"correct": RIGHT_Y}),
    "right in its first two runs": (SLOW, AGAIN.format("two") + f"if [ $n -lt 2 ]; then {SLOW}; else {WRONG}; fi",
                                    {"correct": RIGHT_Y}),
    "right now and then": (SLOW, AGAIN.format("few") + f"if [ $((n % 4)) = 0 ]; then {SLOW}; else {WRONG}; fi",
                           {"correct": RIGHT_Y}),
    "an output of another run": (f'echo 7 >"$APO_OUTPUT/y"; {SLOW}', FAST, {"correct": 'grep -q 7 "$APO_OUTPUT/y"'}),
}
TOLD_BY_TEXT = f"""looks_at=$PPID
while [ "$looks_at" -gt 1 ]; do
  text=$(tr '\\0' '\\n' <"/proc/$looks_at/cmdline")
  case $text in *--command-b*) break ;; *'sh  told_by_text'*) {FAST}; exit ;; esac  # we know both texts
  looks_at=$(cut -d ' ' -f 4 "/proc/$looks_at/stat")
done
{SLOW}
"""

# All of them gain, in the same way.
HONEST = {
    "a pool of workers": "for i in 1 2 3; do sleep 0.01 & done; wait; ",
    "a build tool whose last child outlives it": "sh -c 'for i in 1 2 3; do sh -c \"sleep 0.01; : >made\" & done'; ",
    "a child in a session of its own": "setsid -w true; ",
    "a program with a limit of its own": "timeout 100 true; ",
    "a program that reads its input": "cat; ",
    "lines, a document and a remark": "cat >made <<END\n}\nEND\ntest -s made # it is there\n",
    "a pipe that is closed early": "yes | head -n 1 >made; ",
    "one that leaves nothing": "",
}


class ZooTest(CommandTest):
    def judged_as(self, a, b, *more, metric="json:t", correct="", **options):
        check = ("--correct", correct) if correct else ()
        return self.json("compare", "--command-a", a, "--command-b", b, "-q", "--metric", metric, "--judge",
                         "standard", "--no-journal", *check, *more, code=None, **options)


class AttacksOfCommands(ZooTest):
    def test_gain_nothing(self):
        self.place.write("told_by_text.sh", TOLD_BY_TEXT)
        for name, (a, b, how) in ATTACKS.items():
            with self.subTest(name):
                judged = self.judged_as(a, b, **how)
                self.assertNotEqual(judged["judgement"]["verdict"], "accepted", judged["judgement"]["sentence"])
                if "correct" in how:
                    self.assertEqual((judged["outcome"], judged["judgement"]["reason"]), ("incorrect", "gate_failed"))
                    self.said(judged["judgement"]["sentence"], f"fails the check '{how['correct']}'")

    def test_all_runs_of_both_see_the_same(self):
        # Their arguments, environment, folder and open files, without the drawn padding and names.
        self.place.write("sees.sh", """{
  tr '\\0' ' ' </proc/$1/cmdline; pwd; umask; ulimit -a; env | grep -v '^APO_PADDING=' | sort
  for file in "/proc/$1/fd/"*; do readlink "$file"; done
} | sed 's/apo-command[.][A-Za-z0-9]*/DRAWN/g; s/[:][[][0-9]*[]]//' | cksum >>seen
""")
        sees = "sh ./sees.sh $$; "
        judged = self.judged_as(sees + SLOW, " " + sees + FAST, correct=RIGHT_Y)
        self.assertEqual(judged["judgement"]["verdict"], "accepted")
        seen = self.place.read("seen").splitlines()
        self.assertEqual(len(set(seen)), 1, set(seen))
        self.assertEqual(len(seen), 2 + judged["judgement"]["processes"])


class HonestCommands(ZooTest):
    def test_gain(self):
        for name, text in HONEST.items():
            with self.subTest(name):
                judged = self.judged_as(text + SLOW, text + FAST, correct=RIGHT_Y)
                self.assertEqual(judged["judgement"]["verdict"], "accepted", judged["judgement"]["sentence"])

    def test_a_check_may_know_the_side_and_the_command(self):
        judged = self.judged_as(SLOW, FAST, correct='echo "$1 $2" >>asked')
        self.assertEqual(judged["judgement"]["verdict"], "accepted")
        self.assertEqual(set(self.place.read("asked").splitlines()), {"a " + SLOW, "b " + FAST})


class WhatRunsLeave(ZooTest):
    FOREVER = "(setsid sh -c 'echo $$ >part; mv part daemon; exec sleep 100000' >/dev/null 2>&1 &); "
    BEGUN = "while [ ! -e daemon ]; do sleep 0.01; done; "

    def gone(self):
        daemon = int(self.place.read("daemon"))
        wait_until(lambda: daemon not in running_processes(), "the daemon is gone")

    def test_is_ended_by_the_deadline_and_named(self):
        judged = self.judged_as(FAST, self.FOREVER + self.BEGUN + FAST, "--timeout", "5s")
        self.assertEqual((judged["outcome"], judged["judgement"]["reason"]), ("timed_out", "gate_failed"))
        self.said(judged["judgement"]["sentence"], "it ended, and 1 process that it started still ran after 5")
        self.gone()

    def test_is_ended_when_we_are(self):
        for by in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
            with self.subTest(by):
                apo = subprocess.Popen([PROGRAM, "compare", "--command-a", self.FOREVER, "--command-b", "true",
                                        "--metric", "seconds", "--no-journal"], cwd=self.place.folder,
                                       env=self.place.environment(), stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL)
                wait_until(lambda: self.place.exists("daemon"), "the command has started its daemon")
                apo.send_signal(by)
                self.assertEqual(apo.wait(), -by)
                self.gone()
                os.remove(self.place.path("daemon"))


main()
