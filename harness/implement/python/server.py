"""server.py - one process that has imported PyTorch, and forks another one for each request: the file's code runs in
that alone, and nothing of it is left behind.

Reads the path of a request a line, and answers with a line of JSON: {"signal", "timed_out", "cut", "printed"}.
"""
import ctypes
import json
import os
import select
import signal
import sys
import time
import traceback
from pathlib import Path

MOST_PRINTED = 1 << 20  # bytes
KEPT = 16 << 10  # of them, the end
ADOPT_ORPHANS = 36  # prctl(PR_SET_CHILD_SUBREAPER)


def children():
    """What this process started, and what it has adopted."""
    own, found = os.getpid(), []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
        except (OSError, IndexError, ValueError):
            continue  # it has ended meanwhile
        if parent == own:
            found.append(int(folder.name))
    return found


def end_all():
    """Each may have children of its own, which are ours then."""
    while left := children():
        for process in left:
            os.kill(process, signal.SIGKILL)
            os.waitpid(process, 0)


def take_output():
    """The output as a file for answers alone: what is printed from here on goes where errors go."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    return answers


def run(act, seconds, closed=(0,)):
    """Calls `act` in a process of its own without the `closed` descriptors, until that ends, prints too much or takes
    too long."""
    reading, writing = os.pipe()
    process = os.fork()
    if process == 0:
        try:
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            os.dup2(writing, 1)
            os.dup2(writing, 2)
            os.closerange(3, max(writing, *closed) + 1)
            act()
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(70)
    os.close(writing)
    os.set_blocking(reading, False)
    end, until = os.pidfd_open(process), time.monotonic() + seconds
    printed, count, ended, is_open = b"", 0, False, True
    while not ended and count <= MOST_PRINTED and time.monotonic() < until:
        ready = select.select([end, reading] if is_open else [end], [], [], max(0, until - time.monotonic()))[0]
        ended = end in ready
        while is_open and count <= MOST_PRINTED:
            try:
                part = os.read(reading, 1 << 16)
            except BlockingIOError:
                break
            is_open = bool(part)
            count, printed = count + len(part), (printed + part)[-KEPT:]
    timed_out, cut = not ended and time.monotonic() >= until, count > MOST_PRINTED
    if not ended:
        os.kill(process, signal.SIGKILL)
    status = os.waitpid(process, 0)[1]
    end_all()
    os.close(end)
    os.close(reading)
    died = os.WTERMSIG(status) if ended and os.WIFSIGNALED(status) else 0
    return {"signal": died, "timed_out": timed_out, "cut": cut, "printed": printed.decode(errors="replace")}


def serve(record, answers):
    ctypes.CDLL(None).prctl(ADOPT_ORPHANS, 1, 0, 0, 0)
    closed = (answers.fileno(),)
    for line in sys.stdin:
        request = json.loads(Path(line.strip()).read_text(encoding="utf-8"))
        print(json.dumps(run(lambda: record(line.strip()), request["seconds"], closed)), file=answers, flush=True)
