# tests/cli/look/journal_file_test.py - journals that cannot be used: a message names the fix, and nothing is harmed.
import os
import shutil
import unittest

from apo_test import CommandTest, harm, main, source_path

READERS = ("query", "show 1", "report", "query --lessons")
WRITERS = ("run copy", "compare copy/simple copy/memcpy --judge standard")


class JournalTest(CommandTest):
    def empty_journal(self):
        """Without campaigns and experiments."""
        self.apo("profile", "--journal", "journal.db", "--", "true")

    def on(self, journal, *words, code=0):
        return self.apo(*words, "--journal", journal, code=code)

    def refused(self, journal, said, commands=READERS + WRITERS):
        for line in commands:
            with self.subTest(line):
                self.mistake([*line.split(), "--journal", journal], said)

    def recorded(self, name):
        shutil.copy(source_path("experiments", name), self.place.path("recorded.db"))


class JournalFile(JournalTest):
    def test_text_is_not_a_journal_and_stays_as_it_is(self):
        self.place.write("notes.txt", "remember the milk\n")
        self.refused("notes.txt", "is not an SQLite file")
        list = self.on("notes.txt", "list", "copy")
        self.said(list.out, "copy/simple")
        self.said(list.err, "incumbents are not shown")
        document = self.on("notes.txt", "doctor", "--json", code=2).document
        self.assertFalse(document["host_works"])
        [check] = [check for check in document["checks"] if check["name"] == "journal"]
        self.assertEqual(check["state"], "broken")
        self.assertNotEqual(check["fix"], "")
        self.assertEqual(self.place.read("notes.txt"), "remember the milk\n")

    def test_a_folder_is_told_to_name_a_file(self):
        os.mkdir(self.place.path("somewhere"))
        self.refused("somewhere", "is a folder")

    def test_an_empty_one_has_no_campaign_and_no_rows_and_sql_cannot_change_it(self):
        self.empty_journal()
        self.refused("journal.db", "no campaign", ["report"])
        self.refused("journal.db", "there is no experiment 1", ["show 1"])
        self.assertEqual(self.on("journal.db", "query", "--json").document["rows"], [])
        self.assertEqual(self.on("journal.db", "query", "--lessons", "--json").document["lessons"], [])
        for sql in ("DELETE FROM experiment", "DROP TABLE experiment", "ATTACH 'x.db' AS x", "SELECT 1; SELECT 2",
                    "PRAGMA user_version = 3", "nonsense", ""):
            self.on("journal.db", "query", "--sql", sql, code=1)
        self.assertFalse(self.place.exists("x.db"))

    def test_a_damaged_one_is_the_environments_trouble_and_the_message_saves_what_can_be_read(self):
        self.recorded("nvidia-h200/b8_t128_h83_n32/journal.db")
        with open(self.place.path("recorded.db"), "r+b") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(4096)  # all but the first page, which has the schema
            file.write(b"\xee" * (size - 4096))
        for line in ("query", "report", "run copy"):
            self.said(self.on("recorded.db", *line.split(), code=2).err, "recorded.db' is damaged",
                      "sqlite3 recovered.db")


class DoctorJournal(JournalTest):
    def test_finds_a_recorded_one_whole(self):
        ran = self.on(source_path("experiments/nvidia-h200/b16_t512_h83_n32/backward.db"), "doctor")
        self.said(ran.out, "is whole, schema version")
        self.not_said(ran.err, "SQL", "SELECT", "no such table", "internal error")

    def test_of_another_schema_is_refused_and_a_recorded_one_made_small(self):
        self.recorded("nvidia-h200/b8_t128_h83_n32/journal.db")
        rows = self.on("recorded.db", "query", "--csv").out
        compacted = self.on("recorded.db", "doctor", "--compact", "--json").document
        self.assertLessEqual(compacted["bytes"], compacted["bytes_before"])
        self.assertEqual(self.on("recorded.db", "query", "--csv").out, rows)
        self.on("none.db", "doctor", "--compact", code=1)
        harm(self.place.path("recorded.db"), "PRAGMA user_version = 19")
        for words in (["query"], ["doctor", "--compact"]):
            self.said(self.on("recorded.db", *words, code=1).err, "schema version 19", "--journal")


@unittest.skipIf(os.geteuid() == 0, "root may write everything")
class ReadOnlyJournal(JournalTest):
    def test_can_be_read_but_not_written(self):
        self.empty_journal()
        os.chmod(self.place.path("journal.db"), 0o400)
        self.refused("journal.db", "read-only", ["run copy"])
        self.on("journal.db", "query")


class RecordedIncumbents(JournalTest):
    def test_a_lesson_under_another_incumbent_is_no_longer_known_to_hold(self):
        self.recorded("host-epyc/research/e88_backward.db")
        now = "e88_backward/combined[LANES=0,ROWS=2,SEQUENCES_PER_THREAD=1] is the incumbent now"
        words = ("query", "--lessons", "verdict=inconclusive")
        self.said(self.on("recorded.db", *words).out, "What stays open", "SEQUENCES_PER_THREAD=2]",
                  "no longer known to hold: " + now)
        self.assertEqual(self.on("recorded.db", *words, "--json").document["lessons"][0]["expired"], now)
        gains = self.on("recorded.db", "query", "--lessons", "verdict=accepted").out
        self.not_said(gains, "is the incumbent now")  # a gain over what was left behind is one still

    def test_of_each_workload_are_listed_where_they_differ(self):
        self.recorded("nvidia-h200/agent/campaigns.db")
        self.said(self.on("recorded.db", "list", "e88_backward").out,
                  "* incumbent of b16_t512_h83_n32 on NVIDIA H200 (cuda) as e88_backward/cuda_best")
        self.not_said(self.on("recorded.db", "query", "--lessons", "family=e88_backward").out, "is the incumbent now")

    def test_of_every_device_are_listed(self):
        self.recorded("nvidia-h200/b8_t128_h83_n32/journal.db")
        self.said(self.on("recorded.db", "list", "e88_forward").out,
                  "* incumbent of class n32 on NVIDIA H200 (cuda) as e88_forward/cuda_lane_tiling[WARPS=2]")


main()
