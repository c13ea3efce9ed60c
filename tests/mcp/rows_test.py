"""rows_test.py - rows of jobs, kept by processes of the built program ($APO_PROGRAM) beside the server."""
import asyncio
import json
import os
import shutil
import sqlite3
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "harness" / "mcp"))
from commands import Commands, Trouble  # noqa: E402
from jobs import JobEnd, JobRow, end_in, load_job  # noqa: E402
from server import MOST_COMMANDS, Server  # noqa: E402


class Rows(unittest.IsolatedAsyncioTestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory(prefix="apo-test")
        self.addCleanup(place.cleanup)
        self.folder = Path(place.name, "sub")
        self.journal = self.folder / "journal.db"
        self.commands = Commands(os.environ["APO_PROGRAM"], [f"--journal={self.journal}"])

    async def begun(self):
        row = JobRow(self.commands)
        return row, await row.begin("evaluate", {"family": "copy"})

    async def test_a_job_is_in_the_journal_from_its_begin_to_its_end(self):
        row, number = await self.begun()
        job = await load_job(self.commands, number)
        self.assertEqual((job["tool"], job["arguments"], job["has_server"], job["end"]), ("evaluate", '{"family":"copy"}', True, None))
        end = JobEnd("failed", "it \ud800 said \"no\"\n", 3, {"state": "refused"})
        self.assertEqual(await row.finish(end), "")
        job = await load_job(self.commands, number)
        self.assertEqual((end_in(job), job["has_server"]), (JobEnd("failed", 'it ? said "no"\n', 3, {"state": "refused"}), False))
        self.assertIsNone(await load_job(self.commands, number + 1))

    async def test_a_job_whose_process_ended_has_no_server(self):
        row, number = await self.begun()
        row.process.stdin.close()
        await row.process.wait()
        job = await load_job(self.commands, number)
        self.assertEqual((job["has_server"], job["end"], job["experiments"]), (False, None, []))
        self.assertNotEqual(await row.finish(JobEnd("cancelled")), "")

    async def test_a_journal_that_was_removed_is_made_anew(self):
        for _ in range(2):
            row, number = await self.begun()
            self.assertEqual((number, await row.finish(JobEnd("cancelled"))), (1, ""))
            shutil.rmtree(self.folder)

    async def test_trouble_is_words_for_those_who_ask(self):
        with self.assertRaisesRegex(Trouble, "there is no journal"):
            await load_job(self.commands, 1)
        self.folder.write_text("in the way")
        with self.assertRaisesRegex(Trouble, "(?s).+\n.+"):  # with what to do
            await self.begun()

    async def test_a_row_waits_for_a_journal_that_is_locked(self):
        row, _ = await self.begun()
        await row.finish(JobEnd("cancelled"))
        lock = sqlite3.connect(self.journal, isolation_level=None)
        lock.execute("BEGIN EXCLUSIVE")
        waiting = asyncio.create_task(self.begun())
        while JobRow.busy == 0:
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.3)  # in which one that does not wait would end
        self.assertEqual((waiting.done(), JobRow.busy), (False, 1))
        lock.close()
        row, number = await waiting
        self.assertEqual((number, await row.finish(JobEnd("cancelled"))), (2, ""))

    async def test_jobs_are_limited_as_commands_are(self):
        lines = []
        server = Server(self.folder.parent, self.journal, 20, "1.2.3", self.commands, lines.append)
        for id in range(MOST_COMMANDS + 4):
            server.session.on_line(json.dumps({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {
                "name": "verify", "arguments": {"variant": "copy/nope"}}}).encode())
        while len(lines) < MOST_COMMANDS + 4:
            await asyncio.sleep(0.01)
        self.assertEqual(sum("calls are running already" in line for line in lines), 4)
        self.assertEqual(sum("unknown variant 'copy/nope'" in line for line in lines), MOST_COMMANDS)
        self.assertEqual((server.running, server.jobs), (0, {}))


if __name__ == "__main__":
    unittest.main()
