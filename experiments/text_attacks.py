#!/usr/bin/env python3
"""experiments/text_attacks.py - every text of tests/zoo/text through `apo evaluate --stream` or as a proposal of `apo run`.

Prints a markdown table and ends with 1 where an outcome is not the one that the file expects, or where a text of
/etc/passwd got into an answer, the journal or a report. APO names the program (default: build/release/bin/apo).
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

HOME = pathlib.Path(__file__).resolve().parent.parent
APO = os.environ.get("APO", str(HOME / "build/release/bin/apo"))
ZOO = HOME / "tests/zoo/text"
SECRET = "root:x:0"
MOST = 150  # characters of an answer that a cell shows


def apo(folder, words, text=""):
    environment = dict(os.environ, APO_HOME=str(HOME), APO_JOURNAL="", APO_CACHE="")
    return subprocess.run([APO, *words], cwd=folder, env=environment, text=True, input=text, capture_output=True).stdout


def sources(folder):
    """Name, expected verdict, verdict and feedback of each source."""
    files = [path for path in sorted(ZOO.iterdir()) if path.suffix != ".json"]
    lines, expected = [], []
    for path in files:
        own = path.read_text().splitlines()
        expected.append(next(line[len("// zoo: expect ") :] for line in own if line.startswith("// zoo: expect ")))
        text = "\n".join(line for line in own if not line.startswith("// zoo: ")) + "\n"
        lines.append(json.dumps({"source": text, "extension": path.suffix, "judge": "quick"}))
    answers = apo(folder, ["evaluate", "--stream", "-q", "--family", "copy", "--workload", "n4k"], "\n".join(lines) + "\n")
    for path, wanted, line in zip(files, expected, answers.splitlines(), strict=True):
        answer = json.loads(line)
        yield path.name, wanted, answer["verdict"], answer["feedback"][0]


def proposals(folder):
    """Name, expected state, state and reason of each proposal."""
    files = [path for path in sorted(ZOO.iterdir()) if path.suffix == ".json"]
    texts = [json.loads(path.read_text()) for path in files]
    (folder / "answer").write_text("".join(json.dumps(text["line"]) + "\n" for text in texts))
    words = ["run", "copy", "--workload", "n4k", "--iterations", "1", "--candidates", "1", "--proposals", "40"]
    call = json.loads(apo(folder, [*words, "--proposer", "cat answer", "--json"]))["proposer_calls"][0]
    for path, text, proposal in zip(files, texts, call["proposals"], strict=True):
        shown = proposal["why"] or "named " + proposal["configuration"]["variant"]
        yield path.name, text["expect"], proposal["state"], shown


def cell(text):
    text = " ".join(text.split()).replace("|", "\\|")
    text = text if len(text) <= MOST else text[:MOST] + "..."
    return "`" + text.replace("`", "'") + "`"  # what an author wrote stays code


def main():
    failed = 0
    print("| text | outcome | as expected | what the answer says |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for text, expected, outcome, says in [*sources(folder), *proposals(folder)]:
            says = says.replace(f"{folder}/", "")
            failed += outcome != expected or SECRET in says
            print(f"| {text} | {outcome} | {'yes' if outcome == expected else 'NO: ' + expected} | {cell(says)} |")
        reports = [apo(folder, ["report", "--format", form, "--output", "-"]) for form in ("json", "html", "markdown")]
        leaks = sum(SECRET in report for report in reports)
        leaks += sum(SECRET.encode() in path.read_bytes() for path in folder.rglob("*") if path.is_file())
        ran = any(path.name == "owned" for path in folder.rglob("*"))
    print(f"\nFiles of the working folder and reports with a text of /etc/passwd: {leaks}. A shell has run a text: {'yes' if ran else 'no'}.")
    return 1 if failed or leaks or ran else 0


if __name__ == "__main__":
    sys.exit(main())
