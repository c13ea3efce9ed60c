# tests/cli/agents/mcp_test.py - the real `apo mcp`: every tool, jobs, kills, two servers, hostile input, lost GPUs.
import ctypes
import json
import os
import queue
import shutil
import signal
import sqlite3
import subprocess
import threading
import unittest

from apo_test import (BINARY, COPY_HEAD, PATIENCE_S, PROGRAM, WRONG_COPY, CommandTest, HeldTurn, Workplace, binary,
                      main, read_file, replaced, running_processes, source_path, variant, wait_until)

LONG_CALL = {"a": "copy/simple", "b": "copy/memcpy", "workload": "n1m", "judge": "standard"}
AT_ONCE = ("--answer-within", "50ms")


class Client:
    """Starts `apo mcp` in a folder, and reads what it writes at once."""

    def __init__(self, place, *options, environment=None):
        self.process = subprocess.Popen([PROGRAM, "mcp", *options], cwd=place.folder, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, env=place.environment(environment))
        self.lines = queue.Queue()
        self.others = []
        self.last_id = 0
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        for line in self.process.stdout:
            self.lines.put(line)
        self.lines.put(None)

    def send_line(self, line):
        self.process.stdin.write((line if isinstance(line, bytes) else line.encode()) + b"\n")
        self.process.stdin.flush()

    def send(self, method, params=None, **more):
        self.send_line(json.dumps({"jsonrpc": "2.0", "method": method, "params": params or {}, **more}))

    def ask(self, method, params=None):
        """Returns the request's id."""
        self.last_id += 1
        self.send(method, params, id=self.last_id)
        return self.last_id

    def line(self):
        """None at the end of the stream."""
        line = self.lines.get(timeout=PATIENCE_S)
        assert line is None or line.endswith(b"\n"), "half a line"
        return line

    def message(self):
        line = self.line()
        assert line is not None, "the stream has ended"
        return json.loads(line)

    def answer_to(self, id):
        """What comes before it is kept in `others`."""
        while True:
            message = self.message()
            if message.get("id") == id:
                return message
            self.others.append(message)

    def request(self, method, params=None):
        return self.answer_to(self.ask(method, params))

    def ask_tool(self, tool, **arguments):
        return self.ask("tools/call", {"name": tool, "arguments": arguments})

    def call(self, tool, **arguments):
        return self.answer_to(self.ask_tool(tool, **arguments))["result"]

    def finished(self, tool, **arguments):
        """The same, and waits for the job while it runs."""
        result = self.call(tool, **arguments)
        while state(result) == "running":
            result = self.call("wait", job=result["structuredContent"]["job"])
        return result

    def close(self):
        self.process.stdin.close()
        code = self.process.wait(PATIENCE_S)
        self.reader.join()
        self.process.stdout.close()
        return code

    def kill(self):
        self.process.kill()
        self.close()


def state(result):
    return (result.get("structuredContent") or {}).get("state")


def text(result):
    return result["content"][0]["text"]


def modern(**params):
    return {**params, "_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28",
                                "io.modelcontextprotocol/clientCapabilities": {}}}


def fault(value, schema, where="the value"):
    """Why the value does not fit, of the keywords that the tools' schemas use; or None."""
    types = {"object": dict, "array": list, "string": str, "integer": int, "number": (int, float), "boolean": bool,
             "null": type(None)}
    allowed = schema.get("type", list(types))
    allowed = [allowed] if isinstance(allowed, str) else allowed
    if not any(isinstance(value, types[type]) and (not isinstance(value, bool) or type == "boolean")
               for type in allowed):
        return f"{where} is not of type {allowed}"
    if "enum" in schema and value not in schema["enum"]:
        return f"{where} is not one of {schema['enum']}"
    if isinstance(value, (int, float)) and not schema.get("minimum", value) <= value <= schema.get("maximum", value):
        return f"{where} is out of its range"
    inner = [(item, schema.get("items", {}), where + "[]") for item in value] if isinstance(value, list) else []
    if isinstance(value, dict):
        properties = schema.get("properties", {})
        if missing := set(schema.get("required", [])) - set(value):
            return f"{where} lacks {missing}"
        if schema.get("additionalProperties", True) is False and set(value) - set(properties):
            return f"{where} has {set(value) - set(properties)}"
        inner = [(item, properties.get(key, {}), f"{where}.{key}") for key, item in value.items()]
    return next((found for found in (fault(*one) for one in inner) if found), None)


class McpTest(CommandTest):
    def client(self, *options, **more):
        client = Client(self.place, *options, **more)
        self.addCleanup(client.process.stdout.close)
        self.addCleanup(client.process.stdin.close)
        self.addCleanup(client.process.wait)
        self.addCleanup(client.process.kill)
        return client

    def error(self, result):
        self.assertTrue(result.get("isError"), result)
        return text(result)

    def hold_turn(self):
        """Nobody times anything from here on: what judges does not end by itself, however fast the machine is."""
        self.addCleanup(HeldTurn(self.place).end)

    def begin_long_job(self, client):
        self.hold_turn()
        result = client.call("compare", **LONG_CALL)
        self.assertEqual(state(result), "running")
        return result["structuredContent"]["job"]

    def command(self):
        """The process of the long call."""
        found = []

        def appears():
            found[:] = [pid for pid, line in running_processes(self.place.folder).items()
                        if line.startswith("apo\0compare")]
            return bool(found)
        wait_until(appears, "the command has started")
        return found[0]

    def nothing_is_left(self, but=0):
        wait_until(lambda: len(running_processes(self.place.folder)) <= but, "all processes have ended")


class McpProtocol(McpTest):
    def test_ends_with_its_input_and_prints_and_writes_nothing(self):
        ran = self.apo("mcp")
        self.assertEqual((ran.out, ran.err), ("", ""))
        self.assertEqual(os.listdir(self.place.folder), [])
        self.mistake(["mcp", "--answer-within", "20"], "--answer-within '20' is not a duration")

    def test_what_was_asked_before_the_end_is_answered(self):
        client = self.client()
        id = client.ask("ping")
        self.assertEqual(client.close(), 0)
        self.assertEqual(client.answer_to(id)["result"], {})
        self.assertIsNone(client.line())

    def test_lists_are_the_same_bytes_in_every_server(self):
        def lists():
            client = self.client()
            lines = []
            for method in ("tools/list", "resources/list", "resources/templates/list", "prompts/list"):
                for params in ({}, modern()):
                    client.ask(method, params)
                    lines.append(client.line())
                    self.assertNotIn(b'"error"', lines[-1])
            return lines
        self.assertEqual(lists(), lists())

    def test_both_eras_are_served_at_once(self):
        client = self.client()
        self.assertEqual(client.request("server/discover", modern())["result"]["resultType"], "complete")
        old = client.request("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}})
        self.assertEqual(old["result"]["protocolVersion"], "2025-11-25")
        self.assertNotIn("resultType", client.request("tools/call", {"name": "list"})["result"])
        self.assertEqual(client.request("tools/call", modern(name="list"))["result"]["resultType"], "complete")

    def test_resources_are_read_and_unknown_ones_named(self):
        client = self.client()
        source = client.request("resources/read", {"uri": "apo://source/copy/simple"})["result"]["contents"][0]
        self.assertEqual(source["text"], read_file(source_path("variants/copy/simple.cpp")))
        for uri in ("apo://source/copy/nope", "apo://experiment/7", "apo://nope", "file:///etc/passwd"):
            error = client.request("resources/read", {"uri": uri})["error"]
            self.assertEqual((error["code"], error["data"]["uri"]), (-32002, uri))
            self.assertEqual(client.request("resources/read", modern(uri=uri))["error"]["code"], -32602)

    def test_nonsense_is_answered_and_serving_goes_on(self):
        client = self.client()
        for line in (b"nonsense", b'{"jsonrpc":"2.0","id":1,', b"[]", b"\xff\xfe",
                     b'{"jsonrpc":"2.0","id":"\xc3\x28","method":"ping"}', b"[" * 200_000, b"\0\0\0",
                     b"x" * ((16 << 20) + 1)):
            client.send_line(line)
            self.assertIn("error", client.message(), line[:40])
        self.assertEqual(client.request("ping")["result"], {})

    def test_a_flood_is_answered_one_by_one_and_commands_are_limited(self):
        client = self.client()
        pings = [json.dumps({"jsonrpc": "2.0", "id": f"p{i}", "method": "ping"}) for i in range(2000)]
        client.send_line("\n".join(pings))
        self.assertEqual([client.message()["id"] for _ in pings], [f"p{i}" for i in range(2000)])
        calls = [json.dumps({"jsonrpc": "2.0", "id": f"c{i}", "method": "tools/call",
                             "params": {"name": "query", "arguments": {}}}) for i in range(40)]
        client.send_line("\n".join(calls))
        answers = [text(client.message()["result"]) for _ in calls]
        refused = sum("calls are running already" in answer for answer in answers)
        self.assertTrue(1 <= refused < len(calls), refused)
        self.assertEqual(client.close(), 0)


class McpTools(McpTest):
    def test_every_tool_answers_in_its_schema(self):
        self.place.write("mine.cpp", variant("mine"))
        client = self.client()
        schemas = {tool["name"]: tool["outputSchema"] for tool in client.request("tools/list")["result"]["tools"]}
        n4k = {"family": "copy", "workload": "n4k"}
        calls = [("doctor", {}), ("list", {}), ("list", {"family": "copy"}), ("brief", n4k),
                 ("register", {"path": "mine.cpp"}), ("verify", {"source": WRONG_COPY, "family": "copy"}),
                 ("evaluate", {"source": WRONG_COPY, **n4k}),
                 ("compare", {"a": "copy/simple", "b": "copy/mine", "workload": "n4k"}),
                 ("profile", {"variant": "copy/simple", "workload": "n4k"}),
                 ("explain", {"a": "copy/simple", "b": "copy/simple", "workload": "n4k"}), ("show", {"id": 1}),
                 ("show", {"id": "copy/simple", "source": True}), ("query", {"where": ["family=copy"], "limit": 5}),
                 ("lessons", {"family": "copy"}), ("wait", {"job": "j1"}), ("cancel", {"job": "j1"})]
        for tool, arguments in calls:
            with self.subTest(tool):
                result = client.finished(tool, **arguments)
                self.assertFalse(result.get("isError"), result)
                self.assertIsNone(fault(result["structuredContent"], schemas[tool]))
                self.assertEqual(json.loads(text(result)), result["structuredContent"])
                if tool == "evaluate":
                    answer = result["structuredContent"]["result"]
                    self.assertEqual((answer["verdict"], answer["wrong"]["tensor"]), ("wrong", "y"))
                if tool == "verify":
                    self.assertEqual(result["structuredContent"]["result"]["outcome"], "incorrect")
        self.assertEqual({tool for tool, _ in calls}, set(schemas), "every tool is called")
        refused = client.finished("register", source="int copy(", family="copy")
        self.assertIn("error:", self.error(refused), "the compiler's words")
        self.assertEqual(refused["structuredContent"]["result"]["state"], "refused")

    def test_mistakes_are_errors_that_a_model_reads(self):
        client = self.client()
        for tool, arguments, said in [
                ("evaluate", {"source": WRONG_COPY, "family": "coppy"}, "did you mean 'copy'"),
                ("show", {"id": "--help"}, "begins with a dash"), ("list", {"famly": "copy"}, "did you mean 'family'"),
                ("evaluate", {"family": "copy"}, "neither 'path' nor 'source' nor 'variant'"),
                ("wait", {"job": "12"}, "j12"), ("wait", {"job": "j99"}, "no job j99"),
                ("cancel", {"job": "j99"}, "no job j99"), ("wait", {"job": "j1", "seconds": 26}, "at most 25")]:
            self.assertIn(said, self.error(client.finished(tool, **arguments)))

    def test_files_outside_of_its_folder_are_refused(self):
        elsewhere = Workplace()
        self.addCleanup(elsewhere.remove)
        elsewhere.write("x.cpp", WRONG_COPY)
        os.symlink(elsewhere.path("x.cpp"), self.place.path("link.cpp"))
        client = self.client()
        for tool in ("evaluate", "register", "verify"):
            for path in (elsewhere.path("x.cpp"), "../../etc/passwd", "link.cpp", "/proc/self/environ"):
                self.assertIn("is outside of", self.error(client.call(tool, path=path, family="copy")))
        self.assertFalse(self.place.exists(".apo"), "no command was started")

    def test_sources_of_any_size_and_bytes_are_answered(self):
        self.place.write("empty.cpp", "")
        self.place.write("long.cpp", " " * (10 << 20))
        self.place.write("bytes.cpp", b"// apo:idea \xff\xfe\n" + COPY_HEAD.encode() + b" \x80 }\n")
        client = self.client()
        for given, said in [({"source": ""}, "'source' must not be empty"), ({"path": "empty.cpp"}, "is empty"),
                            ({"source": " " * (10 << 20)}, "longer than 1 MiB"),
                            ({"path": "long.cpp"}, "longer than 1 MiB")]:
            self.assertIn(said, self.error(client.finished("evaluate", **given, family="copy")))
        whatever = client.finished("evaluate", path="bytes.cpp", family="copy")  # what the compiler makes of it
        self.assertNotEqual(text(whatever), "")


class McpJobs(McpTest):
    def test_a_call_that_takes_long_is_a_job_that_can_be_waited_for_and_stopped(self):
        client = self.client(*AT_ONCE)
        job = self.begin_long_job(client)
        self.assertEqual(state(client.call("wait", job=job, seconds=0)), "running")
        self.assertEqual(client.request("ping")["result"], {}, "others are served")
        # Progress is of the wait that asks for it.
        client.others.clear()
        while not client.others:
            client.request("tools/call", {"name": "wait", "arguments": {"job": job, "seconds": 2},
                                          "_meta": {"progressToken": "tok"}})
        self.assertEqual({note["method"] for note in client.others}, {"notifications/progress"})
        self.assertEqual({note["params"]["progressToken"] for note in client.others}, {"tok"})
        progress = [note["params"]["progress"] for note in client.others]
        self.assertEqual(progress, sorted(set(progress)))
        self.assertGreater(progress[0], 0)
        # Who takes a wait back leaves the job alone.
        waits = client.ask_tool("wait", job=job)
        client.send("notifications/cancelled", {"requestId": waits})
        self.assertEqual(state(client.call("wait", job=job, seconds=0)), "running")
        cancelled = client.call("cancel", job=job)
        self.assertEqual((state(cancelled), cancelled.get("isError", False)), ("cancelled", False))
        self.assertEqual(state(client.call("wait", job=job)), "cancelled", "the journal has it")
        self.assertEqual(state(client.call("cancel", job=job)), "cancelled", "twice is no mistake")
        self.assertEqual(client.close(), 0)
        self.nothing_is_left()

    def test_a_cancelled_request_is_not_answered_and_its_processes_end(self):
        self.hold_turn()
        client = self.client()
        id = client.ask_tool("compare", **LONG_CALL)
        self.command()
        client.send("notifications/cancelled", {"requestId": id})
        client.others.clear()
        self.assertEqual(state(client.call("wait", job="j1")), "cancelled")
        self.assertEqual(client.others, [])
        self.nothing_is_left(but=1)  # the server
        self.assertEqual(client.close(), 0)
        self.assertIsNone(client.line())

    def test_a_server_that_ends_during_a_judgement_leaves_nothing_and_the_job_is_known_to_be_interrupted(self):
        for end in (Client.kill, Client.close):
            with self.subTest(end.__name__):
                self.place.remove()
                os.mkdir(self.place.folder)
                client = self.client(*AT_ONCE)
                job = self.begin_long_job(client)
                wait_until(lambda: client.call("query", where=["state=running"])["structuredContent"]["rows"],
                           "its experiment is in the journal")
                self.assertGreater(len(running_processes(self.place.folder)), 1)
                self.assertIn(end(client), (None, 0))
                self.nothing_is_left()
                client = self.client()
                after = client.call("wait", job=job)
                self.assertEqual((state(after), after["isError"]), ("interrupted", True))
                [experiment] = after["structuredContent"]["experiments"]
                self.assertEqual((experiment["candidate"], experiment["verdict"]), ("copy/memcpy", ""))
                self.assertEqual(state(client.call("cancel", job=job)), "interrupted")
                self.assertEqual(client.close(), 0)
                self.said(self.apo("doctor", code=None).out, "is whole")

    def test_a_command_that_is_killed_is_an_error_and_the_server_goes_on(self):
        self.hold_turn()
        client = self.client()
        id = client.ask_tool("compare", **LONG_CALL)
        os.kill(self.command(), signal.SIGKILL)
        result = client.answer_to(id)["result"]
        self.assertIn("SIGKILL", self.error(result))
        self.assertEqual(state(result), "failed")
        self.assertEqual(client.request("ping")["result"], {})

    def test_two_servers_share_a_journal_and_not_their_jobs(self):
        one = self.client(*AT_ONCE)
        job = self.begin_long_job(one)
        two = self.client(*AT_ONCE)
        self.assertEqual(state(two.call("wait", job=job, seconds=0)), "running")
        self.assertIn("another running server", text(two.call("cancel", job=job)))
        waits = two.ask_tool("wait", job=job, seconds=25)
        self.assertEqual(state(one.call("cancel", job=job)), "cancelled")
        self.assertEqual(state(two.answer_to(waits)["result"]), "cancelled")


class McpJournals(McpTest):
    def test_a_locked_one_delays_jobs_alone(self):
        self.apo("profile", "--", "true")  # which makes a journal
        lock = sqlite3.connect(self.place.path(".apo/journal.db"), isolation_level=None)
        self.addCleanup(lock.close)
        lock.execute("BEGIN EXCLUSIVE")
        client = self.client()
        client.ask_tool("verify", variant="copy/simple")
        self.assertFalse(client.call("list", family="copy").get("isError"))
        self.assertEqual(client.request("ping")["result"], {})
        self.assertEqual(client.close(), 0, "though the journal is still locked")

    def test_one_that_cannot_be_written_is_an_error_of_the_tool(self):
        self.place.write(".apo/journal.db", "my notes about kernels, longer than a header of sixteen bytes")
        client = self.client()
        self.assertIn("is not a journal", self.error(client.call("verify", variant="copy/simple")))
        self.assertFalse(client.call("list", family="copy").get("isError"))


class McpSdk(McpTest):
    """Clients that are not ours: one of each era of the protocol."""
    PACKAGES = os.path.join(BINARY, "mcp-sdk")

    def install(self):
        if not shutil.which("node") or not shutil.which("npm"):
            self.skipTest("node or npm is not installed")
        version = subprocess.run(["node", "--version"], capture_output=True, text=True, check=True).stdout.strip()
        if int(version[1:].split(".")[0]) < 20:
            self.skipTest(f"node {version} is older than 20, which the clients need")
        wanted = read_file(source_path("tests/cli/agents/sdk/package.json"))
        mark = os.path.join(self.PACKAGES, "installed")
        if os.path.exists(mark) and read_file(mark) == wanted:
            return
        os.makedirs(self.PACKAGES, exist_ok=True)
        for name, command in (("package.json", ["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts",
                                                "--fetch-retries=0", "--loglevel=error"]), ("installed", ["true"])):
            with open(os.path.join(self.PACKAGES, name), "w", encoding="utf-8") as file:
                file.write(wanted)
            ran = subprocess.run(command, cwd=self.PACKAGES, capture_output=True, text=True, check=False)
            if ran.returncode != 0:
                self.skipTest("npm cannot install the clients: " + ran.stderr)

    def test_clients_of_both_eras_get_from_the_first_message_to_a_verdict(self):
        self.install()
        self.place.write("wrong.cpp", WRONG_COPY)
        for client, opening in (("sdk", '"initialize"'), ("client", "server/discover")):
            ran = self.place.run(["node", source_path("tests/cli/agents/sdk/session.mjs"), self.PACKAGES, client,
                                  PROGRAM, "wrong.cpp"])
            self.assertEqual(ran.code, 0, ran.both)
            self.assertTrue(ran.out.endswith("verdict: wrong\n"), ran.out)
            self.said(ran.out, "\n<- ", opening)  # the transcript has both sides
        self.nothing_is_left()


def has_nvrtc():
    for name in ("libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so", "/usr/local/cuda/lib64/libnvrtc.so"):
        try:
            return ctypes.CDLL(name) is not None
        except OSError:
            pass
    return False


@unittest.skipUnless(has_nvrtc(), "no NVRTC builds device variants here")
class LostGpu(McpTest):
    """What `apo` says and keeps when the GPU is lost in the middle of a judgement."""
    # A worker that begins after the loss finds no device at all.
    LOSS = "GPU of a test|CUDA_ERROR_NO_DEVICE"
    MINE = replaced(read_file(source_path("variants/copy/cuda_simple.cu")), "cuda_simple", "mine", "a.y[i] = a.x[i]",
                    "a.y[i] = 0 + a.x[i]")

    def setUp(self):
        super().setUp()
        self.place.write("mine.cu", self.MINE)
        self.driver = Workplace()  # tests/worker/cuda/losing_driver.cpp
        self.addCleanup(self.driver.remove)
        shutil.copy(binary("liblosing_driver.so"), self.driver.path("libcuda.so.1"))
        self.environment = {"LD_LIBRARY_PATH": self.driver.folder + ":" + os.environ.get("LD_LIBRARY_PATH", "")}

    def lose(self):
        self.driver.write("plan", "0 vanishes")

    def apo(self, *words, code=0):
        return super().apo(*words, code=code, environment=self.environment)

    def test_evaluate_does_not_judge_and_gives_the_experiment_back(self):
        evaluate = "evaluate mine.cu --family copy".split()
        self.apo(*evaluate, code=1)  # the roofs are known from here on; this driver runs no kernel: none is right
        self.lose()
        document = self.apo(*evaluate, "--json", code=2).document
        self.assertEqual(document["verdict"], "not_judged")
        feedback = json.dumps(document["feedback"])
        self.assertRegex(feedback, self.LOSS)
        self.said(feedback, "apo doctor")
        self.assertRegex(self.apo("query", "--json", "--sql", "SELECT why FROM abandonment").out, self.LOSS)

    def test_a_campaign_stops_and_is_resumed(self):
        self.lose()
        run = "run copy --target cuda --iterations 1".split()
        lost = self.apo(*run, code=2).err
        self.assertRegex(lost, self.LOSS)
        self.said(lost, "the same command goes on")
        os.remove(self.driver.path("gone"))
        self.said(self.apo(*run, code=2).err, "resuming campaign")

    def test_a_gate_fails_and_says_nothing_of_the_variants(self):
        self.place.write(".apo/variants/copy/mine.cu", self.MINE)
        self.apo("gate", "--store", "baseline.json", "copy/mine")
        self.place.write(".apo/variants/copy/mine.cu", replaced(self.MINE, "0 + a.x[i]", "a.x[i] + 1"))
        self.lose()
        ran = self.apo("gate", "--baseline", "baseline.json", code=2)
        self.assertRegex(ran.err, self.LOSS)
        self.not_said(ran.out, "undecided")

    def test_the_agents_server_answers_with_an_error_that_names_the_fix(self):
        client = self.client(environment=self.environment)
        self.lose()
        answer = client.finished("evaluate", path="mine.cu", family="copy")
        self.assertIn("nvidia-smi", self.error(answer) + json.dumps(answer["content"]))
        self.assertEqual(answer["structuredContent"]["result"]["verdict"], "not_judged")


main()
