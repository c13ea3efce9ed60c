# tests/project/documents_test.py - every command of README.md and docs/ runs, and what they mention exists.
#
# APO_PROGRAM=build/release/bin/apo python3 -B tests/project/documents_test.py [CLASS[.test]]: what ctest runs, a class each.
import functools
import os
import re
import shutil
import subprocess
import tempfile
import time
import unittest

CHECKOUT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROGRAM = os.path.abspath(os.environ.get("APO_PROGRAM", os.path.join(CHECKOUT, "build/release/bin/apo")))
PYTHON_WITH_TORCH = "/usr/bin/python3"
FOLDERS = ["docs", "examples/agent", "examples/e88_lm", "examples/pytorch_e88"]
# Pages whose commands need neither the journal nor the measured roofs of the pages before them.
PAGES_OF_THEIR_OWN = ["commands.md", "executor.md", "families.md", "tutorial-agents.md", "tutorial-cuda.md"]
# Commands that measure, or build for seconds.
JUDGING = {"bench", "compare", "evaluate", "family", "import", "register", "replay", "run", "scan", "selftest",
           "try", "verify"}


def pages():
    found = [os.path.join(folder, name) for top in FOLDERS for folder, _, names in os.walk(os.path.join(CHECKOUT, top))
             for name in names if name.endswith(".md")]
    return [os.path.join(CHECKOUT, "README.md")] + sorted(found)


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def lines_of(document):
    """(number, text, tag of its ``` block or ""), without the fences."""
    block, opened = "", 0
    for number, text in enumerate(document.split("\n"), 1):
        if not text.strip().startswith("```"):
            yield number, text, block
        elif opened:
            block, opened = "", 0
        else:
            block, opened = text.strip()[3:].strip() or "text", number
    if opened:
        raise ValueError(f"line {opened}: this block does not end")


def call_in(text):
    """What follows "$ " and NAME=value; "" where the line calls nothing of ours."""
    match = re.fullmatch(r"(?:[A-Z_][A-Z0-9_]*=\S*\s+)*((?:\./)?(?:apo|tests/run))(\s.*)?", text)
    return match[1] + (match[2] or "") if match else ""


def commands_of(document):
    """(line, command, whether it is run) of the lines of ```sh blocks; a block tagged `sh norun: reason` is not run."""
    commands, continued = [], False
    for number, text, block in lines_of(document):
        if block.split()[:1] != ["sh"]:
            continued = False
            continue
        norun = re.fullmatch(r"sh\s+norun\b:?\s*(.*)", block)
        if norun and not norun[1]:
            raise ValueError(f"line {number}: the block is tagged norun without a reason; write ```sh norun: why")
        text = re.sub(r"^\$ ", "", text.strip()).strip()
        continues = text.endswith("\\")
        text = text.rstrip("\\").strip()
        if continued:
            line, command, runs = commands[-1]
            commands[-1] = line, command + " " + text, runs
            continued = continues
        elif call_in(text):
            commands.append((number, text, not norun and "tests/run" not in call_in(text).split()[0]))
            continued = continues
    return commands


def option_in(word):
    match = re.fullmatch(r"[\[(]?(--?[A-Za-z][A-Za-z0-9-]*)(=\S*)?[\])]?", word)
    return match[1] if match else ""


def mentions_of(document):
    """(line, subcommand, option) that commands and `inline code` say that apo has. Options with an underscore are Google
    Benchmark's, handed on by `apo bench`, and no mentions."""
    def of_call(line, call):
        words = re.sub("'[^']*'", "''", call).split()
        end = next((i for i, word in enumerate(words) if re.search("[|;&<>#]", word) and not word.startswith("--")), len(words))
        words = words[:end]
        if not words or words[0].endswith("tests/run"):
            return
        subcommand = words[1] if len(words) > 1 and re.fullmatch("[a-z][a-z-]*", words[1]) else ""
        if subcommand:
            yield line, subcommand, ""
        for option in filter(None, map(option_in, words)):
            yield line, subcommand, option

    for line, command, _ in commands_of(document):
        yield from of_call(line, call_in(command))
    for line, text, block in lines_of(document):
        for code in ([] if block else re.findall("`([^`]+)`", text)):
            option = option_in(code.strip().split(" ")[0])
            if option.startswith("--"):
                yield line, "", option
            else:
                yield from of_call(line, call_in(code.strip()))


def options_in(help_text):
    return re.findall(r"(?:^|[\s,\[])(--?[A-Za-z][A-Za-z0-9-]*)", help_text)


@functools.lru_cache(maxsize=None)
def help_of(subcommand):
    ran = subprocess.run([PROGRAM, *filter(None, [subcommand]), "--help"], stdout=subprocess.PIPE, text=True, check=False)
    return ran.stdout if ran.returncode == 0 else ""


def subcommands():
    return re.findall(r"^  ([a-z]\S*)", help_of(""), re.MULTILINE)


class WorkingCopy:
    """What a reader has after `git clone` and the first ./apo: the files of the checkout, and the built program as ./apo."""

    def __enter__(self):
        self.folder = tempfile.mkdtemp(prefix="apo-documents")
        for name in os.listdir(CHECKOUT):
            if not name.startswith((".", "build")) and name != "apo":
                path, to = os.path.join(CHECKOUT, name), os.path.join(self.folder, name)
                shutil.copytree(path, to) if os.path.isdir(path) else shutil.copy(path, to)
        os.symlink(PROGRAM, os.path.join(self.folder, "apo"))
        return self

    def project_of(self, page):
        """The folder in which the commands of a page run: that of a tutorial is copied as its first lines say."""
        made = re.search(r"^(cp .*) && cd ~/(\S+)$", read(page), re.MULTILINE)
        if made:
            subprocess.run(made[1], shell=True, cwd=self.folder, env={**os.environ, "HOME": self.folder}, check=True)
        return os.path.join(self.folder, made[2] if made else "")

    def __exit__(self, *_):
        shutil.rmtree(self.folder, ignore_errors=True)

    def run(self, command, folder):
        # Tests that run beside this one are not waited for: no verdict here needs quiet.
        environment = {**os.environ, "APO_HOME": CHECKOUT, "APO_JOURNAL": "", "XDG_RUNTIME_DIR": self.folder,
                       "APO_CACHE": os.path.join(os.path.dirname(os.path.dirname(PROGRAM)), "test-cache"),
                       "PATH": ":".join([self.folder, os.path.dirname(PYTHON_WITH_TORCH), os.environ["PATH"]])}
        return subprocess.run(["bash", "-o", "pipefail", "-c", command], cwd=folder, env=environment, text=True,
                              errors="replace", stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              timeout=7200, check=False)


class RunsCommands(unittest.TestCase):
    def check(self, paths, everything):
        """Runs what the pages show, in one working copy: everything, or of the pages behind the first what stands before
        the first command that judges. What stands behind that one may read what it leaves."""
        ran = set()  # a page that repeats a command shows what it showed before
        with WorkingCopy() as copy:
            for path in paths:
                folder = copy.project_of(path)
                for line, command, runs in commands_of(read(path)):
                    if not runs or command in ran:
                        continue
                    judges = any(subcommand in JUDGING for _, subcommand, _ in mentions_of(f"```sh\n{command}\n```"))
                    if not everything and path != paths[0] and judges:
                        break
                    ran.add(command)
                    begin = time.monotonic()
                    for _ in range(5):
                        result = copy.run(command, folder)
                        restless = result.returncode == 2 and "stop other work on" in result.stdout
                        if not restless:
                            break
                    print(f"{time.monotonic() - begin:6.1f} s  {path}:{line}  {command}", flush=True)
                    if restless:  # what stands behind it may read what it would have left
                        self.skipTest("this machine is too restless to judge: " + result.stdout)
                    with self.subTest(f"{path}:{line}: {command}"):
                        self.assertEqual(result.returncode, 0, result.stdout)


class Documents(RunsCommands):
    def test_every_subcommand_and_option_that_they_name_exists(self):
        known = {name: options_in(help_of(name)) for name in ["", *subcommands()]}
        self.assertIn("run", known)
        anywhere = set().union(*known.values())
        for path in pages():
            for line, subcommand, option in mentions_of(read(path)):
                exists = subcommand in known and option in ["", *(known[subcommand] if subcommand else anywhere)]
                self.assertTrue(exists, f"{path}:{line}: apo {subcommand} {option} is not in --help")

    def test_every_link_to_the_checkout_leads_to_a_file(self):
        for path in pages():
            for link in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", read(path)):  # neither https: nor a heading alone
                self.assertTrue(os.path.exists(os.path.join(os.path.dirname(path), link)), f"{path} links to {link}")

    def test_readme_is_about_nine_hundred_words_of_a_hundred_columns(self):
        text = read(pages()[0])
        self.assertLessEqual(max(map(len, text.split("\n"))), 100)
        self.assertLessEqual(len(text.split()), 1050, "about 900 words, and the marks of tables and drawings")
        self.assertTrue(any(runs and command.startswith("./apo run") for _, command, runs in commands_of(text)))

    def test_readme_quotes_the_score_of_the_research_page(self):
        table = re.search(r"pairs of later candidates[^:]*: \d+ +(\d+) : (\d+)", read(os.path.join(CHECKOUT, "docs/research.md")))
        quoted = re.search(r"(\d+) of (\d+)\s+pairs", read(pages()[0]))
        self.assertEqual([int(quoted[1]), int(quoted[2])], [int(table[1]), int(table[1]) + int(table[2])])

    def test_commands_of_readme_and_those_of_other_pages_that_judge_nothing_end_well(self):
        self.check(pages(), False)


class AllDocuments(RunsCommands):
    def test_commands_end_well(self):
        apart = [*PAGES_OF_THEIR_OWN, "tutorial-pytorch.md"]
        self.check([path for path in pages() if os.path.basename(path) not in apart], True)

    def test_commands_of_pages_of_their_own_end_well(self):
        for name in PAGES_OF_THEIR_OWN:
            self.check([os.path.join(CHECKOUT, "docs", name)], True)

    def test_commands_of_the_tutorial_with_pytorch_end_well(self):
        if subprocess.run([PYTHON_WITH_TORCH, "-c", "import torch"], stderr=subprocess.DEVNULL, check=False).returncode:
            self.skipTest(f"{PYTHON_WITH_TORCH} has no PyTorch")
        self.check([os.path.join(CHECKOUT, "docs/tutorial-pytorch.md")], True)


class Markdown(unittest.TestCase):
    def texts(self, document):
        return [("" if runs else "skipped: ") + command for _, command, runs in commands_of(document)]

    def test_commands_are_those_of_shell_blocks(self):
        for document, commands in [
                ("apo outside\n```sh\n./apo run --json\ncat x\napo list\n```\n```cpp\napo in_cpp\n```\n```\napo in_text\n```\n"
                 "```sh\n$ apo report\n```\n", ["./apo run --json", "apo list", "apo report"]),
                ("```sh\napostrophe\ngit clone apo\n./apo.sh\ncmake --install build\n# apo list\n```", []),
                ("```sh\napo compare a \\\n  b \\\n  --json\napo list\n```", ["apo compare a b --json", "apo list"]),
                ("```sh\nAPO_JOURNAL=x.db APO_X= ./apo query | head\n```", ["APO_JOURNAL=x.db APO_X= ./apo query | head"]),
                ("- item\n  ```sh\n  apo list\n  ```\n", ["apo list"]),
                ("```sh norun: needs a GPU\napo run\n```\n```sh\ntests/run -R x\n./tests/run\n```",
                 ["skipped: apo run", "skipped: tests/run -R x", "skipped: ./tests/run"]),
                ("", []), ("```sh\napo list \\\n```", ["apo list"])]:
            self.assertEqual(self.texts(document), commands)
        self.assertEqual(commands_of("# title\n\n```sh\n# comment\napo list\n```\n")[0][0], 5)

    def test_mistakes_of_a_page_are_errors_at_their_line(self):
        for document, error in [("```sh norun\napo list\n```", "line 2: .* without a reason"),
                                ("text\n```sh\napo list\n", "line 2: this block does not end")]:
            with self.assertRaisesRegex(ValueError, error):
                commands_of(document)

    def test_mentions_are_those_of_commands_and_inline_code(self):
        for document, mentions in [
                ("```sh norun: long\n./apo run e88 --iterations=3 -q --json | jq --raw-output .x\n```",
                 [(2, "run", ""), (2, "run", "--iterations"), (2, "run", "-q"), (2, "run", "--json")]),
                ("`apo gate` and `apo report --format html`, `--json`, `apo --version`, `cmake --install`, `apo`",
                 [(1, "gate", ""), (1, "report", ""), (1, "report", "--format"), (1, "", "--json"), (1, "", "--version")]),
                ("`apo COMMAND --help`, `apo run [FAMILY] [--json]`", [(1, "", "--help"), (1, "run", ""), (1, "run", "--json")]),
                ("`` ` `--` `apo` ``` ", [])]:
            self.assertEqual(list(mentions_of(document)), mentions)
        self.assertEqual(options_in("Options:\n  -h,--help   Print this\n  --no-sanitizers TEXT ... see --json\n  a-b x--y"),
                         ["-h", "--help", "--no-sanitizers", "--json"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
