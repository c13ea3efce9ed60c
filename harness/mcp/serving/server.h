// harness/mcp/serving/server.h - serves one client over two descriptors: one thread, one poll, and nothing computed
// here.
#pragma once

#include <chrono>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/mcp/protocol/session.h"
#include "harness/mcp/serving/job_book.h"
#include "harness/mcp/serving/job_record.h"
#include "harness/mcp/serving/running_command.h"
#include "harness/mcp/tools/resources.h"
#include "harness/mcp/tools/root.h"
#include "harness/mcp/tools/tools.h"

namespace apo::mcp {

struct ServerOptions {
  std::filesystem::path root;         // where the client may name files
  std::filesystem::path journal;      // of the jobs and of all commands
  std::vector<std::string> families;  // passed on to all commands
  std::string version;
  double answer_within_s = 20;  // after that a call of a job answers with its handle
  int in = 0;
  int out = 1;
};

class Server : private Service {
 public:
  explicit Server(ServerOptions options);
  ~Server() override;
  // Until the client's end closes; then everything that was started is killed.
  void run();

 private:
  using Clock = std::chrono::steady_clock;

  // A command: of a tool, or of a resource.
  struct Work {
    const Tool* tool = nullptr;  // null for a resource
    Json arguments;
    CommandLine line;
    ResourceCommand resource;
    std::int64_t job = 0;          // 0: none
    std::optional<CallId> caller;  // until it is answered
    std::optional<RunningCommand> command;
    Clock::time_point since;
    std::string progress;
    Clock::time_point told;  // the newest progress
    bool cancelled = false;
    bool ended = false;
  };
  // A call of 'wait' or 'cancel'.
  struct Wait {
    std::int64_t job = 0;
    Clock::time_point until;
    std::optional<Clock::time_point> next_look;  // at a job that another server runs
    bool cancels = false;
  };

  void call_tool(CallId call, const std::string& tool, const Json& arguments) override;
  void read_resource(CallId call, const std::string& uri) override;
  std::string prompt(const std::string& name, const Json& arguments) override;
  void cancel(CallId call) override;

  void refuse(CallId call, const std::string& text);
  Work& opened(CallId call, CommandLine line);
  void begin_job(Work& work);
  void start(Work& work);
  void not_started(Work& work, const std::string& why);
  void begin_wait(CallId call, const Json& arguments, bool cancels);
  void look_up(CallId call, std::int64_t job);
  void found(CallId call, const JobBook::Found& found, const std::string& trouble);
  void end(Work& work, bool now);
  void finish(Work& work, const JobEnd& end);
  void tell(Work& work, const ToolAnswer& answer);
  void tell_progress(Work& work);
  void answer_resource(Work& work, const ProcessResult& end);
  void stop(Work& work);
  Work* work_of_job(std::int64_t job);
  const Work* work_of_job(std::int64_t job) const;
  ToolAnswer running(const Work& work) const;

  // server_loop.cpp
  bool wait_for_events();
  bool read_input();
  void write_output();
  void send(const std::string& line);
  std::size_t unsent() const { return output_.size() - sent_; }
  void move_commands();
  void look_at_clock();
  Clock::time_point next_time() const;
  Clock::duration answer_within() const;
  void finish_output();

  ServerOptions options_;
  Root root_;
  Session session_;
  LineReader lines_;
  std::string output_;
  std::size_t sent_ = 0;  // of it
  JobBook jobs_;
  std::list<Work> works_;
  std::map<CallId, Wait> waits_;
  int parent_;  // the process that started this one
};

}  // namespace apo::mcp
