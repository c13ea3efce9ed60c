// tests/implement/variant/headers_test.cpp - which headers belong to a variant, and what the user is told otherwise.
#include "harness/implement/variant/headers.h"

#include <gtest/gtest.h>

#include "harness/core/hash.h"
#include "harness/core/sources.h"
#include "harness/implement/includes.h"
#include "tests/implement/fixtures.h"

namespace apo {
namespace {

using namespace test;
namespace fs = std::filesystem;

class HeadersTest : public ::testing::Test {
 protected:
  fs::path root() const { return folder_.path(); }
  // A variant of family copy in in/mine.cpp, whose code begins in line 5 with these lines.
  Variant load(const std::string& lines) const {
    const fs::path file = write(root() / "in" / "mine.cpp", source("mine", "", lines + std::string(kBody)));
    return load_variant(file.string(), {root() / "a", root() / "b"});
  }
  std::string refusal(const std::string& lines) const {
    return error_of([&] { load(lines); });
  }
  static std::vector<std::string> names(const Variant& variant) {
    std::vector<std::string> names;
    for (const SourceFile& header : variant.headers) {
      names.push_back(header.name);
    }
    return names;
  }

 private:
  TemporaryFolder folder_;
};

TEST_F(HeadersTest, AreLookedUpBesideTheFileThenInTheFamilysFolderThenInCommon) {
  write(root() / "in" / "beside.h", "// beside\n");
  write(root() / "b" / "copy" / "beside.h", "// family\n");
  write(root() / "b" / "copy" / "family.h", "#include \"beside_family.h\"\n");
  write(root() / "b" / "copy" / "beside_family.h", "// family\n");
  write(root() / "a" / "common" / "family.h", "// common\n");
  write(root() / "a" / "common" / "common.h", "// common\n");
  const Variant variant = load("#include \"beside.h\"\n  #  include \"family.h\"\n#include \"common.h\"\n");
  EXPECT_EQ(names(variant), (std::vector<std::string>{"beside.h", "beside_family.h", "common.h", "family.h"}));
  EXPECT_EQ(variant.headers[0].text, "// beside\n");
  EXPECT_EQ(variant.headers[3].path, (root() / "b" / "copy" / "family.h").string());
}

TEST_F(HeadersTest, MayLieInFoldersBelowTheFileAndIncludeEachOtherFromThere) {
  write(root() / "in" / "mine" / "util.h", "#include \"deep/more.h\"\n#include \"../top.h\"\n#include \"common.h\"\n");
  write(root() / "in" / "mine" / "deep" / "more.h", "#include \"beside.h\"\n");
  write(root() / "in" / "mine" / "deep" / "beside.h", "// beside\n");
  write(root() / "in" / "top.h", "// top\n");
  write(root() / "a" / "common" / "common.h", "// common\n");
  EXPECT_EQ(names(load("#include \"mine/util.h\"\n")),
            (std::vector<std::string>{"common.h", "mine/deep/beside.h", "mine/deep/more.h", "mine/util.h", "top.h"}));
}

TEST_F(HeadersTest, AreOnlyThoseInQuotesThatAreNotTheHarnesss) {
  EXPECT_TRUE(
      load("#include <cmath>\n#include \"kernels/abi.h\"\n// #include \"gone.h\"\n/*\n#include \"gone.h\"\n*/\n")
          .headers.empty());
}

TEST_F(HeadersTest, TheIdentityOfAVariantCoversThemAndIsThatOfTheFileWhereThereAreNone) {
  Variant alone = load("");
  EXPECT_EQ(alone.source_hash, source_identity(alone));
  alone.contract.clear();  // of a family of a file: it counts too
  EXPECT_EQ(source_identity(alone), sha256(alone.source));
  write(root() / "in" / "outer.h", "#include \"inner.h\"\n");
  write(root() / "in" / "inner.h", "int x;\n");
  const Variant before = load("#include \"outer.h\"\n");
  EXPECT_NE(before.source_hash, sha256(before.source));
  EXPECT_EQ(before.source_hash, load("#include \"outer.h\"\n").source_hash);
  write(root() / "in" / "inner.h", "int y;\n");
  EXPECT_NE(load("#include \"outer.h\"\n").source_hash, before.source_hash);
}

TEST_F(HeadersTest, OneThatIsMissingIsNamedWithPlaceAndFix) {
  write(root() / "in" / "outer.h", "\n#include \"innr.h\"\n");
  const std::string said = refusal("#include \"outer.h\"\n");
  expect_contains(said, (root() / "in" / "outer.h").string() + ":2: there is no header \"innr.h\"");
  expect_contains(said, "included as <innr.h>");
}

TEST_F(HeadersTest, NamesThatLeadElsewhereOrStandForOtherFilesAreRefused) {
  write(root() / "secret.h", "int secret;\n");
  write(root() / "in" / "sub" / "x.h", "int x;\n");
  write(root() / "in" / "sub" / "up.h", "#include \"../../secret.h\"\n");
  expect_contains(refusal("#include \"sub/up.h\"\n"), "up.h:1: \"../../secret.h\" cannot name a header");
  for (const char* name : {"../secret.h", "/etc/passwd", "..\\secret.h", "kernels/../../secret.h", "./sub/x.h",
                           "manifest.json", "variant.o", "..", "-o.h", ".h", "a b.h", "$(x).h", "x.h\t"}) {
    expect_contains(refusal("#include \"" + std::string(name) + "\"\n"), "cannot name a header of a variant");
  }
  expect_contains(refusal("#include \"" + std::string(200, 'x') + ".h\"\n"), "cannot name a header of a variant");
  expect_contains(refusal("#include \"spin.args.h\"\n"), "there is no header");
  expect_contains(refusal("#include \"mine.cpp\"\n"), "\"mine.cpp\" includes itself");
}

TEST_F(HeadersTest, HaveAnyExtensionAndMayLieInAFolderThatTheHarnessHasToo) {
  write(root() / "in" / "author.cu", "#include \"kernels/tile.cuh\"\n");
  write(root() / "in" / "kernels" / "tile.cuh", "#include \"table.txt\"\n");
  write(root() / "in" / "kernels" / "table.txt", "// a table\n");
  EXPECT_EQ(names(load("#include \"author.cu\"\n#include \"kernels/abi.h\"\n#include \"kernels/family.h\"\n")),
            (std::vector<std::string>{"author.cu", "kernels/table.txt", "kernels/tile.cuh"}));
}

TEST_F(HeadersTest, AQuotedNameThatLiesNowhereElseIsTheCompilers) {
  EXPECT_TRUE(load("#include \"assert.h\"\n#include \"sys/time.h\"\n").headers.empty());
  write(root() / "in" / "assert.h", "// the author's\n");
  EXPECT_EQ(names(load("#include \"assert.h\"\n")), (std::vector<std::string>{"assert.h"}));
}

TEST_F(HeadersTest, OneWithTheNameThatTheVariantsOwnFileGetsIsRefused) {
  write(root() / "in" / "other.cpp", "// another file\n");
  const fs::path file = write(root() / "in" / "file.cpp", source("other", "", "#include \"other.cpp\"\n"));
  expect_contains(error_of([&] { load_variant(file.string()); }),
                  "it includes \"other.cpp\", and its own file has that name");
}

TEST(StrayInclude, IsOneThatLeadsOutOfTheVariantHoweverItIsWritten) {
  for (const char* source : {"#include </etc/passwd>",
                             "# include\t</etc/passwd>",
                             "#include \"/etc/passwd\"",
                             "#include_next </etc/passwd>",
                             "#import </etc/passwd>",
                             "#include <../../etc/passwd>",
                             "#include <a/../../b>",
                             "%:include </etc/passwd>",
                             "?\?=include </etc/passwd>",
                             "#inc\\\nlude </etc/passwd>",
                             "#\\\n include </etc/passwd>",
                             "#inc\\  \nlude </etc/passwd>",
                             "/* */ # /* */ include /* */ </etc/passwd>",
                             "#/*\n*/include </etc/passwd>",
                             "R\"(/*)\";\n#include </etc/passwd>",
                             "// */\n#include </etc/passwd>",
                             "#define F </etc/passwd>\n#include F",
                             "#include __FILE__",
                             "#if 0\n#include </etc/passwd>\n#endif",
                             "#embed \"/etc/passwd\""}) {
    const auto stray = stray_include(source, source);
    EXPECT_TRUE(stray) << source;
  }
  EXPECT_EQ(stray_include("int x;\n\n#inc\\\nlude </etc/passwd>", "")->line, 3);
  EXPECT_EQ(stray_include("#include </etc/passwd>\nint x;", "")->what, "</etc/passwd>");
  EXPECT_EQ(stray_include("#include NAME(x)\n", "")->what, "NAME(x)");
}

TEST(StrayInclude, AMacroHasToBeAPlainNameInAllFiles) {
  const std::string source = "#define F <cmath>\n#include F\n";
  EXPECT_FALSE(stray_include(source, source));
  for (const char* header : {"#define F </etc/passwd>", "#/**/define/**/F </etc/passwd>", "#define F</etc/passwd>",
                             "#def\\\nine F \"/etc/passwd\"", "#define F G", "#define F(x) <cmath>"}) {
    EXPECT_TRUE(stray_include(source, source + header + "\n")) << header;
  }
}

TEST(StrayInclude, OrdinaryTextHasNone) {
  for (const char* source :
       {"#include <cmath>\n#include \"copy.args.h\"\n", "#include <cooperative_groups/reduce.h>", "#include \"a/b.h\"",
        "// Please include /etc/passwd.\n", "int include = 1; import(x);", "import numpy as np\n", "#include",
        "#include <", "#pragma once\n", "#include <a..b>", "", "\\", "#"}) {
    EXPECT_FALSE(stray_include(source, source)) << source;
  }
}

TEST_F(HeadersTest, OneThatIncludesItselfIsRefused) {
  write(root() / "in" / "a.h", "#pragma once\n#include \"b.h\"\n");
  write(root() / "in" / "b.h", "#pragma once\n#include \"a.h\"\n");
  expect_contains(refusal("#include \"a.h\"\n"), "b.h:2: \"a.h\" includes itself");
}

TEST_F(HeadersTest, ANameThatStandsForTwoTextsIsRefused) {
  write(root() / "in" / "state.h", "// one\n");
  write(root() / "a" / "copy" / "phases.h", "#include \"state.h\"\n");
  write(root() / "a" / "copy" / "state.h", "// one\n");
  EXPECT_EQ(load("#include \"state.h\"\n#include \"phases.h\"\n").headers.size(), 2u);
  write(root() / "a" / "copy" / "state.h", "// two\n");
  expect_contains(refusal("#include \"state.h\"\n#include \"phases.h\"\n"), "stands for two headers");
}

TEST_F(HeadersTest, TooManyTooLargeAndNoTextAreRefused) {
  std::string lines;
  for (std::size_t i = 0; i <= kMostHeaders; ++i) {
    const std::string name = "h" + std::to_string(i) + ".h";
    write(root() / "in" / name, "\n");
    lines += "#include \"" + name + "\"\n";
  }
  expect_contains(refusal(lines), "more than 64 headers");
  write(root() / "in" / "large.h", std::string(kMaxSourceBytes, '\n'));
  expect_contains(refusal("#include \"large.h\"\n"), "4.00 MiB of source");
  write(root() / "in" / "binary.h", std::string("\0\xff", 2));
  expect_contains(refusal("#include \"binary.h\"\n"), "is no UTF-8 text");
  fs::create_directory(root() / "in" / "folder.h");
  expect_contains(refusal("#include \"folder.h\"\n"), "is no regular file");
}

TEST(HeadersOfAJournal, HaveNamesThatCannotLeadElsewhere) {
  for (const char* name : {"../x.h", "copy.args.h", "variant.o", ""}) {
    EXPECT_NE(error_of([&] { parse_variant(source(), "journal:copy/plain", {{name, "", ""}}); }), "") << name;
  }
  EXPECT_NE(error_of([] { parse_variant(source(), "journal:copy/plain", {{"b.h", "", ""}, {"a.h", "", ""}}); }), "");
}

}  // namespace
}  // namespace apo
