"""server.py PROGRAM VERSION JOURNAL SECONDS FAMILIES... - what `apo mcp` becomes: serves one client on its standard streams.

One thread and one loop of events; nothing is computed here. It ends when the client's end closes, with all that it started.
"""
from __future__ import annotations

import asyncio
import os
import select
import selectors
import signal
import sys
import time

from arguments import CommandLine, Mistake, command_line, schema_fault
from commands import Commands, Trouble
from jobs import (JobEnd, JobRow, end_in, end_of, ended_answer, interrupted_answer, job_number, load_job, parsed_document,
                  plain_answer, refusal, running_answer)
from protocol import INTERNAL_ERROR, Call, LineReader, ProtocolError, Session, ToolAnswer, resource_not_found
from tools import INSTRUCTIONS, LISTS, LONGEST_WAIT_S, TOOL_BY_NAME, Tool, find_resource, prompt_text

MOST_COMMANDS = 16
MOST_WAITS = 256
DEFAULT_WAIT_S = 20
BETWEEN_LOOKS_S = 1  # at a job that another server runs
BETWEEN_PROGRESS_S = 0.25
MOST_UNSENT = 4 << 20  # a client that reads nothing is not read either
FAREWELL_S = 0.3


class Job:
    """A call of a tool that measures; it goes on when its call was answered with its handle."""

    def __init__(self, tool: Tool, arguments: dict, line: CommandLine):
        self.tool, self.arguments, self.line = tool, arguments, line
        self.since = time.monotonic()
        self.number = 0  # of its row
        self.has_number = asyncio.Event()  # or ended without one
        self.progress = ""
        self.told = 0.0  # when the newest progress was
        self.watchers: set[Call] = set()
        self.answer: asyncio.Task[ToolAnswer] | None = None
        self.command: asyncio.Task | None = None
        self.cancelled = False

    def stop(self) -> None:
        self.cancelled = True
        if self.command:
            self.command.cancel()

    def running(self) -> ToolAnswer:
        return running_answer(self.number, self.tool.name, self.progress, seconds=time.monotonic() - self.since)


class Server:
    """Carries calls out: starts commands, keeps jobs, answers those who wait."""

    def __init__(self, root: str, journal: str, answer_within_s: float, version: str, commands: Commands, send):
        self.root, self.journal, self.answer_within_s, self.commands = root, journal, answer_within_s, commands
        self.session = Session(version, INSTRUCTIONS, LISTS, self, send)
        self.jobs: dict[int, Job] = {}  # those that run
        self.running = 0  # commands and jobs
        self.waits = 0

    # ------------------------------------------------------------ calls

    async def call_tool(self, call: Call, name: str, arguments: dict) -> ToolAnswer:
        tool = TOOL_BY_NAME[name]
        if fault := schema_fault(arguments, tool.input_schema):
            return refusal(f"{name}: {fault}")
        if not tool.command:
            return await self.wait(call, arguments, cancels=name == "cancel")
        try:
            line = command_line(tool, arguments, self.root)
            line.words.append("--json")
            self.check_limit()
        except Mistake as mistake:
            return refusal(f"{name}: {mistake}")
        if tool.is_job:
            return await self.begin_job(call, Job(tool, arguments, line))
        try:
            return plain_answer(end_of(tool, arguments, await self.run(line)))
        except Trouble as trouble:
            return refusal(str(trouble))

    def check_limit(self) -> None:
        if self.running >= MOST_COMMANDS:
            raise Mistake(f"{self.running} calls are running already", "wait for one, or cancel one")

    async def run(self, line: CommandLine):
        self.running += 1
        try:
            return await self.commands.run(line)
        finally:
            self.running -= 1

    async def read_resource(self, call: Call, uri: str) -> dict:
        found = find_resource(uri)
        if not found:
            raise resource_not_found(call, uri, "resources/list and resources/templates/list have the addresses")
        resource, words = found
        try:
            self.check_limit()
            ended = await self.run(CommandLine(words))
        except (Mistake, Trouble) as error:
            raise ProtocolError(INTERNAL_ERROR, str(error)) from None
        if ended.exit_code == 1:  # a mistake in the address
            raise resource_not_found(call, uri, ended.error)
        if ended.exit_code != 0 or ended.cut:
            raise ProtocolError(INTERNAL_ERROR, ended.error or "the command failed")
        text = ended.output
        if resource.field:
            text = (parsed_document(text) or {}).get(resource.field, "")
        return {"mimeType": resource.mime_type, "text": text}

    def prompt(self, arguments: dict) -> str:
        return prompt_text(arguments)

    # ------------------------------------------------------------ jobs

    async def begin_job(self, call: Call, job: Job) -> ToolAnswer:
        """Answers with the handle where it takes long. A client that takes the call back until then stops the job."""
        self.running += 1
        job.answer = asyncio.create_task(self.carry_out(job))
        try:
            await job.has_number.wait()
            return await self.answer_of(job, call, job.since + self.answer_within_s - time.monotonic())
        except asyncio.CancelledError:
            job.stop()
            raise

    async def answer_of(self, job: Job, call: Call, seconds: float) -> ToolAnswer:
        """Its end, or after some seconds that it runs."""
        job.watchers.add(call)
        try:
            await asyncio.wait({job.answer}, timeout=max(0, seconds))
        finally:
            job.watchers.discard(call)
        return job.answer.result() if job.answer.done() else job.running()

    async def carry_out(self, job: Job) -> ToolAnswer:
        """The row first: a job whose handle was given out is in the journal, and one whose end was told is over there."""
        row = JobRow(self.commands)
        try:
            job.number = await row.begin(job.tool.name, job.arguments)
            self.jobs[job.number] = job
            job.has_number.set()
            end = await self.end_of_command(job)
            if trouble := await row.finish(end):
                end.message += ("\n" if end.message else "") + "the journal did not take the end of the job: " + trouble
            return ended_answer(job.number, job.tool.name, end)
        except Trouble as trouble:
            return refusal(str(trouble))
        finally:
            self.running -= 1
            self.jobs.pop(job.number, None)
            job.has_number.set()

    async def end_of_command(self, job: Job) -> JobEnd:
        if job.cancelled:
            return JobEnd("cancelled", "cancelled before it began")
        job.command = asyncio.create_task(self.commands.run(job.line, job.number, lambda line: self.tell(job, line)))
        try:
            return end_of(job.tool, job.arguments, await job.command)
        except asyncio.CancelledError:
            return JobEnd("cancelled", "cancelled")
        except Trouble as trouble:
            return JobEnd("failed", str(trouble))

    def tell(self, job: Job, line: str) -> None:
        """A few times a second at most."""
        job.progress = line
        now = time.monotonic()
        if now - job.told >= BETWEEN_PROGRESS_S:
            job.told = now
            for call in job.watchers:
                self.session.progress(call, line)

    # ------------------------------------------------------------ wait and cancel

    async def wait(self, call: Call, arguments: dict, cancels: bool) -> ToolAnswer:
        number = job_number(arguments["job"])
        if number is None:
            return refusal(f"'{arguments['job']}' is not the handle of a job: one looks like j12")
        if self.waits >= MOST_WAITS:
            return refusal(f"{self.waits} calls wait already")
        seconds = LONGEST_WAIT_S if cancels else arguments.get("seconds", DEFAULT_WAIT_S)
        self.waits += 1
        try:
            answer = await self.waited(call, number, seconds, cancels)
        except Trouble as trouble:
            return refusal(str(trouble))
        finally:
            self.waits -= 1
        # To be cancelled is what it asked for.
        return ToolAnswer(answer.text, answer.structured, answer.is_error and not (cancels and answer.structured))

    async def waited(self, call: Call, number: int, seconds: float, cancels: bool) -> ToolAnswer:
        if job := self.jobs.get(number):
            if cancels:
                job.stop()
            return await self.answer_of(job, call, seconds)
        until = time.monotonic() + seconds
        while True:
            row = await load_job(self.commands, number)
            if not row:
                return refusal(f"there is no job j{number} in '{self.journal}'")
            if row["end"]:
                return ended_answer(number, row["tool"], end_in(row))
            if not row["has_server"]:
                return interrupted_answer(number, row["tool"], row["experiments"])
            if cancels:
                return refusal(f"job j{number} belongs to another running server; only that one can stop it")
            left = until - time.monotonic()
            if left <= 0:
                return running_answer(number, row["tool"], "another server runs it")
            await asyncio.sleep(min(BETWEEN_LOOKS_S, left))


class Streams:
    """The client's two descriptors, without a wait for either."""

    def __init__(self, source: int, target: int):
        self.source, self.target = source, target
        self.lines = LineReader()
        self.unsent = bytearray()
        self.ended = asyncio.Event()
        self.parent = os.getppid()
        self.loop = asyncio.get_running_loop()

    def send(self, line: str) -> None:
        self.unsent += line.encode("utf-8", "replace") + b"\n"
        self.loop.add_writer(self.target, self.write)
        if len(self.unsent) >= MOST_UNSENT:
            self.loop.remove_reader(self.source)

    def write(self) -> None:
        try:
            wrote = os.write(self.target, self.unsent[:select.PIPE_BUF])  # that much never waits
        except BlockingIOError:
            return
        except OSError:
            return self.end()
        if len(self.unsent) >= MOST_UNSENT > len(self.unsent) - wrote and not self.ended.is_set():
            self.loop.add_reader(self.source, self.read)
        del self.unsent[:wrote]
        if not self.unsent:
            self.loop.remove_writer(self.target)

    def read(self) -> None:
        try:
            data = os.read(self.source, 65536)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            return self.end()
        for line in self.lines.feed(data):
            self.session.on_line(line)

    def end(self) -> None:
        self.loop.remove_reader(self.source)
        self.loop.remove_writer(self.target)
        self.ended.set()

    def is_gone(self) -> bool:
        """Whether nobody reads any more, or the parent has vanished. Of a client that is not read, whether it has ended."""
        poll = select.poll()
        poll.register(self.target, 0)
        if len(self.unsent) >= MOST_UNSENT:
            poll.register(self.source, 0)
        return bool(poll.poll(0)) or os.getppid() != self.parent

    async def serve(self, session: Session) -> None:
        self.session = session
        self.loop.add_reader(self.source, self.read)
        while not self.ended.is_set() and not self.is_gone():
            try:
                await asyncio.wait_for(self.ended.wait(), 1)
            except TimeoutError:
                pass

    async def finish(self) -> None:
        """Sends pending answers to a client that still reads, and gives rows of jobs that have just ended their time."""
        self.loop.remove_reader(self.source)
        if self.unsent:
            self.loop.add_writer(self.target, self.write)
        until = time.monotonic() + FAREWELL_S
        while (self.unsent or JobRow.busy) and time.monotonic() < until and not self.is_gone():
            await asyncio.sleep(0.002)


async def main(program: str, version: str, journal: str, seconds: str, *families: str) -> None:
    # Standard output is standard error to all others: nothing that prints can break the protocol.
    target = os.dup(1)
    os.dup2(2, 1)
    commands = Commands(program, ["--journal=" + journal, *["--families=" + family for family in families]])
    streams = Streams(0, target)
    server = Server(os.path.realpath("."), journal, float(seconds), version, commands, streams.send)
    await streams.serve(server.session)
    await streams.finish()
    commands.end_all()
    os._exit(0)  # the processes of rows end with us: a journal that is locked by another process delays nothing


if __name__ == "__main__":
    if sys.version_info < (3, 11):
        print("apo: 'apo mcp' needs Python 3.11 or newer, and python3 is", sys.version.split()[0], file=sys.stderr)
        sys.exit(2)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    # Unlike epoll it takes any descriptor: a client's may be a file.
    with asyncio.Runner(loop_factory=lambda: asyncio.SelectorEventLoop(selectors.PollSelector())) as runner:
        runner.run(main(*sys.argv[1:]))
