// harness/cli/improve/evaluate_stream.h - `apo evaluate --stream`: candidates as JSON lines in, answers as JSON lines
// out.
#pragma once

#include <cstdio>
#include <functional>
#include <nlohmann/json_fwd.hpp>

#include "harness/loop/trial/candidate_judge.h"

namespace apo {

// Answers for each line of `input`, in order and as soon as the answer is known, until the input ends. A line is an
// object with "source" and, if wanted, "name", "extension" and "judge"; one that is not gets an answer too.
void answer_lines(CandidateJudge& judge, std::FILE* input,
                  const std::function<void(const nlohmann::ordered_json&)>& answer);

}  // namespace apo
