// training/settings.h - what a run is asked to do: flags, and the environment that overrides them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "kernels/formulas.h"
#include "model/size.h"

namespace byte_lm {

struct Settings {
  std::string device = "cuda";
  ModelSize size;
  StepShape shape;
  std::int64_t steps = 200;
  std::int64_t warmup_steps = 0;  // of these; the summary's speed leaves them out
  double seconds = 0;             // > 0: in place of `steps`, no step begins later than this after the program
  std::uint64_t seed = 42;
  double rate = 6.4e-4;
  std::int64_t rate_steps = 100;  // over which the rate rises from 0
  AdamSettings adam;
  std::string checkpoint;             // a file
  std::int64_t checkpoint_every = 0;  // steps; 0: at the end only
  bool resume = false;
  std::int64_t evaluate = 0;  // batches of held-out text after the last step; -1: all
  bool fused_projection = false;
  bool graph = false;
  bool check = false;    // the gradients and kernels of a GPU against the host's, instead of training
  bool prepare = false;  // compile the kernels of the dispatch folder, and end
  bool help = false;
  std::vector<std::string> texts;
};

// APO_SEED, APO_STEPS, APO_WARMUP_STEPS and APO_SECONDS win over the flags. Throws UserError.
Settings parse_settings(const std::vector<std::string>& arguments,
                        const std::function<const char*(const char*)>& environment);

std::string help_text();

}  // namespace byte_lm
