// harness/mcp/protocol/message.h - JSON-RPC 2.0 as the Model Context Protocol uses it: one message a line.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace apo::mcp {

using Json = nlohmann::ordered_json;

enum ErrorCode : int {
  kParseError = -32700,
  kInvalidRequest = -32600,
  kMethodNotFound = -32601,
  kInvalidParams = -32602,
  kInternalError = -32603,
  kLegacyResourceNotFound = -32002,
  kUnsupportedVersion = -32022,
};

// The answer to a request that is malformed. What a tool finds wrong with its arguments is an answer of the tool.
class ProtocolError : public std::runtime_error {
 public:
  ProtocolError(ErrorCode code, const std::string& message, Json data = nullptr)
      : std::runtime_error(message), code_(code), data_(std::move(data)) {}
  ErrorCode code() const { return code_; }
  const Json& data() const { return data_; }

 private:
  ErrorCode code_;
  Json data_;
};

// A request has an id, which is a string or an integer; a notification has none.
struct Message {
  std::optional<Json> id;
  std::string method;
  Json params = Json::object();
};

// The longest line that is read: a source of a megabyte in the longest spelling of JSON, and some.
inline constexpr std::size_t kLongestLine = std::size_t{16} << 20;

// Cuts a stream of bytes into lines. Of a line that is too long only that it was there is kept.
class LineReader {
 public:
  struct Line {
    std::string text;
    bool too_long = false;
  };
  explicit LineReader(std::size_t longest = kLongestLine) : longest_(longest) {}
  std::vector<Line> feed(std::string_view bytes);

 private:
  std::size_t longest_;
  std::string open_;
  bool skipping_ = false;
};

// Throws ProtocolError for what is no JSON or is nested so deeply that nothing we are sent is.
Json parse_line(const std::string& line);
// nullopt for an answer: we ask nothing. Throws ProtocolError.
std::optional<Message> message_of(const Json& json);
// The id of a request that is malformed otherwise; null where it has none that can be told.
Json id_in(const Json& json);

// Build messages; an answer without an `id` has no such field.
Json result_message(const Json& id, Json result);
Json error_message(const std::optional<Json>& id, const ProtocolError& error);
Json notification(const std::string& method, Json params);
// Prints the message on one line, without its newline. Replaces bytes that are no UTF-8.
std::string line_of(const Json& json);

}  // namespace apo::mcp
