// tests/cli/improve/adapters_test.cpp - the evaluators for other programs' searches, called as those call them.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/cli/workplace.h"

namespace apo {
namespace {

using Json = nlohmann::json;

constexpr double kAdapterPatienceS = 120;
const std::string kAdapters = APO_SOURCE_FOLDER "/examples/adapters/";

Ran python(const Workplace& place, const std::vector<std::string>& words) {
  std::vector<std::string> command = {"env", "APO_FAMILY=copy", "APO_WORKLOAD=n4k", "APO_JUDGE=quick", "python3", "-B"};
  command.insert(command.end(), words.begin(), words.end());
  return place.program(command, kAdapterPatienceS);
}

void write_programs(const Workplace& place) {
  const std::string head = "void copy(const float* x, float* y, long n) {";
  place.write("right.cpp", head +
                               " for (int k = 0; k < 8; ++k) { for (long i = 0; i < n; ++i) y[i] = x[i];"
                               " __asm__ volatile(\"\" ::: \"memory\"); } }\n");
  place.write("wrong.cpp", head + " y[0] = 1; }\n");
  place.write("block.cpp", "// apo:targett host\n" + head + "}\n");
}

TEST(Adapters, OpenEvolveGetsAScoreAndZeroForWhatIsWrong) {
  const Workplace place;
  write_programs(place);
  const Ran ran = python(place, {"-c",
                                 "import json, sys\n"
                                 "sys.path.insert(0, '" +
                                     kAdapters +
                                     "openevolve')\n"
                                     "import evaluator\n"
                                     "print(json.dumps([evaluator.evaluate(name + '.cpp') for name in "
                                     "('right', 'wrong', 'block')]))\n"});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  const Json metrics = Json::parse(ran.out);
  EXPECT_GT(metrics[0]["combined_score"], 0.0);
  EXPECT_EQ(metrics[0]["correct"], 1.0);
  for (const std::size_t wrong : {1U, 2U}) {
    EXPECT_EQ(metrics[wrong]["combined_score"], 0.0);
    EXPECT_EQ(metrics[wrong]["correct"], 0.0);
  }
}

TEST(Adapters, ShinkaGetsItsTwoFiles) {
  const Workplace place;
  write_programs(place);
  for (const std::string name : {"right", "wrong", "block"}) {
    const Ran ran = python(
        place, {kAdapters + "shinka/evaluate.py", "--program_path", name + ".cpp", "--results_dir", "results/" + name});
    ASSERT_EQ(ran.exit_code, 0) << ran.err;
    const Json metrics = Json::parse(read_file(place.path("results/" + name + "/metrics.json")));
    const Json correct = Json::parse(read_file(place.path("results/" + name + "/correct.json")));
    EXPECT_EQ(correct["correct"], name == "right") << correct;
    EXPECT_EQ(metrics["combined_score"] > 0, name == "right") << metrics;
    EXPECT_EQ(correct["error"] == "", name == "right");
    EXPECT_NE(metrics["text_feedback"], "");
  }
}

}  // namespace
}  // namespace apo
