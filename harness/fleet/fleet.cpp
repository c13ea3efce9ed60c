// harness/fleet/fleet.cpp - one poll() over all workers, and a look at the clock of each.
#include "harness/fleet/fleet.h"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <deque>
#include <iterator>
#include <set>

#include "harness/core/error.h"
#include "harness/core/system/process.h"
#include "harness/core/system/subprocess.h"
#include "harness/core/text.h"
#include "harness/families/known_families.h"
#include "journal/facts/machines.h"

namespace apo {
namespace {

constexpr std::int64_t kClocksApart_s = 60;
constexpr double kFarewell_s = 3;
constexpr std::size_t kKeptErrors = 4096;
constexpr auto kOwnEnd = std::chrono::milliseconds(500);      // from the end of its output to its own
constexpr std::size_t kLongestLine = std::size_t{256} << 20;  // no answer comes near

std::chrono::steady_clock::time_point after(double seconds) {
  return std::chrono::steady_clock::now() +
         std::chrono::duration_cast<std::chrono::steady_clock::duration>(std::chrono::duration<double>(seconds));
}

// An engine, a link or the worker's task may be the cause of these ends. Workers that were refused, failed their
// sentinel or broke the protocol are not restarted.
bool is_worth_a_restart(WorkerEnd why) {
  return why == WorkerEnd::died || why == WorkerEnd::silent || why == WorkerEnd::gave_back ||
         why == WorkerEnd::not_started || why == WorkerEnd::cannot_judge;
}

std::string describe_device(const Machine& machine) {
  return machine.target == Target::host ? fmt::format("{} of the CPUs of {}", machine.cores, machine.model)
                                        : machine.model;
}

}  // namespace

std::int64_t clock_error_s(std::int64_t hello, std::int64_t started_at, std::int64_t now) {
  return std::max({std::int64_t{0}, started_at - hello, hello - now});
}

struct Fleet::Worker {
  std::string command;
  // nullopt: it is not running. When this program is killed its input ends, at which a worker ends: a command of a
  // batch system then has the time to end its job as well.
  std::optional<Subprocess> process;
  bool over = false;              // its output has ended
  std::deque<std::string> lines;  // unread
  std::optional<Hello> hello;     // it has joined
  std::int64_t row = 0;           // of the journal; 0: it has not joined
  std::int64_t task = 0;          // 0: none
  bool cancelling = false;        // the task
  std::string doing;
  bool out = false;         // not to be started again
  int failures = 0;         // in a row
  std::string why_it_left;  // the last time
  std::time_t started_at = 0;
  Clock::time_point deadline;  // of its next word; of its next start where it is not running

  // Throws UserError for a message of another task than its own.
  void check_task(const Message& message) const {
    if (task == 0 || message.at("id") != task) {
      throw UserError("message for a task it was not given: " + message.at("type").get<std::string>());
    }
  }

  void send(const Message& message) { process->send(message.dump() + "\n"); }

  // Moves what can be moved now.
  void move() {
    process->move();
    keep_end(process->errors, kKeptErrors);
    std::ranges::move(take_lines(process->output), std::back_inserter(lines));
    over = over || !process->out() || process->output.size() > kLongestLine;
  }

  // Ends the process, which may take half a second. Returns the last line of stderr, how it ended, or both.
  std::string end() {
    move();
    const ProcessResult result = ended_with(process->end_within(over ? kOwnEnd : std::chrono::milliseconds(0)));
    const std::string how = result.signal != 0      ? "ended by " + signal_name(result.signal)
                            : result.exit_code == 0 ? std::string("ended")
                                                    : fmt::format("exit code {}", result.exit_code);
    const std::string said = one_line(split(trim(process->errors), '\n').back());
    process.reset();
    lines.clear();
    return said.empty() ? how : how + ": " + said;
  }
};

Fleet::Fleet(FleetOptions options, const CampaignFrame& frame) : options_(std::move(options)), frame_(frame) {
  for (const std::string& command : options_.commands) {
    workers_.push_back(std::make_unique<Worker>());
    workers_.back()->command = command;
    start(*workers_.back());
  }
  frame_.observer.say(fmt::format("starting {} worker{}", size(), size() == 1 ? "" : "s"));
}

Fleet::~Fleet() {
  end_processes();
}

void Fleet::start(Worker& worker) {
  worker.started_at = std::time(nullptr);
  worker.over = false;
  worker.process.emplace("/bin/sh", std::vector<std::string>{"/bin/sh", "-c", worker.command},
                         SpawnOptions{.working_folder = "", .environment = {}, .guarded = false});
  worker.deadline = after(options_.start_s);
}

// At the end of its input a worker ends; those that do not are killed.
void Fleet::end_processes() {
  const auto is_over = [](const std::unique_ptr<Worker>& worker) { return !worker->process || worker->over; };
  for (const std::unique_ptr<Worker>& worker : workers_) {
    worker->out = true;
    if (worker->process) {
      worker->process->in().reset();
    }
  }
  const Clock::time_point until = after(kFarewell_s);
  while (Clock::now() < until && !std::ranges::all_of(workers_, is_over)) {
    poll_all(std::chrono::milliseconds(100));
    for (const std::unique_ptr<Worker>& worker : workers_) {
      if (!is_over(worker)) {
        worker->move();
      }
    }
  }
  for (const std::unique_ptr<Worker>& worker : workers_) {
    worker->process.reset();
  }
}

void Fleet::dismiss() {
  end_processes();
  for (const std::unique_ptr<Worker>& worker : workers_) {
    if (worker->row != 0) {
      end_worker(frame_.journal, worker->row, WorkerEnd::dismissed, "");
      worker->row = 0;
    }
  }
}

bool Fleet::is_idle(std::size_t worker) const {
  return workers_[worker]->hello.has_value() && workers_[worker]->task == 0;
}

bool Fleet::is_out(std::size_t worker) const {
  return workers_[worker]->out;
}

const Hello* Fleet::hello(std::size_t worker) const {
  return workers_[worker]->hello ? &*workers_[worker]->hello : nullptr;
}

std::int64_t Fleet::row(std::size_t worker) const {
  return workers_[worker]->row;
}

std::string Fleet::name(std::size_t worker) const {
  const Hello* known = hello(worker);
  return fmt::format("worker {}", worker + 1) + (known == nullptr ? "" : " (" + known->device + ")");
}

std::string Fleet::doing() const {
  const auto found = std::ranges::find_if(
      workers_, [](const std::unique_ptr<Worker>& worker) { return worker->task != 0 && !worker->doing.empty(); });
  return found == workers_.end() ? "" : (*found)->doing;
}

void Fleet::forgive(std::size_t worker) {
  workers_[worker]->failures = 0;
}

void Fleet::check_any_left() const {
  std::vector<std::string> reasons;
  for (const std::unique_ptr<Worker>& worker : workers_) {
    if (!worker->out) {
      return;
    }
    reasons.push_back(worker->why_it_left);
  }
  throw EnvironmentError("no worker is left: " + join(reasons, "; "),
                         "the same command goes on with the campaign once they can work");
}

void Fleet::give(std::size_t index, const Task& task) {
  send(*workers_[index], task.id, to_message(task), {task.incumbent, task.candidate});
}

void Fleet::give(std::size_t index, const ScanTask& task) {
  std::vector<TaskSide> sides = task.candidates;
  sides.push_back(task.reference);
  send(*workers_[index], task.id, to_message(task), sides);
}

void Fleet::send(Worker& worker, std::int64_t task, Message message, const std::vector<TaskSide>& sides) {
  worker.task = task;
  worker.doing.clear();
  std::set<std::string> variants;
  for (const TaskSide& side : sides) {
    if (variants.insert(side.configuration.variant).second) {
      message["sources"].push_back(source_document(frame_.workspace.catalogue().get(side.configuration.variant)));
    }
  }
  if (const FamilyFile* family = find_family_file(frame_.policy.family)) {
    message["family_files"] = family_document(*family);
  }
  worker.send(message);
}

void Fleet::cancel(std::size_t index) {
  Worker& worker = *workers_[index];
  worker.cancelling = true;
  worker.send({{"type", "cancel"}, {"id", worker.task}});
}

void Fleet::poll_all(std::chrono::milliseconds longest) {
  std::vector<pollfd> descriptors;
  for (const std::unique_ptr<Worker>& worker : workers_) {
    if (worker->process && !worker->over) {
      worker->process->watch(descriptors);
    }
  }
  poll(descriptors.data(), descriptors.size(), static_cast<int>(longest.count()));  // EINTR: the next look
}

// A worker's words come before what it should have said by now.
std::optional<FleetEvent> Fleet::next(std::chrono::milliseconds longest) {
  const bool unread = std::ranges::any_of(workers_, [](const auto& worker) { return !worker->lines.empty(); });
  poll_all(unread ? std::chrono::milliseconds(0) : longest);
  for (std::size_t index = 0; index < workers_.size(); ++index) {
    std::optional<FleetEvent> event = workers_[index]->process ? hear(index) : std::nullopt;
    if (!event) {
      event = look_at_clock(index);
    }
    if (event) {
      return event;
    }
  }
  return std::nullopt;
}

std::optional<FleetEvent> Fleet::hear(std::size_t index) {
  Worker& worker = *workers_[index];
  worker.move();
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
      return refuse(index, error.what());
    } catch (const UserError& error) {
      return refuse(index, with_hint(error));
    }
  }
  if (worker.over) {
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
    if (const double quiet_s = message.at("quiet_s"); quiet_s > options_.stuck_s) {
      return give_up(index, WorkerEnd::silent, "its task made no progress in " + format_seconds(quiet_s));
    }
  } else if (type == "progress") {
    worker.doing = message.at("what");
  } else if (type == "scanned") {
    worker.check_task(message);
    return FleetEvent{
        .kind = FleetEvent::Kind::scanned, .worker = index, .task = worker.task, .measured = measurement_of(message)};
  } else if (type == "answer" || type == "done" || type == "cancelled") {
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
  if (hello.program != options_.program) {
    return give_up(index, WorkerEnd::wrong_version,
                   fmt::format("it is {}, and this is {}: copy this program there", to_string(hello.program),
                               to_string(options_.program)));
  }
  if (const auto apart = clock_error_s(hello.time_s, worker.started_at, std::time(nullptr)); apart > kClocksApart_s) {
    return give_up(index, WorkerEnd::clock_off,
                   fmt::format("its clock is {} off", format_seconds(static_cast<double>(apart))));
  }
  const Machine& model = frame_.workspace.machine();
  if (hello.machine.target != model.target || hello.machine.model != model.model ||
      hello.machine.cores != model.cores) {
    return give_up(index, WorkerEnd::wrong_device,
                   fmt::format("its device is {}, and the campaign is on {}", describe_device(hello.machine),
                               describe_device(model)));
  }
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    if (i != index && workers_[i]->hello && workers_[i]->hello->device == hello.device) {
      return give_up(index, WorkerEnd::device_taken, fmt::format("worker {} holds {}", i + 1, hello.device));
    }
  }
  worker.hello = hello;
  worker.row = add_row(index);
  worker.deadline = after(options_.silence_s);
  frame_.observer.say(name(index) + " has joined");
  return {.kind = FleetEvent::Kind::joined, .worker = index};
}

FleetEvent Fleet::on_end_of_task(std::size_t index, const Message& message) {
  Worker& worker = *workers_[index];
  worker.check_task(message);
  if (message.at("type") == "cancelled" && !worker.cancelling) {
    throw UserError("it stopped a task that nobody cancelled");
  }
  const bool is_done = message.at("type") == "done";
  if (is_done != (worker.task < 0) && message.at("type") != "cancelled") {
    throw UserError("a scan has another end than a judgement");
  }
  FleetEvent event{.kind = FleetEvent::Kind::cancelled, .worker = index, .task = worker.task};
  if (!worker.cancelling) {
    event.kind = is_done ? FleetEvent::Kind::done : FleetEvent::Kind::answered;
    event.journal = is_done ? "" : journal_of(message);
  }
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
  if (!worker.process) {
    start(worker);
    return std::nullopt;
  }
  return worker.hello
             ? give_up(index, WorkerEnd::silent, "no heartbeat in " + format_seconds(options_.silence_s))
             : give_up(index, WorkerEnd::not_started, "it has said nothing in " + format_seconds(options_.start_s));
}

FleetEvent Fleet::refuse(std::size_t worker, const std::string& note) {
  return give_up(worker, WorkerEnd::bad_answer, note);
}

FleetEvent Fleet::give_up(std::size_t index, WorkerEnd why, const std::string& note) {
  Worker& worker = *workers_[index];
  const std::string ended = worker.end();
  FleetEvent event{.kind = FleetEvent::Kind::left,
                   .worker = index,
                   .task = worker.task,
                   .why = why,
                   .note = note.empty() ? ended : note};
  end_worker(frame_.journal, worker.row != 0 ? worker.row : add_row(index), why, event.note);
  worker.hello.reset();
  worker.row = 0;
  worker.task = 0;
  worker.cancelling = false;
  ++worker.failures;
  worker.out = !is_worth_a_restart(why) || worker.failures >= options_.most_failures;
  worker.deadline = after(options_.restart_after_s * std::exp2(worker.failures - 1));
  worker.why_it_left = fmt::format("{}: {}: {}", name(index), to_string(why), event.note);
  frame_.observer.say(worker.why_it_left + (worker.out ? "" : "; it is started again"));
  return event;
}

std::int64_t Fleet::add_row(std::size_t index) {
  const Worker& worker = *workers_[index];
  WorkerRow row{.campaign = frame_.campaign, .number = static_cast<int>(index) + 1, .command = worker.command};
  if (worker.hello) {
    add_machine(frame_.journal, worker.hello->machine);
    row.machine = worker.hello->machine.id;
    row.device = worker.hello->device;
  }
  const std::int64_t id = add_worker(frame_.journal, row);
  add_machine(frame_.journal, frame_.workspace.machine());  // what this process measures is of that one again
  return id;
}

}  // namespace apo
