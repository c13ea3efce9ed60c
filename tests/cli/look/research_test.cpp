// tests/cli/look/research_test.cpp - `apo research`: the brief of the next iteration.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/cli/workplace.h"

namespace apo {
namespace {

using Json = nlohmann::json;

TEST(ResearchCommand, PrintsTheBriefOfTheNextIterationAndJudgesNothing) {
  const Workplace place;
  const Ran ran = place.apo({"research", "copy", "--workload", "n4k", "--target", "host"});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  for (const char* said : {"copy/simple on n4k takes ", "what its time goes to", "to try, in this order",
                           "copy/streaming", "% apo:predict", "left out: "}) {
    EXPECT_NE(ran.out.find(said), std::string::npos) << "no '" << said << "' in:\n" << ran.out;
  }
  const Json brief = only_document(place.apo({"research", "copy", "--workload", "n4k", "--target", "host", "--json"}));
  EXPECT_EQ(brief["incumbent"]["variant"], "copy/simple");
  EXPECT_FALSE(brief["ranked"].empty());
  EXPECT_EQ(place.apo({"query"}).out.find("copy/"), std::string::npos) << "nothing was judged";
}

TEST(ResearchCommand, MistakesAreNamed) {
  const Workplace place;
  const auto error = [&](const std::vector<std::string>& words) {
    const Ran ran = place.apo(words);
    EXPECT_EQ(ran.exit_code, 1) << ran.out;
    return ran.err;
  };
  EXPECT_NE(error({"research"}).find("no family was given"), std::string::npos);
  EXPECT_NE(error({"research", "coppy"}).find("did you mean 'copy'"), std::string::npos);
}

}  // namespace
}  // namespace apo
