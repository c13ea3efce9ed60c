# tests/cli/scale/workers_test.py - campaigns whose candidates are judged on workers. Nothing here depends on which
# verdict the timings give.
import os
import signal
import subprocess
import unittest

from apo_test import BINARY, PROGRAM, CommandTest, main, running_processes, source_path, wait_until


def campaign(candidates, *more):
    return [*"run copy --target host --workload n4k --baseline copy/simple --judge standard --iterations 1".split(),
            "--candidates", str(candidates), *more]


class WorkersTest(CommandTest):
    def judged_by(self, *words, code=0):
        """A sentinel may stop a campaign, or take out its workers; the same command goes on."""
        ran = self.judged(self.place, *words, code=code)
        self.said(self.apo("doctor").out, "is whole")
        return ran


@unittest.skipIf(len(os.sched_getaffinity(0)) < 2, "two workers on one CPU would disturb each other")
class Workers(WorkersTest):
    def test_judge_a_campaign_each_on_its_device(self):
        ran = self.judged_by(*campaign(2, "--workers", "local:2", "--json"))
        shown = [self.json("show", str(row[0])) for row in self.json("query", "--columns", "id")["rows"]]
        for one in ran.document["iterations"][0]["experiments"]:
            [device] = [experiment["device"] for experiment in shown if experiment["id"] == one["id"]]
            self.assertTrue(device)
        [status] = self.json("list", "--workers")["campaigns"]
        self.assertLessEqual({worker["state"] for worker in status["workers"]}, {"dismissed", "sentinel"})

    def test_share_a_scan_and_one_that_is_killed_loses_only_what_it_measured(self):
        def scanned():
            rows = self.journal_rows("SELECT label, level, outcome, number FROM scanned JOIN configuration"
                                           " ON configuration.id = scanned.configuration LEFT JOIN scanned_by ON"
                                           " scanned_by.scanned = scanned.id LEFT JOIN worker ON worker.id = worker")
            return [row for row in rows if row[1] == 0]
        words = campaign(1, "--workers", "local:2")
        driver = subprocess.Popen([PROGRAM, *words], cwd=self.place.folder, env=self.place.environment(),
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_until(lambda: scanned() or driver.poll() is not None, "a worker has measured")
        for process, line in running_processes(self.place.folder).items():
            if "--serve" in line:
                os.kill(process, signal.SIGKILL)
                break
        driver.wait()
        self.judged_by(*words)
        rows = scanned()
        self.assertEqual(len({row[0] for row in rows}), len(rows), "none is measured twice")
        self.assertLessEqual({"copy/simple", "copy/memcpy", "copy/streaming"}, {row[0] for row in rows})
        self.assertEqual({row[2] for row in rows}, {"valid"})
        self.assertLessEqual({row[3] for row in rows}, {1, 2}, "of this campaign's workers")

    def test_that_cannot_be_started_are_named_and_the_campaign_goes_on_later_with_ones_that_can(self):
        self.said(self.apo(*campaign(1, "--workers", "exit 4"), code=2).err,
                  "no worker is left: worker 1: not_started: exit code 4")
        again = self.judged_by(*campaign(1, "--workers", "local:1", "--workers", "echo gone >&2; exit 3"))
        self.said(again.err, "resuming campaign 1")
        [status] = self.json("list", "--workers")["campaigns"]
        workers = {worker["state"]: worker for worker in status["workers"]}
        self.said(workers["dismissed"]["device"], " cpus ")
        self.assertEqual(workers["not_started"]["note"], "exit code 3: gone")
        self.assertIsNone(status["run_by"])
        self.said(self.apo("list", "--workers").out, "not_started")

    def test_end_with_their_driver(self):
        def serving():
            return [line for line in running_processes(self.place.folder).values() if "--serve" in line]
        driver = subprocess.Popen([PROGRAM, *campaign(1, "--workers", "local:2")], cwd=self.place.folder,
                                  env=self.place.environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_until(lambda: len(serving()) == 2, "both workers serve")
        driver.kill()
        driver.wait()
        wait_until(lambda: not serving(), "the workers have ended")


class PlacedByTest(CommandTest):
    def script(self, name):
        """It says what it needs, and with 77 why it is skipped."""
        ran = self.place.program("bash", source_path("tests", "cli", "scale", name), PROGRAM,
                                 os.path.join(BINARY, "test-packages", name), self.place.path("work"))
        if ran.code == 77:
            self.skipTest(ran.out.strip())
        self.assertEqual(ran.code, 0, ran.both)


class PlacedBySlurm(PlacedByTest):
    def test_whose_jobs_are_killed_drained_and_cancelled(self):
        self.script("slurm_workers.sh")


class PlacedBySsh(PlacedByTest):
    def test_whose_worker_and_driver_are_killed(self):
        self.script("ssh_workers.sh")


main()
