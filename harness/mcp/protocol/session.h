// harness/mcp/protocol/session.h - one client's session: lines in, lines out, and what is still to be answered.
//
// It speaks both eras of the protocol, each request by its own: 2026-07-28, whose requests all say so in `_meta`, and
// the versions up to 2025-11-25, which begin with `initialize`. It knows no process, no clock and no file.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "harness/mcp/protocol/message.h"

namespace apo::mcp {

// The capabilities of the server in the form of the protocol's lists; they never change.
struct Offer {
  std::string version;       // of the program
  std::string instructions;  // for the model
  Json tools = Json::array();
  Json resources = Json::array();
  Json templates = Json::array();
  Json prompts = Json::array();
};

// A call that the session passed on. It is never given twice.
using CallId = std::uint64_t;

// Executes calls and answers through the session, at once or later.
class Service {
 public:
  Service() = default;
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;
  virtual ~Service() = default;
  virtual void call_tool(CallId call, const std::string& tool, const Json& arguments) = 0;
  virtual void read_resource(CallId call, const std::string& uri) = 0;
  // Throws ProtocolError for arguments that do not fit.
  virtual std::string prompt(const std::string& name, const Json& arguments) = 0;
  // The client wants no answer any more: stop.
  virtual void cancel(CallId call) = 0;
};

struct ToolAnswer {
  std::string text;
  Json structured;  // null: none
  bool is_error = false;
};

struct ResourceAnswer {
  std::string mime_type;
  std::string text;
};

class Session {
 public:
  using Sink = std::function<void(const std::string& line)>;
  Session(Offer offer, Service& service, Sink sink);

  void on_line(const LineReader::Line& line);

  // Each ends the call; for one that was cancelled or has ended nothing is sent.
  void answer(CallId call, const ToolAnswer& answer);
  void answer(CallId call, const ResourceAnswer& answer);
  void resource_not_found(CallId call, const std::string& why);
  void fail(CallId call, const ProtocolError& error);
  // Sent only where the client asked for it.
  void progress(CallId call, const std::string& message);

 private:
  // The answers to the messages of one line: a batch is answered together.
  struct Batch {
    Json answers = Json::array();
    int open = 0;
  };
  struct Request {
    Json id;
    bool modern = false;
    std::shared_ptr<Batch> batch;  // null: answered by itself
    Json params;
  };
  struct Call {
    Request request;
    Json progress_token;
    std::int64_t told = 0;
    std::string uri;
  };

  void on_batch(const Json& batch);
  void on_message(const Json& json, const std::shared_ptr<Batch>& batch);
  void on_request(Request request, const std::string& method);
  void end_with_bug(const Request& request, const std::string& what);
  void on_notification(const Message& message);
  Json immediate_result(const Request& request, const std::string& method) const;
  Json initialized(const Json& params);
  Json got_prompt(const Json& params) const;
  CallId opened(const Request& request);
  void begin_tool(const Request& request);
  void begin_resource(const Request& request);

  std::optional<Call> ended(CallId call);
  void complete(const Request& request, Json result, bool cacheable) const;
  void refuse(const Request& request, const ProtocolError& error) const;
  void refuse_unreadable(const Json& id, const ProtocolError& error, const std::shared_ptr<Batch>& batch) const;
  void send(const Json& message, const std::shared_ptr<Batch>& batch) const;
  void close(const std::shared_ptr<Batch>& batch) const;

  Offer offer_;
  Service& service_;
  Sink sink_;
  std::string agreed_;  // the version of `initialize`; "" without one
  CallId last_call_ = 0;
  std::map<CallId, Call> calls_;
  std::map<std::string, CallId> by_id_;  // the id as JSON, so that 1 and "1" differ
};

}  // namespace apo::mcp
