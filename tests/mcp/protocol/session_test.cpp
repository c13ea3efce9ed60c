// tests/mcp/protocol/session_test.cpp - both eras of the protocol, fed line by line.
#include "harness/mcp/protocol/session.h"

#include <gtest/gtest.h>

namespace apo::mcp {
namespace {

// Keeps the calls until the test answers them.
struct HeldCalls : Service {
  struct Held {
    CallId id = 0;
    std::string name;
    Json arguments;
  };
  std::vector<Held> calls;
  std::vector<CallId> cancelled;
  void call_tool(CallId call, const std::string& tool, const Json& arguments) override {
    calls.push_back({call, tool, arguments});
    if (arguments.contains("bug")) {
      throw std::logic_error("a bug");
    }
  }
  void read_resource(CallId call, const std::string& uri) override { calls.push_back({call, uri, {}}); }
  std::string prompt(const std::string&, const Json& arguments) override {
    if (!arguments.contains("family")) {
      throw ProtocolError(kInvalidParams, "no family");
    }
    return "improve " + arguments["family"].get<std::string>();
  }
  void cancel(CallId call) override { cancelled.push_back(call); }
};

constexpr const char* kPrefix = "io.modelcontextprotocol/";

Json modern_meta(const std::string& version = "2026-07-28") {
  return {{std::string(kPrefix) + "protocolVersion", version},
          {std::string(kPrefix) + "clientCapabilities", Json::object()}};
}

class Sessions : public ::testing::Test {
 protected:
  Sessions()
      : session_({.version = "1.2.3",
                  .instructions = "judge first",
                  .tools = Json::array({{{"name", "evaluate"}}}),
                  .resources = Json::array({{{"uri", "apo://lessons"}}}),
                  .prompts = Json::array({{{"name", "optimise"}}})},
                 held_, [this](const std::string& line) { lines_.push_back(line); }) {}

  void send(const Json& message) { session_.on_line({.text = line_of(message)}); }
  void send_text(const std::string& line) { session_.on_line({.text = line}); }
  void request(const Json& id, const std::string& method, Json params = Json::object()) {
    send({{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", std::move(params)}});
  }
  void modern(const Json& id, const std::string& method, Json params = Json::object()) {
    params["_meta"].update(modern_meta());
    request(id, method, std::move(params));
  }
  void cancel(const Json& id) {
    send({{"jsonrpc", "2.0"}, {"method", "notifications/cancelled"}, {"params", {{"requestId", id}}}});
  }
  std::string initialize(const Json& version) {
    request(0, "initialize", {{"protocolVersion", version}, {"capabilities", Json::object()}});
    return answer()["result"]["protocolVersion"];
  }
  // The only line since the last call.
  Json answer() {
    EXPECT_EQ(lines_.size(), 1u);
    const Json json = lines_.empty() ? Json::object() : Json::parse(lines_.back());
    lines_.clear();
    return json;
  }
  Json result() { return answer().value("result", Json::object()); }
  int error() { return answer().value("error", Json::object()).value("code", 0); }

  HeldCalls held_;
  std::vector<std::string> lines_;
  Session session_;
};

// ---------------------------------------------------------------- opening

TEST_F(Sessions, InitializeEchoesAVersionThatIsKnown) {
  for (const std::string version : {"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}) {
    EXPECT_EQ(initialize(version), version);
  }
}

TEST_F(Sessions, InitializeIsNeverRefused) {
  for (const Json& version : {Json("1900-01-01"), Json("2026-07-28"), Json(7), Json(), Json::array()}) {
    EXPECT_EQ(initialize(version), "2025-11-25") << version;
  }
  request(1, "initialize");
  EXPECT_EQ(result()["protocolVersion"], "2025-11-25");
}

TEST_F(Sessions, InitializeSaysWhatThereIsInTheWordsOfItsEra) {
  request(1, "initialize", {{"protocolVersion", "2025-11-25"}});
  const Json got = result();
  EXPECT_EQ(got["serverInfo"], (Json{{"name", "apo"}, {"version", "1.2.3"}}));
  EXPECT_EQ(got["instructions"], "judge first");
  EXPECT_EQ(got["capabilities"],
            (Json{{"tools", Json::object()}, {"resources", Json::object()}, {"prompts", Json::object()}}));
  EXPECT_FALSE(got.contains("resultType"));
}

TEST_F(Sessions, InitializeWorksAfterDiscoverAndWithItsFields) {
  modern(1, "server/discover");
  EXPECT_EQ(result()["supportedVersions"], Json::array({"2026-07-28"}));
  modern(2, "initialize", {{"protocolVersion", "2025-06-18"}});
  const Json got = result();
  EXPECT_EQ(got["protocolVersion"], "2025-06-18");
  EXPECT_FALSE(got.contains("ttlMs"));
}

TEST_F(Sessions, DiscoverHasTheFieldsOfACompleteResult) {
  modern("d", "server/discover");
  const Json got = result();
  EXPECT_EQ(got["resultType"], "complete");
  EXPECT_GE(got["ttlMs"], 0);
  EXPECT_EQ(got["cacheScope"], "public");
  EXPECT_EQ(got["_meta"][std::string(kPrefix) + "serverInfo"]["version"], "1.2.3");
}

TEST_F(Sessions, DiscoverWithoutTheFieldsOfItsEraIsRefused) {
  request(1, "server/discover");
  EXPECT_EQ(error(), kInvalidParams);
}

TEST_F(Sessions, AnUnknownModernVersionIsToldWhatIsKnown) {
  request(1, "tools/list", {{"_meta", modern_meta("1900-01-01")}});
  const Json got = answer()["error"];
  EXPECT_EQ(got["code"], kUnsupportedVersion);
  EXPECT_EQ(got["data"]["requested"], "1900-01-01");
  EXPECT_EQ(got["data"]["supported"],
            Json::array({"2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}));
}

TEST_F(Sessions, AModernRequestNeedsItsCapabilities) {
  Json meta = modern_meta();
  meta.erase(std::string(kPrefix) + "clientCapabilities");
  request(1, "tools/list", {{"_meta", meta}});
  EXPECT_EQ(error(), kInvalidParams);
  meta[std::string(kPrefix) + "clientCapabilities"] = "all";
  request(2, "tools/list", {{"_meta", meta}});
  EXPECT_EQ(error(), kInvalidParams);
  request(3, "tools/list", {{"_meta", {{std::string(kPrefix) + "protocolVersion", 7}}}});
  EXPECT_EQ(error(), kInvalidParams);
  request(4, "tools/list", {{"_meta", 7}});
  EXPECT_EQ(error(), kInvalidParams);
}

// ---------------------------------------------------------------- lists

TEST_F(Sessions, OnlyModernListsHaveTheModernFields) {
  for (const std::string method : {"tools/list", "resources/list", "resources/templates/list", "prompts/list"}) {
    request(1, method);
    EXPECT_EQ(result().size(), 1u) << method;
    modern(2, method);
    const Json got = result();
    EXPECT_EQ(got["resultType"], "complete") << method;
    EXPECT_TRUE(got["ttlMs"].is_number_unsigned()) << method;
    EXPECT_EQ(got["cacheScope"], "public") << method;
  }
}

TEST_F(Sessions, AListHasOnePage) {
  request(1, "tools/list", {{"cursor", "next"}});
  EXPECT_EQ(error(), kInvalidParams);
}

TEST_F(Sessions, PingIsOfTheFirstEraAlone) {
  request("123", "ping");
  EXPECT_EQ(answer(), (Json{{"jsonrpc", "2.0"}, {"id", "123"}, {"result", Json::object()}}));
  modern(1, "ping");
  EXPECT_EQ(error(), kMethodNotFound);
}

TEST_F(Sessions, AnUnknownMethodIsNamed) {
  request(1, "logging/setLevel");
  const Json got = answer()["error"];
  EXPECT_EQ(got["code"], kMethodNotFound);
  EXPECT_EQ(got["data"]["method"], "logging/setLevel");
}

TEST_F(Sessions, APromptIsAMessageOfTheUser) {
  modern(1, "prompts/get", {{"name", "optimise"}, {"arguments", {{"family", "copy"}}}});
  const Json got = result();
  EXPECT_EQ(got["messages"][0]["role"], "user");
  EXPECT_EQ(got["messages"][0]["content"]["text"], "improve copy");
  EXPECT_FALSE(got.contains("ttlMs"));
  request(2, "prompts/get", {{"name", "optimise"}});
  EXPECT_EQ(error(), kInvalidParams);
  request(3, "prompts/get", {{"name", "nope"}});
  EXPECT_EQ(error(), kInvalidParams);
  request(4, "prompts/get");
  EXPECT_EQ(error(), kInvalidParams);
}

// ---------------------------------------------------------------- calls

TEST_F(Sessions, AnAnswerHasTextAndStructureInBothEras) {
  request(1, "tools/call", {{"name", "evaluate"}, {"arguments", {{"family", "copy"}}}});
  ASSERT_EQ(held_.calls.size(), 1u);
  EXPECT_EQ(held_.calls[0].arguments, (Json{{"family", "copy"}}));
  EXPECT_TRUE(lines_.empty());
  session_.answer(held_.calls[0].id, ToolAnswer{.text = "{}", .structured = Json::object()});
  EXPECT_EQ(result(), (Json{{"content", Json::array({{{"type", "text"}, {"text", "{}"}}})},
                            {"structuredContent", Json::object()},
                            {"isError", false}}));
  modern(2, "tools/call", {{"name", "evaluate"}});
  EXPECT_EQ(held_.calls[1].arguments, Json::object());
  session_.answer(held_.calls[1].id, ToolAnswer{.text = "no", .structured = nullptr, .is_error = true});
  const Json got = result();
  EXPECT_EQ(got["resultType"], "complete");
  EXPECT_EQ(got["isError"], true);
  EXPECT_FALSE(got.contains("structuredContent"));
  EXPECT_FALSE(got.contains("ttlMs"));
}

TEST_F(Sessions, AnswersComeInAnyOrderUnderTheirIds) {
  request(1, "tools/call", {{"name", "evaluate"}});
  request("1", "tools/call", {{"name", "evaluate"}});
  ASSERT_EQ(held_.calls.size(), 2u);
  session_.answer(held_.calls[1].id, ToolAnswer{.text = "b"});
  EXPECT_EQ(answer()["id"], "1");
  session_.answer(held_.calls[0].id, ToolAnswer{.text = "a"});
  EXPECT_EQ(answer()["id"], 1);
}

TEST_F(Sessions, AnIdIsUsedOnceAtATime) {
  request(1, "tools/call", {{"name", "evaluate"}});
  request(1, "tools/call", {{"name", "evaluate"}});
  EXPECT_EQ(error(), kInvalidRequest);
  session_.answer(held_.calls.at(0).id, ToolAnswer{.text = "a"});
  EXPECT_EQ(answer()["id"], 1);
  request(1, "tools/call", {{"name", "evaluate"}});
  EXPECT_EQ(held_.calls.size(), 2u);
}

TEST_F(Sessions, AnAnswerIsGivenOnce) {
  request(1, "tools/call", {{"name", "evaluate"}});
  session_.answer(held_.calls.at(0).id, ToolAnswer{.text = "a"});
  answer();
  session_.answer(held_.calls.at(0).id, ToolAnswer{.text = "b"});
  session_.progress(held_.calls.at(0).id, "more");
  EXPECT_TRUE(lines_.empty());
}

TEST_F(Sessions, ABugEndsItsCallAlone) {
  request(1, "tools/call", {{"name", "evaluate"}});
  request(2, "tools/call", {{"name", "evaluate"}, {"arguments", {{"bug", 1}}}});
  EXPECT_EQ(error(), kInternalError);
  EXPECT_EQ(held_.cancelled, std::vector<CallId>{held_.calls.at(1).id});
  session_.answer(held_.calls.at(0).id, ToolAnswer{.text = "a"});
  EXPECT_EQ(answer()["id"], 1);
}

TEST_F(Sessions, MalformedCallsAreErrorsOfTheProtocol) {
  for (const Json& params : {Json{{"name", "nope"}}, Json{{"name", 7}}, Json::object(),
                             Json{{"name", "evaluate"}, {"arguments", Json::array()}},
                             Json{{"name", "evaluate"}, {"_meta", {{"progressToken", 1.5}}}}}) {
    request(1, "tools/call", params);
    EXPECT_EQ(error(), kInvalidParams) << params;
  }
  request(2, "resources/read");
  EXPECT_EQ(error(), kInvalidParams);
  EXPECT_TRUE(held_.calls.empty());
}

TEST_F(Sessions, AnUnknownResourceHasTheCodeOfItsEra) {
  request(1, "resources/read", {{"uri", "apo://nope"}});
  session_.resource_not_found(held_.calls.at(0).id, "none");
  const Json got = answer()["error"];
  EXPECT_EQ(got["code"], kLegacyResourceNotFound);
  EXPECT_EQ(got["data"]["uri"], "apo://nope");
  modern(2, "resources/read", {{"uri", "apo://nope"}});
  session_.resource_not_found(held_.calls.at(1).id, "none");
  EXPECT_EQ(error(), kInvalidParams);
}

TEST_F(Sessions, AResourceIsReadUnderItsAddress) {
  modern(1, "resources/read", {{"uri", "apo://lessons"}});
  session_.answer(held_.calls.at(0).id, ResourceAnswer{.mime_type = "text/plain", .text = "a"});
  const Json got = result();
  EXPECT_EQ(got["contents"], Json::array({{{"uri", "apo://lessons"}, {"mimeType", "text/plain"}, {"text", "a"}}}));
  EXPECT_EQ(got["cacheScope"], "private");
  EXPECT_EQ(got["ttlMs"], 0);
}

// ---------------------------------------------------------------- progress and cancellation

TEST_F(Sessions, ProgressIsSentOnlyToThoseWhoAsked) {
  request(1, "tools/call", {{"name", "evaluate"}});
  session_.progress(held_.calls.at(0).id, "round 1");
  EXPECT_TRUE(lines_.empty());
}

TEST_F(Sessions, ProgressIncreasesUnderItsToken) {
  for (const Json& token : {Json("abc"), Json(5), Json(0)}) {
    request(token, "tools/call", {{"name", "evaluate"}, {"_meta", {{"progressToken", token}}}});
    const CallId call = held_.calls.back().id;
    double last = -1;
    for (const std::string text : {"round 1", "round 1", "round 2"}) {
      session_.progress(call, text);
      const Json got = answer();
      EXPECT_EQ(got["method"], "notifications/progress");
      EXPECT_FALSE(got.contains("id"));
      EXPECT_EQ(got["params"]["progressToken"], token);
      EXPECT_EQ(got["params"]["message"], text);
      EXPECT_GT(got["params"]["progress"].get<double>(), last);
      last = got["params"]["progress"].get<double>();
    }
    session_.answer(call, ToolAnswer{});
    answer();
  }
}

TEST_F(Sessions, NothingFollowsACancellation) {
  request(7, "tools/call", {{"name", "evaluate"}, {"_meta", {{"progressToken", 1}}}});
  const CallId call = held_.calls.at(0).id;
  cancel(7);
  EXPECT_EQ(held_.cancelled, std::vector<CallId>{call});
  session_.progress(call, "round 2");
  session_.answer(call, ToolAnswer{.text = "late"});
  session_.fail(call, ProtocolError(kInternalError, "late"));
  EXPECT_TRUE(lines_.empty());
}

TEST_F(Sessions, CancellingWhatIsUnknownOrAnsweredDoesNothing) {
  request(7, "tools/call", {{"name", "evaluate"}});
  for (const Json& id : {Json("7"), Json(8), Json(), Json::array({7})}) {
    cancel(id);
  }
  send({{"jsonrpc", "2.0"}, {"method", "notifications/cancelled"}});
  send({{"jsonrpc", "2.0"}, {"method", "notifications/initialized"}});
  send({{"jsonrpc", "2.0"}, {"method", "notifications/nonsense"}});
  EXPECT_TRUE(held_.cancelled.empty());
  session_.answer(held_.calls.at(0).id, ToolAnswer{});
  answer();
  cancel(7);
  EXPECT_TRUE(held_.cancelled.empty());
  EXPECT_TRUE(lines_.empty());
}

// ---------------------------------------------------------------- what cannot be read

TEST_F(Sessions, AnUnreadableLineHasNoIdUntilAClientOfTheFirstEraIsKnown) {
  send_text("not json");
  EXPECT_FALSE(answer().contains("id"));
  initialize("2025-11-25");
  send_text("not json");
  const Json got = answer();
  EXPECT_TRUE(got.contains("id") && got["id"].is_null());
  EXPECT_EQ(got["error"]["code"], kParseError);
}

TEST_F(Sessions, AMalformedRequestIsAnsweredUnderItsId) {
  send({{"jsonrpc", "1.0"}, {"id", 5}, {"method", "ping"}});
  const Json got = answer();
  EXPECT_EQ(got["id"], 5);
  EXPECT_EQ(got["error"]["code"], kInvalidRequest);
}

TEST_F(Sessions, EmptyLinesAndAnswersAreIgnored) {
  send_text("");
  send_text(" \r");
  send({{"jsonrpc", "2.0"}, {"id", 1}, {"result", Json::object()}});
  EXPECT_TRUE(lines_.empty());
}

TEST_F(Sessions, ALineThatWasTooLongIsAnError) {
  session_.on_line({.text = "", .too_long = true});
  EXPECT_EQ(error(), kInvalidRequest);
}

// ---------------------------------------------------------------- batches

Json ping(const Json& id) {
  return {{"jsonrpc", "2.0"}, {"id", id}, {"method", "ping"}};
}

TEST_F(Sessions, ABatchOfItsVersionIsAnsweredTogether) {
  initialize("2025-03-26");
  Json call = ping(2);
  call["method"] = "tools/call";
  call["params"] = {{"name", "evaluate"}};
  send(Json::array({ping(1), call, 7, {{"jsonrpc", "2.0"}, {"method", "notifications/initialized"}}}));
  EXPECT_TRUE(lines_.empty()) << "until the slowest is done";
  session_.answer(held_.calls.at(0).id, ToolAnswer{.text = "a"});
  const Json got = answer();
  ASSERT_EQ(got.size(), 3u);
  EXPECT_EQ(got[0]["id"], 1);
  EXPECT_EQ(got[1]["error"]["code"], kInvalidRequest);
  EXPECT_EQ(got[2]["id"], 2);
}

TEST_F(Sessions, ACancelledPartOfABatchIsLeftOut) {
  initialize("2025-03-26");
  Json call = ping(2);
  call["method"] = "tools/call";
  call["params"] = {{"name", "evaluate"}};
  send(Json::array({call, ping(1)}));
  cancel(2);
  EXPECT_EQ(answer().size(), 1u);
}

TEST_F(Sessions, ABatchOfNotificationsHasNoAnswer) {
  initialize("2025-03-26");
  send(Json::array({{{"jsonrpc", "2.0"}, {"method", "notifications/initialized"}}}));
  EXPECT_TRUE(lines_.empty());
}

TEST_F(Sessions, ABatchIsRefusedInOtherVersionsAndWhenItIsEmpty) {
  send(Json::array({ping(1)}));
  EXPECT_EQ(error(), kInvalidRequest);
  initialize("2025-11-25");
  send(Json::array({ping(1)}));
  EXPECT_EQ(error(), kInvalidRequest);
  initialize("2025-03-26");
  send(Json::array());
  EXPECT_EQ(error(), kInvalidRequest);
}

}  // namespace
}  // namespace apo::mcp
