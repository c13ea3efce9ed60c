// tests/fleet/scripted_worker.cpp - scripted_worker DEVICE JOURNAL ACT...: a worker without a device, which
// answers from a recorded journal. It does one act a task, and stays at those that follow. With the act "restless"
// alone it reverts 85 of 100 tasks after a moment and fails at the others.
#include <poll.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <iostream>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "harness/core/error.h"
#include "harness/core/system/machine.h"
#include "harness/core/text.h"
#include "harness/core/words.h"
#include "harness/fleet/answer_journal.h"
#include "harness/fleet/messages.h"
#include "harness/implement/variant/catalogue.h"
#include "journal/facts/experiments.h"
#include "journal/facts/replays.h"
#include "journal/journal.h"
#include "tests/shipped_families.h"

namespace apo::testing {
namespace {

enum class Act {
  revert,  // answers with a verdict, ...
  accept,  // ... and this one
  die,
  hang,          // says nothing more
  stay,          // judges until it is cancelled
  break_answer,  // answers with what is no journal
  answer_other,  // answers for another candidate
  give_back,
  cannot_judge,
};
APO_WORDS(Act, act_from, revert, accept, die, hang, stay, break_answer, answer_other, give_back, cannot_judge)

struct NextAct {
  Act act = Act::revert;
  double after_s = 0;
};

// The acts of the command line.
class Script {
 public:
  explicit Script(std::vector<std::string> acts) : acts_(std::move(acts)) {}

  NextAct next() {
    if (acts_.front() == "restless") {
      return restless();
    }
    if (done_ == acts_.size()) {
      return {.act = Act::stay};
    }
    return {.act = act_from(acts_[done_++]).value()};
  }

 private:
  NextAct restless() {
    constexpr std::array kFailures = {Act::die, Act::hang, Act::break_answer, Act::give_back};
    const bool fails = std::uniform_int_distribution(0, 99)(random_) < 15;
    return {.act = fails ? kFailures[std::uniform_int_distribution<std::size_t>(0, 3)(random_)] : Act::revert,
            .after_s = std::uniform_real_distribution(0.1, 0.3)(random_)};
  }

  std::vector<std::string> acts_;
  std::size_t done_ = 0;
  std::mt19937_64 random_{std::random_device{}()};
};

class ScriptedWorker {
 public:
  // `journal` has a timed experiment of each verdict that is answered with.
  ScriptedWorker(std::string device, std::string journal, Script script)
      : device_(std::move(device)), journal_(std::move(journal)), script_(std::move(script)) {
    catalogue_.load({std::filesystem::path(APO_SOURCE_FOLDER) / "variants"});
    machine_.kernel += device_ == "other" ? " another" : "";
  }

  // Until the end of the input.
  void run();

 private:
  void perform(const Task& task);
  void scan(const ScanTask& task);
  void fail(Act act, std::int64_t task);
  void wait(double seconds) const;
  void answer(const Task& task, Verdict verdict);

  std::string device_;
  std::string journal_;
  Script script_;
  Catalogue catalogue_;
  Machine machine_ = describe_host();
  std::map<Verdict, Experiment> recorded_;
};

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
  const bool waits = std::cin.rdbuf()->in_avail() <= 0 && poll(&input, 1, static_cast<int>(1000 * seconds)) == 0;
  return waits || static_cast<bool>(std::getline(std::cin, line));
}

// The newest judgement of the journal with that verdict that was timed.
Experiment recorded_experiment(const std::string& path, Verdict verdict) {
  Journal journal = Journal::open(path, Access::read_only);
  const std::vector<std::int64_t> judged = judged_originals(journal);
  for (auto id = judged.rbegin(); id != judged.rend(); ++id) {
    Experiment experiment = load_experiment(journal, *id);
    if (!experiment.rounds.empty() && has_effect(experiment) && experiment.judgement->verdict == verdict) {
      return experiment;
    }
  }
  throw UserError("no timed judgement in " + path);
}

void ScriptedWorker::run() {
  say(to_message(Hello{.program = identity_of_program("simulated"),
                       .machine = machine_,
                       .device = device_,
                       .time_s = std::time(nullptr)}));
  for (std::string line; listen(kHeartbeatEvery_s, line);) {
    const Message message = line.empty() ? Message() : Message::parse(line);
    if (message.is_object() && message.at("type") == "task") {
      perform(task_of(message));
    } else if (message.is_object() && message.at("type") == "scan") {
      scan(scan_task_of(message));
    } else {
      beat();
    }
  }
}

void ScriptedWorker::wait(double seconds) const {
  std::string line;
  for (; seconds > 0; seconds -= kHeartbeatEvery_s) {
    if (!listen(std::min<double>(seconds, kHeartbeatEvery_s), line)) {
      std::exit(0);
    }
    beat();
  }
}

void ScriptedWorker::perform(const Task& task) {
  const NextAct next = script_.next();
  wait(next.after_s);
  switch (next.act) {
    case Act::revert:
      return answer(task, Verdict::reverted);
    case Act::accept:
      return answer(task, Verdict::accepted);
    case Act::answer_other: {
      Task other = task;
      std::swap(other.candidate, other.incumbent);
      return answer(other, Verdict::reverted);
    }
    default:
      return fail(next.act, task.id);
  }
}

// An act for each candidate; one that "accepts" is done.
void ScriptedWorker::scan(const ScanTask& task) {
  for (const TaskSide& candidate : task.candidates) {
    const Act act = script_.next().act;
    if (act == Act::accept) {
      break;
    }
    if (act != Act::revert && act != Act::answer_other) {
      return fail(act, task.id);
    }
    const TaskSide& measured = act == Act::revert ? candidate : task.reference;
    say(scanned_message(task.id,
                        {.row = {.configuration = measured.configuration,
                                 .source_hash = measured.source_hash,
                                 .incumbent = task.reference.configuration,
                                 .incumbent_source_hash = task.reference.source_hash,
                                 .times = {.pairs = 1, .time_ns = 2, .incumbent_ns = 2, .effect = 0, .sd = 1}}}));
  }
  say({{"type", "done"}, {"id", task.id}});
}

void ScriptedWorker::fail(Act act, std::int64_t task) {
  switch (act) {
    case Act::hang:
      for (std::string line; listen(60, line);) {
      }
      std::_Exit(0);
    case Act::stay:
      for (std::string line; listen(kHeartbeatEvery_s, line); beat()) {
        if (line.find("\"cancel\"") != std::string::npos) {
          return say({{"type", "cancelled"}, {"id", task}});
        }
      }
      std::exit(0);
    case Act::break_answer:
      return say({{"type", "answer"}, {"id", task}, {"sha256", "0"}, {"journal", "AAAA"}});
    case Act::give_back:
      say({{"type", "given_back"}, {"what", "preempted"}});
      std::_Exit(0);
    case Act::cannot_judge:
      return say({{"type", "failed"}, {"reason", "cannot_judge"}, {"what", "a header is missing"}});
    default:
      std::_Exit(9);
  }
}

void ScriptedWorker::answer(const Task& task, Verdict verdict) {
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

}  // namespace
}  // namespace apo::testing

int main(int argc, char** argv) {
  std::ios::sync_with_stdio(false);  // so that it is known what was read
  const std::vector<std::string> words(argv, argv + argc);
  apo::testing::ScriptedWorker(words.at(1), words.at(2), apo::testing::Script({words.begin() + 3, words.end()})).run();
}
