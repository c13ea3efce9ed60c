// tests/cli/look/recorded_profiles_test.cpp - profiles of a GPU's journal, read where there is no such GPU.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "harness/core/system/files.h"
#include "tests/cli/workplace.h"

namespace apo {
namespace {

const std::string kForward = APO_SOURCE_FOLDER "/experiments/nvidia-h200/b4_t512_h32_n128/forward.db";

class RecordedProfiles : public ::testing::Test {
 protected:
  RecordedProfiles() {
    std::filesystem::copy_file(kForward, place_.path("forward.db"));
    before_ = read_file(place_.path("forward.db"));
  }
  // With the journal, which stays as it is.
  Ran apo(std::vector<std::string> words) const {
    words.insert(words.end(), {"--journal", "forward.db"});
    Ran ran = place_.apo(words);
    EXPECT_EQ(read_file(place_.path("forward.db")), before_);
    return ran;
  }
  const Workplace& place() const { return place_; }

 private:
  Workplace place_;
  std::string before_;
};

void expect_said(const std::string& text, const std::vector<std::string>& all) {
  for (const std::string& said : all) {
    EXPECT_NE(text.find(said), std::string::npos) << "no '" << said << "' in:\n" << text;
  }
}

TEST_F(RecordedProfiles, OneIsShownWithTheMachineThatItIsOf) {
  const Ran ran = apo({"profile", "e88_forward/cuda_simple", "--recorded"});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  expect_said(ran.err, {"e88_forward/cuda_simple", "as profiled on NVIDIA H200 (GPU-"});
  expect_said(ran.out, {"on b4_t512_h32_n128, cold caches, 132 SMs", "hottest lines", "worth at most"});
  const nlohmann::json document = only_document(apo({"profile", "e88_forward/cuda_simple", "--recorded", "--json"}));
  EXPECT_EQ(document["machine"]["model"], "NVIDIA H200");
}

TEST_F(RecordedProfiles, TwoAreExplained) {
  const Ran ran =
      apo({"explain", "e88_forward/cuda_simple", "e88_forward/cuda_wide_tiling[BLOCKS=1,COLUMNS=4]", "--recorded"});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  expect_said(ran.out, {"on b4_t512_h32_n128", "causes of the difference, largest first"});
}

TEST_F(RecordedProfiles, ResearchLooksFromTheLastCampaign) {
  const Ran ran = apo({"research", "e88_forward", "--recorded"});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  expect_said(ran.out,
              {"e88_forward/cuda_wide_tiling[BLOCKS=1,COLUMNS=4] on b4_t512_h32_n128 takes ", "what its time goes to"});
}

TEST_F(RecordedProfiles, WhatIsNotThereIsSaidWithWhatIs) {
  const Ran other = apo({"profile", "e88_forward/cuda_simple", "--recorded", "--cache", "warm"});
  EXPECT_EQ(other.exit_code, 1);
  expect_said(other.err,
              {"forward.db' has no such profile of e88_forward/cuda_simple", "it has e88_forward/cuda_simple on ",
               "b4_t512_h32_n128 with cold caches", "on GPU-", "name what was taken in one place"});
  const Ran nothing = apo({"profile", "copy/simple", "--recorded"});
  EXPECT_EQ(nothing.exit_code, 1);
  expect_said(nothing.err, {"no such profile of copy/simple", "'apo query --profiles'"});
  const Ran campaign = apo({"research", "copy", "--recorded", "--target", "cuda"});
  EXPECT_EQ(campaign.exit_code, 1);
  expect_said(campaign.err, {"forward.db' has no campaign of copy for target cuda"});
}

TEST_F(RecordedProfiles, WithoutAJournalTheFileIsNamed) {
  const Ran ran = place().apo({"profile", "e88_forward/cuda_simple", "--recorded", "--journal", "none.db"});
  EXPECT_EQ(ran.exit_code, 1);
  expect_said(ran.err, {"none.db"});
}

}  // namespace
}  // namespace apo
