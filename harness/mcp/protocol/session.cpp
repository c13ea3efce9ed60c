// harness/mcp/protocol/session.cpp - what each message means in its era.
#include "harness/mcp/protocol/session.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace apo::mcp {
namespace {

constexpr const char* kModern = "2026-07-28";
constexpr std::array kLegacy = {"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"};
constexpr const char* kWithBatches = "2025-03-26";

constexpr const char* kVersionKey = "io.modelcontextprotocol/protocolVersion";
constexpr const char* kCapabilitiesKey = "io.modelcontextprotocol/clientCapabilities";
constexpr const char* kServerKey = "io.modelcontextprotocol/serverInfo";

// How long a client may keep a list: what a newer program offers is then seen within minutes.
constexpr int kListMs = 300'000;

Json capabilities() {
  return {{"tools", Json::object()}, {"resources", Json::object()}, {"prompts", Json::object()}};
}

Json meta_of(const Json& params) {
  const Json meta = params.value("_meta", Json::object());
  if (!meta.is_object()) {
    throw ProtocolError(kInvalidParams, "'_meta' must be an object");
  }
  return meta;
}

// Whether the request is of the modern era. Throws ProtocolError for one that is of it and incomplete.
bool is_modern(const Json& meta) {
  if (!meta.contains(kVersionKey)) {
    return false;
  }
  const Json& version = meta[kVersionKey];
  if (!version.is_string()) {
    throw ProtocolError(kInvalidParams, std::string("_meta: ") + kVersionKey + " must be a string");
  }
  if (version != kModern) {
    Json supported = Json::array({kModern});
    for (const char* older : kLegacy) {
      supported.push_back(older);
    }
    throw ProtocolError(kUnsupportedVersion, "Unsupported protocol version",
                        {{"supported", supported}, {"requested", version}});
  }
  if (!meta.contains(kCapabilitiesKey) || !meta[kCapabilitiesKey].is_object()) {
    throw ProtocolError(kInvalidParams, std::string("_meta lacks the object ") + kCapabilitiesKey);
  }
  return true;
}

std::string required_string(const Json& params, const char* name) {
  const Json value = params.value(name, Json());
  if (!value.is_string()) {
    throw ProtocolError(kInvalidParams, std::string("'") + name + "' must be a string");
  }
  return value.get<std::string>();
}

Json object_or_none(const Json& params, const char* name) {
  Json value = params.value(name, Json::object());
  if (!value.is_object()) {
    throw ProtocolError(kInvalidParams, std::string("'") + name + "' must be an object");
  }
  return value;
}

Json text_block(const std::string& text) {
  return {{"type", "text"}, {"text", text}};
}

bool has_name(const Json& list, const std::string& name) {
  return std::any_of(list.begin(), list.end(), [&](const Json& one) { return one["name"] == name; });
}

// Each list is one page, so that no cursor is ever given out.
Json whole_list(const Json& params, const char* name, const Json& list) {
  if (params.contains("cursor")) {
    throw ProtocolError(kInvalidParams, "unknown cursor: the list has one page");
  }
  return {{name, list}};
}

// null where the client wants no progress.
Json progress_token_of(const Json& params) {
  Json token = meta_of(params).value("progressToken", Json());
  if (!token.is_null() && !token.is_string() && !token.is_number_integer()) {
    throw ProtocolError(kInvalidParams, "'progressToken' must be a string or an integer");
  }
  return token;
}

}  // namespace

Session::Session(Offer offer, Service& service, Sink sink)
    : offer_(std::move(offer)), service_(service), sink_(std::move(sink)) {}

// ---------------------------------------------------------------- what comes in

void Session::on_line(const LineReader::Line& line) {
  if (line.too_long) {
    return refuse_unreadable(nullptr, ProtocolError(kInvalidRequest, "Invalid request: the line is longer than 16 MiB"),
                             nullptr);
  }
  if (line.text.find_first_not_of(" \t\r") == std::string::npos) {
    return;
  }
  Json json;
  try {
    json = parse_line(line.text);
  } catch (const ProtocolError& error) {
    return refuse_unreadable(nullptr, error, nullptr);
  }
  if (json.is_array()) {
    on_batch(json);
  } else {
    on_message(json, nullptr);
  }
}

void Session::on_batch(const Json& batch) {
  if (agreed_ != kWithBatches || batch.empty()) {
    return refuse_unreadable(
        nullptr,
        ProtocolError(kInvalidRequest, batch.empty() ? "Invalid request: the batch is empty"
                                                     : "Invalid request: only protocol 2025-03-26 has "
                                                       "batches; send one message a line"),
        nullptr);
  }
  const auto together = std::make_shared<Batch>();
  together->open = 1;  // for this function, so that no part is sent early
  for (const Json& json : batch) {
    on_message(json, together);
  }
  close(together);
}

void Session::on_message(const Json& json, const std::shared_ptr<Batch>& batch) {
  std::optional<Message> message;
  try {
    message = message_of(json);
  } catch (const ProtocolError& error) {
    return refuse_unreadable(id_in(json), error, batch);
  }
  if (!message) {
    return;
  }
  if (!message->id) {
    return on_notification(*message);
  }
  const Request request{.id = *message->id, .batch = batch, .params = std::move(message->params)};
  try {
    on_request(request, message->method);
  } catch (const ProtocolError& error) {
    refuse(request, error);
  } catch (const std::exception& error) {
    end_with_bug(request, error.what());
  }
}

// A bug of ours, or no memory: this request ends, the others go on.
void Session::end_with_bug(const Request& request, const std::string& what) {
  const ProtocolError error(kInternalError, "internal error: " + what);
  const auto found = by_id_.find(line_of(request.id));
  if (found == by_id_.end()) {
    return refuse(request, error);
  }
  const CallId call = found->second;
  fail(call, error);
  service_.cancel(call);
}

void Session::on_notification(const Message& message) {
  if (message.method != "notifications/cancelled") {
    return;
  }
  const auto found = by_id_.find(line_of(message.params.value("requestId", Json())));
  if (found == by_id_.end()) {
    return;  // unknown or answered: to be ignored, by the specification
  }
  const CallId call = found->second;
  if (const auto cancelled = ended(call)) {
    close(cancelled->request.batch);
  }
  service_.cancel(call);
}

void Session::on_request(Request request, const std::string& method) {
  if (method == "initialize") {
    return complete(request, initialized(request.params), false);
  }
  request.modern = is_modern(meta_of(request.params));
  if (method == "tools/call") {
    return begin_tool(request);
  }
  if (method == "resources/read") {
    return begin_resource(request);
  }
  const bool cacheable = method != "ping" && method != "prompts/get";
  complete(request, immediate_result(request, method), cacheable);
}

Json Session::immediate_result(const Request& request, const std::string& method) const {
  const Json& params = request.params;
  if (method == "server/discover") {
    if (!request.modern) {
      throw ProtocolError(kInvalidParams, std::string("_meta lacks ") + kVersionKey);
    }
    return {{"supportedVersions", Json::array({kModern})},
            {"capabilities", capabilities()},
            {"instructions", offer_.instructions}};
  }
  if (method == "ping" && !request.modern) {
    return Json::object();
  }
  if (method == "tools/list") {
    return whole_list(params, "tools", offer_.tools);
  }
  if (method == "resources/list") {
    return whole_list(params, "resources", offer_.resources);
  }
  if (method == "resources/templates/list") {
    return whole_list(params, "resourceTemplates", offer_.templates);
  }
  if (method == "prompts/list") {
    return whole_list(params, "prompts", offer_.prompts);
  }
  if (method == "prompts/get") {
    return got_prompt(params);
  }
  throw ProtocolError(kMethodNotFound, "Method not found", {{"method", method}});
}

// Never an error: a client with a version that we do not know is told the newest that it can speak.
Json Session::initialized(const Json& params) {
  const Json asked = params.value("protocolVersion", Json());
  const auto known = std::find(kLegacy.begin(), kLegacy.end(), asked.is_string() ? asked.get<std::string>() : "");
  agreed_ = known == kLegacy.end() ? kLegacy.front() : *known;
  return {{"protocolVersion", agreed_},
          {"capabilities", capabilities()},
          {"serverInfo", {{"name", "apo"}, {"version", offer_.version}}},
          {"instructions", offer_.instructions}};
}

Json Session::got_prompt(const Json& params) const {
  const std::string name = required_string(params, "name");
  if (!has_name(offer_.prompts, name)) {
    throw ProtocolError(kInvalidParams, "Unknown prompt: " + name);
  }
  const std::string text = service_.prompt(name, object_or_none(params, "arguments"));
  const Json message = {{"role", "user"}, {"content", text_block(text)}};
  return {{"messages", Json::array({message})}};
}

// ---------------------------------------------------------------- calls

CallId Session::opened(const Request& request) {
  const std::string key = line_of(request.id);
  if (by_id_.contains(key)) {
    throw ProtocolError(kInvalidRequest, "Invalid request: a request with this id is not answered yet");
  }
  Call call{.request = request, .progress_token = progress_token_of(request.params)};
  call.request.params = nullptr;  // may be a megabyte of source
  calls_.emplace(++last_call_, std::move(call));
  by_id_.emplace(key, last_call_);
  if (request.batch != nullptr) {
    ++request.batch->open;
  }
  return last_call_;
}

void Session::begin_tool(const Request& request) {
  const std::string name = required_string(request.params, "name");
  if (!has_name(offer_.tools, name)) {
    throw ProtocolError(kInvalidParams, "Unknown tool: " + name);
  }
  const Json arguments = object_or_none(request.params, "arguments");
  service_.call_tool(opened(request), name, arguments);
}

void Session::begin_resource(const Request& request) {
  const std::string uri = required_string(request.params, "uri");
  const CallId call = opened(request);
  calls_.at(call).uri = uri;
  service_.read_resource(call, uri);
}

std::optional<Session::Call> Session::ended(CallId call) {
  const auto found = calls_.find(call);
  if (found == calls_.end()) {
    return std::nullopt;
  }
  Call taken = std::move(found->second);
  calls_.erase(found);
  by_id_.erase(line_of(taken.request.id));
  return taken;
}

void Session::answer(CallId call, const ToolAnswer& answer) {
  if (const auto open = ended(call)) {
    Json result = {{"content", Json::array({text_block(answer.text)})}};
    if (!answer.structured.is_null()) {
      result["structuredContent"] = answer.structured;
    }
    result["isError"] = answer.is_error;
    complete(open->request, std::move(result), false);
    close(open->request.batch);
  }
}

void Session::answer(CallId call, const ResourceAnswer& answer) {
  if (const auto open = ended(call)) {
    const Json content = {{"uri", open->uri}, {"mimeType", answer.mime_type}, {"text", answer.text}};
    Json result = {{"contents", Json::array({content})}};
    if (open->request.modern) {
      result["ttlMs"] = 0;  // the next experiment changes it
      result["cacheScope"] = "private";
    }
    complete(open->request, std::move(result), false);
    close(open->request.batch);
  }
}

void Session::resource_not_found(CallId call, const std::string& why) {
  const auto found = calls_.find(call);
  if (found != calls_.end()) {
    const ErrorCode code = found->second.request.modern ? kInvalidParams : kLegacyResourceNotFound;
    const std::string uri = found->second.uri;
    fail(call, ProtocolError(code, "Resource not found: " + why, {{"uri", uri}}));
  }
}

void Session::fail(CallId call, const ProtocolError& error) {
  if (const auto open = ended(call)) {
    refuse(open->request, error);
    close(open->request.batch);
  }
}

void Session::progress(CallId call, const std::string& message) {
  const auto found = calls_.find(call);
  if (found == calls_.end() || found->second.progress_token.is_null()) {
    return;
  }
  Call& open = found->second;
  sink_(
      line_of(notification("notifications/progress",
                           {{"progressToken", open.progress_token}, {"progress", ++open.told}, {"message", message}})));
}

// ---------------------------------------------------------------- what goes out

void Session::complete(const Request& request, Json result, bool cacheable) const {
  if (request.modern) {
    result["resultType"] = "complete";
    result["_meta"] = {{kServerKey, {{"name", "apo"}, {"version", offer_.version}}}};
    if (cacheable) {
      result["ttlMs"] = kListMs;
      result["cacheScope"] = "public";
    }
  }
  send(result_message(request.id, std::move(result)), request.batch);
}

void Session::refuse(const Request& request, const ProtocolError& error) const {
  send(error_message(request.id, error), request.batch);
}

// Versions up to 2025-11-25 want null where the id is not known; the newer schema has no null.
void Session::refuse_unreadable(const Json& id, const ProtocolError& error, const std::shared_ptr<Batch>& batch) const {
  const bool none = id.is_null() && agreed_.empty();
  send(error_message(none ? std::nullopt : std::optional<Json>(id), error), batch);
}

void Session::send(const Json& message, const std::shared_ptr<Batch>& batch) const {
  if (batch == nullptr) {
    sink_(line_of(message));
  } else {
    batch->answers.push_back(message);
  }
}

void Session::close(const std::shared_ptr<Batch>& batch) const {
  if (batch != nullptr && --batch->open == 0 && !batch->answers.empty()) {
    sink_(line_of(batch->answers));
  }
}

}  // namespace apo::mcp
