// tests/loop/fleet/scripted_worker.cpp - scripted_worker DEVICE JOURNAL ACT...: does one act a task, and stays at those
// that follow. "accept@0.5" is an act after half a second.
#include <string>
#include <vector>

#include "harness/core/text.h"
#include "tests/loop/fleet/simulated_worker.h"
#include "tests/shipped_families.h"

int main(int argc, char** argv) {
  using namespace apo::testing;
  std::size_t done = 3;
  const std::vector<std::string> words(argv, argv + argc);
  const auto next = [&]() -> NextAct {
    if (done >= words.size()) {
      return {.act = Act::stay};
    }
    const std::vector<std::string> parts = apo::split(words[done++], '@');
    return {.act = act_named(parts[0]), .after_s = parts.size() > 1 ? std::stod(parts[1]) : 0};
  };
  SimulatedWorker(words.at(1), words.at(2), next).run();
}
