"""arguments.py - holds the arguments of a tool against its schema, and turns them into the words of a command.

Every value is checked before it becomes a word, and none becomes an option: it stands behind "--name=" or "name=", or
begins with no dash.
"""
from __future__ import annotations

import difflib
import os
from collections.abc import Callable
from dataclasses import dataclass

from protocol import is_integer, line_of
from tools import Tool

LONGEST_WORD = 4096
LONGEST_SOURCE = 1 << 20


class Mistake(Exception):
    """In the arguments: what is wrong, and on a second line what to do next."""

    def __init__(self, what: str, hint: str = ""):
        super().__init__(f"{what}\n{hint}" if hint else what)


# ---------------------------------------------------------------- schemas


def is_number(value: object) -> bool:
    return is_integer(value) or isinstance(value, float)


IS_OF_TYPE: dict[str, Callable[[object], bool]] = {
    "object": lambda value: isinstance(value, dict), "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str), "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None, "integer": is_integer, "number": is_number}


def schema_fault(value: object, schema: dict, where: str = "") -> str:
    """Empty when the value fits; else one sentence about the first fault, with the names that are known.

    Keywords: type (a word or a list of them), enum, properties, required, additionalProperties false, items, minLength,
    minimum, maximum, maxItems. Others mean nothing here.
    """
    named = where or "the value"
    types = schema.get("type", [])
    types = [types] if isinstance(types, str) else types
    if types and not any(IS_OF_TYPE[type](value) for type in types):
        return f"{named} must be of type {' or '.join(types)}"
    if "enum" in schema and value not in schema["enum"]:
        return f"{named} must be one of: {', '.join(schema['enum'])}"
    if is_number(value) and value < schema.get("minimum", value):
        return f"{named} must be at least {schema['minimum']}"
    if is_number(value) and value > schema.get("maximum", value):
        return f"{named} must be at most {schema['maximum']}"
    if value == "" and schema.get("minLength", 0) > 0:
        return f"{named} must not be empty"
    if isinstance(value, list):
        return list_fault(value, schema, named)
    return object_fault(value, schema, where) if isinstance(value, dict) else ""


def list_fault(value: list, schema: dict, where: str) -> str:
    if len(value) > schema.get("maxItems", len(value)):
        return f"{where} must have at most {schema['maxItems']} items"
    faults = (schema_fault(item, schema.get("items", {}), f"item {i} of {where}") for i, item in enumerate(value))
    return next(filter(None, faults), "")


def object_fault(value: dict, schema: dict, where: str) -> str:
    properties = schema.get("properties", {})
    for key, item in value.items():
        if key in properties:
            if fault := schema_fault(item, properties[key], f"'{key}'"):
                return fault
        elif schema.get("additionalProperties", True) is False:
            near = difflib.get_close_matches(key, properties, 1)
            guess = f", did you mean '{near[0]}'?" if near else ""
            return f"{where + ': ' if where else ''}unknown argument '{key}'{guess}; known: {', '.join(properties) or 'none'}"
    return next((f"'{key}' is missing" for key in schema.get("required", []) if key not in value), "")


# ---------------------------------------------------------------- files


def file_below(root: str, path: str) -> str:
    """The file without links in its path. Throws Mistake for one outside of the root, and for what is no regular file."""
    # What does not exist is judged by its name, so that the answer tells nothing about files outside.
    whole = os.path.realpath(os.path.join(root, path))
    if whole != root and not whole.startswith(root.rstrip("/") + "/"):
        raise Mistake(f"'{path}' is outside of '{root}', where this server was started",
                      "name a file below that folder, or give its text as 'source'")
    if not os.path.isfile(whole):
        raise Mistake(f"'{path}' is not a file in '{root}'", "give the path of a source file, or its text as 'source'")
    return whole


# ---------------------------------------------------------------- words


@dataclass
class CommandLine:
    words: list[str]  # after "apo"
    input: str = ""  # given on standard input


def text_of(value: object) -> str:
    return value if isinstance(value, str) else line_of(value)


def checked_word(name: str, value: object) -> str:
    word = text_of(value)
    if any(character < " " or character == "\x7f" for character in word):
        raise Mistake(f"'{name}' holds a control character")
    if not word:
        raise Mistake(f"'{name}' is empty")
    if len(word.encode()) > LONGEST_WORD:
        raise Mistake(f"'{name}' is longer than 4096 bytes")
    return word


def checked_position(name: str, value: object) -> str:
    word = checked_word(name, value)
    if word.startswith("-"):
        raise Mistake(f"'{name}' begins with a dash: '{word}'", "options are arguments of their own; the tool's schema lists them")
    return word


def words_for(part: str, arguments: dict) -> list[str]:
    """Those that a part of a tool's command becomes: none where the argument was not given."""
    name = part.removeprefix("--").removesuffix("=")
    if name not in arguments:
        return []
    value = arguments[name]
    if name == part:
        return [checked_position(name, one) for one in (value if isinstance(value, list) else [value])]
    if part.endswith("="):
        return [f"{name}={checked_word(name, value)}"]
    option = "--" + name.replace("_", "-")
    if isinstance(value, bool):
        return [option] if value else []
    return [f"{option}={checked_word(name, one)}" for one in (value if isinstance(value, list) else [value])]


def given_candidate(tool: Tool, arguments: dict) -> str:
    """The argument that has it. Throws Mistake where not exactly one has."""
    names = [name for name in ("path", "source", "variant") if name in tool.arguments]
    given = [name for name in names if name in arguments]
    if len(given) != 1:
        what = "neither " + " nor ".join(map(repr, names)) + " was given"
        if given:
            what = " and ".join(map(repr, given)) + " were given together"
        raise Mistake(what, "give the candidate as one of " + ", ".join(map(repr, names)))
    return given[0]


def candidate_line(tool: Tool, arguments: dict, root: str) -> CommandLine:
    given = given_candidate(tool, arguments)
    if given == "variant":
        return CommandLine([tool.command, checked_position(given, arguments[given])])
    if given == "path":
        line = CommandLine([tool.command, tool.candidate + file_below(root, checked_word(given, arguments[given]))])
    else:
        line = CommandLine([tool.command, tool.candidate + "-"], text_of(arguments[given]))
        size = len(line.input.encode())
        if not 0 < size <= LONGEST_SOURCE:
            raise Mistake("'source' is longer than 1 MiB" if size else "'source' is empty", "give the text of one source file")
    for part in tool.with_file:
        line.words += words_for(part, arguments)
    return line


def command_line(tool: Tool, arguments: dict, root: str) -> CommandLine:
    """The command that carries the tool out. Throws Mistake."""
    line = CommandLine(tool.command.split()) if tool.candidate is None else candidate_line(tool, arguments, root)
    for part in tool.words:
        line.words += words_for(part, arguments)
    return line
