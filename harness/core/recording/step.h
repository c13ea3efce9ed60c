// harness/core/recording/step.h - a recorded step of a program in which another call takes the place of a kernel's
// launches.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/core/recording/recorded_call.h"

namespace apo {

// A device variant's launches as a recorded call: its kernels take the argument struct of `tensors` addresses, scratch
// buffers of those sizes, and the words of the axes. Throws UserError where a replay does not launch that way.
RecordedCall call_of(const LaunchPlan& plan, const std::string& image, int tensors,
                     const std::vector<std::int64_t>& scratch, const std::vector<std::int64_t>& words);

struct StepWith {
  RecordedCall call;
  int replaced = 0;
  int kept = 0;  // launches of the kernel that work on other sizes or numbers: they stay
};

// `kernel` is the launch whose work `arm` does, both on a family's tensors of `bytes` bytes as arguments. Replaces the
// step's launches of a kernel of the name `at` that differ from it in nothing but addresses. What the arm has of
// modules and memory is there once, as in a program. Throws UserError where no launch is one of these, or where the
// kernel does not say where one of the tensors is.
StepWith step_with(const RecordedCall& step, const RecordedKernel& kernel, const std::string& at,
                   const std::vector<std::int64_t>& bytes, const RecordedCall& arm);

}  // namespace apo
