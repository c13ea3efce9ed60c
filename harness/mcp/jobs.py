"""jobs.py - a job as its tool, 'wait' and 'cancel' answer with it, whoever ran it, and its row in the journal."""
from __future__ import annotations

import asyncio
import hashlib
import json
from asyncio.subprocess import PIPE
from dataclasses import dataclass

from arguments import CommandLine
from commands import Commands, Ended, Trouble
from protocol import ToolAnswer, line_of
from tools import Tool


@dataclass
class JobEnd:
    state: str  # done, failed or cancelled
    message: str = ""
    exit_code: int | None = None  # None where a signal ended it
    document: dict | None = None


def job_number(name: str) -> int | None:
    digits = name.removeprefix("j")
    is_name = name.startswith("j") and digits.isascii() and digits.isdigit() and int(digits) < 1 << 63
    return int(digits) if is_name else None


def kept_arguments(arguments: dict) -> str:
    """As the journal keeps them: a source text as its length and its sha256."""
    if "source" in arguments:
        source = arguments["source"].encode()
        arguments = {**arguments, "source": {"bytes": len(source), "sha256": hashlib.sha256(source).hexdigest()}}
    return line_of(arguments)


def parsed_document(text: str) -> dict | None:
    try:
        document = json.loads(text)
    except ValueError:
        return None
    return document if isinstance(document, dict) else None


def end_of(tool: Tool, arguments: dict, ended: Ended) -> JobEnd:
    """Turns the end of a command into the end of its tool's job."""
    document = parsed_document(ended.output)
    if document is None or "error" in document:  # the message has the same words
        message = ended.error
        if not message or ended.signal:
            message = f"{message}\n{ended.how()}".strip()
        return JobEnd("failed", message, ended.exit_code)
    is_answer = ended.exit_code in tool.answers
    return JobEnd("done" if is_answer else "failed", ended.error, ended.exit_code, tool.shape(document, arguments))


# ---------------------------------------------------------------- answers


def refusal(text: str) -> ToolAnswer:
    return ToolAnswer(text, is_error=True)


def record_of(number: int, tool: str, state: str, **more: object) -> dict:
    return {"job": f"j{number}", "tool": tool, "state": state, **more}


def running_answer(number: int, tool: str, progress: str, **seconds: float) -> ToolAnswer:
    record = record_of(number, tool, "running", **seconds, **({"progress": progress} if progress else {}))
    return ToolAnswer(line_of(record), record)


def ended_answer(number: int, tool: str, end: JobEnd) -> ToolAnswer:
    """The text for the model: the document where there is one, else the error. A cancelled job did what it was asked to."""
    record = record_of(number, tool, end.state)
    if end.exit_code is not None:
        record["exit_code"] = end.exit_code
    if end.message:
        record["message"] = end.message
    if end.document is not None:
        record["result"] = end.document
    failed = end.state == "failed"
    return ToolAnswer(end.message if failed and end.document is None else line_of(record), record, failed)


def interrupted_answer(number: int, tool: str, experiments: list[dict]) -> ToolAnswer:
    """For a job whose server ended before it did."""
    kept = "'show' has the experiments that finished; " if experiments else "it had begun no experiment: "
    message = f"the server that ran it ended before it did; {kept}call '{tool}' again"
    record = record_of(number, tool, "interrupted", message=message, experiments=experiments)
    return ToolAnswer(line_of(record), record, is_error=True)


def plain_answer(end: JobEnd) -> ToolAnswer:
    """Of a tool that runs without a job."""
    failed = end.state != "done"
    if end.document is None:
        return ToolAnswer(end.message, is_error=failed)
    return ToolAnswer(line_of(end.document), end.document, failed)


# ---------------------------------------------------------------- rows


def trouble_in(reply: str) -> Trouble:
    """What a command that failed with --json says."""
    document = parsed_document(reply) or {"error": "internal error: the process that writes the row of the job ended"}
    hint = document.get("hint")
    return Trouble(f"{document['error']}\n{hint}" if hint else document["error"])


class JobRow:
    """The row of a job that this server runs, kept by a process of its own: while that lives, others know that the job has
    a server, and a journal that another process has locked delays nobody else."""
    busy = 0  # rows that are being written

    def __init__(self, commands: Commands):
        self.commands = commands

    async def begin(self, tool: str, arguments: dict) -> int:
        """Returns the number of the job. Throws Trouble."""
        JobRow.busy += 1
        try:
            self.process = await asyncio.create_subprocess_exec(
                "apo", "mcp", "--keep-job", "--json", *self.commands.options, executable=self.commands.program,
                stdin=PIPE, stdout=PIPE)
            self.process.stdin.write(line_of({"tool": tool, "arguments": kept_arguments(arguments)}).encode() + b"\n")
            reply = await self.process.stdout.readline()
            if not reply.strip().isdigit():
                raise trouble_in((reply + await self.process.stdout.read()).decode())
            return int(reply)
        except OSError as error:
            raise Trouble(f"cannot start 'apo': {error.strerror}") from None
        finally:
            JobRow.busy -= 1

    async def finish(self, end: JobEnd) -> str:
        """Returns what went wrong."""
        document = "" if end.document is None else line_of(end.document)
        row = {"state": end.state, "exit_code": end.exit_code, "document": document, "message": end.message, "at": ""}
        JobRow.busy += 1
        reply, _ = await self.process.communicate(line_of(row).encode("utf-8", "replace") + b"\n")
        JobRow.busy -= 1
        return "" if reply == b"ended\n" else str(trouble_in(reply.decode()))


async def load_job(commands: Commands, number: int) -> dict | None:
    """As in journal/facts/jobs.h, and whether one that lives works on it; None where the journal has none. Throws Trouble."""
    ended = await commands.run(CommandLine(["mcp", f"--job={number}", "--json"]))
    document = parsed_document(ended.output)
    if ended.exit_code != 0 or document is None:
        raise trouble_in(ended.output)
    return document["job"] and {**document["job"], "has_server": document["has_server"]}


def end_in(row: dict) -> JobEnd:
    """Of a job that load_job() found."""
    end = row["end"]
    return JobEnd(end["state"], end["message"], end["exit_code"], parsed_document(end["document"]))
