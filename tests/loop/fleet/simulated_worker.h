// tests/loop/fleet/simulated_worker.h - a worker without a device: answers from a recorded journal, or fails.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "harness/implement/variant/catalogue.h"
#include "harness/loop/fleet/answer_journal.h"
#include "harness/loop/fleet/messages.h"

namespace apo::testing {

// What it makes of a task.
enum class Act {
  revert,          // answers with a verdict, ...
  accept,          // ... and this one
  accept_and_die,  // ends after its answer
  die,
  hang,          // says nothing more
  stay,          // judges until it is cancelled
  break_answer,  // answers with what is no journal
  answer_other,  // answers for another candidate
  give_back,
  cannot_judge,
};
// Throws UserError for a word that names none.
Act act_named(const std::string& word);

struct NextAct {
  Act act = Act::revert;
  double after_s = 0;
};

class SimulatedWorker {
 public:
  // Speaks through standard input and output. `journal` has a timed experiment of each verdict that is answered with.
  SimulatedWorker(std::string device, const std::string& journal, std::function<NextAct()> next);
  // Until the end of the input.
  void run();

 private:
  void perform(const Task& task);
  void wait(double seconds) const;
  void answer(const Task& task, Verdict verdict);

  std::string device_;
  std::string journal_;
  std::function<NextAct()> next_;
  Catalogue catalogue_;
  Machine machine_;
  std::map<Verdict, Experiment> recorded_;
};

}  // namespace apo::testing
