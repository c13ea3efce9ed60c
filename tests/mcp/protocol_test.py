"""protocol_test.py - both eras of the protocol, fed line by line, without a process."""
import asyncio
import json
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "harness" / "mcp"))
from protocol import (INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST, LEGACY_RESOURCE_NOT_FOUND, METHOD_NOT_FOUND,  # noqa: E402
                      PARSE_ERROR, UNSUPPORTED_VERSION, LineReader, ProtocolError, Session, ToolAnswer, check_message,
                      line_of, parse_line, resource_not_found)

VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
META = {VERSION_KEY: "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
EVALUATE = {"name": "evaluate"}


class Lines(unittest.TestCase):
    def test_are_cut_at_newlines_however_the_bytes_arrive(self):
        reader = LineReader()
        self.assertEqual([reader.feed(data) for data in (b"a\nb", b"", b"c\n\nd", b"\n")], [[b"a"], [], [b"bc", b""], [b"d"]])

    def test_one_that_is_too_long_is_skipped_to_its_end(self):
        reader = LineReader(4)
        self.assertEqual([reader.feed(data) for data in (b"1234\n12345", b"67890123456789", b"0\nok\n")],
                         [[b"1234"], [], [None, b"ok"]])


class Messages(unittest.TestCase):
    def code_of(self, line):
        with self.assertRaises(ProtocolError, msg=line[:40]) as raised:
            check_message(parse_line(line))
        return raised.exception.code

    def test_what_is_no_json_or_nested_deeply_is_a_parse_error(self):
        for line in (b"not json", b"{", b"{}{}", b'"\xff\xfe"', b'{"a":"\xc0\xaf"}', b"nul", b"[1,", b"NaN", b"[1e400]", b'"\\ud800"',
                     b"[" * 65 + b"]" * 65, b"[" * 1_000_000, b"[" * 1_000_000 + b"]" * 1_000_000):
            self.assertEqual(self.code_of(line), PARSE_ERROR, line[:40])
        brackets = b'{"jsonrpc":"2.0","method":"m","params":{"x":"' + b"[" * 1_000_000 + b'\\"["}}'
        check_message(parse_line(brackets))

    def test_what_is_no_message_is_an_invalid_request(self):
        for line in (b"1", b"null", b'"text"', b"{}", b'{"jsonrpc":"1.0","id":1,"method":"m"}', b'{"jsonrpc":2.0,"id":1,"method":"m"}',
                     b'{"jsonrpc":"2.0","id":1}', b'{"jsonrpc":"2.0","id":1,"method":7}', b'{"jsonrpc":"2.0","id":null,"method":"m"}',
                     b'{"jsonrpc":"2.0","id":1.5,"method":"m"}', b'{"jsonrpc":"2.0","id":[1],"method":"m"}',
                     b'{"jsonrpc":"2.0","id":true,"method":"m"}'):
            self.assertEqual(self.code_of(line), INVALID_REQUEST, line)
        self.assertEqual(self.code_of(b'{"jsonrpc":"2.0","id":1,"method":"m","params":[1]}'), INVALID_PARAMS)


class HeldCalls:
    """Keeps the calls until the test answers them."""

    def __init__(self):
        self.calls, self.cancelled = [], []

    async def held(self, call, name, arguments):
        answer = asyncio.get_running_loop().create_future()
        self.calls.append((call, name, arguments, answer))
        try:
            return await answer
        except asyncio.CancelledError:
            self.cancelled.append(call.id)
            raise

    async def call_tool(self, call, tool, arguments):
        if "bug" in arguments:
            raise ValueError("a bug")
        return await self.held(call, tool, arguments)

    async def read_resource(self, call, uri):
        if uri == "apo://nope":
            raise resource_not_found(call, uri, "none")
        return await self.held(call, uri, {})

    def prompt(self, arguments):
        if "family" not in arguments:
            raise ProtocolError(INVALID_PARAMS, "no family")
        return "improve " + arguments["family"]


class Sessions(unittest.IsolatedAsyncioTestCase):
    def setUp(self):
        self.service, self.lines = HeldCalls(), []
        lists = {"tools/list": {"tools": [EVALUATE]}, "resources/list": {"resources": []},
                 "resources/templates/list": {"resourceTemplates": []}, "prompts/list": {"prompts": [{"name": "optimise"}]}}
        self.session = Session("1.2.3", "judge first", lists, self.service, self.lines.append)

    async def send(self, message):
        """Returns what is sent back until all that can go on has."""
        self.session.on_line(message if isinstance(message, (bytes, type(None))) else line_of(message).encode())
        return await self.sent()

    async def sent(self):
        for _ in range(5):
            await asyncio.sleep(0)
        messages = [json.loads(line) for line in self.lines]
        self.lines.clear()
        return messages

    async def request(self, id, method, **params):
        return await self.send({"jsonrpc": "2.0", "id": id, "method": method, "params": params})

    async def modern(self, id, method, **params):
        return await self.request(id, method, **params, _meta={**params.pop("_meta", {}), **META})

    async def result(self, sent):
        [message] = await sent
        return message["result"]

    async def error(self, sent):
        [message] = await sent
        return message["error"]["code"]

    async def cancel(self, id):
        return await self.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}})

    async def answer(self, number, text="a", **more):
        """Of a held call."""
        self.service.calls[number][3].set_result(ToolAnswer(text, **more))
        return await self.sent()

    # ------------------------------------------------------------ opening

    async def test_initialize_echoes_a_known_version_and_is_never_refused(self):
        for version in ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"):
            self.assertEqual((await self.result(self.request(0, "initialize", protocolVersion=version)))["protocolVersion"], version)
        for params in ({"protocolVersion": asked} for asked in ("1900-01-01", "2026-07-28", 7, None, [])):
            self.assertEqual((await self.result(self.request(0, "initialize", **params)))["protocolVersion"], "2025-11-25")
        self.assertEqual(await self.result(self.request(1, "initialize")),
                         {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}, "resources": {}, "prompts": {}},
                          "serverInfo": {"name": "apo", "version": "1.2.3"}, "instructions": "judge first"})

    async def test_initialize_works_after_discover_and_with_its_fields(self):
        discovered = await self.result(self.modern("d", "server/discover"))
        self.assertEqual((discovered["supportedVersions"], discovered["resultType"], discovered["cacheScope"]),
                         (["2026-07-28"], "complete", "public"))
        self.assertEqual(discovered["_meta"]["io.modelcontextprotocol/serverInfo"]["version"], "1.2.3")
        self.assertGreaterEqual(discovered["ttlMs"], 0)
        opened = await self.result(self.modern(2, "initialize", protocolVersion="2025-06-18"))
        self.assertEqual(opened["protocolVersion"], "2025-06-18")
        self.assertNotIn("ttlMs", opened)

    async def test_malformed_requests_are_errors_of_the_protocol(self):
        for method, params, code in [
                ("server/discover", {}, INVALID_PARAMS), ("tools/list", {"_meta": {VERSION_KEY: "2026-07-28"}}, INVALID_PARAMS),
                ("tools/list", {"_meta": {**META, "io.modelcontextprotocol/clientCapabilities": "all"}}, INVALID_PARAMS),
                ("tools/list", {"_meta": {VERSION_KEY: 7}}, INVALID_PARAMS), ("tools/list", {"_meta": 7}, INVALID_PARAMS),
                ("tools/list", {"cursor": "next"}, INVALID_PARAMS), ("ping", {"_meta": META}, METHOD_NOT_FOUND),
                ("prompts/get", {"name": "optimise"}, INVALID_PARAMS), ("prompts/get", {"name": "nope"}, INVALID_PARAMS),
                ("prompts/get", {}, INVALID_PARAMS), ("tools/call", {"name": "nope"}, INVALID_PARAMS),
                ("tools/call", {"name": 7}, INVALID_PARAMS), ("tools/call", {}, INVALID_PARAMS),
                ("tools/call", {**EVALUATE, "arguments": []}, INVALID_PARAMS),
                ("tools/call", {**EVALUATE, "_meta": {"progressToken": 1.5}}, INVALID_PARAMS), ("resources/read", {}, INVALID_PARAMS),
                ("resources/read", {"uri": "apo://nope"}, LEGACY_RESOURCE_NOT_FOUND),
                ("resources/read", {"uri": "apo://nope", "_meta": META}, INVALID_PARAMS)]:
            with self.subTest(method=method, params=params):
                self.assertEqual(await self.error(self.request(1, method, **params)), code)
        self.assertEqual(self.service.calls, [])

    async def test_errors_name_what_was_asked_for_and_what_is_known(self):
        [unknown] = await self.request(1, "tools/list", _meta={**META, VERSION_KEY: "1900-01-01"})
        self.assertEqual(unknown["error"]["code"], UNSUPPORTED_VERSION)
        self.assertEqual(unknown["error"]["data"], {
            "supported": ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"], "requested": "1900-01-01"})
        [method] = await self.request(1, "logging/setLevel")
        self.assertEqual((method["error"]["code"], method["error"]["data"]), (METHOD_NOT_FOUND, {"method": "logging/setLevel"}))
        [resource] = await self.request(1, "resources/read", uri="apo://nope")
        self.assertEqual(resource["error"]["data"], {"uri": "apo://nope"})

    async def test_only_modern_lists_have_the_modern_fields(self):
        for method in ("tools/list", "resources/list", "resources/templates/list", "prompts/list"):
            self.assertEqual(len(await self.result(self.request(1, method))), 1, method)
            modern = await self.result(self.modern(2, method))
            self.assertEqual((modern["resultType"], modern["cacheScope"]), ("complete", "public"), method)
            self.assertGreaterEqual(modern["ttlMs"], 0)
        self.assertEqual(await self.request("123", "ping"), [{"jsonrpc": "2.0", "id": "123", "result": {}}])

    async def test_a_prompt_is_a_message_of_the_user(self):
        got = await self.result(self.modern(1, "prompts/get", name="optimise", arguments={"family": "copy"}))
        self.assertEqual(got["messages"], [{"role": "user", "content": {"type": "text", "text": "improve copy"}}])
        self.assertNotIn("ttlMs", got)

    # ------------------------------------------------------------ calls

    async def test_an_answer_has_text_and_structure_in_both_eras(self):
        self.assertEqual(await self.request(1, "tools/call", **EVALUATE, arguments={"family": "copy"}), [])
        self.assertEqual(self.service.calls[0][2], {"family": "copy"})
        self.assertEqual((await self.answer(0, "{}", structured={}))[0]["result"],
                         {"content": [{"type": "text", "text": "{}"}], "structuredContent": {}, "isError": False})
        await self.modern(2, "tools/call", **EVALUATE)
        self.assertEqual(self.service.calls[1][2], {})
        [refused] = await self.answer(1, "no", is_error=True)
        self.assertEqual((refused["result"]["resultType"], refused["result"]["isError"]), ("complete", True))
        self.assertFalse({"structuredContent", "ttlMs"} & set(refused["result"]))

    async def test_answers_come_in_any_order_under_their_ids(self):
        for id in (1, "1"):
            await self.request(id, "tools/call", **EVALUATE)
        self.assertEqual((await self.answer(1))[0]["id"], "1")
        self.assertEqual((await self.answer(0))[0]["id"], 1)

    async def test_an_id_is_used_once_at_a_time(self):
        await self.request(1, "tools/call", **EVALUATE)
        self.assertEqual(await self.error(self.request(1, "tools/call", **EVALUATE)), INVALID_REQUEST)
        self.assertEqual((await self.answer(0))[0]["id"], 1)
        await self.request(1, "tools/call", **EVALUATE)
        self.assertEqual(len(self.service.calls), 2)

    async def test_a_bug_ends_its_call_alone(self):
        await self.request(1, "tools/call", **EVALUATE)
        self.assertEqual(await self.error(self.request(2, "tools/call", **EVALUATE, arguments={"bug": 1})), INTERNAL_ERROR)
        self.assertEqual((await self.answer(0))[0]["id"], 1)

    async def test_a_resource_is_read_under_its_address(self):
        await self.modern(1, "resources/read", uri="apo://lessons")
        self.service.calls[0][3].set_result({"mimeType": "text/plain", "text": "a"})
        got = await self.result(self.sent())
        self.assertEqual(got["contents"], [{"uri": "apo://lessons", "mimeType": "text/plain", "text": "a"}])
        self.assertEqual((got["ttlMs"], got["cacheScope"]), (0, "private"))

    # ------------------------------------------------------------ progress and cancellation

    async def test_progress_increases_under_the_token_of_those_who_asked_until_the_answer(self):
        for number, token in enumerate(["abc", 5, 0, None]):
            await self.request(7, "tools/call", **EVALUATE, **({} if token is None else {"_meta": {"progressToken": token}}))
            for text in ("round 1", "round 1", "round 2"):
                self.session.progress(self.service.calls[number][0], text)
            sent = await self.sent()
            told = [(note["method"], note["params"]) for note in sent]
            self.assertEqual(told, [] if token is None else [
                ("notifications/progress", {"progressToken": token, "progress": i, "message": text})
                for i, text in ((1, "round 1"), (2, "round 1"), (3, "round 2"))])
            self.assertFalse(any("id" in note for note in sent))
            await self.answer(number)
            self.session.progress(self.service.calls[number][0], "late")
            self.assertEqual(self.lines, [])

    async def test_nothing_follows_a_cancellation(self):
        await self.request(7, "tools/call", **EVALUATE, _meta={"progressToken": 1})
        self.assertEqual(await self.cancel(7), [])
        self.assertEqual(self.service.cancelled, [7])
        self.session.progress(self.service.calls[0][0], "late")
        self.assertEqual(await self.sent(), [])

    async def test_cancelling_what_is_unknown_or_answered_does_nothing(self):
        await self.request(7, "tools/call", **EVALUATE)
        for id in ("7", 8, None, [7]):
            self.assertEqual(await self.cancel(id), [])
        for method in ("cancelled", "initialized", "nonsense"):
            self.assertEqual(await self.send({"jsonrpc": "2.0", "method": "notifications/" + method}), [])
        await self.answer(0)
        self.assertEqual(await self.cancel(7), [])
        self.assertEqual(self.service.cancelled, [])

    # ------------------------------------------------------------ what cannot be read

    async def test_an_unreadable_line_has_no_id_until_a_client_of_the_first_era_is_known(self):
        self.assertNotIn("id", (await self.send(b"not json"))[0])
        await self.request(0, "initialize", protocolVersion="2025-11-25")
        [refused] = await self.send(b"not json")
        self.assertEqual((refused["id"], refused["error"]["code"]), (None, PARSE_ERROR))
        [malformed] = await self.send({"jsonrpc": "1.0", "id": 5, "method": "ping"})
        self.assertEqual((malformed["id"], malformed["error"]["code"]), (5, INVALID_REQUEST))
        self.assertEqual(await self.error(self.send(None)), INVALID_REQUEST)

    async def test_empty_lines_and_answers_are_ignored(self):
        for line in (b"", b" \r", b'{"jsonrpc":"2.0","id":1,"result":{}}', b'{"jsonrpc":"2.0","id":1,"error":{}}'):
            self.assertEqual(await self.send(line), [])

    async def test_a_batch_is_refused_in_all_versions(self):
        batch = [{"jsonrpc": "2.0", "id": 1, "method": "ping"}]
        self.assertEqual(await self.error(self.send(batch)), INVALID_REQUEST)
        await self.request(0, "initialize", protocolVersion="2025-03-26")
        self.assertEqual(await self.error(self.send(batch)), INVALID_REQUEST)


if __name__ == "__main__":
    unittest.main()
