#!/usr/bin/env python3
"""Brings published operations to an empty journal as a new user does, and measures each command.

    python3 experiments/court.py [--limit 120] [--only TEXT] [--target host|cuda] [--clones FOLDER] PROGRAM[@HOME]

The families and host variants are those of experiments/court. Prints a row of a markdown table for each family: of the
registration, the check, the first and the second `apo try` of its host variants, and a verification, each as wall
seconds / CPU seconds / peak memory of all its processes, and how it ended where that was not 0. HOME holds the
program's kernels and variants, where they are not this tree's. With --target cuda the variants are files of their
authors: FOLDER has clones of llm.c, SGEMM_CUDA and DeepSeek-V3, and experiments/court/adapters the lines that each
needs besides; a column counts them.
"""
import argparse
import os
import pathlib
import resource
import shutil
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
COURT = HERE / "court"


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
    """Bytes that the process and its descendants hold; pages that several share count once (PSS)."""
    total = 0
    for process in tree_of(root):
        try:
            for line in pathlib.Path(f"/proc/{process}/smaps_rollup").read_text().splitlines():
                if line.startswith("Pss:"):
                    total += int(line.split()[1]) * 1024
        except OSError:
            continue
    return total


class Measured:
    def __init__(self, options, folder, words):
        program, _, home = options.program.partition("@")
        command = [program, *words, "--quiet", "--journal", f"{folder}/journal.db"]
        begin, cpu = time.monotonic(), cpu_seconds()
        self.peak, self.ended = 0, ""
        with tempfile.TemporaryFile("w+") as output:
            process = subprocess.Popen(command, cwd=folder, stdout=output, stderr=subprocess.STDOUT,
                                       env=dict(os.environ, APO_HOME=home or str(HERE.parent)))
            while process.poll() is None:
                self.peak = max(self.peak, memory_of(process.pid))
                if time.monotonic() - begin > options.limit:
                    process.terminate()
                    process.wait()
                    self.ended = " **limit**"
                    break
                time.sleep(0.2)
            output.seek(0)
            self.said = output.read()
        self.code = process.returncode
        self.ended = self.ended or (f" exit {self.code}" if self.code != 0 else "")
        self.seconds, self.cpu = time.monotonic() - begin, cpu_seconds() - cpu

    def cell(self):
        return f"{self.seconds:.1f} / {self.cpu:.1f} / {self.peak / 2**20:.0f}{self.ended}"


def adapter_lines(file):
    """Lines that are neither empty nor a comment, but those of the block count."""
    lines = [line.strip() for line in file.read_text().splitlines()]
    return sum(1 for line in lines if line and (not line.startswith(("//", "#")) or "apo:" in line or "#include" in line))


def variants_of(options, name, folder):
    """The variants' files in `folder`, the first of which is right, and the column that describes them."""
    if options.target == "host":
        files = [COURT / "variants" / f"{name}_plain.cpp"]
        files += sorted(set((COURT / "variants").glob(f"{name}_*.cpp")) - set(files))
        return [shutil.copy(file, folder) for file in files], f"{len(files)} files"
    adapters = sorted((COURT / "adapters").glob(f"{name}_*.c*")) + sorted((COURT / "adapters").glob(f"{name}_*.py"))
    for file in adapters:
        for line in file.read_text().splitlines():
            if "court: beside" in line:  # what the author's file needs, relative to the clones
                for one in line.split("court: beside")[1].split():
                    shutil.copy(pathlib.Path(options.clones) / one, folder)
    return [shutil.copy(file, folder) for file in adapters], ", ".join(str(adapter_lines(file)) for file in adapters)


def row_of(options, family, folder):
    name = family.stem
    shutil.copy(family, folder)
    files, described = variants_of(options, name, folder)
    words = [["register", family.name], ["family", "check", family.name], ["try", name, *files], ["try", name, *files],
             ["verify", "--family", name, "--file", *files[:1]]]
    measured = []
    for command in words if files else words[:2]:
        measured.append(Measured(options, folder, command))
        if command[0] == "try" and "register one" in measured[-1].said:  # a program that wants a baseline first
            baseline = Measured(options, folder, ["register", "--family", name, files[0]])
            again = Measured(options, folder, command)
            again.seconds, again.cpu = again.seconds + baseline.seconds, again.cpu + baseline.cpu
            measured[-1] = again
        if options.verbose or measured[-1].code != 0:
            print(f"--- {name}: {' '.join(command[:2])}\n{measured[-1].said}", file=sys.stderr, flush=True)
        if measured[0].code != 0:
            break  # the family is not known
    return [name, described] + [each.cell() for each in measured] + ["-"] * (5 - len(measured))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--limit", type=float, default=120, help="seconds that a command may take")
    parser.add_argument("--only", default="", metavar="TEXT", help="families whose name has this text")
    parser.add_argument("--target", choices=["host", "cuda"], default="host")
    parser.add_argument("--clones", default="clones", metavar="FOLDER")
    parser.add_argument("--verbose", action="store_true", help="print what each command says on stderr")
    parser.add_argument("program")
    options = parser.parse_args()
    print("Each cell: wall s / CPU s / peak MiB\n\n| family | variants | register | family check | first try | second "
          "try | verify |\n" + "|---" * 7 + "|", flush=True)
    for family in sorted((COURT / "families").glob("*.h")):
        if options.only in family.stem:
            with tempfile.TemporaryDirectory() as folder:
                print("| " + " | ".join(row_of(options, family, folder)) + " |", flush=True)


if __name__ == "__main__":
    sys.exit(main())
