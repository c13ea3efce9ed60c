#!/usr/bin/env python3
"""Judges public claims of performance: each kernel against the yardstick of the claim, a row of a table each.

    python3 experiments/court_claims.py BUNDLE OUT --clones FOLDER [--only NAME ...] [--part check|time] [--budget 540]
    python3 experiments/court_claims.py --dry-run [--only NAME ...]
    python3 experiments/court_claims.py --pack ARCHIVE.tar.xz --clones FOLDER
    python3 experiments/court_claims.py --table

BUNDLE is from bundle.sh. The claims are those of experiments/court/claims.json; FOLDER has clones of their
repositories, each at the commit that stands there, or what --pack took from these. Nothing is fetched. First all
families and variants are registered and built, side by side: correctness is what that finds. Then one comparison after
the other is timed, by the rule `standard`, for at most --seconds each; what --budget leaves no time for is not
judged. --part takes one of the two alone: `check` needs CPUs, `time` a GPU that nobody else uses.
A claim that fails in any way is a row that says so. Rows are printed as they come, and written to OUT/claims.md and
OUT/claims.json; what the commands said is in OUT/NAME.log.
"""
import argparse
import concurrent.futures
import csv
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import time
from pathlib import Path

import court

CLAIMS = court.COURT / "claims"
BAND = 0.03  # a published figure is one run's: what is so near to it is that figure
PYTORCH = re.compile(r"(?m)^[ \t]*#[ \t]*include[ \t]*<(torch|ATen|c10|pybind11)/[^>]*>.*$")
YARDSTICK = "yardstick"  # its variant's name
LATE = "no answer within"
PASSED = ("valid", "skipped", "not checked")
NO_FINDING = {False: "no finding", True: "no finding in timed calls"}
COLUMNS = ("claim", "source", "claimed", "verdict", "measured", "correctness", "differs")


def verdict_of(figure, lower, upper):
    """What an interval of the ratio yardstick / candidate says of a published figure."""
    if abs(figure - 1) <= BAND:
        apart = upper < 1 - BAND or lower > 1 + BAND
        near = 1 - BAND <= lower and upper <= 1 + BAND
        return "does not hold" if apart else "holds" if near else "undecided"
    reached = figure * (1 - BAND)
    if figure < 1:
        return "holds" if lower >= reached else "does not hold" if upper < reached else "undecided"
    if lower <= 1:
        return "undecided" if upper >= reached else "does not hold"
    return "holds" if upper >= reached else "holds in part"


# ---------------------------------------------------------------- what is brought: a file a side


def clone_text(clones, side):
    """Of the author's file, or of a row of the author's table that holds it."""
    if "row" not in side:
        return (clones / side["kernel"]).read_text()
    csv.field_size_limit(1 << 30)
    with open(clones / side["kernel"], newline="") as file:
        return next(row["Code"] for row in csv.DictReader(file) if row["task_name"] == side["row"])


def written(side, name, folder, clones):
    """Writes the file of a side into the folder, with what it includes, and the lines of its block on top; its path."""
    suffix = Path(side.get("own") or side["file"]).suffix
    mark = "#" if suffix == ".py" else "//"
    head = [f"{mark} apo:{line}" for line in side.get("lines", [])]
    head += [f"{mark} apo:function {side['function']}"] if "function" in side else []
    text = ""
    if "own" in side:
        for header in (CLAIMS / side["own"]).parent.glob("*.h"):
            shutil.copy(header, folder)
        text = (CLAIMS / side["own"]).read_text()
    elif suffix == ".py":
        text = re.sub(side.get("without", r"(?!)"), "", (clones / side["file"]).read_text())
        text += (CLAIMS / side["append"]).read_text()
    else:
        shutil.copytree((clones / side["file"]).parent, folder, dirs_exist_ok=True)
        text = f'#include "{Path(side["file"]).name}"\n'
    if "kernel" in side:  # PyTorch's headers are tensor.h
        (folder / "kernel.cu").write_text(PYTORCH.sub('#include "tensor.h"', clone_text(clones, side)))
    head += [f"{mark} apo:include {(clones / one).resolve()}" for one in side.get("headers", [])]
    path = folder / f"{name}{suffix}"
    path.write_text("".join(line + "\n" for line in head) + text)
    return path


def sides(claim):
    """Name, what is brought; the yardstick first, so that it is the family's baseline."""
    return [(YARDSTICK, claim["yardstick"]), (claim["name"].replace("-", "_"), claim["candidate"])]


def is_wrong(correctness):
    return re.search(r"(^|; )wrong: ", correctness) is not None


def family_file(claim):
    own, of_court = (folder / "families" / f"{claim['family']}.h" for folder in (CLAIMS, court.COURT))
    return own if own.exists() else of_court


def commands(claim):
    """What is run for a claim, for people: words of apo."""
    yield ["register", family_file(claim).name]
    for name, side in sides(claim):
        suffix = Path(side.get("own") or side["file"]).suffix
        yield ["register", "--family", claim["family"], f"{name}{suffix}"]
    yield ["compare", *(f"{claim['family']}/{name}" for name, _ in sides(claim)), *timing(claim)]


def timing(claim):
    cache = claim.get("cache", "cold")  # as the claim's own timing leaves it
    return ["--workload", claim["workload"], "--skip-correctness", "--judge", "standard", "--cache", cache]


# ---------------------------------------------------------------- judging


def answer_of(said):
    """The JSON document of a command; {} where there is none."""
    start = said.find("{\n")
    try:
        return json.JSONDecoder().raw_decode(said[start:])[0] if start >= 0 else {}
    except ValueError:
        return {}


class Sitting:
    def __init__(self, options):
        self.options, self.out, self.clones = options, options.out.resolve(), options.clones.resolve()
        self.program = str(options.bundle.resolve() / "apo")
        self.begin, self.rows = time.monotonic(), []
        self.names = {}  # of variants, by claim and side

    def left(self):
        return self.options.budget - (time.monotonic() - self.begin)

    def apo(self, claim, limit, *words):
        """Runs the program in the claim's folder. Its JSON answer, {} where there is none, and its last line."""
        options = argparse.Namespace(program=self.program, limit=limit, memory=False)
        done = court.Measured(options, str(self.out / claim["name"]), [*words, "--json"])
        with open(self.out / f"{claim['name']}.log", "a") as log:
            log.write(f"$ apo {' '.join(words)}\n{done.said}\n{done.ended.strip()} {done.seconds:.1f} s\n\n")
        lines = [line for line in done.said.splitlines() if line.strip()]
        last = f"{LATE} {limit:.0f} s" if "limit" in done.ended else lines[-1] if lines else "no answer"
        answer = answer_of(done.said)
        return answer, answer.get("error", last)

    def register(self, claim, name, path, *more):
        """Whether it is registered, the answer, and its last line."""
        words = ["register", "--family", claim["family"], str(path), *more]
        answer, last = self.apo(claim, self.options.build, *words)
        self.names[claim["name"], name] = answer.get("variant")
        return answer.get("state") == "registered", answer, last

    def checked(self, claim, name, side, folder):
        """Registers the candidate as its checks let it; what these found, "" for nothing. Raises ValueError."""
        found, side = [], dict(side)
        for _ in range(4):
            path = written(side, name, folder, self.clones)
            is_registered, answer, last = self.register(claim, name, path)
            if is_registered:
                return "; ".join(found)
            failed = next((gate for gate in answer.get("gates", []) if gate["outcome"] not in PASSED), None)
            if failed is None and last.startswith(LATE):
                found.append(f"not checked: {last}")
                break
            if failed is None or failed["gate"] in ("metadata", "build"):
                raise ValueError(failed["evidence"] if failed else last)
            line = re.search(r"write the line 'apo:(requires [^']+)'", failed["evidence"])
            found.append((f"right only with {line[1]}: " if line else "wrong: ") + failed["evidence"])
            if line is None:
                break
            side["lines"] = [*side.get("lines", []), line[1]]
        is_registered, answer, last = self.register(claim, name, path, "--no-verify")
        if not is_registered:
            raise ValueError(last)
        return "; ".join(found)

    def prepare(self, claim, tuned):
        """Registers family and sides, and builds these for the workload. What the checks of the candidate found."""
        if "not_repeatable" in claim:
            raise ValueError(claim["not_repeatable"])
        folder = self.out / claim["name"]
        folder.mkdir(parents=True, exist_ok=True)
        family = family_file(claim)
        for file in family.parent.glob("*.py"):
            shutil.copy(file, folder)
        answer, last = self.apo(claim, self.options.build, "register", str(shutil.copy(family, folder)))
        if "family" not in answer:
            raise ValueError(last)
        correctness = ""
        for name, side in sides(claim):
            place = folder / name
            place.mkdir(exist_ok=True)
            trusted = name == YARDSTICK or side.get("trusted") or self.options.part == "time"
            if trusted:  # its timed calls alone are checked
                path = written(side, name, place, self.clones)
                is_registered, _, last = self.register(claim, name, path, "--no-verify")
                if not is_registered:
                    raise ValueError(last)
            else:
                correctness = self.checked(claim, name, side, place)
        for name, _ in sides(claim) if self.options.part != "check" else []:
            of = [self.label(claim, name, tuned), "--target", "cuda", "--workload", claim["workload"]]
            self.apo(claim, self.options.build, "bench", *of, "--benchmark_min_time=0.01")
        return correctness

    def label(self, claim, name, tuned):
        """With the setting of a library that was tuned for the size. Raises what kept it from being tuned."""
        settings = tuned.result()[claim["name"]] if "tuned" in claim and name == YARDSTICK else ""
        return self.names[claim["name"], name] + settings

    def choose(self, claims):
        """The fastest of cuBLASLt's ways for each size: {name of the claim: settings}."""
        wanted = {claim["name"]: claim["tuned"] for claim in claims if "tuned" in claim}
        if not wanted:
            return {}
        program = self.out / "choose"
        subprocess.run(["nvcc", "-O2", "-o", program, CLAIMS / "peers/cublaslt_choose.cu", "-lcublasLt"], check=True)
        sizes = [program, *wanted.values()]
        said = subprocess.run(sizes, check=True, text=True, stdout=subprocess.PIPE, timeout=60).stdout
        (self.out / "choose.log").write_text(said)
        of_size = {line.split()[0]: line.split() for line in said.splitlines()}
        return {name: "[TRANSPOSED={},TENS={},ONES={}]".format(of_size[size][1], *divmod(int(of_size[size][2]), 10))
                for name, size in wanted.items()}  # fmt: skip

    def judge(self, claim, correctness, tuned):
        """Times a claim whose sides are registered: its verdict and what was measured."""
        if self.options.part == "check":
            return ("wrong" if is_wrong(correctness) else "right"), "not timed"
        limit = min(claim.get("seconds", self.options.seconds), self.left())
        if limit < 3:
            return "not judged", f"the {self.options.budget:.0f} s of the sitting were over"
        names = [self.label(claim, name, tuned) for name, _ in sides(claim)]
        answer, last = self.apo(claim, limit, "compare", *names, *timing(claim))
        judged = answer.get("judgement") or {}
        if not judged.get("lower") or not judged.get("upper"):
            is_incorrect = is_wrong(correctness) or answer.get("outcome") == "incorrect"
            failed = [gate["evidence"] for gate in answer.get("gates", []) if gate["outcome"] not in PASSED]
            return "wrong" if is_incorrect else "not judged", "; ".join(failed) or judged.get("sentence", last)
        measured = (f"{judged['speedup']:.3f}x [{judged['lower']:.3f}, {judged['upper']:.3f}], "
                    f"{judged['incumbent_ns'] / 1e3:.1f} us -> {judged['candidate_ns'] / 1e3:.1f} us, "
                    f"{judged['rounds']} rounds, {judged['verdict']} ({judged['reason']})")  # fmt: skip
        verdict = verdict_of(claim["figure"], judged["lower"], judged["upper"])
        return f"wrong (its figure: {verdict})" if is_wrong(correctness) else verdict, measured

    def add(self, claim, verdict, measured, correctness):
        self.rows.append({"name": claim["name"], "verdict": verdict, "measured": measured, "correctness": correctness,
                          "claim": claim})  # fmt: skip
        none = "" if verdict == "not judged" else NO_FINDING[claim["candidate"].get("trusted", False)]
        line = row_of(claim, verdict, measured, correctness or none)
        print(line, flush=True)
        with open(self.out / "claims.md", "a") as table:
            table.write(line + "\n")
        (self.out / "claims.json").write_text(json.dumps(self.rows, indent=1))

    def run(self, claims):
        self.out.mkdir(parents=True, exist_ok=True)
        (self.out / "claims.md").write_text(head() + "\n")
        print(head(), flush=True)
        ready = {}
        with concurrent.futures.ThreadPoolExecutor(self.options.jobs) as pool:
            tuned = pool.submit(self.choose, claims)
            for claim in claims:
                ready[claim["name"]] = pool.submit(self.prepare, claim, tuned)
        for claim in claims:
            correctness = ""
            try:
                correctness = ready[claim["name"]].result()
                self.add(claim, *self.judge(claim, correctness, tuned), correctness)
            except (OSError, LookupError, ValueError, subprocess.SubprocessError) as failure:
                self.add(claim, "not judged", str(failure), correctness)


# ---------------------------------------------------------------- tables, lists and the archive


def head():
    return "| " + " | ".join(COLUMNS) + " |\n" + "|---" * len(COLUMNS) + "|"


def row_of(claim, verdict, measured, correctness):
    cells = (claim["name"], claim["source"], claim["claim"], verdict, measured, correctness, claim["differs"])
    return "| " + " | ".join(" ".join(cell.replace("|", "/").split())[:600] for cell in cells) + " |"


def files_of(claim):
    """What of the clones a claim needs: files, and folders with all that they hold."""
    for _, side in sides(claim):
        if "file" in side:
            yield side["file"] if side["file"].endswith(".py") else str(Path(side["file"]).parent)
        if "kernel" in side:
            yield side["kernel"]
        yield from side.get("headers", [])
        yield from side.get("needs", [])


def pack(archive, clones, claims):
    wanted = sorted({path for claim in claims if "not_repeatable" not in claim for path in files_of(claim)})
    repositories = {clones / path.split("/")[0] for path in wanted}
    wanted += sorted(str(file.relative_to(clones)) for one in repositories for file in one.glob("LICENSE*"))
    with tarfile.open(archive, "w:xz") as packed:
        for path in wanted:
            packed.add(clones / path, path, filter=lambda one: None if "__pycache__" in one.name else one)
    print(f"{archive}: {len(wanted)} files and folders, {os.path.getsize(archive) / 2**20:.2f} MiB")


def prepend(variable, *folders):
    folders = [str(folder.resolve()) for folder in folders]
    os.environ[variable] = ":".join([*folders, *filter(None, [os.environ.get(variable)])])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bundle", type=Path, nargs="?")
    parser.add_argument("out", type=Path, nargs="?", help="new or empty")
    parser.add_argument("--clones", type=Path, metavar="FOLDER")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="claims whose name begins so")
    parser.add_argument("--seconds", type=float, default=25, help="of a comparison")
    parser.add_argument("--budget", type=float, default=540, help="seconds of all")
    parser.add_argument("--part", choices=("check", "time"), help="default: both")
    parser.add_argument("--build", type=float, default=120, help="seconds of one registration")
    parser.add_argument("--jobs", type=int, default=12, help="claims that are registered side by side")
    parser.add_argument("--dry-run", action="store_true", help="only list the commands")
    parser.add_argument("--table", action="store_true", help="only print the table, not judged")
    parser.add_argument("--pack", metavar="ARCHIVE", help="only pack what of the clones is needed")
    options = parser.parse_args()
    claims = json.loads((court.COURT / "claims.json").read_text())
    claims = [one for one in claims if not options.only or one["name"].startswith(tuple(options.only))]
    if options.dry_run:
        for claim in claims:
            print(f"# {claim['name']}: {claim.get('not_repeatable', claim['claim'])}")
            for words in [] if "not_repeatable" in claim else commands(claim):
                print("apo " + " ".join(words))
        return 0
    if options.table:
        print(head())
        for claim in claims:
            print(row_of(claim, "not judged yet", "", ""))
        return 0
    if options.clones is None:
        parser.error("--clones FOLDER: where the clones are")
    if options.pack:
        pack(options.pack, options.clones.resolve(), claims)
        return 0
    if options.out is None:
        parser.error("BUNDLE OUT: a folder of bundle.sh, and a new one for the results")
    os.environ["APO_CACHE"] = str(options.out.resolve() / "cache")  # many claims share a family
    prepend("LD_LIBRARY_PATH", options.bundle / "lib")
    prepend("PYTHONPATH", options.clones / "Liger-Kernel/src", options.clones / "quack")
    Sitting(options).run(claims)
    return 0


if __name__ == "__main__":
    sys.exit(main())
