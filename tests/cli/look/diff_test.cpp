// tests/cli/look/diff_test.cpp - `apo diff`: sources and metadata of two variants.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/cli/workplace.h"

namespace apo {
namespace {

using Json = nlohmann::json;

// A child of simple that doubles, in a header.
void write_child(const Workplace& place) {
  std::filesystem::create_directories(place.path(".apo/variants/copy"));
  place.write(".apo/variants/copy/child.cpp",
              replaced(replaced(Workplace::variant("child"), "// apo:idea", "// apo:parent simple\n// apo:idea"),
                       "#include \"copy.args.h\"", "#include \"copy.args.h\"\n#include \"twice.h\""));
  place.write(".apo/variants/copy/twice.h", "inline float twice(float x) { return 2 * x; }\n");
}

TEST(Diff, ShowsWhatAVariantChangesInItsParent) {
  const Workplace place;
  write_child(place);
  const Ran ran = place.apo({"diff", "copy/child"});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  for (const char* said :
       {"copy/child against copy/simple", "- none: the root of its family", "+ copy/simple", "--- simple.cpp",
        "+++ child.cpp", "+#include \"twice.h\"\n", "--- /dev/null\n+++ twice.h"}) {
    EXPECT_NE(ran.out.find(said), std::string::npos) << "no '" << said << "' in:\n" << ran.out;
  }
  EXPECT_EQ(ran.out.find("\033["), std::string::npos) << "colours are for terminals";
}

TEST(Diff, IsADocumentAndTakesAnyTwoVariants) {
  const Workplace place;
  write_child(place);
  const Json document = only_document(place.apo({"diff", "copy/simple", "copy/child", "--json"}));
  EXPECT_EQ(document["variant"], "copy/simple");
  EXPECT_EQ(document["base"], "copy/child");
  EXPECT_NE(document["diff"].get<std::string>().find("-#include \"twice.h\""), std::string::npos);
  EXPECT_FALSE(document["metadata"].empty());
}

TEST(Diff, WithoutAParentAsksForAnotherVariant) {
  const Workplace place;
  const Ran ran = place.apo({"diff", "copy/simple"});
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_NE(ran.err.find("'apo diff copy/simple OTHER'"), std::string::npos) << ran.err;
  EXPECT_NE(place.apo({"diff", "copy/simpel"}).err.find("did you mean 'copy/simple'"), std::string::npos);
}

}  // namespace
}  // namespace apo
