# tests/cli/improve/proposer_test.py - commands that propose candidates, good ones and those that a campaign survives.
import hashlib
import json
import os
import subprocess

from apo_test import (COPY_HEAD, SOURCE, WRONG_COPY, CommandTest, main, read_file, replaced, source_path,
                      variant)

RUN = "run copy --workload n4k --iterations 1".split()
RIGHT = (COPY_HEAD + " for (int k = 0; k < 8; ++k) { __builtin_memcpy(y, x, 4 * n);"
         ' __asm__ volatile("" ::: "memory"); } }\n')
# Each with the state that it gets, and a part of the proposal as it is kept.
PROPOSALS = [
    ("taken", "copy/wrong_", {
        "source": WRONG_COPY, "name": "../wrong", "author": "somebody",
        "idea": "\x1b[31m</td><script>alert(1)</script> [x](javascript:alert(2)) | \n// apo:launch evil",
        "predict": {"low": 9, "high": 11, "because": "no\nreason\n// apo:tune EVIL 1"}}),
    ("taken", "right", {"source": RIGHT, "name": "right", "techniques": ["memcpy"], "predict": {"low": 8, "high": 9}}),
    ("repeated", "", {"source": "// The same once more.\n" + RIGHT}),
    ("taken", "copy/again_", {  # named by the block of its source
        "source": "// apo:variant copy/again\n// apo:target host\n"
        "// apo:predict 4x..5x over parent: said in the block\n" + replaced(RIGHT, "4 * n", "sizeof(float) * n")}),
    ("repeated", "the same as copy/simple", {"source": variant("other", "  for", "  /* the baseline */\n\n  for")}),
    ("refused", "choose one of", {"variant": "copy/parallel[KILOBYTES_PER_THREAD=3]"}),
    ("refused", "is no variant", {"source": "// apo:parent copy/nobody\n" + RIGHT + "// more\nint unused;\n"}),
    ("refused", "is for cuda", {"source": "__global__ void k() {}\n"}),
    ("refused", "", {"source": "#include </etc/passwd>\n" + RIGHT}),
    ("refused", "line 10, 'elsewhere': the proposed source:1: 'matmul/again' is of family matmul, ",
     {"source": "// apo:variant matmul/again\n" + RIGHT, "name": "elsewhere"}),
    ("refused", "line 11, 'extra': unknown key 'notes'; ", {"source": RIGHT, "name": "extra", "notes": "none"}),
]
FAULTS = ["echo out of tokens >&2; exit 3", "cat >/dev/null"]


class ProposersOfACampaign(CommandTest):
    @classmethod
    def setUpClass(cls):
        place = cls.share_place()
        lines = [proposal for _, _, proposal in PROPOSALS] + [{"tokens": 77}]
        place.write("answer", "".join(json.dumps(line) + "\n" for line in lines))
        words = [*RUN, *"--candidates 3 --proposals 20 --json".split()]
        for proposer in [f"cat '{place.path('answer')}'", *FAULTS]:
            words += ["--proposer", proposer]
        cls.ran = cls.judged(place, *words)
        cls.calls = cls.ran.document["proposer_calls"]
        cls.experiments = cls.ran.document["iterations"][0]["experiments"]

    def test_each_answer_is_taken_repeated_or_refused_with_its_reason(self):
        self.assertEqual(self.calls[0]["cost"]["tokens"], 77)
        self.not_said(self.ran.both, "root:")  # no compiler has read what is no header
        proposals = self.calls[0]["proposals"]
        self.assertEqual([proposal["state"] for proposal in proposals], [state for state, _, _ in PROPOSALS])
        for proposal, (_, part, _) in zip(proposals, PROPOSALS):
            self.assertIn(part, json.dumps(proposal, ensure_ascii=False))
        self.assertIn("said in the block", json.dumps(proposals[3]))
        self.said(proposals[9]["why"], "this campaign is of copy", "'copy/NAME'")

    def test_faults_end_no_campaign(self):
        self.assertEqual(len(self.calls), 1 + len(FAULTS))
        self.assertEqual([call["note"] for call in self.calls[1:]],
                         ["it ended with exit code 3: out of tokens", "it proposed nothing"])
        self.assertEqual([call["proposals"] for call in self.calls[1:]], [[]] * len(FAULTS))

    def test_proposals_are_judged_as_any_candidate(self):
        wrong, right = self.experiments[:2]  # two are the same code: their scans draw which is judged
        self.assertTrue(wrong["candidate"]["variant"].startswith("copy/wrong_"))
        self.assertEqual(wrong["outcome"], "incorrect")
        self.assertRegex(right["candidate"]["variant"], "^copy/(right|again)_")
        self.assertEqual(right["outcome"], "valid")
        if right["judgement"]["verdict"] == "reverted":
            self.assertEqual(self.experiments[2]["outcome"], "no_change")
            self.assertIn("machine code identical to that of experiment 2", json.dumps(self.experiments[2]))
        judged_ones = len(self.experiments)
        self.assertEqual(len(os.listdir(self.place.path(".apo/proposals/copy"))), 3 - judged_ones, "judged: gone")
        self.assertEqual(len(os.listdir(self.place.path(".apo/variants/copy"))), 1, "the wrong one is in the journal")
        self.said(self.apo("show", wrong["candidate"]["variant"]).out, "alert(1)")

    def test_what_a_proposer_writes_is_text_wherever_it_is_shown(self):
        html = self.apo("report", "--format", "html", "--output", "-").out
        self.said(html, "Proposers")
        markdown = self.apo("report", "--output", "-").out
        self.not_said(html, "<script>alert")
        self.not_said(markdown, "\x1b", "[x](javascript", "<script>alert")


class Proposers(CommandTest):
    def test_the_incumbent_that_is_proposed_again_is_repeated(self):
        source = variant("mine")
        name = "mine_" + hashlib.sha256(source.encode()).hexdigest()[:8]
        self.place.write(f".apo/variants/copy/{name}.cpp", variant(name))
        self.place.write("answer", json.dumps({"source": source}) + "\n")
        ran = self.judged(self.place, *RUN, "--baseline", "copy/" + name, "--candidates", "1", "--json", "--proposer",
                          f"cat '{self.place.path('answer')}'")
        [proposal] = ran.document["proposer_calls"][0]["proposals"]
        self.assertEqual((proposal["state"], proposal["why"]), ("repeated", "line 1: it is the incumbent"))

    def test_what_was_wrong_with_the_last_answer_is_told_and_stands_in_the_next_campaigns_first_brief(self):
        def run(proposer):
            return self.judged(self.place, *RUN, "--baseline", "copy/simple", "--candidates", "1", "--proposer",
                               proposer)
        wrong = json.dumps({"source": WRONG_COPY})
        self.place.write("answer", 'Let me think.\n{"source": "cut\n{"variant": "copy/paralel"}\n' + wrong + "\n")
        first = run(f"cat '{self.place.path('answer')}'")
        self.said(first.err, "3 proposals: 1 taken, 2 refused; line 1 is text and was passed over",
                  "refused: line 2: no JSON from byte 16 on", "refused: line 3, 'copy/paralel': unknown variant")
        self.said(first.out, "\nproposals: 3: 1 judged (0 accepted, 0 not accepted, 1 wrong), 0 not judged, "
                  "0 repeated, 2 refused\n")
        self.place.write("second", json.dumps({"source": replaced(WRONG_COPY, "+ 1", "+ 2")}) + "\n")
        run(f"cat >'{self.place.path('brief')}'; cat '{self.place.path('second')}'")
        request = json.loads(self.place.read("brief"))["request"]
        self.assertEqual(request["campaign"], 2)
        [answer] = request["earlier_answers"]
        self.assertEqual((answer["campaign"], answer["note"]), (1, "line 1 is text and was passed over"))
        self.assertEqual(len(answer["proposals"]), 3)
        self.assertEqual(answer["proposals"][0]["why"], "line 2: no JSON from byte 16 on: cut off, or not UTF-8")
        self.said(answer["proposals"][1]["why"], "line 3, 'copy/paralel': ")

    def test_mutate_changes_the_text_and_goes_on_where_it_stopped(self):
        brief = self.json("research", "copy", "--workload", "n4k")
        self.assertEqual(brief["document"], "brief")

        def answers(before):
            mine = {"author": "mutate.py"}
            earlier = [{"campaign": 1, "proposals": [mine]}, {"campaign": 2, "proposals": [mine] * before}]
            brief["request"] = {"campaign": 2, "candidates_at_most": 2, "earlier_answers": earlier}
            out = subprocess.run(["python3", SOURCE + "/examples/proposers/mutate.py"], input=json.dumps(brief),
                                 capture_output=True, text=True, check=True).stdout
            return [json.loads(line)["source"] for line in out.strip().splitlines()]
        first = answers(0)
        self.assertEqual(len(first), 2)
        self.assertIn("__restrict__", first[0])
        self.assertIn("#pragma GCC unroll 4", first[1])
        self.assertEqual(answers(1)[0], first[1])
        brief["sources"] = {"simple.cpp": read_file(source_path("variants", "matmul_bf16", "simple.cpp"))}
        self.assertIn('\n#pragma GCC optimize("associative-math"', answers(0)[0], "it has a sum")
        self.assertEqual(answers(1000), [], "nothing is left")

    def test_mistakes_on_the_command_line_are_named(self):
        self.said(self.apo("run", "copy", "--proposer", "true", "--proposer-time", "soon", code=1).err,
                  "--proposer-time 'soon' is not a duration")
        self.apo("run", "copy", "--proposer", "", code=1)
        self.apo("run", "copy", "--proposer", "true", "--proposals", "0", code=1)


main()
