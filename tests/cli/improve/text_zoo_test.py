# tests/cli/improve/text_zoo_test.py - the texts of tests/zoo/text: none leaves its place or brings another file's text
# into an answer, the journal or a report.
import glob
import json
import os
import re

from apo_test import CommandTest, main, read_file, source_path

SECRET = "root:x:0"  # what /etc/passwd holds on every machine, and no text of the zoo
CONTROLS = re.compile("[\0-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]")


def zoo(pattern):
    return sorted(glob.glob(source_path("tests", "zoo", "text", pattern)))


def read_text(path):
    """The source without the lines for the test, and these."""
    lines = read_file(path).split("\n")
    notes = dict(re.findall(r"^// zoo: (expect|says) (.*)$", "\n".join(lines), re.MULTILINE))
    source = "".join(line + "\n" for line in lines if not re.match("// zoo: (expect|says) ", line))
    return source, notes.get("expect", ""), notes.get("says", "")


class TextZoo(CommandTest):
    def plain(self, shown, what):
        """Lines that a terminal shows as they are: nothing of the zoo's escapes, and no second verdict."""
        for line in shown.split("\n"):
            self.assertIsNone(CONTROLS.search(line.replace("\t", " ")), f"{what}: {line!r}")
            self.assertFalse(line.startswith("verdict: accepted"), f"{what}: {shown}")
        self.assertLessEqual(len(re.findall("^verdict: ", shown, re.MULTILINE)), 1, f"{what}: {shown}")

    def harmless_journal(self):
        for folder, _, names in os.walk(self.place.folder):
            self.assertNotIn("owned", names, "a shell has run it")
            for name in names:
                self.assertNotIn(SECRET, read_file(os.path.join(folder, name)), name)
        for format in ("json", "html", "markdown"):
            report = self.apo("report", "--format", format, "--output", "-").out
            self.assertNotIn(SECRET, report)
            if format == "markdown":
                report = re.sub(r"^(```+).*\n(?s:.*?)^\1$", "", report, flags=re.MULTILINE)  # fences, then code spans
                report = "\n".join(" ".join(line.split("`")[::2]) for line in report.split("\n"))
                self.assertNotIn("[x](javascript", report)
            if format in ("html", "markdown"):
                self.not_said(report, "<script>alert", "<img src=x")
                self.plain(re.sub("<pre(?s:.*?)</pre>", "", report) if format == "html" else report, format)

    def test_sources_get_their_verdict_and_show_no_other_file(self):
        paths = zoo("*.c*")
        texts = [read_text(path) for path in paths]
        lines = [json.dumps({"name": os.path.basename(path), "source": source, "judge": "quick",
                             "extension": os.path.splitext(path)[1]}) + "\n"
                 for path, (source, _, _) in zip(paths, texts)]
        ran = self.judged(self.place, *"evaluate --family copy --workload n4k --stream".split(), stdin="".join(lines))
        self.assertNotIn(SECRET, ran.both)
        self.plain(ran.err, "progress")
        answers = [json.loads(line) for line in ran.out.strip().split("\n")]
        self.assertEqual([answer["name"] for answer in answers], [os.path.basename(path) for path in paths])
        for answer, (_, expect, says) in zip(answers, texts):
            with self.subTest(answer["name"]):
                self.is_answer(answer, expect)
                self.assertIn(says, json.dumps(answer["feedback"], ensure_ascii=False))
                if answer["experiment"]:
                    self.plain(self.apo("show", str(answer["experiment"]["id"]), "--log").out, answer["name"])
        self.harmless_journal()

    def test_what_a_source_says_is_no_verdict_of_a_terminal(self):
        for name in ("error_looks_like_a_verdict", "error_holds_html", "prints_a_verdict", "prints_and_ends"):
            self.place.write(name + ".cpp", read_text(zoo(name + ".cpp")[0])[0])
            ran = self.apo("evaluate", name + ".cpp", *"--family copy --workload n4k --judge quick".split(), code=1)
            self.said(ran.out, "\nverdict: wrong\n")
            self.plain(ran.both, name)
        self.place.write("escapes.cpp", json.loads(read_file(zoo("source_holds_escapes.json")[0]))["line"]["source"])
        registered = self.apo("register", "escapes.cpp", "--family", "copy", code=3)
        self.said(registered.err, "verdict: accepted")  # the compiler's words are shown
        self.plain(registered.both, "register")

    def test_proposals_stay_on_their_line(self):
        texts = [json.loads(read_file(path)) for path in zoo("*.json")]
        self.place.write("answer", "".join(json.dumps(text["line"]) + "\n" for text in texts))
        ran = self.judged(self.place, *"run copy --workload n4k --iterations 1 --candidates 1 --proposals 40".split(),
                          "--proposer", "cat answer", "--json")
        self.plain(ran.err, "progress")
        proposals = ran.document["proposer_calls"][0]["proposals"]
        self.assertEqual(len(proposals), len(texts))
        for path, text, proposal in zip(zoo("*.json"), texts, proposals):
            with self.subTest(os.path.basename(path)):
                self.assertEqual(proposal["state"], text["expect"], proposal)
                self.assertIn(text["why"], json.dumps(proposal["why"], ensure_ascii=False))
                if proposal["state"] == "taken":
                    self.assertRegex(proposal["configuration"]["variant"], r"^copy/[A-Za-z_][A-Za-z0-9_]*$")
                    self.assertIsNone(CONTROLS.search(proposal["idea"]), proposal["idea"])
        self.harmless_journal()


main()
