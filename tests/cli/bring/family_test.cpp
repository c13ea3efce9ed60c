// tests/cli/bring/family_test.cpp - from `apo new` to a registered variant of an own operation, as its author walks it.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "harness/core/system/files.h"
#include "tests/cli/workplace.h"

namespace apo {
namespace {

TEST(OwnFamily, ItsFilesRegisterAsTheyAreWritten) {
  const Workplace place;
  ASSERT_EQ(place.apo({"new", "mine", "--axis", "n 1..65536"}).exit_code, 0);
  const Ran again = place.apo({"new", "mine"});
  EXPECT_EQ(again.exit_code, 1);
  EXPECT_NE(again.err.find("'mine.h' is there already"), std::string::npos) << again.err;

  const Ran unknown = place.apo({"register", "mine_simple.cpp"});
  EXPECT_EQ(unknown.exit_code, 1);
  EXPECT_NE(unknown.err.find("unknown family 'mine'"), std::string::npos) << unknown.err;

  const Ran family = place.apo({"register", "mine.h"}, 200);
  ASSERT_EQ(family.exit_code, 0) << family.err;
  EXPECT_NE(family.out.find("family mine is registered: "), std::string::npos) << family.out;
  EXPECT_NE(place.apo({"register", "mine.h"}).out.find("already registered"), std::string::npos);

  const Ran variant = place.apo({"register", "mine_simple.cpp"}, 200);
  ASSERT_EQ(variant.exit_code, 0) << variant.err;
  EXPECT_NE(place.apo({"list", "mine"}).out.find("simple"), std::string::npos);

  const Ran run = place.apo({"run", "mine"}, 200);  // as `apo new` says to go on
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_NE(run.out.find("there is nothing to compare mine/simple with: register another variant"), std::string::npos)
      << run.out;
  EXPECT_EQ(run.err.find("A/A sentinel"), std::string::npos) << "noise matters to judgements alone: " << run.err;

  ASSERT_EQ(place.apo({"unregister", "mine"}).exit_code, 0);
  EXPECT_EQ(place.apo({"unregister", "mine"}).exit_code, 1);
  EXPECT_EQ(place.apo({"list", "mine"}).exit_code, 1);
}

TEST(OwnFamily, ANameThatCannotBeRegisteredIsRefusedBeforeAnythingIsWritten) {
  const Workplace place;
  const Ran keyword = place.apo({"new", "class"});
  EXPECT_EQ(keyword.exit_code, 1);
  EXPECT_NE(keyword.err.find("'class' is a C++ keyword"), std::string::npos) << keyword.err;
  const Ran known = place.apo({"new", "copy"});
  EXPECT_EQ(known.exit_code, 1);
  EXPECT_NE(known.err.find("the program has a family 'copy' already"), std::string::npos) << known.err;
  EXPECT_TRUE(std::filesystem::is_empty(place.path("")));
}

TEST(OwnFamily, WithoutUnitsIsRegisteredWithTheLineThatItLacks) {
  const Workplace place;
  const std::string text =
      "// apo:family halved\n// apo:axis n 1..1048576\n// apo:input x f32[n] normal\n// apo:output y f32[n]\n"
      "// apo:workload large production n=100000\n// apo:workload w ragged n=33\ntemplate <class Real>\n"
      "void reference(int64_t n, const Real* x, Real* y) {\n  for (int64_t i = 0; i < n; ++i) y[i] = x[i] / 2;\n}\n";
  place.write("halved.h", text);
  const Ran family = place.apo({"register", "halved.h"}, 200);
  ASSERT_EQ(family.exit_code, 0) << family.err;
  EXPECT_NE(family.out.find("'// apo:unit n/4096', a line that registering adds"), std::string::npos) << family.out;
  EXPECT_EQ(read_file(place.path(".apo/families/halved/halved.h")),
            replaced(text, "n=33\n", "n=33\n// apo:unit n/4096\n"));
  EXPECT_EQ(read_file(place.path("halved.h")), text);
  EXPECT_NE(place.apo({"register", "halved.h"}).out.find("already registered"), std::string::npos);
}

TEST(OwnFamily, AVariantThatIsWrongInARareRegimeIsFasterAndNotAccepted) {
  const Workplace place;
  place.write("doubled.h",
              "// apo:family doubled\n// apo:axis n 1..1048576\n// apo:input x f32[n] normal\n"
              "// apo:output y f32[n]\n// apo:unit n/4096\n// apo:regimes typical wide near_zero saturating equal\n"
              "// apo:workload large production n=262144\n// apo:workload w ragged n=33\ntemplate <class Real>\n"
              "void reference(int64_t n, const Real* x, Real* y) {\n"
              "  for (int64_t i = 0; i < n; ++i) y[i] = 2 * x[i];\n}\n");
  ASSERT_EQ(place.apo({"register", "doubled.h"}, 200).exit_code, 0);
  const auto variant = [](const std::string& name, const std::string& body) {
    return "// apo:variant doubled/" + name +
           "\n// apo:target host\n#include \"doubled.args.h\"\nvoid doubled(const float* x, float* y, int64_t n) {\n" +
           body + "}\n";
  };
  place.write("slow.cpp", variant("slow",
                                  "  for (int64_t i = 0; i < n; ++i) {\n    volatile float value = x[i];\n"
                                  "    for (int k = 0; k < 8; ++k) value = -value;\n    y[i] = 2 * value;\n  }\n"));
  place.write("rare.cpp", variant("rare",
                                  "  const bool equal = n > 100000 && x[0] == x[1] && x[0] == x[n / 2];\n"
                                  "  for (int64_t i = 0; i < n; ++i) y[i] = equal ? 0 : 2 * x[i];\n"));
  ASSERT_EQ(place.apo({"register", "slow.cpp"}, 200).exit_code, 0);
  ASSERT_EQ(place.apo({"register", "rare.cpp", "--no-verify"}, 200).exit_code, 0);
  const nlohmann::json document = only_document(place.apo({"compare", "doubled/slow", "doubled/rare", "--json"}, 200));
  EXPECT_EQ(document["judgement"]["reason"], "gate_failed") << document["judgement"];
}

TEST(OwnFamily, AWrongFileIsOneErrorAndNothingIsRegistered) {
  const Workplace place;
  place.write("bad.h", "// apo:family bad\n// apo:axis n 1..8\n// apo:input x f33[n]\n");
  const Ran ran = place.apo({"register", "bad.h"});
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_NE(ran.err.find("bad.h:3: unknown dtype 'f33'"), std::string::npos) << ran.err;
  place.write("copy.h",
              "// apo:family copy\n// apo:axis n 1..8\n// apo:input x f32[n]\n// apo:output y f32[n]\n"
              "// apo:workload w small n=3\n");
  const Ran taken = place.apo({"register", "copy.h"});
  EXPECT_EQ(taken.exit_code, 1);
  EXPECT_NE(taken.err.find("the program has a family 'copy' already"), std::string::npos) << taken.err;
  EXPECT_TRUE(is_absent(place.path(".apo/families")));
}

}  // namespace
}  // namespace apo
