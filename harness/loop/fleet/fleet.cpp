// harness/loop/fleet/fleet.cpp - one poll() over all workers, and a look at the clock of each.
#include "harness/loop/fleet/fleet.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <deque>
#include <iterator>

#include "harness/core/error.h"
#include "harness/core/text.h"

namespace apo {
namespace {

constexpr double kClocksApart_s = 60;
constexpr double kCancelPatience_s = 10;
constexpr double kFarewell_s = 3;

// A pipe for each stream of each worker.
void allow_many_files() {
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < files.rlim_max) {
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);  // where it fails, starting a worker says so
  }
}

std::chrono::steady_clock::time_point after(double seconds) {
  return std::chrono::steady_clock::now() +
         std::chrono::duration_cast<std::chrono::steady_clock::duration>(std::chrono::duration<double>(seconds));
}

// What a command of an engine, a job or a link may not do the next time.
bool may_pass(WorkerEnd why) {
  return why == WorkerEnd::died || why == WorkerEnd::silent || why == WorkerEnd::gave_back ||
         why == WorkerEnd::not_started;
}

std::string refusal(const Hello& hello, const ProgramIdentity& program, const Machine& model, WorkerEnd& why) {
  if (hello.program != program) {
    why = WorkerEnd::wrong_version;
    return fmt::format("it is {}, and this is {}", to_string(hello.program), to_string(program));
  }
  if (const double apart = std::abs(static_cast<double>(hello.time_s - std::time(nullptr))); apart > kClocksApart_s) {
    why = WorkerEnd::clock_off;
    return fmt::format("its clock is {} off", format_seconds(apart));
  }
  if (hello.machine.target != model.target || hello.machine.model != model.model) {
    why = WorkerEnd::wrong_device;
    return fmt::format("its device is {}, and the campaign is on {}", hello.machine.model, model.model);
  }
  return "";
}

}  // namespace

struct Fleet::Worker {
  std::string command;
  std::unique_ptr<Connection> connection;
  std::deque<std::string> lines;  // that nobody has looked at
  std::optional<Hello> hello;
  std::int64_t task = 0;
  bool cancelling = false;
  bool out = false;
  int failures = 0;  // in a row
  std::string doing;
  Sources sources;
  Clock::time_point deadline;  // of its next word; of its next start where there is no connection
};

Fleet::Fleet(FleetOptions options, const Machine& model)
    : options_(std::move(options)), model_(model), program_(identity_of_program(options_.version)) {
  allow_many_files();
  for (const std::string& command : options_.commands) {
    workers_.push_back(std::make_unique<Worker>());
    workers_.back()->command = command;
    start(*workers_.back());
  }
}

// At the end of its input a worker ends; what does not is killed.
Fleet::~Fleet() {
  const auto is_over = [](const std::unique_ptr<Worker>& worker) {
    return worker->connection == nullptr || worker->connection->is_over();
  };
  for (const std::unique_ptr<Worker>& worker : workers_) {
    if (worker->connection != nullptr) {
      worker->connection->hang_up();
    }
  }
  const Clock::time_point until = after(kFarewell_s);
  while (Clock::now() < until && !std::ranges::all_of(workers_, is_over)) {
    poll_all(std::chrono::milliseconds(100));
    for (const std::unique_ptr<Worker>& worker : workers_) {
      if (!is_over(worker)) {
        worker->connection->move();
      }
    }
  }
}

bool Fleet::is_idle(std::size_t worker) const {
  return workers_[worker]->hello.has_value() && workers_[worker]->task == 0;
}

bool Fleet::is_out(std::size_t worker) const {
  return workers_[worker]->out;
}

std::int64_t Fleet::task(std::size_t worker) const {
  return workers_[worker]->task;
}

const Hello* Fleet::hello(std::size_t worker) const {
  return workers_[worker]->hello ? &*workers_[worker]->hello : nullptr;
}

pid_t Fleet::pid(std::size_t worker) const {
  return workers_[worker]->connection->pid();
}

std::vector<std::string> Fleet::doing() const {
  std::vector<std::string> all;
  for (const std::unique_ptr<Worker>& worker : workers_) {
    if (worker->task != 0 && !worker->doing.empty()) {
      all.push_back(worker->doing);
    }
  }
  return all;
}

void Fleet::start(Worker& worker) {
  worker.connection = std::make_unique<Connection>(worker.command);
  worker.deadline = after(options_.start_s);
}

void Fleet::give(std::size_t index, const Task& task, const Sources& sources) {
  Worker& worker = *workers_[index];
  worker.task = task.id;
  worker.cancelling = false;
  worker.doing.clear();
  worker.sources = sources;
  worker.connection->send(to_message(task).dump());
}

void Fleet::cancel(std::size_t index) {
  Worker& worker = *workers_[index];
  worker.cancelling = true;
  worker.deadline = after(kCancelPatience_s);
  worker.connection->send(Message{{"type", "cancel"}, {"id", worker.task}}.dump());
}

// At most one event of each worker: what it is found to be by whoever looks at the events is what they say.
std::vector<FleetEvent> Fleet::wait(std::chrono::milliseconds longest) {
  const bool unread = std::ranges::any_of(workers_, [](const auto& worker) { return !worker->lines.empty(); });
  poll_all(unread ? std::chrono::milliseconds(0) : longest);
  std::vector<FleetEvent> events;
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    const std::size_t before = events.size();
    if (workers_[i]->connection != nullptr) {
      hear(i, events);
    }
    if (events.size() == before) {
      look_at_clock(i, events);
    }
  }
  return events;
}

void Fleet::poll_all(std::chrono::milliseconds longest) {
  std::vector<pollfd> descriptors;
  for (const std::unique_ptr<Worker>& worker : workers_) {
    if (worker->connection != nullptr && !worker->connection->is_over()) {
      worker->connection->watch(descriptors);
    }
  }
  poll(descriptors.data(), descriptors.size(), static_cast<int>(longest.count()));  // EINTR: the next look
}

void Fleet::hear(std::size_t index, std::vector<FleetEvent>& events) {
  Worker& worker = *workers_[index];
  const std::size_t before = events.size();
  std::ranges::move(worker.connection->move(), std::back_inserter(worker.lines));
  while (!worker.lines.empty() && events.size() == before) {
    const Message message = Message::parse(worker.lines.front(), nullptr, false);
    worker.lines.pop_front();
    if (!message.is_object()) {
      continue;  // what a login shell prints first
    }
    try {
      on_message(index, message, events);
    } catch (const Message::exception& error) {
      leave(index, WorkerEnd::bad_answer, error.what(), events);
    } catch (const UserError& error) {
      leave(index, WorkerEnd::bad_answer, error.what(), events);
    }
  }
  if (events.size() == before && worker.connection->is_over()) {
    leave(index, worker.hello ? WorkerEnd::died : WorkerEnd::not_started, "", events);
  }
}

void Fleet::on_message(std::size_t index, const Message& message, std::vector<FleetEvent>& events) {
  Worker& worker = *workers_[index];
  const std::string type = message.value("type", "");
  if (type == "hello") {
    return on_hello(index, message, events);
  }
  if (!worker.hello) {
    return;  // JSON of a login shell
  }
  if (!worker.cancelling) {
    worker.deadline = after(options_.silence_s);
  }
  if (type == "progress") {
    worker.doing = message.at("what");
  } else if (type == "need") {
    supply(worker, message);
  } else if (type == "answer" || type == "cancelled") {
    const bool wanted = type == "answer" && !worker.cancelling;
    FleetEvent event{.kind = wanted ? FleetEvent::Kind::answered : FleetEvent::Kind::cancelled,
                     .worker = index,
                     .task = message.at("id"),
                     .journal = wanted ? journal_of(message) : ""};
    events.push_back(std::move(event));
    worker.failures = 0;
    worker.task = 0;
    worker.cancelling = false;
    worker.deadline = after(options_.silence_s);
  } else if (type == "given_back") {
    leave(index, WorkerEnd::gave_back, message.at("what"), events);
  } else if (type == "failed") {
    leave(index, message.at("reason") == "sentinel" ? WorkerEnd::sentinel : WorkerEnd::cannot_judge, message.at("what"),
          events);
  }
}

void Fleet::on_hello(std::size_t index, const Message& message, std::vector<FleetEvent>& events) {
  Worker& worker = *workers_[index];
  const Hello hello = hello_of(message);
  WorkerEnd why = WorkerEnd::dismissed;
  std::string note = refusal(hello, program_, model_, why);
  for (std::size_t i = 0; i < workers_.size() && note.empty(); ++i) {
    if (i != index && workers_[i]->hello && workers_[i]->hello->device == hello.device) {
      why = WorkerEnd::device_taken;
      note = fmt::format("worker {} holds {}", i + 1, hello.device);
    }
  }
  if (!note.empty()) {
    return leave(index, why, note, events);
  }
  worker.hello = hello;
  worker.deadline = after(options_.silence_s);
  events.push_back({.kind = FleetEvent::Kind::joined, .worker = index});
}

// The family first: a source is read with its contract.
void Fleet::supply(Worker& worker, const Message& message) {
  const Need need = need_of(message);
  if (!need.family.empty()) {
    worker.connection->send(family_message(need.family, worker.sources.family(need.family)).dump());
  }
  for (const std::string& hash : need.sources) {
    worker.connection->send(source_message(worker.sources.variant(hash)).dump());
  }
}

void Fleet::look_at_clock(std::size_t index, std::vector<FleetEvent>& events) {
  Worker& worker = *workers_[index];
  if (worker.out || Clock::now() < worker.deadline) {
    return;
  }
  if (worker.connection == nullptr) {
    start(worker);
  } else if (!worker.hello) {
    leave(index, WorkerEnd::not_started, "it has said nothing in " + format_seconds(options_.start_s), events);
  } else {
    leave(index, WorkerEnd::silent,
          worker.cancelling ? "it did not stop" : "no heartbeat in " + format_seconds(options_.silence_s), events);
  }
}

void Fleet::leave(std::size_t index, WorkerEnd why, const std::string& note, std::vector<FleetEvent>& events) {
  Worker& worker = *workers_[index];
  const std::string ended = worker.connection->end();
  worker.connection.reset();
  worker.lines.clear();
  events.push_back({.kind = FleetEvent::Kind::left,
                    .worker = index,
                    .task = worker.task,
                    .why = why,
                    .note = note.empty() ? ended : note});
  worker.hello.reset();
  worker.task = 0;
  worker.cancelling = false;
  ++worker.failures;
  worker.out = !may_pass(why) || worker.failures >= options_.most_failures;
  worker.deadline = after(options_.restart_after_s * std::exp2(worker.failures - 1));
}

FleetEvent Fleet::refuse(std::size_t worker, WorkerEnd why, const std::string& note) {
  std::vector<FleetEvent> events;
  leave(worker, why, note, events);
  return events.front();
}

}  // namespace apo
