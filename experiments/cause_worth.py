#!/usr/bin/env python3
"""experiments/cause_worth.py - what mending a planted defect gave, beside what its first cause was said to be worth.

Reads the profiles of experiments/nvidia-h200/profiles/planted-defects.db, needs a built checkout and no GPU, and prints a markdown
table of the kernels of tests/zoo/profile that have a twin without a defect: `mended` is the kernel's time over that of the fastest
such twin, and the last column is the logarithm of that over the logarithm of the worth. APO names the program (default: that of
build/release/bin).
"""
import json
import math
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import tempfile

HOME = pathlib.Path(__file__).resolve().parent.parent
APO = os.environ.get("APO", str(HOME / "build/release/bin/apo"))
FAMILIES = [word for path in (HOME / "tests/zoo/profile/families").glob("*.h") for word in ("--families", str(path))]


def profiles():
    """The planted defect ("none" without one) and the recorded profile of each kernel."""
    with tempfile.TemporaryDirectory() as folder:
        own = pathlib.Path(folder) / ".apo"
        (own / "variants").mkdir(parents=True)
        shutil.copy(HOME / "experiments/nvidia-h200/profiles/planted-defects.db", own / "journal.db")
        for path in sorted((HOME / "tests/zoo/profile").glob("*.cu")):
            shutil.copy(path, own / "variants")
            text = path.read_text()
            name = re.search(r"apo:variant\s+(\S+)", text)[1]
            words = [APO, "profile", name, "--recorded", "--json", *FAMILIES]
            environment = dict(os.environ, APO_HOME=str(HOME), APO_JOURNAL="", APO_CACHE="")
            answer = subprocess.run(words, cwd=folder, env=environment, text=True, capture_output=True, check=True)
            yield re.search(r"zoo: expect (\S+)", text)[1], json.loads(answer.stdout)


def main():
    all_profiles = list(profiles())
    clean = {}
    for planted, profile in all_profiles:
        if planted == "none":
            place = (profile["configuration"]["variant"].split("/")[0], profile["workload"])
            clean[place] = min(clean.get(place, math.inf), profile["time_ns"])
    print("| kernel | first cause | worth about | mended | of the floor's bound | log mended / log worth |\n|---|---|---|---|---|---|")
    parts = []
    for planted, profile in all_profiles:
        family, name = profile["configuration"]["variant"].split("/")
        causes = [one for one in profile["bottlenecks"] if one["kind"] == "cause"]
        if planted == "none" or not causes or (family, profile["workload"]) not in clean:
            continue
        mended = profile["time_ns"] / clean[family, profile["workload"]]
        worth = causes[0]["bound"]
        parts.append(math.log(mended) / math.log(worth))
        floor = profile["time_ns"] / profile["floor_ns"]
        print(f"| {name} | {causes[0]['name']} | {worth:.2f}x | {mended:.2f}x | {floor:.2f}x | {parts[-1]:.2f} |")
    print(f"\n{len(parts)} kernels, median {statistics.median(parts):.2f}, {min(parts):.2f} to {max(parts):.2f}")


main()
