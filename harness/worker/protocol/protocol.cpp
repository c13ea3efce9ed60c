// harness/worker/protocol/protocol.cpp - encodes requests and replies as JSON.
#include "harness/worker/protocol/protocol.h"

#include "harness/core/json/codec.h"

namespace apo {

std::string encode(const Request& request) {
  const auto* run = std::get_if<RunRequest>(&request.body);
  if (run != nullptr && run->pause_each && run->verify_after >= 0) {
    Request hiding = request;
    std::get<RunRequest>(hiding.body).verify_after = -1;
    return encode(hiding);
  }
  return json_text(request) + "\n";
}

std::string encode(const Reply& reply) {
  return json_text(reply) + "\n";
}

Request decode_request(std::string_view line) {
  return from_json_text<Request>(line);
}

std::optional<Reply> decode_reply(std::string_view line) {
  try {
    auto document = json_of(Reply{});
    document.erase("nonce");
    document.update(nlohmann::ordered_json::parse(line));  // all but the nonce may be left out
    Reply reply;
    read_json(document, reply);
    if (reply.failure && reply.failure->outcome == Outcome::valid) {
      return std::nullopt;
    }
    return reply;
  } catch (const std::exception&) {
    return std::nullopt;  // the caller names the outcome
  }
}

}  // namespace apo
