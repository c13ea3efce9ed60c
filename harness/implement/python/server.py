"""server.py - one process that has imported PyTorch, and forks another one for each file: the file's code runs in that
alone, for one size after the other, and nothing of it is left behind.

Reads the path of a request a line, and answers with a line of JSON: {"signal", "timed_out", "cut", "printed"}. The
process of a file ends before one of another file begins, where a request goes wrong, and at an empty line, which is
answered by {}.
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


def end_all(but=None):
    """Each may have children of its own, which are ours then."""
    while left := [process for process in children() if process != but]:
        for process in left:
            os.kill(process, signal.SIGKILL)
            os.waitpid(process, 0)


def take_output():
    """The output as a file for answers alone: what is printed from here on goes where errors go."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    return answers


def serve_file(act, requests, done):
    """In the process of a file: `act` on a request a line, and a byte for each that it returned from."""
    try:
        for line in os.fdopen(requests):
            act(line.strip())
            sys.stdout.flush()
            sys.stderr.flush()
            os.write(done, b".")
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(70)


class FileProcess:
    """Of one file, for all of its requests: CUDA and compilers start once. `closed`: descriptors that it doesn't get."""

    def __init__(self, act, closed=()):
        self.output, printing = os.pipe()
        requests, self.requests = os.pipe()
        self.done, done = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            for source, target in ((os.open(os.devnull, os.O_RDONLY), 0), (printing, 1), (printing, 2)):
                os.dup2(source, target)
            begin = 3
            for kept in sorted((requests, done)):
                os.closerange(begin, kept)
                begin = kept + 1
            os.closerange(begin, max(self.done, done, *closed) + 1)
            serve_file(act, requests, done)
        for descriptor in (printing, requests, done):
            os.close(descriptor)
        os.set_blocking(self.output, False)
        self.ended = os.pidfd_open(self.pid)

    def ask(self, request, seconds):
        """Returns how that went, and whether the process goes on: behind what went wrong it has ended."""
        try:
            os.write(self.requests, request.encode() + b"\n")
        except BrokenPipeError:
            pass  # it has ended, which is seen below
        until = time.monotonic() + seconds
        waited = {self.ended, self.output, self.done}
        printed, count, ended, answered = b"", 0, False, False
        while not ended and not answered and count <= MOST_PRINTED and time.monotonic() < until:
            ready = select.select(waited, [], [], max(0, until - time.monotonic()))[0]
            ended = self.ended in ready
            if self.done in ready:
                answered = bool(os.read(self.done, 1))
                waited -= set() if answered else {self.done}  # it has closed that
            while self.output in waited and count <= MOST_PRINTED:
                try:
                    part = os.read(self.output, 1 << 16)
                except BlockingIOError:
                    break
                waited -= set() if part else {self.output}
                count, printed = count + len(part), (printed + part)[-KEPT:]
        cut = count > MOST_PRINTED
        timed_out = not (ended or answered or cut)
        goes_on, died = answered and not cut, 0
        if goes_on:
            end_all(but=self.pid)
        else:
            status = self.end()
            died = os.WTERMSIG(status) if ended and os.WIFSIGNALED(status) else 0
        told = {"signal": died, "timed_out": timed_out, "cut": cut, "printed": printed.decode(errors="replace")}
        return told, goes_on

    def end(self):
        """With all that it started. Returns its status."""
        os.kill(self.pid, signal.SIGKILL)  # one that has ended waits to be asked for its status
        status = os.waitpid(self.pid, 0)[1]
        end_all()
        for descriptor in (self.output, self.requests, self.done, self.ended):
            os.close(descriptor)
        return status


def serve(act, answers):
    ctypes.CDLL(None).prctl(ADOPT_ORPHANS, 1, 0, 0, 0)
    file, process = "", None
    for line in sys.stdin:
        path = line.strip()
        request = json.loads(Path(path).read_text(encoding="utf-8")) if path else {}
        if process is not None and request.get("file") != file:
            process.end()
            process = None
        told = {}
        if path:
            process = process or FileProcess(act, (answers.fileno(),))
            file = request["file"]
            told, goes_on = process.ask(path, request["seconds"])
            process = process if goes_on else None
        print(json.dumps(told), file=answers, flush=True)
    if process is not None:
        process.end()
