# tests/cli/apo_test.py - runs the built program in folders of its own; the base of the command tests in Python.
#
# PYTHONPATH=tests/cli python3 -B tests/cli/usage_test.py [CLASS[.test]]: what ctest runs, a class each.
import fcntl
import glob
import json
import os
import re
import shutil
import sqlite3
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BINARY = os.environ.get("APO_BINARY_FOLDER", os.path.join(SOURCE, "build", "release"))
PROGRAM = os.environ.get("APO_PROGRAM", os.path.join(BINARY, "bin", "apo"))
HAS_GPU = os.path.exists("/dev/nvidiactl")
PATIENCE_S = 3600  # ends what hangs; no outcome depends on it
SKIPPED = 77

COPY_HEAD = "void copy(const float* x, float* y, long n) {"
RIGHT_COPY = COPY_HEAD + " for (long i = 0; i < n; ++i) y[i] = x[i]; }\n"
WRONG_COPY = COPY_HEAD + " for (long i = 0; i < n; ++i) y[i] = x[i] + 1; }\n"
# Eight times the work, which the compiler may not leave out.
EIGHT_COPIES = (COPY_HEAD + " for (int k = 0; k < 8; ++k) { for (long i = 0; i < n; ++i) y[i] = x[i];"
                ' __asm__ volatile("" ::: "memory"); } }\n')


def binary(name):
    """A program or library of the tests."""
    built = glob.glob(os.path.join(BINARY, "bin", name)) + glob.glob(os.path.join(BINARY, "tests", "*", name))
    return built[0] if built else os.path.join(BINARY, "bin", name)


def source_path(*names):
    return os.path.join(SOURCE, *names)


def read_file(path):
    with open(path, encoding="utf-8", errors="surrogateescape", newline="") as file:
        return file.read()


def replaced(text, *changes):
    """With the first of changes[0] as changes[1], and so on; each must be there."""
    for old, new in zip(changes[::2], changes[1::2]):
        assert old in text, f"'{old}' is not in the text"
        text = text.replace(old, new, 1)
    return text


def wait_until(condition, what="it comes about"):
    until = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < until, f"waited in vain until {what}"
        time.sleep(0.01)


def harm(journal, sql):
    """Past the guards of a journal, or of another database."""
    database = sqlite3.connect(journal)
    for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
        database.execute(f"DROP TRIGGER {name}")
    database.executescript(sql)
    database.close()


def running_processes(of=""):
    """The command lines by process id, but for zombies. `of`: a folder where they work, or that they name or map."""
    found = {}
    for folder in glob.glob("/proc/[0-9]*"):
        try:
            command = read_file(folder + "/cmdline")
            is_zombie = read_file(folder + "/stat").rpartition(") ")[2][0] in "ZX"
            if not is_zombie and (of in os.readlink(folder + "/cwd") or of in command or
                                  of in read_file(folder + "/environ") or of in read_file(folder + "/maps")):
                found[int(folder[6:])] = command
        except OSError:
            pass  # it has ended
    return found


class Ran:
    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err
        self.both = out + err

    @property
    def document(self):
        """The only document on stdout."""
        try:
            document = json.loads(self.out)
        except ValueError:
            raise AssertionError(f"stdout is not one JSON document: {self.out[:500]}\n{self.err}") from None
        if isinstance(document, dict) and "benchmarks" not in document:  # Google Benchmark's document is its own
            assert "format" in document, self.out[:500]
        return document


class Workplace:
    """A fresh working folder: no journal, nothing registered. What all of them build is kept in one cache."""

    def __init__(self):
        self.folder = os.path.realpath(tempfile.mkdtemp(prefix="apo-cli-test"))

    def remove(self):
        shutil.rmtree(self.folder, ignore_errors=True)

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def exists(self, name):
        return os.path.exists(self.path(name))

    def read(self, name):
        return read_file(self.path(name))

    def write(self, name, contents):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        mode = "wb" if isinstance(contents, bytes) else "w"
        with open(self.path(name), mode, **({} if mode == "wb" else {"encoding": "utf-8", "newline": ""})) as file:
            file.write(contents)

    def environment(self, more=None):
        # Tests that run beside each other do not take turns: no verdict of theirs needs quiet.
        return {**os.environ, "APO_HOME": SOURCE, "APO_JOURNAL": "", "APO_CACHE": os.path.join(BINARY, "test-cache"),
                "XDG_RUNTIME_DIR": self.folder, **(more or {})}

    def run(self, command, environment=None, stdin=""):
        stdin = stdin if isinstance(stdin, bytes) else stdin.encode("utf-8", "surrogateescape")
        ran = subprocess.run(command, cwd=self.folder, env=self.environment(environment), input=stdin,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=PATIENCE_S, check=False)
        return Ran(ran.returncode, *[text.decode("utf-8", "surrogateescape") for text in (ran.stdout, ran.stderr)])

    def program(self, *command):
        """Another program, for which "apo" is the one that the build made."""
        return self.run(command, {"PATH": os.path.dirname(PROGRAM) + ":" + os.environ.get("PATH", "")})

    def apo(self, *words, code=0, environment=None, stdin=""):
        """`code`: the exit code that it must have; None where any will do."""
        ran = self.run([PROGRAM, *words], environment, stdin)
        if code is not None and ran.code != code:
            raise AssertionError(f"apo {' '.join(words)[:500]}\nended with {ran.code} and not {code}:\n{ran.both}")
        return ran


def variant(name, *changes):
    """A right variant of family copy under another name."""
    return replaced(read_file(source_path("variants", "copy", "simple.cpp")), "copy/simple", "copy/" + name, *changes)


def slow_variant(name):
    """Nine times the work, which the compiler may not leave out."""
    loop = "  for (int64_t i = 0;"
    return variant(name, loop, "  for (int k = 0; k < 8; ++k) {\n    for (int64_t i = 0; i < n; ++i) {\n"
                   '      y[i] = x[i];\n    }\n    __asm__ volatile("" ::: "memory");\n  }\n' + loop)


class CommandTest(unittest.TestCase):
    """A workplace for each test, or for all tests of a class that makes one in its setUpClass."""
    place = None

    @classmethod
    def share_place(cls):
        cls.place = Workplace()
        cls.addClassCleanup(cls.place.remove)
        return cls.place

    def setUp(self):
        if type(self).place is None:
            self.place = Workplace()
            self.addCleanup(self.place.remove)

    def apo(self, *words, **options):
        return self.place.apo(*words, **options)

    def json(self, *words, **options):
        return self.apo(*words, "--json", **options).document

    def journal_rows(self, sql):
        """Of a journal that others may write to; none while there is no such table."""
        try:
            database = sqlite3.connect(f"file:{self.place.path('.apo', 'journal.db')}?mode=ro", uri=True)
            try:
                return database.execute(sql).fetchall()
            finally:
                database.close()
        except sqlite3.Error:
            return []

    @staticmethod
    def judged(place, *words, code=0, **options):
        """The A/A sentinel stops what judges on a machine that is too restless; the same command goes on. Where
        identical code differs by a factor all the same, a campaign finds nothing that could gain more."""
        for _ in range(5):
            ran = place.apo(*words, code=None, **options)
            stopped = ran.code == 2 or "not judged: " in ran.out or '"not_judged"' in ran.out
            if stopped and re.search("A/A sentinel|stop other work on", ran.both):
                continue
            if re.search(r"no option is left that may gain the [0-9.]+x that this machine resolves", ran.both):
                break
            assert code in (ran.code, None), f"{words} ended with {ran.code} and not {code}:\n{ran.both}"
            return ran
        raise unittest.SkipTest("this machine is too restless to judge: " + ran.both.strip().splitlines()[-1])

    # Which verdict real timings give is the machine's matter: other programs may take the time of either arm. What
    # decides is tested on numbers (tests/evaluate/judge).
    def is_not_accepted(self, judgement):
        """For a candidate that is many times slower."""
        self.assertIn(judgement["verdict"], ("reverted", "inconclusive"), judgement["sentence"])

    def is_rank(self, judgement):
        """Of the judge quick, where too many void rounds leave none."""
        self.assertEqual(judgement["verdict"], "inconclusive", judgement["sentence"])
        self.assertIn(judgement["reason"], ("ranked", "noisy"), judgement["sentence"])

    def is_answer(self, answer, verdict):
        """Of `apo evaluate`, where `ranked` is what the judge quick says."""
        if verdict == "ranked" and answer["experiment"]:
            judgement = answer["experiment"]["judgement"]
            self.is_rank(judgement)
            verdict = "ranked" if judgement["reason"] == "ranked" else "inconclusive"
            self.assertEqual(answer["score"], judgement["lower"] or 0)
        self.assertEqual(answer["verdict"], verdict, answer["feedback"])

    def said(self, text, *parts):
        for part in parts:
            self.assertIn(part, text)

    def not_said(self, text, *parts):
        for part in parts:
            self.assertNotIn(part, text)

    def mistake(self, words, *parts, code=1, **options):
        """Nothing on stdout, and on stderr one message with these parts."""
        ran = self.apo(*words, code=code, **options)
        self.assertEqual(ran.out, "")
        self.said(ran.err, *parts)
        return ran.err


class HeldTurn:
    """A turn on this machine's CPUs, which who measures has to wait for until end()."""
    MEASURING = 1 << 20  # harness/core/system/device_turns.cpp: a byte a CPU, and below them one for who is next

    def __init__(self, place):
        os.makedirs(place.path("apo"), mode=0o700, exist_ok=True)
        self.file = os.open(place.path("apo", "turn-host.lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC)
        self.cpus = sorted(os.sched_getaffinity(0))
        for cpu in self.cpus:
            fcntl.fcntl(self.file, fcntl.F_OFD_SETLK, self.byte(self.MEASURING + cpu))

    @staticmethod
    def byte(first):
        return struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, first, 1, 0)

    def is_waited_for(self):
        found = fcntl.fcntl(self.file, fcntl.F_OFD_GETLK, self.byte(self.cpus[0]))
        return struct.unpack("hhqqi4x", found)[0] != fcntl.F_UNLCK

    def end(self):
        os.close(self.file)

    def end_when_waited_for(self):
        """`waited_for` then says that somebody has."""
        self.waited_for = False

        def end():
            wait_until(self.is_waited_for, "somebody waits for the turn")
            self.waited_for = True
            time.sleep(0.1)  # a wait that can be seen in the journal
            self.end()
        threading.Thread(target=end, daemon=True).start()
        return self


class Results(unittest.TextTestResult):
    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        name = test.id().replace("setUpClass (", "").replace("__main__.", "").rstrip(")")  # of a class that was skipped whole
        print(f"skipped {name}: {reason}", flush=True)


def main():
    """Ends with SKIPPED where a test was skipped and none failed, so that ctest counts it."""
    program = unittest.main(module="__main__", exit=False, verbosity=2,
                            testRunner=unittest.TextTestRunner(resultclass=Results, verbosity=2))
    result = program.result
    sys.exit(1 if not result.wasSuccessful() else SKIPPED if result.skipped else 0)
