"""protocol.py - one client's session: lines in, lines out, and what is still to be answered.

JSON-RPC 2.0, one message a line, in both eras of the Model Context Protocol, each request by its own: 2026-07-28, whose
requests all say so in `_meta`, and the versions up to 2025-11-25, which begin with `initialize`. It knows no process and
no file, and trusts nothing that it reads.
"""
from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Callable, Coroutine
from dataclasses import dataclass

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
LEGACY_RESOURCE_NOT_FOUND = -32002
UNSUPPORTED_VERSION = -32022

MODERN = "2026-07-28"
LEGACY = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"]

VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities"
SERVER_KEY = "io.modelcontextprotocol/serverInfo"

CAPABILITIES = {"tools": {}, "resources": {}, "prompts": {}}
# How long a client may keep a list: what a newer program offers is then seen within minutes.
LIST_MS = 300_000
# The longest line that is read: a source of a megabyte in the longest spelling of JSON, and some.
LONGEST_LINE = 16 << 20
DEEPEST = 64


class ProtocolError(Exception):
    """The answer to a request that is malformed. What a tool finds wrong with its arguments is an answer of the tool."""

    def __init__(self, code: int, message: str, data: object = None):
        super().__init__(message)
        self.code, self.data = code, data


# ---------------------------------------------------------------- lines and messages


class LineReader:
    """Cuts a stream of bytes into lines. Of a line that is too long only that it was there is kept: None."""

    def __init__(self, longest: int = LONGEST_LINE):
        self.longest, self.open, self.skipping = longest, bytearray(), False

    def feed(self, data: bytes) -> list[bytes | None]:
        lines: list[bytes | None] = []
        *ends, rest = data.split(b"\n")
        for part in ends:
            self.add(part)
            lines.append(None if self.skipping else bytes(self.open))
            self.open, self.skipping = bytearray(), False
        self.add(rest)
        return lines

    def add(self, part: bytes) -> None:
        self.skipping = self.skipping or len(self.open) + len(part) > self.longest
        if self.skipping:
            self.open.clear()
        else:
            self.open += part


def line_of(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def is_too_deep(value: object, left: int = DEEPEST) -> bool:
    if not isinstance(value, (dict, list)):
        return False
    items = value.values() if isinstance(value, dict) else value
    return left == 0 or any(is_too_deep(item, left - 1) for item in items)


def finite(text: str) -> float:
    """NaN and what is too large are no JSON."""
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(text)
    return number


def parse_line(line: bytes) -> object:
    """Throws ProtocolError for what is no JSON or is nested so deeply that nothing we are sent is."""
    try:
        value = json.loads(line.decode("utf-8"), parse_float=finite, parse_constant=finite)
        if b"\\u" in line:
            line_of(value).encode("utf-8")  # half of a surrogate pair has no UTF-8
        if not is_too_deep(value):
            return value
    except RecursionError:
        pass
    except ValueError:
        raise ProtocolError(PARSE_ERROR, "Parse error: the line is not JSON in UTF-8") from None
    raise ProtocolError(PARSE_ERROR, "Parse error: the message is nested too deeply")


def is_integer(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def is_id(value: object) -> bool:
    return isinstance(value, str) or is_integer(value)


def id_in(message: object) -> str | int | None:
    """The id of a request that is malformed otherwise; None where it has none that can be told."""
    return message["id"] if isinstance(message, dict) and is_id(message.get("id")) else None


def check_message(message: object) -> None:
    """Throws ProtocolError for what is no request, no notification and no answer."""
    if not isinstance(message, dict):
        raise ProtocolError(INVALID_REQUEST, "Invalid request: a message is a JSON object, one a line")
    if message.get("jsonrpc") != "2.0":
        raise ProtocolError(INVALID_REQUEST, "Invalid request: 'jsonrpc' must be \"2.0\"")
    if is_answer(message):
        return
    if not isinstance(message.get("method"), str):
        raise ProtocolError(INVALID_REQUEST, "Invalid request: 'method' must be a string")
    if "id" in message and not is_id(message["id"]):
        raise ProtocolError(INVALID_REQUEST, "Invalid request: 'id' must be a string or an integer")
    if not isinstance(message.get("params", {}), dict):
        raise ProtocolError(INVALID_PARAMS, "'params' must be an object")


def is_answer(message: dict) -> bool:
    """We ask nothing, so that none is for us."""
    return "method" not in message and ("result" in message or "error" in message)


def error_message(error: ProtocolError, **id_field: object) -> dict:
    described = {"code": error.code, "message": str(error)}
    if error.data is not None:
        described["data"] = error.data
    return {"jsonrpc": "2.0", **id_field, "error": described}


# ---------------------------------------------------------------- parts of a request


def meta_of(params: dict) -> dict:
    meta = params.get("_meta", {})
    if not isinstance(meta, dict):
        raise ProtocolError(INVALID_PARAMS, "'_meta' must be an object")
    return meta


def is_modern(meta: dict) -> bool:
    """Throws ProtocolError for a request of the modern era that is incomplete."""
    if VERSION_KEY not in meta:
        return False
    version = meta[VERSION_KEY]
    if not isinstance(version, str):
        raise ProtocolError(INVALID_PARAMS, f"_meta: {VERSION_KEY} must be a string")
    if version != MODERN:
        raise ProtocolError(UNSUPPORTED_VERSION, "Unsupported protocol version",
                            {"supported": [MODERN, *LEGACY], "requested": version})
    if not isinstance(meta.get(CAPABILITIES_KEY), dict):
        raise ProtocolError(INVALID_PARAMS, f"_meta lacks the object {CAPABILITIES_KEY}")
    return True


def required_string(params: dict, name: str) -> str:
    value = params.get(name)
    if not isinstance(value, str):
        raise ProtocolError(INVALID_PARAMS, f"'{name}' must be a string")
    return value


def object_or_none(params: dict, name: str) -> dict:
    value = params.get(name, {})
    if not isinstance(value, dict):
        raise ProtocolError(INVALID_PARAMS, f"'{name}' must be an object")
    return value


def progress_token_of(params: dict) -> str | int | None:
    """None where the client wants no progress."""
    token = meta_of(params).get("progressToken")
    if token is not None and not is_id(token):
        raise ProtocolError(INVALID_PARAMS, "'progressToken' must be a string or an integer")
    return token


def text_block(text: str) -> dict:
    return {"type": "text", "text": text}


# ---------------------------------------------------------------- the session


@dataclass
class ToolAnswer:
    text: str
    structured: dict | None = None
    is_error: bool = False


@dataclass(eq=False)
class Call:
    """A request; those that take time are kept until they are answered."""
    id: str | int
    params: dict
    modern: bool = False
    progress_token: str | int | None = None
    told: int = 0  # lines of progress
    task: asyncio.Task | None = None


def resource_not_found(call: Call, uri: str, why: str) -> ProtocolError:
    code = INVALID_PARAMS if call.modern else LEGACY_RESOURCE_NOT_FOUND
    return ProtocolError(code, "Resource not found: " + why, {"uri": uri})


class Session:
    """Hands calls to a service, and what is to be sent to `send`, a line without its newline each.

    `lists` has the result of each method that lists something. The service has `async call_tool(call, name, arguments)`,
    which returns a ToolAnswer, `async read_resource(call, uri)`, which returns mimeType and text, and `prompt(arguments)`,
    which returns a text; all may throw ProtocolError. A call that the client takes back is cancelled where it waits.
    """

    def __init__(self, version: str, instructions: str, lists: dict[str, dict], service: object, send: Callable[[str], None]):
        self.server_info = {"name": "apo", "version": version}
        self.instructions, self.lists, self.service, self.send_line = instructions, lists, service, send
        self.agreed = ""  # the version of `initialize`
        self.calls: dict[str | int, Call] = {}

    # ------------------------------------------------------------ what comes in

    def on_line(self, line: bytes | None) -> None:
        """None: it was too long."""
        try:
            if line is None:
                raise ProtocolError(INVALID_REQUEST, "Invalid request: the line is longer than 16 MiB")
            if not line.strip(b" \t\r"):
                return
            self.on_message(parse_line(line))
        except ProtocolError as error:
            self.refuse_unreadable(None, error)

    def on_message(self, message: object) -> None:
        try:
            check_message(message)
        except ProtocolError as error:
            return self.refuse_unreadable(id_in(message), error)
        if is_answer(message):
            return
        params = message.get("params", {})
        if "id" not in message:
            return self.on_notification(message["method"], params)
        call = Call(message["id"], params)
        try:
            self.on_request(call, message["method"])
        except ProtocolError as error:
            self.refuse(call, error)
        except Exception as error:  # a bug of ours: this request ends, the others go on
            self.refuse(call, ProtocolError(INTERNAL_ERROR, f"internal error: {error}"))

    def on_notification(self, method: str, params: dict) -> None:
        id = params.get("requestId")
        call = self.calls.pop(id, None) if method == "notifications/cancelled" and is_id(id) else None
        if call:  # what is unknown or answered is to be ignored, by the specification
            call.task.cancel()

    def on_request(self, call: Call, method: str) -> None:
        if method == "initialize":
            return self.complete(call, self.initialized(call.params))
        call.modern = is_modern(meta_of(call.params))
        if method == "tools/call":
            return self.begin_tool(call)
        if method == "resources/read":
            return self.begin_resource(call)
        cacheable = method not in ("ping", "prompts/get")
        self.complete(call, self.immediate_result(call, method), cacheable)

    def immediate_result(self, call: Call, method: str) -> dict:
        if method in self.lists:
            if "cursor" in call.params:  # each list is one page, so that none is ever given out
                raise ProtocolError(INVALID_PARAMS, "unknown cursor: the list has one page")
            return self.lists[method]
        if method == "server/discover":
            if not call.modern:
                raise ProtocolError(INVALID_PARAMS, f"_meta lacks {VERSION_KEY}")
            return {"supportedVersions": [MODERN], "capabilities": CAPABILITIES, "instructions": self.instructions}
        if method == "ping" and not call.modern:
            return {}
        if method == "prompts/get":
            return self.got_prompt(call.params)
        raise ProtocolError(METHOD_NOT_FOUND, "Method not found", {"method": method})

    def initialized(self, params: dict) -> dict:
        """Never an error: a client with a version that we do not know is told the newest that it can speak."""
        asked = params.get("protocolVersion")
        self.agreed = asked if asked in LEGACY else LEGACY[0]
        return {"protocolVersion": self.agreed, "capabilities": CAPABILITIES,
                "serverInfo": self.server_info, "instructions": self.instructions}

    def got_prompt(self, params: dict) -> dict:
        self.known_name(params, "prompt")
        text = self.service.prompt(object_or_none(params, "arguments"))
        return {"messages": [{"role": "user", "content": text_block(text)}]}

    def known_name(self, params: dict, kind: str) -> str:
        name = required_string(params, "name")
        if not any(one["name"] == name for one in self.lists[kind + "s/list"][kind + "s"]):
            raise ProtocolError(INVALID_PARAMS, f"Unknown {kind}: {name}")
        return name

    # ------------------------------------------------------------ calls

    def begin_tool(self, call: Call) -> None:
        name = self.known_name(call.params, "tool")
        self.begin(call, self.tool_result, name, object_or_none(call.params, "arguments"))

    def begin_resource(self, call: Call) -> None:
        self.begin(call, self.resource_result, required_string(call.params, "uri"))

    def begin(self, call: Call, work: Callable[..., Coroutine], *arguments: object) -> None:
        if call.id in self.calls:
            raise ProtocolError(INVALID_REQUEST, "Invalid request: a request with this id is not answered yet")
        call.progress_token = progress_token_of(call.params)
        call.params = {}  # may be a megabyte of source
        self.calls[call.id] = call
        call.task = asyncio.get_running_loop().create_task(self.carry_out(call, work, arguments))

    async def carry_out(self, call: Call, work: Callable[..., Coroutine], arguments: tuple) -> None:
        """A call that was taken back is not answered."""
        result, error = {}, None
        try:
            result = await work(call, *arguments)
        except ProtocolError as protocol_error:
            error = protocol_error
        except Exception as bug:
            error = ProtocolError(INTERNAL_ERROR, f"internal error: {bug}")
        if self.calls.get(call.id) is not call:
            return
        del self.calls[call.id]
        if error:
            self.refuse(call, error)
        else:
            self.complete(call, result)

    async def tool_result(self, call: Call, name: str, arguments: dict) -> dict:
        answer = await self.service.call_tool(call, name, arguments)
        result: dict = {"content": [text_block(answer.text)]}
        if answer.structured is not None:
            result["structuredContent"] = answer.structured
        return {**result, "isError": answer.is_error}

    async def resource_result(self, call: Call, uri: str) -> dict:
        contents = {"contents": [{"uri": uri, **await self.service.read_resource(call, uri)}]}
        # The next experiment changes it.
        return {**contents, "ttlMs": 0, "cacheScope": "private"} if call.modern else contents

    def progress(self, call: Call, message: str) -> None:
        """Sent only where the client asked for it, and until the call ends."""
        if call.progress_token is None or self.calls.get(call.id) is not call:
            return
        call.told += 1
        params = {"progressToken": call.progress_token, "progress": call.told, "message": message}
        self.send_line(line_of({"jsonrpc": "2.0", "method": "notifications/progress", "params": params}))

    # ------------------------------------------------------------ what goes out

    def complete(self, call: Call, result: dict, cacheable: bool = False) -> None:
        if call.modern:
            result = {**result, "resultType": "complete", "_meta": {SERVER_KEY: self.server_info}}
            if cacheable:
                result |= {"ttlMs": LIST_MS, "cacheScope": "public"}
        self.send({"jsonrpc": "2.0", "id": call.id, "result": result})

    def refuse(self, call: Call, error: ProtocolError) -> None:
        self.send(error_message(error, id=call.id))

    def refuse_unreadable(self, id: str | int | None, error: ProtocolError) -> None:
        """Versions up to 2025-11-25 want null where the id is not known; the newer schema has no null."""
        known = {} if id is None and not self.agreed else {"id": id}
        self.send(error_message(error, **known))

    def send(self, message: dict) -> None:
        self.send_line(line_of(message))
