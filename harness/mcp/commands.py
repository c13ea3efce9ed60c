"""commands.py - commands of this program that run beside the server, each in a process group of its own."""
from __future__ import annotations

import asyncio
import os
import signal
import subprocess
from asyncio.subprocess import PIPE
from collections.abc import Callable
from dataclasses import dataclass

from arguments import CommandLine

MOST_OUTPUT = 32 << 20
MOST_MESSAGE = 4000
PROGRESS_MARK = b"progress: "  # harness/core/observer.h


class Trouble(Exception):
    """This machine lacks or refuses something."""


@dataclass
class Ended:
    exit_code: int | None  # None where a signal ended it
    signal: int = 0
    output: str = ""
    error: str = ""  # the end of what it wrote on stderr, without its progress
    cut: bool = False  # it printed more than is kept

    def how(self) -> str:
        if self.signal:
            try:
                name = f"{signal.Signals(self.signal).name} ({signal.strsignal(self.signal)})"
            except ValueError:
                name = f"signal {self.signal}"
            return f"the command was ended by {name}"
        what = "more than 32 MiB of output" if self.cut else "without a document"
        return f"the command ended with exit code {self.exit_code} and {what}"


class Commands:
    """Starts `program`, which stays the same when a build replaces its file, with `options` behind each command."""

    def __init__(self, program: str, options: list[str]):
        self.program, self.options = program, options
        self.guards: set[subprocess.Popen] = set()

    async def run(self, line: CommandLine, job: int = 0, on_progress: Callable[[str], None] = lambda line: None) -> Ended:
        """Ends what the command leaves behind, and all of it where the caller is cancelled. Throws Trouble."""
        guard = None
        try:
            guard = start_guard()
            self.guards.add(guard)
            environment = {**os.environ, "APO_PROGRESS": "lines", "APO_JOB": str(job)}
            process = await asyncio.create_subprocess_exec(
                "apo", *line.words, *self.options, executable=self.program, process_group=guard.pid, env=environment,
                stdin=PIPE, stdout=PIPE, stderr=PIPE)
            _, (output, cut), error = await asyncio.gather(
                feed(process.stdin, line.input.encode()), read_output(process.stdout), read_errors(process.stderr, on_progress))
            code = await process.wait()
            return Ended(code if code >= 0 else None, max(0, -code), output, error, cut)
        except OSError as error:
            raise Trouble(f"cannot start 'apo': {error.strerror}") from None
        finally:
            if guard:
                self.guards.remove(guard)
                end_group(guard)

    def end_all(self) -> None:
        for guard in self.guards:
            end_group(guard)


def start_guard() -> subprocess.Popen:
    """Leads a group of processes, and kills it when the end of its input tells of our death. It takes no signal but that."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    try:
        return subprocess.Popen(["/bin/sh", "-c", "read -r nothing; kill -KILL 0"], process_group=0, stdin=PIPE,
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def end_group(guard: subprocess.Popen) -> None:
    os.killpg(guard.pid, signal.SIGKILL)  # its number is not another's until it is waited for
    guard.wait()
    guard.stdin.close()


async def feed(pipe: asyncio.StreamWriter, text: bytes) -> None:
    try:
        pipe.write(text)
        await pipe.drain()
        pipe.close()
    except ConnectionError:
        pass  # it does not want the rest


async def read_output(pipe: asyncio.StreamReader) -> tuple[str, bool]:
    """What was printed, and whether it was too much and is dropped."""
    output = bytearray()
    cut = False
    while chunk := await pipe.read(65536):
        output += chunk
        if len(output) > MOST_OUTPUT:
            cut = True
            output.clear()
    return "" if cut else output.decode("utf-8", "replace"), cut


async def read_errors(pipe: asyncio.StreamReader, on_progress: Callable[[str], None]) -> str:
    """The end of the messages. Lines of progress are passed on."""
    message, begun = b"", b""
    while True:
        chunk = await pipe.read(65536)
        begun += chunk
        if not chunk or len(begun) > MOST_MESSAGE:
            begun += b"\n"  # behind a line that has no end
        *lines, begun = begun.split(b"\n")
        for line in lines:
            if line.startswith(PROGRESS_MARK):
                on_progress(line.removeprefix(PROGRESS_MARK).decode("utf-8", "replace"))
            elif line:
                message = (message + line + b"\n")[-MOST_MESSAGE:]
        if not chunk:
            return message.decode("utf-8", "replace").lstrip("\ufffd").strip()
