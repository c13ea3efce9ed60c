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

constexpr std::int64_t kClocksApart_s = 60;
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

// What a command of an engine, a job or a link may not do the next time, and what may be due to its task.
bool may_pass(WorkerEnd why) {
  return why == WorkerEnd::died || why == WorkerEnd::silent || why == WorkerEnd::gave_back ||
         why == WorkerEnd::not_started || why == WorkerEnd::cannot_judge;
}

std::string describe_device(const Machine& machine) {
  return machine.target == Target::host ? fmt::format("{} of the CPUs of {}", machine.cores, machine.model)
                                        : machine.model;
}

std::string refusal(const Hello& hello, const ProgramIdentity& program, const Machine& model, std::time_t started_at,
                    WorkerEnd& why) {
  if (hello.program != program) {
    why = WorkerEnd::wrong_version;
    return fmt::format("it is {}, and this is {}: copy this program there", to_string(hello.program),
                       to_string(program));
  }
  if (const std::int64_t apart = clock_error_s(hello.time_s, started_at, std::time(nullptr)); apart > kClocksApart_s) {
    why = WorkerEnd::clock_off;
    return fmt::format("its clock is {} off", format_seconds(static_cast<double>(apart)));
  }
  if (hello.machine.target != model.target || hello.machine.model != model.model ||
      hello.machine.cores != model.cores) {
    why = WorkerEnd::wrong_device;
    return fmt::format("its device is {}, and the campaign is on {}", describe_device(hello.machine),
                       describe_device(model));
  }
  return "";
}

}  // namespace

std::int64_t clock_error_s(std::int64_t hello, std::int64_t started_at, std::int64_t now) {
  return std::max({std::int64_t{0}, started_at - hello, hello - now});
}

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
  std::time_t started_at = 0;
  Clock::time_point deadline;  // of its next word; of its next start where there is no connection

  // Throws UserError for a message of another task than its own.
  void check_task(const Message& message) const {
    if (task == 0 || message.at("id") != task) {
      throw UserError("it speaks of a task that it does not have: " + message.at("type").get<std::string>());
    }
  }
  void supply(const Need& need) const;
};

// The family first: a source is read with its contract.
void Fleet::Worker::supply(const Need& need) const {
  if (!need.family.empty()) {
    connection->send(family_message(need.family, sources.family(need.family)).dump());
  }
  for (const std::string& hash : need.sources) {
    connection->send(source_message(sources.variant(hash)).dump());
  }
}

Fleet::Fleet(FleetOptions options, const Machine& model) : options_(std::move(options)), model_(model) {
  allow_many_files();
  for (const std::string& command : options_.commands) {
    workers_.push_back(std::make_unique<Worker>());
    workers_.back()->command = command;
    start(*workers_.back());
  }
}

Fleet::~Fleet() {
  end();
}

// At the end of its input a worker ends; what does not is killed.
void Fleet::end() {
  const auto is_over = [](const std::unique_ptr<Worker>& worker) {
    return worker->connection == nullptr || worker->connection->is_over();
  };
  for (const std::unique_ptr<Worker>& worker : workers_) {
    worker->out = true;
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
  for (const std::unique_ptr<Worker>& worker : workers_) {
    worker->connection.reset();
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
  worker.started_at = std::time(nullptr);
  worker.connection = std::make_unique<Connection>(worker.command);
  worker.deadline = after(options_.start_s);
}

void Fleet::give(std::size_t index, const Task& task, const Sources& sources) {
  Worker& worker = *workers_[index];
  worker.task = task.id;
  worker.doing.clear();
  worker.sources = sources;
  worker.connection->send(to_message(task).dump());
}

void Fleet::cancel(std::size_t index) {
  Worker& worker = *workers_[index];
  worker.cancelling = true;
  worker.connection->send(Message{{"type", "cancel"}, {"id", worker.task}}.dump());
}

void Fleet::forgive(std::size_t worker) {
  workers_[worker]->failures = 0;
}

std::optional<FleetEvent> Fleet::next(std::chrono::milliseconds longest) {
  const bool unread = std::ranges::any_of(workers_, [](const auto& worker) { return !worker->lines.empty(); });
  poll_all(unread ? std::chrono::milliseconds(0) : longest);
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    const std::size_t index = (first_ + i) % workers_.size();
    if (auto event = look_at(index)) {
      first_ = index + 1;
      return event;
    }
  }
  return std::nullopt;
}

void Fleet::poll_all(std::chrono::milliseconds longest) {
  std::vector<Connection*> connections;
  for (const std::unique_ptr<Worker>& worker : workers_) {
    if (worker->connection != nullptr) {
      connections.push_back(worker->connection.get());
    }
  }
  Connection::wait(connections, longest);
}

// What it has said comes before what it should have said by now.
std::optional<FleetEvent> Fleet::look_at(std::size_t index) {
  std::optional<FleetEvent> event = workers_[index]->connection != nullptr ? hear(index) : std::nullopt;
  return event ? event : look_at_clock(index);
}

std::optional<FleetEvent> Fleet::hear(std::size_t index) {
  Worker& worker = *workers_[index];
  std::ranges::move(worker.connection->move(), std::back_inserter(worker.lines));
  while (!worker.lines.empty()) {
    const Message message = Message::parse(worker.lines.front(), nullptr, false);
    worker.lines.pop_front();
    if (!message.is_object()) {
      continue;  // what a login shell prints first
    }
    try {
      if (auto event = on_message(index, message)) {
        return event;
      }
    } catch (const Message::exception& error) {
      return give_up(index, WorkerEnd::bad_answer, error.what());
    } catch (const UserError& error) {
      return give_up(index, WorkerEnd::bad_answer, with_hint(error));
    }
  }
  if (worker.connection->is_over()) {
    return give_up(index, worker.hello ? WorkerEnd::died : WorkerEnd::not_started, "");
  }
  return std::nullopt;
}

std::optional<FleetEvent> Fleet::on_message(std::size_t index, const Message& message) {
  Worker& worker = *workers_[index];
  const std::string type = message.value("type", "");
  if (!worker.hello) {
    return type == "hello" ? std::optional(on_hello(index, message)) : std::nullopt;  // or JSON of a login shell
  }
  worker.deadline = after(options_.silence_s);
  if (type == "heartbeat") {
    return on_heartbeat(index, message);
  }
  if (type == "progress") {
    worker.doing = message.at("what");
  } else if (type == "need") {
    worker.check_task(message);
    if (!worker.cancelling) {  // else it would take what comes late for its next task
      worker.supply(need_of(message));
    }
  } else if (type == "answer" || type == "cancelled") {
    return on_end_of_task(index, message);
  } else if (type == "given_back") {
    return give_up(index, WorkerEnd::gave_back, message.at("what"));
  } else if (type == "failed") {
    return give_up(index, message.at("reason") == "sentinel" ? WorkerEnd::sentinel : WorkerEnd::cannot_judge,
                   message.at("what"));
  } else if (type == "hello") {
    throw UserError("it has joined before");
  }
  return std::nullopt;
}

FleetEvent Fleet::on_hello(std::size_t index, const Message& message) {
  Worker& worker = *workers_[index];
  const Hello hello = hello_of(message);
  WorkerEnd why = WorkerEnd::dismissed;
  std::string note = refusal(hello, options_.program, model_, worker.started_at, why);
  for (std::size_t i = 0; i < workers_.size() && note.empty(); ++i) {
    if (i != index && workers_[i]->hello && workers_[i]->hello->device == hello.device) {
      why = WorkerEnd::device_taken;
      note = fmt::format("worker {} holds {}", i + 1, hello.device);
    }
  }
  if (!note.empty()) {
    return give_up(index, why, note);
  }
  worker.hello = hello;
  worker.deadline = after(options_.silence_s);
  return {.kind = FleetEvent::Kind::joined, .worker = index};
}

std::optional<FleetEvent> Fleet::on_heartbeat(std::size_t index, const Message& message) {
  const double quiet_s = message.at("quiet_s");
  if (quiet_s <= options_.stuck_s) {
    return std::nullopt;
  }
  return give_up(index, WorkerEnd::silent, "its task made no progress in " + format_seconds(quiet_s));
}

FleetEvent Fleet::on_end_of_task(std::size_t index, const Message& message) {
  Worker& worker = *workers_[index];
  worker.check_task(message);
  const bool answers = message.at("type") == "answer";
  if (!answers && !worker.cancelling) {
    throw UserError("it stopped a task that nobody cancelled");
  }
  const bool wanted = !worker.cancelling;
  FleetEvent event{.kind = wanted ? FleetEvent::Kind::answered : FleetEvent::Kind::cancelled,
                   .worker = index,
                   .task = worker.task,
                   .journal = wanted ? journal_of(message) : ""};
  worker.failures = 0;
  worker.task = 0;
  worker.cancelling = false;
  return event;
}

std::optional<FleetEvent> Fleet::look_at_clock(std::size_t index) {
  Worker& worker = *workers_[index];
  if (worker.out || Clock::now() < worker.deadline) {
    return std::nullopt;
  }
  if (worker.connection == nullptr) {
    start(worker);
    return std::nullopt;
  }
  return worker.hello
             ? give_up(index, WorkerEnd::silent, "no heartbeat in " + format_seconds(options_.silence_s))
             : give_up(index, WorkerEnd::not_started, "it has said nothing in " + format_seconds(options_.start_s));
}

FleetEvent Fleet::give_up(std::size_t index, WorkerEnd why, const std::string& note) {
  Worker& worker = *workers_[index];
  const std::string ended = worker.connection->end();
  worker.connection.reset();
  worker.lines.clear();
  FleetEvent event{.kind = FleetEvent::Kind::left,
                   .worker = index,
                   .task = worker.task,
                   .why = why,
                   .note = note.empty() ? ended : note};
  worker.hello.reset();
  worker.task = 0;
  worker.cancelling = false;
  ++worker.failures;
  worker.out = !may_pass(why) || worker.failures >= options_.most_failures;
  worker.deadline = after(options_.restart_after_s * std::exp2(worker.failures - 1));
  return event;
}

}  // namespace apo
