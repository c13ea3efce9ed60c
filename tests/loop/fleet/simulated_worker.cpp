// tests/loop/fleet/simulated_worker.cpp - says what a worker says.
#include "tests/loop/fleet/simulated_worker.h"

#include <poll.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <iostream>
#include <utility>

#include "harness/core/error.h"
#include "harness/core/system/machine.h"

namespace apo::testing {
namespace {

constexpr std::array<std::pair<const char*, Act>, 10> kActs = {{{"revert", Act::revert},
                                                                {"accept", Act::accept},
                                                                {"accept_and_die", Act::accept_and_die},
                                                                {"die", Act::die},
                                                                {"hang", Act::hang},
                                                                {"stay", Act::stay},
                                                                {"break_answer", Act::break_answer},
                                                                {"answer_other", Act::answer_other},
                                                                {"give_back", Act::give_back},
                                                                {"cannot_judge", Act::cannot_judge}}};

void say(const Message& message) {
  const std::string line = message.dump() + "\n";
  std::fwrite(line.data(), 1, line.size(), stdout);
  std::fflush(stdout);
}

void beat() {
  say({{"type", "heartbeat"}, {"quiet_s", 0}});
}

// A line of the input, "" when there was none in that time; false at its end.
bool listen(double seconds, std::string& line) {
  pollfd input{0, POLLIN, 0};
  line.clear();
  return poll(&input, 1, static_cast<int>(1000 * seconds)) == 0 || static_cast<bool>(std::getline(std::cin, line));
}

// The newest judgement of the journal with that verdict that was timed.
Experiment recorded_experiment(const std::string& path, Verdict verdict) {
  Journal journal = Journal::open(path, Access::read_only);
  const std::vector<std::int64_t> judged = journal.judged_originals();
  for (auto id = judged.rbegin(); id != judged.rend(); ++id) {
    Experiment experiment = journal.load_experiment(*id);
    if (!experiment.rounds.empty() && has_effect(experiment) && experiment.judgement->verdict == verdict) {
      return experiment;
    }
  }
  throw UserError("no timed judgement in " + path);
}

}  // namespace

Act act_named(const std::string& word) {
  for (const auto& [name, act] : kActs) {
    if (word == name) {
      return act;
    }
  }
  throw UserError("no simulated worker can '" + word + "'");
}

SimulatedWorker::SimulatedWorker(std::string device, const std::string& journal, std::function<NextAct()> next)
    : device_(std::move(device)), journal_(journal), next_(std::move(next)), machine_(describe_host()) {
  catalogue_.load({std::filesystem::path(APO_SOURCE_FOLDER) / "variants"});
}

void SimulatedWorker::run() {
  say(to_message(Hello{.program = identity_of_program("simulated"),
                       .machine = machine_,
                       .device = device_,
                       .time_s = std::time(nullptr)}));
  for (std::string line; listen(kHeartbeatEvery_s, line);) {
    const Message message = line.empty() ? Message() : Message::parse(line);
    if (message.is_object() && message.at("type") == "task") {
      perform(task_of(message));
    } else {
      beat();
    }
  }
}

void SimulatedWorker::wait(double seconds) const {
  std::string line;
  for (; seconds > 0; seconds -= kHeartbeatEvery_s) {
    if (!listen(std::min(seconds, kHeartbeatEvery_s), line)) {
      std::exit(0);
    }
    beat();
  }
}

void SimulatedWorker::perform(const Task& task) {
  const NextAct next = next_();
  wait(next.after_s);
  switch (next.act) {
    case Act::revert:
      return answer(task, Verdict::reverted);
    case Act::accept:
      return answer(task, Verdict::accepted);
    case Act::accept_and_die:
      answer(task, Verdict::accepted);
      std::_Exit(9);
    case Act::die:
      std::_Exit(9);
    case Act::hang:
      for (std::string line; listen(60, line);) {
      }
      std::_Exit(0);
    case Act::stay:
      for (std::string line; listen(kHeartbeatEvery_s, line); beat()) {
        if (line.find("\"cancel\"") != std::string::npos) {
          return say({{"type", "cancelled"}, {"id", task.id}});
        }
      }
      std::exit(0);
    case Act::break_answer:
      return say({{"type", "answer"}, {"id", task.id}, {"sha256", "0"}, {"journal", "AAAA"}});
    case Act::answer_other: {
      Task other = task;
      std::swap(other.candidate, other.incumbent);
      return answer(other, Verdict::reverted);
    }
    case Act::give_back:
      say({{"type", "given_back"}, {"what", "preempted"}});
      std::_Exit(0);
    case Act::cannot_judge:
      return say({{"type", "failed"}, {"reason", "cannot_judge"}, {"what", "a header is missing"}});
  }
}

void SimulatedWorker::answer(const Task& task, Verdict verdict) {
  if (!recorded_.contains(verdict)) {
    recorded_.emplace(verdict, recorded_experiment(journal_, verdict));
  }
  JudgedTask judged{
      .machine = machine_, .roofs = {}, .sentinels = {}, .sources = {}, .experiment = recorded_.at(verdict)};
  Experiment& experiment = judged.experiment;
  experiment.family = task.policy.family;
  experiment.workload_class = task.policy.workload_class;
  experiment.workloads = task.policy.workloads;
  experiment.candidate = task.candidate.configuration;
  experiment.incumbent = task.incumbent.configuration;
  experiment.candidate_source_hash = task.candidate.source_hash;
  experiment.incumbent_source_hash = task.incumbent.source_hash;
  experiment.index = task.index;
  judged.sources = {catalogue_.get(experiment.candidate.variant), catalogue_.get(experiment.incumbent.variant)};
  say(answer_message(task.id, answer_journal(judged)));
}

}  // namespace apo::testing
