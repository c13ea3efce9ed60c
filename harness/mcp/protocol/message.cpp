// harness/mcp/protocol/message.cpp - reads and writes messages; trusts nothing that it reads.
#include "harness/mcp/protocol/message.h"

#include <algorithm>

namespace apo::mcp {
namespace {

constexpr int kDeepest = 64;

// Before parsing: a megabyte of brackets would need a stack of that size later.
bool is_too_deep(std::string_view text) {
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      i += c == '\\' ? 1 : 0;
      quoted = c != '"';
    } else if (c == '"') {
      quoted = true;
    } else if (c == '[' || c == '{') {
      if (++depth > kDeepest) {
        return true;
      }
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return false;
}

bool is_id(const Json& json) {
  return json.is_string() || json.is_number_integer();
}

}  // namespace

std::vector<LineReader::Line> LineReader::feed(std::string_view bytes) {
  std::vector<Line> lines;
  while (!bytes.empty()) {
    const std::size_t end = bytes.find('\n');
    const std::string_view part = bytes.substr(0, end);
    if (!skipping_ && open_.size() + part.size() > longest_) {
      skipping_ = true;
      open_ = std::string();
    }
    if (!skipping_) {
      open_ += part;
    }
    if (end == std::string_view::npos) {
      break;
    }
    lines.push_back({.text = std::move(open_), .too_long = skipping_});
    open_ = std::string();
    skipping_ = false;
    bytes.remove_prefix(end + 1);
  }
  return lines;
}

Json parse_line(const std::string& line) {
  if (is_too_deep(line)) {
    throw ProtocolError(kParseError, "Parse error: the message is nested too deeply");
  }
  Json json = Json::parse(line, nullptr, false);
  if (json.is_discarded()) {
    throw ProtocolError(kParseError, "Parse error: the line is not JSON in UTF-8");
  }
  return json;
}

std::optional<Message> message_of(const Json& json) {
  if (!json.is_object()) {
    throw ProtocolError(kInvalidRequest, "Invalid request: a message is a JSON object");
  }
  if (json.value("jsonrpc", Json()) != "2.0") {
    throw ProtocolError(kInvalidRequest, "Invalid request: 'jsonrpc' must be \"2.0\"");
  }
  if (!json.contains("method") && (json.contains("result") || json.contains("error"))) {
    return std::nullopt;
  }
  if (!json.contains("method") || !json["method"].is_string()) {
    throw ProtocolError(kInvalidRequest, "Invalid request: 'method' must be a string");
  }
  Message message{.id = std::nullopt, .method = json["method"].get<std::string>()};
  if (json.contains("id")) {
    if (!is_id(json["id"])) {
      throw ProtocolError(kInvalidRequest, "Invalid request: 'id' must be a string or an integer");
    }
    message.id = json["id"];
  }
  if (json.contains("params")) {
    if (!json["params"].is_object()) {
      throw ProtocolError(kInvalidParams, "'params' must be an object");
    }
    message.params = json["params"];
  }
  return message;
}

Json id_in(const Json& json) {
  return json.is_object() && json.contains("id") && is_id(json["id"]) ? json["id"] : Json();
}

Json result_message(const Json& id, Json result) {
  return {{"jsonrpc", "2.0"}, {"id", id}, {"result", std::move(result)}};
}

Json error_message(const std::optional<Json>& id, const ProtocolError& error) {
  Json message = {{"jsonrpc", "2.0"}};
  if (id) {
    message["id"] = *id;
  }
  message["error"] = {{"code", static_cast<int>(error.code())}, {"message", error.what()}};
  if (!error.data().is_null()) {
    message["error"]["data"] = error.data();
  }
  return message;
}

Json notification(const std::string& method, Json params) {
  return {{"jsonrpc", "2.0"}, {"method", method}, {"params", std::move(params)}};
}

std::string line_of(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace apo::mcp
