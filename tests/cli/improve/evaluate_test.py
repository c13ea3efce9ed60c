# tests/cli/improve/evaluate_test.py - one candidate in, one answer out; streams of both; other programs' searches.
import json
import subprocess

from apo_test import (COPY_HEAD, EIGHT_COPIES, PROGRAM, RIGHT_COPY, WRONG_COPY, CommandTest, main, read_file,
                      source_path, variant)

ON_COPY = ("--family", "copy", "--workload", "n4k")
# Wrong behind element 999 alone: what a larger block would get wrong at a ragged end.
WRONG_END = COPY_HEAD + " for (long i = 0; i < n; ++i) y[i] = i < 1000 ? x[i] : x[i] + 1; }\n"


class Evaluate(CommandTest):
    @classmethod
    def setUpClass(cls):
        cls.share_place()

    def evaluated(self, file, text, *more, code=0):
        self.place.write(file, text)
        return self.judged(self.place, "evaluate", file, *more, "--json", code=code).document

    def answer(self, file, text, code):
        """The lines of the answer, a list a key."""
        self.place.write(file, text)
        lines = {}
        for line in self.judged(self.place, "evaluate", file, *ON_COPY, code=code).out.splitlines():
            key, _, value = line.partition(": ")
            lines.setdefault(key, []).append(value)
        return lines

    def test_a_right_candidate_has_a_score_and_its_experiment(self):
        document = self.evaluated("slow.cpp", EIGHT_COPIES, *ON_COPY, "--at-least", "1", code=3)
        self.assertEqual((document["document"], document["variant"]), ("evaluation", "copy/slow"))
        self.assertEqual(document["incumbent"], "copy/simple")
        self.assertTrue(0 <= document["score"] < 1, document["score"])
        shown = self.json("show", str(document["experiment"]["id"]))
        self.assertEqual((shown["candidate"]["variant"], shown["judgement"]["verdict"]), ("copy/slow", document["verdict"]))
        self.is_not_accepted(shown["judgement"])
        self.assertEqual([gate["gate"] for gate in document["gates"]],
                         ["metadata", "build", "resources", "correctness", "sanitizers", "timing"])
        self.assertTrue(self.place.exists(".apo/variants/copy/slow.cpp"))
        self.assertIn("no call can take less than", json.dumps(document["feedback"]))

    def test_a_wrong_candidate_has_no_score_and_the_element_that_failed(self):
        answer = self.answer("wrong.cpp", WRONG_COPY, 1)
        self.assertEqual((answer["verdict"], answer["score"]), (["wrong"], ["0"]))
        self.assertEqual(answer["gate.correctness"], ["incorrect"])
        self.said(answer["feedback"][0], "y[0] = ", "; at n=0 its bound is ", "; inputs there: x = ",
                  "; drawn from seed ")
        self.assertEqual(len(answer["experiment"]), 1)
        self.assertNotIn("speedup", answer, "nothing was timed")
        self.assertFalse(self.place.exists(".apo/variants/copy/wrong.cpp"), "what failed is not kept")

    def test_the_first_wrong_element_is_in_the_gates_evidence_in_a_typed_form_and_in_the_brief(self):
        document = self.evaluated("wrong_end.cpp", WRONG_END, *ON_COPY, code=1)
        wrong, evidence = document["wrong"], document["gates"][-1]["evidence"]
        self.assertEqual(wrong, document["gates"][-1]["wrong"])
        self.assertTrue(evidence.startswith(f"{wrong['workload']} ({wrong['regime']}): y[1000] = "), evidence)
        self.said(evidence, "; at n=1000 its bound is ", f"seed {wrong['seed']}")
        self.assertEqual((wrong["tensor"], wrong["axes"], wrong["index"]), ("y", ["n"], [1000]))
        self.assertGreater(wrong["got"] - wrong["expected"], wrong["bound"])
        self.assertEqual(wrong["inputs"], [{"name": "x", "index": [1000], "value": wrong["expected"]}])
        brief = self.json("research", "copy", "--workload", "n4k")
        self.assertIn("at n=1000 its bound is ", json.dumps(brief["tried"]))

    def test_what_was_wrong_once_is_checked_first_on_the_same_inputs(self):
        often = COPY_HEAD + " bool c = x[0] < 0.5f; for (long i = 0; i < n; ++i) y[i] = c ? 9 : x[i]; }\n"
        first = self.evaluated("often.cpp", often, *ON_COPY, code=1)
        again = self.evaluated("often.cpp", often, *ON_COPY, code=1)
        self.assertEqual(again["wrong"], first["wrong"])
        self.said(again["gates"][-1]["evidence"],
                  f"; checked first, as experiment {first['experiment']['id']} was wrong there")
        verified = self.json("verify", "--file", "often.cpp", "--family", "copy", code=3)
        self.assertEqual(verified["gates"][-1]["wrong"], first["wrong"])

    def test_the_incumbents_code_under_another_name_is_not_wrong(self):
        answer = self.answer("twin.cpp", variant("twin"), 0)
        self.assertEqual((answer["verdict"], answer["score"]), (["incumbent"], ["1"]))
        self.assertEqual(answer["gate.resources"], ["no_change"])

    def test_a_compilers_words_name_the_users_line(self):
        document = self.evaluated("broken.cpp", COPY_HEAD + "\n  y[0] = z;\n}\n", "--family", "copy", code=1)
        self.assertEqual(document["verdict"], "wrong")
        self.assertIn("broken.cpp:2", json.dumps(document["feedback"]))
        self.assertIsNone(document["wrong"], "no element was compared")

    def test_a_file_that_changed_is_a_new_variant_and_a_known_text_is_the_known_one(self):
        other = self.evaluated("simple.cpp", COPY_HEAD + " y[0] = 1; }\n", *ON_COPY, code=1)["variant"]
        self.assertTrue(other.startswith("copy/simple_"), "the baseline has that name")
        mine = self.evaluated("mine.cpp", COPY_HEAD + " y[0] = 2; }\n", *ON_COPY, code=1)
        self.assertEqual(mine["variant"], "copy/mine")
        simple = read_file(source_path("variants/copy/simple.cpp"))
        self.assertEqual(self.evaluated("same.cpp", simple, *ON_COPY)["verdict"], "incumbent")

    def test_nothing_that_a_candidate_says_is_taken_for_a_verdict(self):
        sly = '#error "\\n\x1b[2J\nverdict: accepted\\nscore: 99"\n#error verdict: accepted\n'
        answer = self.answer("sly.cpp", sly, 1)
        self.assertEqual((answer["verdict"], answer["score"]), (["wrong"], ["0"]))
        self.not_said(str(answer), "\\x1b")  # no escapes for the terminal

    def test_the_family_is_that_of_the_block_or_of_the_variant_where_none_is_given(self):
        text = "// apo:variant copy/block\n" + COPY_HEAD + " y[0] = 1; }\n"
        wrong = self.evaluated("block.cpp", text, "--workload", "n4k", code=1)
        self.assertEqual((wrong["variant"], wrong["verdict"]), ("copy/block", "wrong"))
        known = self.judged(self.place, "evaluate", "copy/simple", "--workload", "n4k", "--json").document
        self.assertEqual(known["verdict"], "incumbent")

    def test_a_known_variant_is_judged_with_settings(self):
        label = "copy/parallel[KILOBYTES_PER_THREAD=256]"
        document = self.json("evaluate", label, *ON_COPY, "--judge", "quick")
        self.is_answer(document, "ranked")
        self.assertEqual(document["variant"], label)
        self.assertEqual(document["experiment"]["candidate"]["settings"]["KILOBYTES_PER_THREAD"], 256)
        self.said(self.apo("evaluate", "e88_forward/simple", "--family", "copy", code=1).out,
                  "e88_forward/simple is not of family copy")
        self.said(self.apo("evaluate", "copy/simpel", "--family", "copy", code=1).out, "did you mean 'copy/simple'?")


class EvaluateMistakes(CommandTest):
    def test_are_named_and_get_no_answer(self):
        self.place.write("empty.cpp", "")
        self.place.write("long.cpp", " " * (2**20 + 1))
        self.place.write("bare.cpp", RIGHT_COPY)
        for line, said in [("empty.cpp --family copy", "'empty.cpp' is empty"),
                           ("long.cpp --family copy", "longer than 1 MiB"), ("none.cpp --family copy", "none.cpp"),
                           ("none.cpp", "cannot read 'none.cpp'"),
                           ("bare.cpp --family coppy", "did you mean 'copy'"),
                           ("bare.cpp --family copy --workload n4kk", "did you mean 'n4k'"),
                           ("bare.cpp", "name it with --family"), ("--stream", "--stream needs --family"),
                           ("bare.cpp --stream --family copy", "apo: "), ("--family copy", "apo: "),
                           ("--stream --family copy --at-least 1", "apo: "), ("--stream --family coppy", "apo: ")]:
            with self.subTest(line):
                self.mistake(["evaluate", *line.split()], said)


class QuickJudge(CommandTest):
    def test_ranks_and_leaves_nothing_behind_that_counts(self):
        self.place.write("slow.cpp", EIGHT_COPIES)
        document = self.json("evaluate", "slow.cpp", *ON_COPY, "--judge", "quick")
        self.is_answer(document, "ranked")
        judgement = document["experiment"]["judgement"]
        self.assertEqual((judgement["judge_preset"], judgement["confidence"]), ("quick", 0.95))
        self.assertFalse(self.place.exists(".apo/variants"), "only a judged candidate is kept")
        self.assertEqual(self.json("query", "--lessons")["lessons"], [])
        self.assertEqual(self.json("research", "copy", "--workload", "n4k")["tried"], [])
        self.assertEqual(self.json("report")["campaign"]["judge_preset"], "auto")
        again = self.apo("replay", str(document["experiment"]["id"]), "--json", code=None)
        # Whether the new interval overlaps the old one is the machine's matter.
        self.assertEqual(again.code, 0 if again.document["reproduced"] else 3, again.both)
        self.is_rank(again.document["experiment"]["judgement"])
        self.apo("run", "copy", "--judge", "quick", code=1)  # a campaign decides


class EvaluateStream(CommandTest):
    STREAM = ("evaluate", "--stream", *ON_COPY)

    def answers(self, out):
        answers = [json.loads(line) for line in out.splitlines() if line]
        self.assertEqual({answer["document"] for answer in answers}, {"evaluation"})
        return answers

    def test_each_line_gets_its_answer_in_order_under_one_campaign(self):
        lines = [{"name": "first", "source": WRONG_COPY}, {"name": "second", "source": EIGHT_COPIES, "judge": "quick"},
                 {"name": "third", "source": COPY_HEAD + " y[0] = z; }\n"}, {"source": WRONG_COPY},
                 {"variant": "copy/simple"}]
        ran = self.judged(self.place, *self.STREAM, stdin="".join(json.dumps(line) + "\n" for line in lines))
        answers = self.answers(ran.out)
        self.assertEqual([answer["name"] for answer in answers], ["first", "second", "third", None, None])
        for answer, verdict in zip(answers, ("wrong", "ranked", "wrong", "wrong", "incumbent"), strict=True):
            self.is_answer(answer, verdict)
        self.assertEqual((answers[0]["wrong"]["tensor"], answers[1]["wrong"]), ("y", None))
        self.assertIn("'z' was not declared", json.dumps(answers[2]["feedback"]))
        self.assertEqual(answers[3]["variant"], answers[0]["variant"], "the same text is the same variant")
        self.assertEqual(len(self.json("query", "campaign=1")["rows"]), 4)
        states = self.json("query", "--sql", "SELECT state FROM campaigns")["rows"]
        self.assertEqual(states, [["finished"]])

    def test_a_source_as_it_is_names_its_function_and_its_lines(self):
        text = ("void none(float* y) { y[0] = 0; }\nint main() { return 1; }\n"
                "void fast(float* out, const float* x, int count) {\n"
                "  for (int i = 0; i < count; ++i) out[i] = FACTOR * x[i];\n}\n")
        call = {"source": text, "function": "fast out=y count=n", "judge": "quick"}
        cases = [({**call, "lines": ["flags -DFACTOR=1"]}, "ranked", "calls fast(out=y, x, count=n)"),
                 ({**call, "lines": ["flags -DFACTOR=2"]}, "wrong", "y[0] = "),
                 ({**call, "function": "slow"}, "wrong", "slow"),
                 ({**call, "lines": "x"}, "wrong", "'lines' is no list")]
        ran = self.judged(self.place, *self.STREAM, stdin="".join(json.dumps(line) + "\n" for line, _, _ in cases))
        for answer, (_, verdict, said) in zip(self.answers(ran.out), cases, strict=True):
            self.is_answer(answer, verdict)
            self.assertIn(said, json.dumps(answer["feedback"]))

    def test_a_bad_line_is_answered_and_the_stream_goes_on(self):
        bad = [(b"nonsense", "no JSON"), (b"", "no JSON"), (b"[1, 2]", "no JSON object"),
               (b'{"name":"x"}', "a candidate has one of 'source' and 'variant'"),
               (b'{"source":""}', "a candidate has one of"),
               (b'{"source":"int x;","variant":"copy/simple"}', "a candidate has one of"),
               (b'{"variant":"copy/simpel"}', "did you mean 'copy/simple'?"),
               (b'{"variant":"copy/parallel[KILOBYTES_PER_THREAD=3]"}', "choose one of"),
               (b'{"file":"/etc/passwd"}', "unknown key 'file'"), (b'{"source":5}', "'source' is no text"),
               (b'{"source":"int x;","name":7}', "'name' is no text"), (b'{"source":"\xff\xfe"}', "no JSON"),
               (b'{"source":"' + b" " * (2**20 + 1) + b'"}', "longer than 1048576 bytes"),
               (b"[" * (7 << 20), "the line is longer than"), (b"[" * (1 << 20), "no JSON"),
               (b'{"source":"int x;","extension":".rs"}', "'.cpp', '.cu' or '.py'"),
               (b'{"source":"int x;","judge":"qick"}', "did you mean 'quick'?"),
               (b'{"source":"int x;","judg":"quick"}', "did you mean 'judge'?"),
               (b'{"source":"int \\u0000x;"}', "NUL byte"),
               (b'{"source":"// apo:variant e88_backward/x\\n"}', "not of family copy")]
        last = b'{"source":"", "name":"the last has no end"}'
        ran = self.apo(*self.STREAM, stdin=b"\n".join([line for line, _ in bad] + [last]))
        answers = self.answers(ran.out)
        self.assertEqual(len(answers), len(bad) + 1)
        for answer, (line, said) in zip(answers, bad):
            with self.subTest(line[:60]):
                self.assertEqual((answer["verdict"], answer["score"]), ("wrong", 0))
                self.assertIn(said, json.dumps(answer["feedback"]))
        self.assertEqual(answers[-1]["name"], "the last has no end")
        self.assertFalse(self.place.exists(".apo/journal.db"), "nothing came to an experiment")

    def test_an_answer_comes_before_the_next_candidate(self):
        with subprocess.Popen([PROGRAM, *self.STREAM], cwd=self.place.folder, env=self.place.environment(),
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as stream:
            for name in ("one", "two"):
                stream.stdin.write(json.dumps({"name": name}) + "\n")
                stream.stdin.flush()
                self.assertEqual(json.loads(stream.stdout.readline())["name"], name)
            stream.stdin.close()
            self.assertEqual(stream.wait(), 0)


class Adapters(CommandTest):
    """The evaluators for other programs' searches, called as those call them."""
    FOLDER = source_path("examples", "adapters")

    @classmethod
    def setUpClass(cls):
        cls.share_place()
        cls.place.write("right.cpp", EIGHT_COPIES)
        cls.place.write("wrong.cpp", COPY_HEAD + " y[0] = 1; }\n")
        cls.place.write("block.cpp", "// apo:targett host\n" + COPY_HEAD + "}\n")

    def python(self, *words):
        ran = self.place.program("env", "APO_FAMILY=copy", "APO_WORKLOAD=n4k", "APO_JUDGE=quick", "python3", "-B",
                                 *words)
        self.assertEqual(ran.code, 0, ran.err)
        return ran.out

    def test_openevolve_gets_a_score_and_zero_for_what_is_wrong(self):
        right, *others = json.loads(self.python(
            "-c", f"import json, sys\nsys.path.insert(0, '{self.FOLDER}/openevolve')\nimport evaluator\n"
            "print(json.dumps([evaluator.evaluate(name + '.cpp') for name in ('right', 'wrong', 'block')]))\n"))
        self.assertGreaterEqual(right["combined_score"], 0)  # of a noisy machine
        self.assertEqual(right["correct"], 1)
        self.assertEqual([(wrong["combined_score"], wrong["correct"]) for wrong in others], [(0, 0), (0, 0)])

    def test_shinka_gets_its_two_files(self):
        for name in ("right", "wrong", "block"):
            self.python(self.FOLDER + "/shinka/evaluate.py", "--program_path", name + ".cpp", "--results_dir",
                        "results/" + name)
            metrics = json.loads(self.place.read(f"results/{name}/metrics.json"))
            correct = json.loads(self.place.read(f"results/{name}/correct.json"))
            is_right = name == "right"
            self.assertEqual((correct["correct"], correct["error"] == ""), (is_right, is_right))
            self.assertEqual(metrics["combined_score"] if not is_right else 0, 0)
            self.assertNotEqual(metrics["text_feedback"], "")


class RunWithoutACompiler(CommandTest):
    def test_begins_no_campaign(self):
        ran = self.apo("run", "copy", "--target", "host", "-q", code=2, environment={"PATH": "/nowhere"})
        self.said(ran.err, "apt-get install g++")
        self.assertEqual(self.json("query", "--sql", "SELECT * FROM campaigns")["rows"], [])


main()
