#!/usr/bin/env python3
"""A proposer without a model: changes the incumbent's text in small, old ways.

    ./apo run matmul_bf16 --workload m64_n32_k48 --proposer 'python3 examples/proposers/mutate.py'

Reads the brief on standard input and prints candidates, one JSON object a line. Each call goes on where the
calls before it in this campaign have stopped, so that it does not repeat itself. docs/agents.md has the protocol.
"""

import json
import re
import sys

LOOP = re.compile(r"^([ \t]*)for \(", re.MULTILINE)
CONSTANT = re.compile(r"\bconstexpr (?:int|unsigned|int64_t|std::size_t) (k\w+) = (\d+);")
BOUNDS = re.compile(r"__launch_bounds__\((\d+)(?:, *(\d+))?\)")
POINTER = re.compile(r"\b(const \w+|\w+)\* (?!__restrict__)(\w+)(?=[,)])")
SUM = re.compile(r"^[ \t]*\w+ \+= ", re.MULTILINE)
CODE = re.compile(r"^(?!//|\s*$)", re.MULTILINE)
FOR_LINE = re.compile(r"^[ \t]*(for \([^{}]*\)) \{$")


def any_order(source, device):
    """All sums, which the compiler may then keep in the lanes of a vector."""
    if SUM.search(source) and not device:
        begin = CODE.search(source).start()
        line = '#pragma GCC optimize("associative-math", "no-signed-zeros", "no-trapping-math")\n'
        yield source[:begin] + line + source[begin:], "column-vectorised", "sums in any order"


def unrolled(source, device):
    """Each loop, told to the compiler to be unrolled."""
    pragma = "#pragma unroll" if device else "#pragma GCC unroll"
    for loop in LOOP.finditer(source):
        for factor in (4, 8, 2, 16):
            line = f"{loop.group(1)}{pragma} {factor}\n"
            if source[: loop.start()].rstrip().rsplit("\n", 1)[-1].lstrip().startswith("#pragma"):
                continue
            where = source.count("\n", 0, loop.start()) + 1
            yield source[: loop.start()] + line + source[loop.start() :], "unrolled-steps", f"unroll the loop of line {where} {factor} times"


def other_constants(source, device):
    """Each named constant, doubled and halved."""
    for constant in CONSTANT.finditer(source):
        value = int(constant.group(2))
        for other in (2 * value, value // 2):
            if other > 0:
                begin, end = constant.span(2)
                yield source[:begin] + str(other) + source[end:], None, f"{constant.group(1)} {other} in place of {value}"


def other_bounds(source, device):
    """Each launch bound, with one to three blocks on a multiprocessor."""
    for bounds in BOUNDS.finditer(source):
        for blocks in (1, 2, 3):
            if bounds.group(2) != str(blocks):
                text = f"__launch_bounds__({bounds.group(1)}, {blocks})"
                yield source[: bounds.start()] + text + source[bounds.end() :], "launch-bounds", f"{blocks} blocks on a multiprocessor"


def without_aliases(source, device):
    """All pointers, told to the compiler not to overlap."""
    text = POINTER.sub(r"\1* __restrict__ \2", source)
    if text != source:
        yield text, "restrict", "no pointer overlaps another one"


def interchanged(source, device):
    """Each pair of loops of which one is all that the other holds at its begin, the other way round."""
    lines = source.split("\n")
    for at in range(len(lines) - 1):
        outer, inner = FOR_LINE.match(lines[at]), FOR_LINE.match(lines[at + 1])
        if outer and inner:
            swapped = list(lines)
            swapped[at] = lines[at].replace(outer.group(1), inner.group(1))
            swapped[at + 1] = lines[at + 1].replace(inner.group(1), outer.group(1))
            yield "\n".join(swapped), "loop-interchange", f"the loops of lines {at + 1} and {at + 2} change places"


NO_REASON = {"low": 0.9, "high": 1.1, "because": "a change of the text, without a reason to gain"}
PREDICTED = {any_order: {"low": 1, "high": 8, "because": "the lanes of a vector work side by side"}}


def candidates(brief):
    device = brief["machine"]["target"] == "cuda"
    source = next(iter(brief["sources"].values()))
    for mutate in (any_order, without_aliases, unrolled, other_bounds, other_constants, interchanged):
        for text, technique, idea in mutate(source, device):
            yield {
                "source": text,
                "extension": ".cu" if device else ".cpp",
                "name": mutate.__name__,
                "author": "mutate.py",
                "parent": brief["incumbent"]["variant"],
                "techniques": [technique] if technique else [],
                "idea": idea,
                "predict": PREDICTED.get(mutate, NO_REASON),
            }


def main():
    brief = json.load(sys.stdin)
    request = brief["request"]
    calls = [call for call in request["earlier_answers"] if call["campaign"] == request["campaign"]]
    before = [p for call in calls for p in call["proposals"] if p["author"] == "mutate.py"]
    for candidate in list(candidates(brief))[len(before) :][: request["candidates_at_most"]]:
        print(json.dumps(candidate))


if __name__ == "__main__":
    main()
