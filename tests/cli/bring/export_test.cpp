// tests/cli/bring/export_test.cpp - `apo export --dispatch` on the recorded journal and on journals that offer nothing.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "harness/core/system/process.h"
#include "journal/journal.h"
#include "tests/cli/workplace.h"

namespace apo {
namespace {

namespace fs = std::filesystem;

// A copy, so that reading it leaves nothing beside the recorded one.
std::string recorded(const Workplace& place) {
  fs::copy_file(APO_SOURCE_FOLDER "/experiments/nvidia-h200/b8_t128_h83_n32/journal.db", place.path("recorded.db"));
  return place.path("recorded.db").string();
}

void expect_error(const Ran& ran, int exit_code, const std::string& part) {
  EXPECT_EQ(ran.exit_code, exit_code) << ran.err;
  EXPECT_NE(ran.err.find(part), std::string::npos) << "wanted: " << part << "\ngot: " << ran.err;
}

TEST(Export, TheRecordedJournalBecomesAHeaderThatCompilesAndAnswers) {
  const Workplace place;
  const Ran ran = place.apo({"export", "--dispatch", "--journal", recorded(place), "--output", "table", "--fallback",
                             "e88_backward/cuda_shared_fallback[GLOBAL_STATES=1]", "--with-sources"});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  expect_contains(ran.out, "cuda_best[SEQUENCES=11]");
  place.write("main.cpp", R"(#include "table/e88_backward_dispatch.h"
#include "table/e88_forward_dispatch.h"
#include "tests/text.h"
#include <cstdio>
int main() {
  using namespace apo_dispatch::e88_backward;
  const Axes axes{8, 128, 83, 32, 32, 1, 1};
  const Choice& choice = choose(axes);
  std::printf("%s %s %s\n", choice.variant.data(), choice.evidence.device.data(), choice.source_folder.data());
  const Plan plan = choice.plan(axes, kDevices[0]);
  std::printf("%d %d %d\n", static_cast<int>(plan.launches[0].grid[0]), static_cast<int>(plan.launches[0].block[0]),
              static_cast<int>(plan.launches[0].shared_bytes));
  std::puts(choose({1, 16, 3, 100, 100, 1, 1}).evidence.statement.data());
  std::puts(apo_dispatch::e88_forward::find({1, 16, 3, 100, 100, 1, 1}) == nullptr ? "none" : "?");
}
)");
  const ProcessResult built =
      run_process({"g++", "-std=c++17", "-Wall", "-Wextra", "-Werror", "main.cpp", "-o", "main"},
                  {.timeout_s = 1000, .working_folder = place.path("")});
  ASSERT_TRUE(built.ok()) << built.error;
  const std::string folder = "e88_backward/cuda_best-c2cbe94b4830";
  EXPECT_EQ(
      run_process({place.path("main").string()}).output,
      "e88_backward/cuda_best NVIDIA H200 " + folder + "\n61 352 226336\nunmeasured, correct by apo:requires\nnone\n");
  EXPECT_TRUE(fs::exists(place.path("table/" + folder + "/cuda_best.cu")));
  EXPECT_TRUE(fs::exists(place.path("table/" + folder + "/e88_backward.args.h")));
}

TEST(Export, TheExampleCallsTheKernelThatTheDispatchChose) {
  const Workplace place;
  fs::copy_file(APO_SOURCE_FOLDER "/experiments/host-epyc/gradients/journal.db", place.path("recorded.db"));
  const Ran ran = place.apo({"export", "--dispatch", "binary_backward", "--journal", place.path("recorded.db").string(),
                             "--output", "gradients", "--with-sources"});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  const ProcessResult example = run_process({"sh", APO_SOURCE_FOLDER "/examples/weight_gradient/run.sh", "gradients"},
                                            {.timeout_s = 1000, .working_folder = place.path("")});
  EXPECT_TRUE(example.ok()) << example.error;
  EXPECT_EQ(example.output, "binary_backward/vectorised: gradients are right\n");
}

TEST(Export, JsonIsOneDocumentAndTheSameAsTheFile) {
  const Workplace place;
  const Ran ran = place.apo({"export", "--dispatch", "e88_backward", "--device", "NVIDIA H200", "--json", "--journal",
                             recorded(place), "--output", "table"});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_EQ(ran.out, read_file(place.path("table/e88_backward_dispatch.json")));
  const auto document = only_document(ran);
  ASSERT_EQ(document["families"].size(), 1U);
  const auto& row = document["families"][0]["devices"][0]["rows"][0];
  EXPECT_EQ(row["class"], "n32");
  EXPECT_EQ(row["configuration"]["label"], "e88_backward/cuda_best[SEQUENCES=11]");
  EXPECT_EQ(row["evidence"]["experiment"], 2);
  EXPECT_EQ(row["evidence"]["judgement"]["rule_version"], "apo-judge-1");
  EXPECT_EQ(row["evidence"]["certifications"].size(), 2U);
  EXPECT_EQ(row["evidence"]["build"]["code_hash"].get<std::string>().substr(0, 8), "4756cd64");
  EXPECT_EQ(row["evidence"]["device"]["driver"], "580.159.04 (CUDA 13.0)");
}

TEST(Export, ARecordedClassWithTwoAnswersGivesEachSizeTheKernelOfItsNearestWorkload) {
  const Workplace place;
  fs::copy_file(APO_SOURCE_FOLDER "/experiments/nvidia-h200/agent/campaigns.db", place.path("agent.db"));
  const Ran ran = place.apo({"export", "--dispatch", "--journal", "agent.db", "--output", "table", "--json"});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  const auto rows = only_document(ran)["families"][0]["devices"][0]["rows"];
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0]["evidence"]["statement"], "measured at b16_t512_h83_n32");
  EXPECT_EQ(rows[0]["evidence"]["stood_against"], rows[1]["configuration"]);
  EXPECT_EQ(rows[1]["evidence"]["replaced"], rows[0]["configuration"]);
  place.write("main.cpp", R"(#include "table/e88_backward_dispatch.h"
#include <cstdio>
int main() {
  for (const long long B : {4, 8, 12, 16}) {
    std::puts(apo_dispatch::e88_backward::choose({B, B < 16 ? 128 : 512, 83, 32, 32, 1, 1}).variant.data());
  }
}
)");
  const ProcessResult built =
      run_process({"g++", "-std=c++17", "-Wall", "-Wextra", "-Werror", "main.cpp", "-o", "main"},
                  {.timeout_s = 1000, .working_folder = place.path("")});
  ASSERT_TRUE(built.ok()) << built.error;
  EXPECT_EQ(run_process({place.path("main").string()}).output,
            "e88_backward/proposal_27671155\ne88_backward/proposal_27671155\n"
            "e88_backward/cuda_best\n"  // the other one was verified up to B = 8
            "e88_backward/cuda_best\n");
}

TEST(Export, MistakesSayWhatIsNeeded) {
  const Workplace place;
  const std::string journal = recorded(place);
  expect_error(place.apo({"export", "--journal", journal}), 1, "apo export --dispatch");
  expect_error(place.apo({"export", "--dispatch", "--journal", journal}), 1, "--output is missing");
  expect_error(place.apo({"export", "--dispatch", "--output", "-", "--journal", journal}), 1, "is not a folder");
  expect_error(place.apo({"export", "--dispatch", "e88_backwrd", "--json", "--journal", journal}), 1,
               "did you mean 'e88_backward'");
  expect_error(place.apo({"export", "--dispatch", "--device", "NVIDIA H20", "--json", "--journal", journal}), 1,
               "did you mean 'NVIDIA H200'");
  expect_error(place.apo({"export", "--dispatch", "copy", "--json", "--journal", journal}), 1, "'apo run copy ");
  expect_error(place.apo({"export", "--dispatch", "--json", "--journal", journal, "--fallback", "copy/simple"}), 1,
               "fits no exported table");
  expect_error(place.apo({"export", "--torch", "e88_backward", "--json", "--journal", journal}), 1,
               "--output is missing");
  expect_error(place.apo({"export", "--torch", "e88_backwrd", "--output", "op", "--journal", journal}), 1,
               "did you mean 'e88_backward'");
  expect_error(place.apo({"export", "--torch", "copy", "--output", "op", "--journal", journal}), 1, "'apo run copy ");
  EXPECT_FALSE(fs::exists(place.path("op")));
  expect_error(place.apo({"export", "--dispatch", "--json"}), 1, "journal");
  Journal::open(place.path("empty.db"), Access::read_write);
  expect_error(place.apo({"export", "--dispatch", "--json", "--journal", "empty.db"}), 1, "'apo run --iterations");
}

TEST(Export, AFolderThatCannotBeWrittenGetsNothing) {
  const Workplace place;
  const std::string journal = recorded(place);
  place.write("file", "not a folder");
  expect_error(place.apo({"export", "--dispatch", "--journal", journal, "--output", "file/table"}), 2, "file/table");
  // The last of the files cannot be written: none of them changes.
  place.write("table/e88_backward_dispatch.json", "old");
  fs::create_directory(place.path("table/e88_forward_dispatch.h"));
  expect_error(place.apo({"export", "--dispatch", "--journal", journal, "--output", "table"}), 2,
               "e88_forward_dispatch.h");
  EXPECT_EQ(read_file(place.path("table/e88_backward_dispatch.json")), "old");
  EXPECT_EQ(std::distance(fs::directory_iterator(place.path("table")), fs::directory_iterator()), 2)
      << "a temporary file was left";
}

}  // namespace
}  // namespace apo
