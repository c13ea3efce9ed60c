#!/usr/bin/env python3
"""Brings published operations to an empty journal as a new user does, and measures each command.

    python3 experiments/court.py [--limit 120] [--only TEXT] [--long | --clones FOLDER --out OUT] PROGRAM[@HOME]

The families and host variants are those of experiments/court. Prints a row of a markdown table for each family: of the
registration, the check, the first and the second `apo try` of its variants, and a verification of the first one, each
as wall seconds / CPU seconds / peak MiB of all its processes, and how it ended where that was not 0. HOME holds the
program's kernels and variants, where they are not this tree's. What commands print goes to stderr. With --clones the
variants are files of their authors, on a GPU: FOLDER has clones of llm.c and SGEMM_CUDA, experiments/court/authors.txt
says which functions of which files are brought and with which lines, the second column counts these lines, and each
file has one `apo try`. What became of each function is a second table, and OUT/FAMILY.db the journal. With --long the
operations are those of experiments/court/long, whose calls take seconds: each of their files is a command of its own,
the first one `apo register`.
"""
import argparse
import json
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
COURT = HERE / "court"
LONG = COURT / "long"


def cpu_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def tree_of(root):
    """The process and all that descend from it."""
    children = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                fields = pathlib.Path(f"/proc/{entry}/stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue  # it has ended
            children.setdefault(int(fields[1]), []).append(int(entry))
    found = [root]
    for process in found:
        found += children.get(process, [])
    return found


def memory_of(root):
    """KiB that the process and its descendants hold; pages that several share count once (PSS)."""
    total = 0
    for process in tree_of(root):
        try:
            found = re.search(r"\nPss:\s+(\d+)", pathlib.Path(f"/proc/{process}/smaps_rollup").read_text())
            total += int(found[1]) if found else 0
        except OSError:
            continue  # it has ended
    return total


class Measured:
    """One command: what it said, how it ended, and what it took."""

    def __init__(self, options, folder, words):
        program, _, home = options.program.partition("@")
        program = os.path.abspath(program)
        begin, cpu = time.monotonic(), cpu_seconds()
        self.peak, self.ended = 0, ""
        with tempfile.TemporaryFile("w+") as output:
            process = subprocess.Popen([program, *words, "--quiet", "--journal", f"{folder}/journal.db"], cwd=folder,
                                       env=dict(os.environ, APO_HOME=home or str(HERE.parent)), stdout=output,
                                       stderr=subprocess.STDOUT)
            while process.poll() is None:
                self.peak = max(self.peak, memory_of(process.pid) if options.memory else 0)
                if time.monotonic() - begin > options.limit:
                    process.terminate()
                    process.wait()
                    self.ended = " **limit**"
                    break
                time.sleep(0.2)
            output.seek(0)
            self.said = output.read()
        self.ended = self.ended or (f" exit {process.returncode}" if process.returncode != 0 else "")
        self.seconds, self.cpu = time.monotonic() - begin, cpu_seconds() - cpu

    def cell(self):
        return f"{self.seconds:.1f} / {self.cpu:.1f} / {self.peak / 1024:.0f}{self.ended}"


def host_variants(name, folder):
    """The words of each `apo try`, and what they are; the first file is right."""
    first = COURT / "variants" / f"{name}_plain.cpp"
    others = sorted(set((COURT / "variants").glob(f"{name}_*.cpp")) - {first})
    return [[shutil.copy(file, folder) for file in [first, *others]]], f"{1 + len(others)} files"


def variants_of_authors(clones, name, folder):
    """The same for files of their authors, which are copied with all that lies beside them."""
    tries, lines = [], 0
    for row in (COURT / "authors.txt").read_text().splitlines():
        family, _, rest = row.partition(" | ")
        if row.startswith("#") or family != name:
            continue
        file, functions, own = (part.strip() for part in rest.split("|"))
        author = pathlib.Path(clones) / ("llm.c/dev/cuda" if file.startswith("adapters/") else os.path.dirname(file))
        shutil.copytree(author, folder, dirs_exist_ok=True)
        if file.startswith("adapters/"):
            lines += len((COURT / file).read_text().splitlines())
            shutil.copy(COURT / file, folder)
        words = [str(pathlib.Path(folder) / os.path.basename(file))]
        for function in functions.split("; "):
            words += ["--function", function]
            lines += " " in function
        for line in filter(None, own.split("; ")):
            lines += 1
            if line == "float":
                for source in pathlib.Path(folder).glob("*.cu"):
                    source.write_text(source.read_text().replace("#define ENABLE_BF16", ""))
            else:
                words += ["--line", line]
        tries.append(words)
    return tries, f"{lines} lines" if tries else "-"


def long_commands(family, folder):
    first, *others = sorted((LONG / "variants").glob(f"{family.stem}_*.cpp"), key=lambda file: "plain" not in file.name)
    return [["register", family.name], ["register", "--family", family.stem, shutil.copy(first, folder)],
            *(["try", family.stem, shutil.copy(file, folder)] for file in others)]


def commands_of(options, family, folder):
    """And what its variants are."""
    name = family.stem
    tries, described = host_variants(name, folder) if not options.clones else variants_of_authors(
        options.clones, name, folder)
    commands = [["register", family.name], ["family", "check", family.name]]
    commands += (1 if options.clones else 2) * [["try", name, *words] for words in tries]
    commands += [] if options.clones else [["verify", "--family", name, "--file", tries[0][0]]]
    return commands, described


def ladder_of(options, folder):
    """A row of a table for each function that was judged, or refused."""
    sql = ("SELECT candidate, verdict || ' (' || reason || ')', round(speedup, 3), round(lower, 3), round(upper, 3),"
           " incumbent, round(incumbent_ns / 1e3, 1), round(candidate_ns / 1e3, 1), sentence"
           " FROM experiments ORDER BY id")
    said = Measured(options, folder, ["query", "--json", "--sql", sql]).said
    for row in json.loads(said[said.find("{"):])["rows"]:
        name, verdict, ratio, lower, upper, incumbent, before, after, sentence = row
        measured = f"{ratio}x [{lower}, {upper}] over {incumbent}, {before} us -> {after} us" if ratio else sentence
        yield f"| {name} | {verdict} | {' '.join(measured.replace('|', '/').split())[:400]} |"


def row_of(options, family, folder):
    name = family.stem
    shutil.copy(family, folder)
    commands, described = (long_commands(family, folder), "3 files") if options.long else commands_of(
        options, family, folder)
    measured = []
    for words in commands:
        measured.append(Measured(options, folder, words))
        print(f"--- {name}: {' '.join(words)}\n{measured[-1].said}", file=sys.stderr, flush=True)
        if measured[0].ended:
            break  # the family is not known
    if options.clones and not measured[0].ended:
        options.ladder += ladder_of(options, folder)
        shutil.copy(f"{folder}/journal.db", pathlib.Path(options.out) / f"{name}.db")
    return " | ".join([name, described, *(each.cell() for each in measured)])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--limit", type=float, default=120, help="seconds that a command may take")
    parser.add_argument("--only", action="append", metavar="TEXT", help="families whose name has this text; may repeat")
    parser.add_argument("--clones", metavar="FOLDER", help="files of their authors, on a GPU")
    parser.add_argument("--out", metavar="OUT", default=".", help="a folder for their journals")
    parser.add_argument("--long", action="store_true", help="operations whose calls take seconds")
    parser.add_argument("program")
    parser.set_defaults(memory=True, ladder=[])
    options = parser.parse_args()
    columns = ["register", "register the first variant", "first verdict", "second verdict"] if options.long else [
        "register", "family check", "try", "try of a second file"] if options.clones else [
        "register", "family check", "first try", "second try", "verify"]
    print(f"Each cell: wall s / CPU s / peak MiB\n\n| family | variants | {' | '.join(columns)} |\n" +
          "|---" * (2 + len(columns)) + "|", flush=True)
    for family in sorted(((LONG if options.long else COURT) / "families").glob("*.h")):
        if any(text in family.stem for text in options.only or [""]):
            with tempfile.TemporaryDirectory() as folder:
                print(f"| {row_of(options, family, folder)} |", flush=True)
    print("\n".join(options.ladder and ["", "| function | verdict | |", "|---|---|---|", *options.ladder]))


if __name__ == "__main__":
    sys.exit(main())
