"""tools_test.py - what tools state, which arguments they take, the commands that these become, and the answers of jobs."""
import json
import os
import re
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "harness" / "mcp"))
from arguments import Mistake, command_line, file_below, schema_fault  # noqa: E402
from commands import Ended  # noqa: E402
from jobs import (JobEnd, end_of, ended_answer, interrupted_answer, job_number, kept_arguments, running_answer)  # noqa: E402
from protocol import ProtocolError  # noqa: E402
from tools import (ANY_JOB, INSTRUCTIONS, RESOURCES, TOOL_BY_NAME, TOOLS, find_resource, overview, prompt_text,  # noqa: E402
                   without_rounds, without_steps)


class Tools(unittest.TestCase):
    def test_every_tool_states_what_clients_would_guess(self):
        self.assertEqual(len(TOOL_BY_NAME), len(TOOLS))
        for tool in TOOLS:
            with self.subTest(tool.name):
                shown = tool.document()
                self.assertRegex(tool.name, r"^[A-Za-z0-9_.-]{1,128}$")
                self.assertTrue(tool.title and tool.description)
                self.assertEqual((shown["inputSchema"]["type"], shown["inputSchema"]["additionalProperties"]), ("object", False))
                self.assertEqual(shown["outputSchema"]["type"], "object")
                self.assertEqual(len(shown["annotations"]), 4)
                self.assertFalse(tool.read_only and tool.destructive or shown["annotations"]["openWorldHint"])
                self.assertTrue(all(schema["description"] for schema in tool.arguments.values()))
                self.assertEqual(not tool.command, tool.name in ("wait", "cancel"))
                if not tool.command:
                    continue
                used = {part.removeprefix("--").removesuffix("=") for part in (*tool.words, *tool.with_file)}
                if tool.candidate is not None:
                    used |= {"path", "source", "variant"} & set(tool.arguments)
                self.assertEqual(used, set(tool.arguments), "every argument is a word of the command")

    def test_every_tool_that_instructions_name_exists(self):
        words = set(re.findall("['`]([a-z]+)['`]", INSTRUCTIONS + prompt_text({"family": "FAMILY"})))
        self.assertGreater(len(words & set(TOOL_BY_NAME)), 4)
        self.assertEqual(words - set(TOOL_BY_NAME) - {"running", "wrong", "reverted", "inconclusive", "accepted"}, set())

    def test_the_prompt_names_family_workload_and_tools(self):
        text = prompt_text({"family": "copy", "workload": "n4k"})
        for word in ("'copy'", "'n4k'", "`brief`", "`evaluate`", "`wait`", "copy/NAME"):
            self.assertIn(word, text)
        self.assertNotIn("workload '", prompt_text({"family": "copy"}))
        for arguments in ({}, {"family": 7}, {"family": "copy", "speed": "high"}):
            self.assertRaises(ProtocolError, prompt_text, arguments)


class Schemas(unittest.TestCase):
    SCHEMA = {"type": "object", "required": ["family"], "additionalProperties": False, "properties": {
        "family": {"type": "string", "minLength": 1}, "cache": {"type": "string", "enum": ["cold", "warm"]},
        "seconds": {"type": "number", "minimum": 0, "maximum": 25}, "limit": {"type": "integer", "minimum": 1},
        "source": {"type": "boolean"}, "where": {"type": "array", "maxItems": 2, "items": {"type": "string", "minLength": 1}},
        "experiment": {"type": ["object", "null"]}}}

    def test_what_fits_has_no_fault(self):
        for more in ({}, {"cache": "warm", "seconds": 2.5, "limit": 3, "source": True, "where": ["a", "b"]}, {"experiment": None},
                     {"experiment": {"any": "thing"}, "seconds": 25}):
            self.assertEqual(schema_fault({"family": "copy", **more}, self.SCHEMA), "")

    def test_a_fault_names_the_argument_and_what_it_must_be(self):
        self.assertEqual(schema_fault([], self.SCHEMA), "the value must be of type object")
        self.assertEqual(schema_fault({}, self.SCHEMA), "'family' is missing")
        for name, value, fault in [
                ("family", 7, "'family' must be of type string"), ("family", "", "'family' must not be empty"),
                ("cache", "hot", "'cache' must be one of: cold, warm"), ("seconds", 25.1, "'seconds' must be at most 25"),
                ("seconds", -1, "'seconds' must be at least 0"), ("seconds", True, "'seconds' must be of type number"),
                ("limit", 1.5, "'limit' must be of type integer"), ("source", "yes", "'source' must be of type boolean"),
                ("where", ["a", "b", "c"], "'where' must have at most 2 items"),
                ("where", ["a", 1], "item 1 of 'where' must be of type string"),
                ("experiment", [], "'experiment' must be of type object or null")]:
            self.assertEqual(schema_fault({"family": "copy", name: value}, self.SCHEMA), fault)
        self.assertEqual(schema_fault({"famly": "copy"}, self.SCHEMA),
                         "unknown argument 'famly', did you mean 'family'?; "
                         "known: family, cache, seconds, limit, source, where, experiment")

    def test_evaluate_leaves_the_family_to_the_block_and_show_takes_numbers_and_names(self):
        for tool, arguments, fits in [("evaluate", {"source": "// apo:variant copy/mine"}, True), ("show", {"id": 12}, True),
                                      ("show", {"id": "copy/simple"}, True), ("show", {"id": True}, False)]:
            self.assertEqual(not schema_fault(arguments, TOOL_BY_NAME[tool].input_schema), fits)


class InAFolder(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory(prefix="apo-test")
        self.addCleanup(place.cleanup)
        self.outside = Path(os.path.realpath(place.name))
        self.root = self.outside / "inside"
        for path in ("inside/sub/a.cpp", "secret.cpp", "inside-not/b.cpp", "inside/-x.cpp"):
            (self.outside / path).parent.mkdir(parents=True, exist_ok=True)
            (self.outside / path).write_text("a")

    def line(self, tool, **arguments):
        return command_line(TOOL_BY_NAME[tool], arguments, str(self.root))

    def refused(self, said, function, *arguments, **more):
        with self.assertRaises(Mistake) as raised:
            function(*arguments, **more)
        self.assertIn(said, str(raised.exception))


class Roots(InAFolder):
    def test_files_inside_are_found_by_any_path(self):
        whole = str(self.root / "sub/a.cpp")
        (self.root / "link.cpp").symlink_to("sub/a.cpp")
        for path in ("sub/a.cpp", "./sub/../sub/a.cpp", whole, "link.cpp"):
            self.assertEqual(file_below(str(self.root), path), whole)

    def test_paths_that_lead_outside_are_refused(self):
        (self.root / "link.cpp").symlink_to(self.outside / "secret.cpp")
        (self.root / "up").symlink_to(self.outside)
        for path in ("../secret.cpp", str(self.outside / "secret.cpp"), "link.cpp", "up/secret.cpp", "sub/../../secret.cpp",
                     "../inside-not/b.cpp", "/etc/passwd", "../nothing-there.cpp", "/proc/self/environ"):
            self.refused("is outside of", file_below, str(self.root), path)

    def test_what_is_no_file_is_refused(self):
        os.mkfifo(self.root / "pipe")
        for path in ("", ".", "sub", "pipe", "nothing.cpp", "a" * 5000):
            self.refused("is not a file", file_below, str(self.root), path)


class CommandLines(InAFolder):
    def test_each_argument_has_its_place(self):
        for tool, arguments, words in [
                ("compare", {"a": "copy/simple", "b": "copy/memcpy", "workload": "n4k", "cache": "warm"},
                 "compare copy/simple copy/memcpy --workload=n4k --cache=warm"),
                ("query", {"where": ["verdict=accepted", "speedup>1.05"], "limit": 5, "sort": "-speedup"},
                 "query verdict=accepted speedup>1.05 --sort=-speedup --limit=5"),
                ("show", {"id": 12, "log": True, "source": False}, "show 12 --log"), ("doctor", {}, "doctor"),
                ("brief", {"family": "copy", "target": "host"}, "research copy --target=host"),
                ("evaluate", {"variant": "copy/parallel[KIB=64]", "family": "copy"}, "evaluate copy/parallel[KIB=64] --family=copy"),
                ("evaluate", {"path": "-x.cpp", "family": "copy"}, f"evaluate {self.root}/-x.cpp --family=copy"),
                ("register", {"path": "sub/a.cpp", "function": "fast", "line": ["flags -O3", "idea x"]},
                 f"register {self.root}/sub/a.cpp --function=fast --line=flags -O3 --line=idea x"),
                ("verify", {"path": "sub/a.cpp", "function": "fast"},
                 f"verify --file={self.root}/sub/a.cpp --function=fast"),
                ("verify", {"variant": "copy/simple", "family": "copy"}, "verify copy/simple")]:
            self.assertEqual(" ".join(self.line(tool, **arguments).words), words)

    def test_a_source_is_given_on_standard_input(self):
        source = "--help\nvoid copy() {}\n\x01"
        for tool, arguments, words in [
                ("evaluate", {"at_least": 1.5, "judge": "strict"}, "evaluate - --family=copy --at-least=1.5 --judge=strict"),
                ("verify", {}, "verify --file=- --family=copy"), ("register", {}, "register - --family=copy")]:
            line = self.line(tool, source=source, family="copy", **arguments)
            self.assertEqual((line.words, line.input), (words.split(), source))

    def test_no_value_becomes_an_option(self):
        for value in ("--help", "-", "-v", "--journal=/tmp/x"):
            self.refused("begins with a dash", self.line, "show", id=value)
            self.refused("begins with a dash", self.line, "query", where=["a=b", value])
            self.refused("begins with a dash", self.line, "verify", variant=value)
            self.assertEqual(self.line("lessons", family=value).words, ["query", "--lessons", "family=" + value])

    def test_what_is_no_word_is_refused(self):
        for value, said in (("a\0b", "control character"), ("a\nb", "control character"), ("a" * 5000, "longer than 4096 bytes")):
            self.refused(said, self.line, "list", family=value)

    def test_a_candidate_is_given_in_one_way_and_has_one_mebibyte_at_most(self):
        for tool in ("evaluate", "verify"):
            self.refused("neither 'path' nor 'source' nor 'variant' was given", self.line, tool, family="copy")
            self.refused("'path' and 'source' were given together", self.line, tool, path="a", source="b")
            self.refused("'source' and 'variant' were given together", self.line, tool, source="b", variant="copy/simple")
        self.refused("neither 'path' nor 'source' was given", self.line, "register", family="copy")
        self.refused("'source' is empty", self.line, "evaluate", source="")
        self.refused("longer than 1 MiB", self.line, "evaluate", source=" " * ((1 << 20) + 1))
        self.line("evaluate", source=" " * (1 << 20))


class Resources(unittest.TestCase):
    def test_an_address_is_a_command_that_reads(self):
        for address, words in [("lessons", "query --lessons"), ("report", "report --format=markdown --output=-"),
                               ("status", "list --workers --json"), ("experiment/12", "show 12"),
                               ("brief/copy/n4k", "research copy --workload=n4k --json"),
                               ("source/copy/memcpy", "show copy/memcpy --source --json")]:
            resource, command = find_resource("apo://" + address)
            self.assertEqual(command, words.split())
            self.assertEqual(resource.is_template, "/" in address)
        self.assertEqual(len(RESOURCES), 6)

    def test_other_addresses_are_none(self):
        for uri in ("", "apo://", "apo://nope", "apo:lessons", "file:///etc/passwd", "apo://lessons/", "apo://lessons\n",
                    "apo://brief/copy", "apo://experiment/", "apo://experiment/--help", "apo://experiment/1 2",
                    "apo://source/copy/../x", "apo://source/copy/a%2fb", "apo://source/{family}/{name}", "apo://brief/copy/n4k/x",
                    "apo://experiment/" + "1" * 1000):
            self.assertIsNone(find_resource(uri), uri)


class Shapes(unittest.TestCase):
    def test_an_overview_names_workloads_and_counts_variants(self):
        document = {"format": 3, "variants": [], "families": [{
            "name": "copy", "summary": "y = x", "axes": [1], "workloads": [{"name": "n4k", "axes": {}}],
            "variants": [{"id": "copy/a"}, {"id": "copy/b"}]}]}
        families = [{"name": "copy", "summary": "y = x", "workloads": ["n4k"], "variants": 2}]
        self.assertEqual(overview(document, {}), {**document, "families": families})
        self.assertIs(overview(document, {"family": "copy"}), document)

    def test_steps_and_rounds_are_left_out_and_nothing_else(self):
        document = {"gates": [{"gate": "build", "steps": [1]}, 7], "experiment": {"gates": [{"gate": "timing", "steps": [1]}]},
                    "rounds": [1]}
        shorter = {"gates": [{"gate": "build"}, 7], "experiment": {"gates": [{"gate": "timing"}]}}
        self.assertEqual(without_steps(document, {}), {**shorter, "rounds": [1]})
        self.assertEqual(without_rounds(document, {}), shorter)
        self.assertEqual(without_steps({"gates": 3, "experiment": None}, {}), {"gates": 3, "experiment": None})


class Jobs(unittest.TestCase):
    def ended(self, tool, ended):
        """The end of the job and its answer, which fits the schema of jobs."""
        end = end_of(TOOL_BY_NAME[tool], {}, ended)
        answer = ended_answer(1, tool, end)
        self.fits(answer)
        return end, answer

    def fits(self, answer):
        self.assertEqual(schema_fault(answer.structured, ANY_JOB), "")

    def test_a_document_with_a_code_of_its_tool_is_an_answer_and_all_else_failed(self):
        for tool, code, output, state in [
                ("evaluate", 1, '{"verdict":"wrong"}', "done"), ("evaluate", 3, '{"verdict":"accepted"}', "done"),
                ("verify", 3, '{"outcome":"incorrect"}', "done"), ("evaluate", 2, '{"verdict":"not_judged"}', "failed"),
                ("register", 3, '{"state":"refused"}', "failed"), ("evaluate", 0, "no document", "failed"), ("evaluate", 0, "7", "failed"),
                ("evaluate", None, '{"verdict":"wrong"}', "failed"), ("evaluate", 1, '{"error":"unknown family"}', "failed")]:
            self.assertEqual(self.ended(tool, Ended(code, 0, output))[0].state, state, output)

    def test_a_failure_is_read_as_its_message_or_as_its_document(self):
        for output in ("", '{"error":"unknown family","hint":"","exit_code":1}'):
            _, answer = self.ended("evaluate", Ended(1, 0, output, "apo: unknown family"))
            self.assertEqual((answer.is_error, answer.text), (True, "apo: unknown family"))
            self.assertEqual(answer.structured["exit_code"], 1)
        _, answer = self.ended("register", Ended(3, 0, '{"state":"refused","log":"error: expected \';\'"}'))
        self.assertTrue(answer.is_error)
        self.assertIn("expected ';'", answer.text)

    def test_the_end_of_a_command_without_a_document_is_named(self):
        for ended, said in [(Ended(None, 11, "", "last words"), "last words\nthe command was ended by SIGSEGV"),
                            (Ended(0), "ended with exit code 0 and without a document"),
                            (Ended(0, 0, "", "", True), "more than 32 MiB of output")]:
            end, answer = self.ended("evaluate", ended)
            self.assertIn(said, end.message)
            self.assertEqual(answer.structured.get("exit_code"), ended.exit_code)

    def test_the_end_has_the_shortened_document(self):
        end, _ = self.ended("verify", Ended(0, 0, '{"gates":[{"gate":"build","steps":[1,2]}]}'))
        self.assertEqual(end.document, {"gates": [{"gate": "build"}]})

    def test_cancelled_running_and_interrupted_jobs_name_themselves(self):
        experiments = [{"id": 8, "candidate": "copy/a", "state": "finished", "verdict": "reverted"}]
        for answer, is_error, record in [
                (ended_answer(1, "evaluate", JobEnd("cancelled", "cancelled")), False, {"job": "j1", "state": "cancelled"}),
                (running_answer(7, "evaluate", "round 3", seconds=2.5), False,
                 {"job": "j7", "state": "running", "progress": "round 3", "seconds": 2.5}),
                (interrupted_answer(3, "evaluate", experiments), True, {"state": "interrupted", "experiments": experiments}),
                (interrupted_answer(4, "compare", []), True, {"state": "interrupted", "experiments": []})]:
            self.fits(answer)
            self.assertEqual((answer.is_error, json.loads(answer.text)), (is_error, answer.structured))
            self.assertEqual(answer.structured, {**answer.structured, **record})

    def test_handles_are_read_back(self):
        self.assertEqual(job_number("j12"), 12)
        for name in ("", "j", "12", "j-1", "j1x", "J1", "j1 ", "j٣", "j99999999999999999999"):
            self.assertIsNone(job_number(name), name)

    def test_the_journal_keeps_a_source_by_its_hash(self):
        self.assertEqual(kept_arguments({"family": "copy", "source": "abc"}),
                         '{"family":"copy","source":{"bytes":3,"sha256":'
                         '"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"}}')


if __name__ == "__main__":
    unittest.main()
