"""jobs.py - a job as its tool, 'wait' and 'cancel' answer with it."""
from __future__ import annotations

import json
from dataclasses import dataclass

from commands import Ended
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


def plain_answer(end: JobEnd) -> ToolAnswer:
    """Of a tool that runs without a job."""
    failed = end.state != "done"
    if end.document is None:
        return ToolAnswer(end.message, is_error=failed)
    return ToolAnswer(line_of(end.document), end.document, failed)
