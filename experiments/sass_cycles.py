#!/usr/bin/env python3
"""experiments/sass_cycles.py [FAMILY/VARIANT[SETTING=VALUE,...]] - cycles a step of E88 kernels, without a GPU.

Needs nvcc. Builds the kernels for sm_90a, reads the 128-bit instructions of the cubin with their control words (stall
cycles and scoreboards, which say what waits for what), finds the loops over time and simulates one scheduler of an SM
with the warps that it holds. Without an argument: a markdown table of the leaders before and of what is proposed,
beside the recorded times. With one: the loops of that kernel. It is a model; simulate() says what it leaves out.
"""
import collections
import os
import re
import struct
import subprocess
import sys
import tarfile
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CLOCK = 1.98e9  # of an H200 under load
# Cycles from issue until the scoreboard is free. Chosen: MUFU so that cuda_best alone on a scheduler (b1_t16384) is
# near the 505 cycles a step that an H200 took; the others as published for Ampere and Hopper.
LATENCY = {"MUFU": 25, "SHFL": 24, "LDS": 26, "LDG": 550, "LDC": 30}
JUMP = 9  # lost after a taken branch
NAMES = {0x02: "MOV", 0x07: "SEL", 0x08: "FSEL", 0x09: "FMNMX", 0x0c: "ISETP", 0x10: "IADD3", 0x11:
         "LEA", 0x12: "LOP3", 0x16: "PRMT", 0x19: "SHF", 0x20: "FMUL", 0x21: "FADD", 0x23: "FFMA", 0x24:
         "IMAD", 0x25: "IMAD", 0x30: "HADD2", 0x31: "HFMA2", 0x32: "HMUL2", 0x3e: "F2FP", 0x82: "UMOV",
         0x8c: "UISETP", 0x90: "UIADD3", 0xb9: "ULDC", 0x104: "F2F", 0x106: "I2F", 0x108: "MUFU", 0x119:
         "S2R", 0x11d: "BAR", 0x141: "BSYNC", 0x145: "BSSY", 0x147: "BRA", 0x148: "WARPSYNC", 0x14d:
         "EXIT", 0x150: "RET", 0x181: "LDG", 0x182: "LDC", 0x184: "LDS", 0x185: "ST", 0x186: "STG",
         0x188: "STS", 0x189: "SHFL", 0x1ae: "LDGSTS"}
PIPES = {"FFMA": ("fma", 1), "FMUL": ("fma", 1), "FADD": ("fma", 1), "MUFU": ("special", 8), "F2F": ("special", 8),
         "I2F": ("special", 8)}
PIPES.update(dict.fromkeys(("HADD2", "HFMA2", "HMUL2", "IMAD"), ("half", 2)))
PIPES.update(dict.fromkeys(("LDS", "STS", "SHFL", "LDG", "STG", "ST", "LDGSTS"), ("memory", 2)))
PIPES.update(dict.fromkeys(("BRA", "BAR", "WARPSYNC", "BSSY", "BSYNC", "EXIT"), ("branch", 1)))

Instruction = collections.namedtuple("Instruction", "pc name stall sets frees waits target diverges always words")


def build(root, variant, settings, folder):
    """The path of the cubin of `variant` for N = V = 32 with gate and norm."""
    family, name = variant.split("/")
    path = f"{root}/variants/{family}/{name}.cu"
    with open(path, encoding="utf-8") as file:
        text = file.read()
    tensors = {
        "e88_forward": ("k q v g decay s0", "output checkpoints y_cache s_final"),
        "e88_backward": ("k q v g decay d_output d_s_final checkpoints y_cache", "dk dq dv dg ddecay ds0"),
    }[family]
    values = {**dict(re.findall(r"^// apo:tune +(\w+) +(\w+)", text, re.M)), **settings}
    fields = [f"const __nv_bfloat16* {one};" for one in tensors[0].split()]
    fields += [f"__nv_bfloat16* {one};" for one in tensors[1].split()]
    fields += [f"void* {one};" for one in re.findall(r"^// apo:scratch +(\w+)", text, re.M)]
    fields += [f"long long {one};" for one in "B T H N V GATE NORM".split()]
    constants = {"kN": 32, "kV": 32, "kGATE": 1, "kNORM": 1, **values}
    with open(f"{folder}/{family}.args.h", "w", encoding="utf-8") as file:
        file.write(f"#pragma once\n#include <cuda_bf16.h>\nstruct {family}_args {{ {' '.join(fields)} }};\n")
        file.writelines(f"inline constexpr long long {key} = {value};\n" for key, value in constants.items())
    cubin = f"{folder}/{name}.cubin"
    subprocess.run(["nvcc", "-cubin", path, "-o", cubin, f"-I{folder}", f"-I{ROOT}/variants/common",
                    f"-I{ROOT}/variants/{family}", "-gencode=arch=compute_90a,code=sm_90a", "-std=c++20", "-w"],
                   check=True)
    return cubin


def decode(cubin):
    """The instructions of the largest kernel. Bits 0-11 say what, 12-15 the predicate, 105-125 how to issue it."""
    with open(cubin, "rb") as file:
        data = file.read()
    headers, = struct.unpack_from("<Q", data, 40)
    size, count = struct.unpack_from("<HH", data, 58)
    sections = [struct.unpack_from("<IIQQQQ", data, headers + i * size) for i in range(count)]
    code = max((s for s in sections if s[1] == 1 and s[2] & 4), key=lambda s: s[5])
    found = []
    for pc in range(0, code[5], 16):
        low, high = struct.unpack_from("<QQ", data, code[4] + pc)
        control, target = high >> 41, None
        if low & 0xfff == 0x947:
            distance = (high & 0x3ffff) << 32 | low >> 32
            distance -= 1 << 50 if distance >> 49 else 0
            target = pc + 16 + (distance >> 2 << 10) + (low >> 16 & 0xff) * 4
        found.append(Instruction(
            pc, NAMES.get(low & 0x1ff, "other"), max(1, control & 15), control >> 5 & 7, control >> 8 & 7,
            control >> 11 & 63, target, bool(high >> 27 & 1), low >> 12 & 15 == 7 and high >> 23 & 15 == 7,
            {5: 2, 6: 4}.get(high >> 9 & 7, 1) if NAMES.get(low & 0x1ff) in ("LDS", "STS", "ST") else 1))
    return found


def loops(code):
    """The bodies of the innermost loops of at least 100 instructions, and of straight lines with the tanh of 16 steps.
    Conditional branches are not taken."""
    at = {one.pc: i for i, one in enumerate(code)}
    back = [(one.target, one.pc) for one in code if one.target is not None and one.target < one.pc]
    inner = [one for one in back if not any(o != one and one[0] <= o[0] and o[1] <= one[1] for o in back)]
    found = []
    for begin, end in inner:
        body, i = [], at[begin]
        while code[i].pc != end and len(body) < 5000:
            body.append(code[i])
            i = at[code[i].target] if code[i].target is not None and code[i].always and not code[i].diverges else i + 1
        if 100 <= len(body) < 5000:
            found.append(body + [code[i]])
    run = []
    for one in code:
        if one.name in ("BAR", "EXIT", "RET") or one.target is not None:
            if count(run, "MUFU") >= 128:
                found.append(run)
            run = []
        else:
            run.append(one)
    return found


def count(body, name):
    return sum(one.name == name for one in body)


def simulate(streams, repeats=12):
    """Cycles that a scheduler takes for one pass of all `streams`, a warp each, that repeat their instructions.

    One instruction a cycle, the next ready warp in turn. A warp issues in order, after the stall cycles and scoreboards
    of its control words. Each pipe takes 1, 2 or 8 cycles an instruction; memory instructions queue 4 cycles apart,
    since four schedulers share the unit, and accesses of 16 bytes to shared memory 16. Left out: misses of the
    instruction cache, bank conflicts of registers and shared memory, waits for global memory and barriers, all code
    outside of the loops, the L2's other users."""
    warps = [{"next": 0, "ready": 0, "board": [[] for _ in range(6)], "passes": [], "code": one} for one in streams]
    free, cycle, last, queue, issued = collections.defaultdict(int), 0, 0, 0, 0
    while min(len(w["passes"]) for w in warps) < repeats:
        soonest = []
        for turn in range(1, len(warps) + 1):
            index = (last + turn) % len(warps)
            warp = warps[index]
            one = warp["code"][warp["next"]]
            pipe, occupied = PIPES.get(one.name, ("integer", 2))
            waits = [time for b in range(6) if one.waits >> b & 1 for time in warp["board"][b]]
            ready = max([warp["ready"], free[pipe], *waits])
            if ready > cycle:
                soonest.append(ready)
                continue
            free[pipe], delay = cycle + occupied, 0
            if pipe == "memory":
                delay, queue = max(0, queue - cycle), max(queue, cycle) + 4 * one.words
            for board, latency in ((one.sets, LATENCY.get(one.name, 20)), (one.frees, 8 if pipe == "special" else 12)):
                if board < 6:
                    waited = [time for time in warp["board"][board] if time > cycle]
                    warp["board"][board] = waited + [cycle + latency + delay]
            warp["next"] = (warp["next"] + 1) % len(warp["code"])
            jumps = warp["next"] == 0 or one.target is not None and one.target == warp["code"][warp["next"]].pc
            warp["ready"] = cycle + one.stall + (JUMP if jumps else 0)
            if warp["next"] == 0:
                warp["passes"].append(cycle)
            last, issued = index, issued + 1
            break
        else:
            cycle = min(soonest)
            continue
        cycle += 1
    rate = sum((len(w["passes"]) - 2) / (w["passes"][-1] - w["passes"][1]) for w in warps) / len(warps)
    return 1 / rate


class Kernel:
    """The whole-segment loops of a kernel, as instructions of one step: `replay` and `reverse`, or `steps`."""

    def __init__(self, root, variant, settings, folder):
        bodies = loops(decode(build(root, variant, settings, folder)))
        steps_of = lambda body, each: max(1, round(count(body, "MUFU") / each))
        split = "split" in variant or "half" in variant
        each = (int(settings.get("COLUMNS", 8)) if split else 32)
        with_tanh = [b for b in bodies if count(b, "MUFU") >= each]
        self.replay = max(with_tanh, key=lambda b: (steps_of(b, each), -len(b))) if with_tanh else None
        self.replay_steps = steps_of(self.replay, each)
        self.reverse, self.reverse_steps = None, 1
        if variant.startswith("e88_backward"):
            without = [b for b in bodies if count(b, "MUFU") == 0 and count(b, "FFMA") >= 40]
            unroll = max(1, round(max(count(b, "FFMA") for b in without) / (48 if split else 256)))
            self.reverse = min((b for b in without if count(b, "FFMA") >= 40 * unroll), key=len)
            self.reverse_steps = unroll

    def slots(self):
        return len(self.replay) / self.replay_steps + (len(self.reverse) / self.reverse_steps if self.reverse else 0)

    def special(self):
        return 8 * count(self.replay, "MUFU") / self.replay_steps

    def alone(self):
        """Cycles a step where a warp has the scheduler for itself: its chain."""
        found = [simulate([self.replay]) / self.replay_steps]
        return found + ([simulate([self.reverse]) / self.reverse_steps] if self.reverse else [])

    def together(self, warps):
        """Cycles a step of a scheduler with so many warps; 'roles' has one that replays and one that reverses."""
        if self.reverse is None:
            return simulate([self.replay] * warps) / self.replay_steps
        if warps == "roles":
            both = [self.replay * self.reverse_steps, self.reverse * self.replay_steps]
            return simulate(both) / (self.replay_steps * self.reverse_steps)
        return simulate([self.replay + self.reverse, self.reverse + self.replay] * (warps // 2))


# (what, settings, workload, warps of a scheduler, steps in a row, recorded ms or None, the row it is scaled by)
ROWS = [
    ("e88_forward/cuda_best", {"SEQUENCES": "1"}, "b16_t512_h83_n32", 3, 512, 0.309, None),
    ("e88_forward/cuda_best", {"SEQUENCES": "1"}, "b1_t16384_h83_n32", 1, 16384, 4.18, None),
    ("e88_forward/before_split_warps", {"COLUMNS": "8"}, "b1_t16384_h83_n32", 1, 16384, 2.05, None),
    ("e88_backward/before_time_slices", {}, "b16_t512_h83_n32", 2, 644, 0.796, None),
    ("e88_backward/before_grouped_refilled", {}, "b8_t512_h386_n32", 2, 1536, 1.757, None),
    ("e88_backward/before_split_warps", {"UNROLL": "4"}, "b1_t16384_h83_n32", "roles", 16384, 3.98, None),
    ("e88_backward/before_split_warps", {"UNROLL": "4"}, "b4_t2048_h84_n32", "roles", 6144, 1.51, None),
    ("e88_forward/before_half_sequences", {"COLUMNS": "16"}, "b16_t512_h83_n32", 4, 644, 0.304, None),
    ("e88_forward/cuda_split_warps", {"UNROLL": "4"}, "b1_t16384_h83_n32", 1, 16384, 1.91, None),
    ("e88_forward/cuda_split_warps", {"UNROLL": "16"}, "b1_t16384_h83_n32", 1, 16384, 1.902, None),
    ("e88_backward/cuda_time_slices", {}, "b16_t512_h83_n32", 2, 644, 0.754, None),
    ("e88_backward/cuda_grouped_refilled", {}, "b8_t512_h386_n32", 2, 1536, 1.686, None),
    ("e88_forward/cuda_half_sequences", {"COLUMNS": "16"}, "b16_t512_h83_n32", 4, 644, None, 7),
    ("e88_forward/cuda_half_sequences", {"COLUMNS": "16", "BLOCKS": "10"}, "b16_t512_h83_n32", 5, 516, None, 7),
    ("e88_backward/cuda_split_warps", {"UNROLL": "4"}, "b1_t16384_h83_n32", "roles", 16384, None, 5),
    ("e88_backward/cuda_split_warps", {"UNROLL": "8"}, "b1_t16384_h83_n32", "roles", 16384, None, 5),
    ("e88_backward/cuda_split_warps", {"UNROLL": "4"}, "b4_t2048_h84_n32", "roles", 6144, None, 6),
    ("e88_backward/cuda_split_slices", {"UNROLL": "4"}, "b4_t2048_h84_n32", "roles", 5360, None, 6),
]


def label(variant, settings):
    return variant + (f"[{','.join(f'{key}={value}' for key, value in settings.items())}]" if settings else "")


def table(folder):
    with tarfile.open(f"{ROOT}/experiments/nvidia-h200/e88_leaders.tar.xz") as leaders:
        leaders.extractall(f"{folder}/variants")
    print("| kernel | workload | issue slots a step | tanh cycles a step | alone | together | model, ms | recorded, "
          "ms | off | *predicted*, ms |\n|---|---|---|---|---|---|---|---|---|---|")
    modelled = []
    for variant, settings, workload, warps, steps, recorded, leader in ROWS:
        kernel = Kernel(folder if "/before_" in variant else ROOT, variant, settings, folder)
        together = kernel.together(warps)
        modelled.append(1e3 * together * steps / CLOCK)
        off = f"{recorded / modelled[-1]:.2f}x" if recorded else ""
        predicted = "" if leader is None else f"{modelled[-1] * ROWS[leader][5] / modelled[leader]:.3g}"
        print(f"| `{label(variant, settings)}` | {workload} | {kernel.slots():.0f} | {kernel.special():.0f} |"
              f" {' + '.join(f'{one:.0f}' for one in kernel.alone())} | {together:.0f} ({warps}) | {modelled[-1]:.3g} |"
              f" {recorded or ''} | {off} | {predicted} |", flush=True)


def main():
    with tempfile.TemporaryDirectory() as folder:
        if len(sys.argv) == 1:
            table(folder)
            return
        variant, settings = re.fullmatch(r"([^[]+)(?:\[(.*)\])?", sys.argv[1]).groups()
        given = dict(one.split("=") for one in (settings or "").split(",") if one)
        for body in loops(decode(build(ROOT, variant, given, folder))):
            print(f"{body[0].pc:#x}..{body[-1].pc:#x}: {len(body)} instructions, alone {simulate([body]):.0f} cycles,"
                  f" two warps {simulate([body] * 2):.0f}:",
                  dict(collections.Counter(one.name for one in body).most_common()))


main()
