"""import_profile_test.py - exports of Nsight Systems and both pages of `ncu --csv`: whole, partial and hostile."""
import sqlite3
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "harness" / "exchange"))
from conversion import Mistake  # noqa: E402
from import_profile import import_profile  # noqa: E402

NAMES = """CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT NOT NULL);
    INSERT INTO StringIds VALUES (1, 'scale'), (2, 'scale(float *)'), (3, 'sgemm'), (4, 'sgemm');
    CREATE TABLE TARGET_INFO_GPU (id INTEGER, name TEXT); INSERT INTO TARGET_INFO_GPU VALUES (0, 'NVIDIA H200');"""
# The columns that are read, among others that an export has.
KERNELS = """CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, end INTEGER NOT NULL,
    deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL, streamId INTEGER NOT NULL, correlationId INTEGER,
    globalPid INTEGER, demangledName INTEGER NOT NULL, shortName INTEGER NOT NULL, mangledName INTEGER);
    INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, contextId, streamId, demangledName, shortName) VALUES
    (1000, 1400, 0, 1, 7, 2, 1), (1500, 1600, 0, 1, 7, 2, 1), (1550, 2550, 0, 1, 8, 4, 3), (0, -1, 0, 1, 8, 4, 3);"""
MEMORY = """CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER, end INTEGER, deviceId INTEGER, bytes INTEGER,
    copyKind INTEGER); INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (3000, 3100, 0, 4096, 1), (3200, 3300, 0, 64, 2);
    CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (start INTEGER, end INTEGER, deviceId INTEGER, value INT, bytes INTEGER);
    INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET VALUES (3400, 3410, 1, 0, 128);"""

SCALE = '"42","python3","host","void scale<float, 4>(float *)","1","7","(256, 1, 1)","(64, 1, 1)","0","9.0"'
BEGIN = ('"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size",'
         '"Device","CC"')
DETAILS = f"""step 1 of 2
==PROF== Connected to process 42 (/usr/bin/python3.11)
{BEGIN},"Section Name","Metric Name","Metric Unit","Metric Value"
"0",{SCALE},"GPU Speed Of Light Throughput","DRAM Throughput","%","80.5"
"0",{SCALE},"GPU Speed Of Light Throughput","Duration","us","1,234.50"
"0",{SCALE},"Launch Statistics","Function Cache Configuration","","CachePreferNone"
"1",{SCALE},"GPU Speed Of Light Throughput","DRAM Throughput","%","79.5"
"1",{SCALE},"GPU Speed Of Light Throughput","Duration","us","1,000"
"""
RAW = "\r\n".join([
    BEGIN + ',"dram__bytes_read.sum","gpu__time_duration.sum","launch__func_cache_config"',
    '"","","","","","","","","","","","byte","ns",""',
    '"0","1","p","h","a ""b"",\nc","1","7","(1, 1, 1)","(1, 1, 1)","0","9.0","10,240","40","n/a"',
    '"1","1","p","h","gemm","1","7","(1, 1, 1)","(1, 1, 1)","0","9.0","n/a","60",""', ""])  # fmt: skip


class Import(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.file = Path(folder.name) / "it's a report"

    def profile(self):
        copies = ["memcpy", "memcpy HtoD", "memcpy DtoH"]
        _, profile = import_profile({"file": str(self.file), "copies": copies, "gap_limits": [1000, 10_000]})
        return profile, {work["name"]: work for work in profile["process"]["work"]}

    def mistake(self):
        with self.assertRaises(Mistake) as raised:
            self.profile()
        return f"{raised.exception}\n{raised.exception.hint}"


class Nsys(Import):
    def make(self, sql):
        connection = sqlite3.connect(self.file)
        connection.executescript(sql)
        connection.close()

    def test_gives_kernels_copies_fills_and_gaps(self):
        self.make(NAMES + KERNELS + MEMORY)
        profile, work = self.profile()
        self.assertEqual((profile["source"], profile["device"]), ("nsys", "NVIDIA H200"))
        self.assertEqual(len(profile["process"]["work"]), 5)
        scale = {"kind": "kernel", "name": "scale(float *)", "calls": 2, "total_ns": 500, "min_ns": 100, "max_ns": 400}
        self.assertEqual(work["scale(float *)"], {**scale, "bytes": 0})
        self.assertEqual((work["memcpy HtoD"]["kind"], work["memcpy HtoD"]["bytes"]), ("copy", 4096))
        self.assertEqual((work["memset"]["kind"], work["memset"]["bytes"]), ("fill", 128))
        self.assertEqual(profile["process"]["untimed"], 1, "the kernel that ends before it starts")
        first, second = profile["process"]["devices"]
        self.assertEqual((first["first_ns"], first["last_ns"]), (1000, 3300))
        self.assertEqual(first["busy_ns"], 1650, "400 ns, then 1050 overlapped, then two copies of 100")
        self.assertEqual(first["gaps"], [{"count": 3, "ns": 650}, {"count": 0, "ns": 0}, {"count": 0, "ns": 0}])
        self.assertEqual(first["longest_gap_ns"], 450)
        self.assertEqual((second["device"], second["busy_ns"]), (1, 10))

    def test_older_exports_have_only_short_names(self):
        self.make(NAMES + "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INT, end INT, deviceId INT, shortName INT);"
                  "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1, 3, 0, 1), (4, 5, 0, 99);")
        self.assertEqual(list(self.profile()[1]), ["scale", "(no name)"])

    def test_other_databases_are_refused_with_the_command_that_makes_one(self):
        self.make("CREATE TABLE bookmarks (url TEXT);")
        self.assertRegex(self.mistake(), "(?s)no table StringIds.*nsys export --type sqlite")

    def test_a_capture_without_cuda_says_so(self):
        self.make(NAMES)
        self.assertIn("was CUDA traced", self.mistake())

    def test_tables_of_another_shape_are_refused(self):
        self.make(NAMES + "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (begin INT, end INT, demangledName INT);")
        self.assertIn("no such column", self.mistake())

    def test_a_view_is_not_taken_for_a_table(self):
        self.make(NAMES + "CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS WITH RECURSIVE r(start) AS (SELECT 1 UNION ALL"
                  " SELECT start + 1 FROM r) SELECT start, start + 1 AS end, 0 AS deviceId, 1 AS demangledName FROM r;")
        self.assertIn("no table of kernels", self.mistake())

    def test_sums_do_not_overflow(self):
        row = "(0, 9223372036854775807, 0, 1, 7, 2, 1)"
        self.make(NAMES + KERNELS + "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, contextId, streamId,"
                  f" demangledName, shortName) VALUES {row}, {row};")
        self.assertIn("integer overflow", self.mistake())

    def test_damaged_and_missing_files_are_refused(self):
        self.assertIn("cannot read", self.mistake())
        self.make(NAMES + KERNELS)
        whole = self.file.read_bytes()
        for damaged in (whole[:5000], b"SQLite format 3\0" + bytes(2000)):
            self.file.write_bytes(damaged)
            self.assertIn("is no SQLite export", self.mistake())

    def test_the_file_is_not_touched(self):
        self.make(NAMES + KERNELS)
        before = self.file.read_bytes()
        self.profile()
        self.assertEqual(self.file.read_bytes(), before)
        self.assertEqual(list(self.file.parent.iterdir()), [self.file])


class Ncu(Import):
    def read(self, text):
        self.file.write_bytes(text.encode())
        return self.profile()

    def mistake_in(self, text):
        self.file.write_bytes(text.encode())
        return self.mistake()

    def test_the_details_page_gives_durations_and_means(self):
        profile, work = self.read(DETAILS)
        self.assertEqual(work["void scale<float, 4>(float *)"], {
            "kind": "kernel", "name": "void scale<float, 4>(float *)", "calls": 2, "total_ns": 2_234_500,
            "min_ns": 1_000_000, "max_ns": 1_234_500, "bytes": 0})  # fmt: skip
        dram, duration = profile["metrics"]  # words are no metrics
        self.assertEqual((dram["name"], dram["unit"], dram["mean"], dram["samples"]), ("DRAM Throughput", "%", 80, 2))
        self.assertEqual((duration["name"], profile["notes"]), ("Duration", []))

    def test_the_raw_page_takes_units_from_its_second_line_and_quoted_names(self):
        profile, work = self.read(RAW)
        self.assertEqual((work['a "b",\nc']["total_ns"], work["gemm"]["total_ns"]), (40, 60))
        self.assertEqual([metric["name"] for metric in profile["metrics"]],
                         ["dram__bytes_read.sum", "gpu__time_duration.sum", "gpu__time_duration.sum"])
        self.assertEqual((profile["metrics"][0]["mean"], profile["metrics"][0]["unit"]), (10_240, "byte"))

    def test_launches_without_a_duration_are_counted(self):
        profile, work = self.read(DETAILS.replace('"Duration"', '"Registers"'))
        self.assertEqual(len(profile["notes"]), 1)
        self.assertIn("2 of 2 launches have no duration", profile["notes"][0])
        self.assertEqual(work, {})

    def test_each_mistake_is_named_with_its_line(self):
        self.assertIn("neither an SQLite export", self.mistake_in("a,b\n1,2\n"))
        self.assertIn(":8\n", self.mistake_in(DETAILS[:-12]))
        self.assertIn(f"'-1' 'us' is no duration in {self.file}:5", self.mistake_in(DETAILS.replace("1,234.50", "-1")))
        self.assertIn("is no duration", self.mistake_in(DETAILS.replace('"us"', '"fortnight"')))

    def test_a_file_that_ends_inside_a_quote_is_refused(self):
        self.assertIn("a row of 2 fields", self.mistake_in(RAW + '"2","never closed, \n and so on'))


if __name__ == "__main__":
    unittest.main()
