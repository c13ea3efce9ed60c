// tests/implement/variant/catalogue_test.cpp - scanning folders, looking up, registering.
#include "harness/implement/variant/catalogue.h"

#include <gtest/gtest.h>

#include <chrono>

#include "tests/implement/fixtures.h"
#include "tests/shipped_families.h"

namespace apo {
namespace {

using namespace test;
namespace fs = std::filesystem;

class CatalogueTest : public ::testing::Test {
 protected:
  fs::path root() const { return folder_.path(); }
  Catalogue loaded() const {
    Catalogue catalogue;
    catalogue.load({root() / "a", root() / "b"});
    return catalogue;
  }
  Registration registered(Catalogue& catalogue, const fs::path& file) const {
    return catalogue.register_variant(load_variant(file.string()), root() / "b");
  }

 private:
  TemporaryFolder folder_;
};

TEST_F(CatalogueTest, FindsVariantsInAllRoots) {
  write(root() / "a" / "copy" / "one.cpp", source("one"));
  write(root() / "b" / "deep" / "er" / "two.cpp", source("two"));
  write(root() / "b" / "notes.txt", "no variant");
  write(root() / "b" / "toolkit.h", "no variant");
  const Catalogue catalogue = loaded();
  EXPECT_EQ(catalogue.ids(), (std::vector<std::string>{"copy/one", "copy/two"}));
  EXPECT_EQ(catalogue.of_family("copy").size(), 2u);
  EXPECT_TRUE(catalogue.of_family("none").empty());
  EXPECT_EQ(catalogue.find("copy/two")->path, (root() / "b" / "deep" / "er" / "two.cpp").string());
  EXPECT_EQ(catalogue.find("copy/three"), nullptr);
  EXPECT_TRUE(catalogue.problems().empty());
}

TEST_F(CatalogueTest, BadFileIsListedAndHarmsNobody) {
  write(root() / "a" / "bad.cpp", "int x;\n");
  write(root() / "a" / "binary.cpp", std::string("\x7f"
                                                 "ELF\0\0",
                                                 6));
  write(root() / "a" / "good.cpp", source("good"));
  fs::create_directory(root() / "a" / "folder.cpp");
  fs::create_symlink("nowhere", root() / "a" / "dangling.cpp");
  const Catalogue catalogue = loaded();
  EXPECT_NE(catalogue.find("copy/good"), nullptr);
  ASSERT_EQ(catalogue.problems().size(), 4u);
  EXPECT_EQ(catalogue.problems()[0].path, (root() / "a" / "bad.cpp").string());
  expect_contains(catalogue.problems()[0].what, "it does not say which operation it computes");
}

TEST_F(CatalogueTest, OfAFolderThatIsNamedAfterItsSourceTheOthersAreItsParts) {
  const auto own = [](const std::string& name) { return "// apo:variant copy/" + name + "\n#include \"part.cpp\"\n"; };
  write(root() / "a" / "copy" / "whole" / "whole.cpp", own("whole"));
  write(root() / "a" / "copy" / "whole" / "part.cpp", source("part"));
  write(root() / "a" / "copy" / "whole" / "below" / "more.cpp", source("more"));
  write(root() / "a" / "copy" / "folder" / "one.cpp", source("one"));
  const Catalogue catalogue = loaded();
  EXPECT_EQ(catalogue.ids(), (std::vector<std::string>{"copy/one", "copy/whole"}));
  EXPECT_EQ(catalogue.find("copy/whole")->headers.size(), 1u);
  EXPECT_TRUE(catalogue.problems().empty());
}

TEST_F(CatalogueTest, AFileAsItIsIsAVariantThatIncludesItAndIsRegisteredWithIt) {
  const fs::path file = write(root() / "theirs" / "norms.cpp", "void norm2(const float* x, float* y, int n) {}\n");
  Catalogue catalogue = loaded();
  const GivenFile given = brought_file(file, "norm2", {"tune block 8", "flags -O2"});
  const Variant variant = catalogue.read(given, "copy");
  EXPECT_EQ(variant.id(), "copy/norm2");
  EXPECT_EQ(variant.source, "// apo:function norm2\n// apo:tune block 8\n// apo:flags -O2\n#include \"norms.cpp\"\n");
  ASSERT_EQ(variant.headers.size(), 1u);
  EXPECT_EQ(catalogue.register_variant(variant, root() / "b").variant->source_hash, variant.source_hash);
  EXPECT_EQ(loaded().ids(), (std::vector<std::string>{"copy/norm2"}));

  EXPECT_EQ(brought_file(file, "", {}).source, "");
  EXPECT_EQ(brought_file(file, "", {"flags -O2"}).path, file);
  EXPECT_EQ(brought_file(file, "", {"flags -O2"}).source, "// apo:flags -O2\n" + read_file(file));
  EXPECT_EQ(brought_file(file, "mine::norm2<32>", {}).path, root() / "theirs" / "norm2.cpp");
  const fs::path with_block = write(root() / "theirs" / "own.cpp", source("own"));
  EXPECT_EQ(brought_file(with_block, "", {"flags -O2"}).source, "// apo:flags -O2\n" + source("own"));
  EXPECT_NE(error_of([&] { brought_file(root() / "gone.cpp", "norm2", {}); }), "");
  expect_contains(error_of([&] { catalogue.read(brought_file(file, "norm2", {"flag -O2"}), "copy"); }), "did you mean");
}

TEST_F(CatalogueTest, SameIdWithOtherContentNamesBothFiles) {
  write(root() / "a" / "one.cpp", source("one"));
  write(root() / "a" / "same.cpp", source("one"));
  write(root() / "b" / "other.cpp", source("one") + "// other\n");
  const Catalogue catalogue = loaded();
  ASSERT_EQ(catalogue.problems().size(), 1u);
  expect_contains(catalogue.problems()[0].what, (root() / "a" / "one.cpp").string());
  expect_contains(catalogue.problems()[0].what, (root() / "b" / "other.cpp").string());
  EXPECT_EQ(catalogue.find("copy/one")->path, (root() / "a" / "one.cpp").string());
}

TEST_F(CatalogueTest, UnknownNameGetsASuggestion) {
  write(root() / "a" / "one.cpp", source("register_owned"));
  expect_contains(error_of([&] { loaded().get("copy/register_ownd"); }), "did you mean 'copy/register_owned'?");
}

TEST_F(CatalogueTest, ConfigurationReadsWhatLabelPrints) {
  write(root() / "a" / "one.cpp", source("one", "// apo:tune CHUNK 16,8\n// apo:tune LANES 1,2\n"));
  const Catalogue catalogue = loaded();
  const Configuration configuration = catalogue.configuration("copy/one[LANES=2]");
  EXPECT_EQ(configuration.settings, (Settings{{"CHUNK", 16}, {"LANES", 2}}));
  EXPECT_EQ(catalogue.configuration(configuration.label()), configuration);
  EXPECT_EQ(catalogue.configuration("copy/one").settings, (Settings{{"CHUNK", 16}, {"LANES", 1}}));
  for (const char* bad : {"copy/one[", "copy/one[]", "copy/one[CHUNK]", "copy/one[CHUNK=x]", "copy/one[CHUNK=8",
                          "copy/one[CHUNK=8]x", "copy/one[CHUNK=9]", "copy/one[K=9]", "", "[", "copy/none[CHUNK=8]"}) {
    EXPECT_THROW(catalogue.configuration(bad), UserError) << bad;
  }
}

TEST_F(CatalogueTest, RegisteringCopiesIntoTheFamilysFolder) {
  const fs::path file = write(root() / "in" / "whatever.txt", source("mine"));
  Catalogue catalogue = loaded();
  const Registration first = registered(catalogue, file);
  EXPECT_FALSE(first.already_registered);
  EXPECT_EQ(first.variant->path, (root() / "b" / "copy" / "mine.cpp").string());
  EXPECT_EQ(read_file(first.variant->path), source("mine"));
  EXPECT_EQ(std::distance(fs::directory_iterator(root() / "b" / "copy"), {}), 2) << "it and .baseline_host";
  EXPECT_EQ(loaded().ids(), std::vector<std::string>{"copy/mine"});
  EXPECT_TRUE(registered(catalogue, file).already_registered);
}

TEST_F(CatalogueTest, DeviceVariantKeepsTheCudaExtension) {
  const fs::path file = write(root() / "in" / "x", cuda_source("// apo:launch k grid=1 block=1\n"));
  EXPECT_TRUE(Catalogue()
                  .register_variant(load_variant(file.string()), root() / "b")
                  .variant->path.ends_with("copy/device.cu"));
}

TEST_F(CatalogueTest, RegisteringRefusesWhatIsNoNewVariant) {
  write(root() / "a" / "one.cpp", source("one"));
  Catalogue catalogue = loaded();
  const auto refused = [&](const fs::path& file) { return error_of([&] { registered(catalogue, file); }); };
  expect_contains(refused(write(root() / "in" / "x.cpp", source("one") + "// other\n")),
                  "is taken by other content in");
  expect_contains(refused(write(root() / "in" / "e.cpp", "")), "is empty");
  expect_contains(refused(root() / "in"), "is a directory");
  expect_contains(refused(root() / "missing.cpp"), "missing.cpp");
  EXPECT_FALSE(fs::exists(root() / "b"));
}

TEST_F(CatalogueTest, OtherContentUnderARegisteredNameReplacesItsFile) {
  Catalogue catalogue = loaded();
  const fs::path file = write(root() / "in" / "copy" / "mine.cpp", "int one;\n");
  registered(catalogue, file);
  write(file, "#include \"two.h\"\nint two;\n");
  write(root() / "in" / "copy" / "two.h", "int more;\n");
  const Registration second = registered(catalogue, file);
  EXPECT_FALSE(second.already_registered);
  EXPECT_EQ(second.variant->path, (root() / "b" / "copy" / "mine" / "mine.cpp").string());
  EXPECT_EQ(loaded().get("copy/mine").headers.size(), 1U);
  EXPECT_EQ(std::distance(fs::directory_iterator(root() / "b" / "copy"), {}), 2) << "it and .baseline_host";
  write(file, "int three;\n");
  EXPECT_FALSE(registered(catalogue, file).already_registered);
  EXPECT_EQ(read_file(loaded().get("copy/mine").path), "int three;\n");
}

TEST_F(CatalogueTest, OneTextIsNotTwoVariants) {
  Catalogue catalogue = loaded();
  catalogue.add(write(root() / "in" / "copy" / "one.cpp", "int x;\n"));
  expect_contains(error_of([&] { catalogue.add(write(root() / "in" / "copy" / "two.cpp", "int x;\n")); }),
                  "has the very text of copy/one");
}

TEST_F(CatalogueTest, VariantsThatNameNoParentGrowFromTheFirstOfTheirTarget) {
  write(root() / "a" / "copy" / "simple.cpp", "int simple;\n");
  write(root() / "b" / "copy" / "better.cpp", "int better;\n");
  write(root() / "b" / "copy" / "better.cu", "// apo:variant copy/on_gpu\nint better;\n");
  const Catalogue catalogue = loaded();
  EXPECT_EQ(catalogue.baseline("copy", Target::host)->id(), "copy/simple");
  EXPECT_EQ(catalogue.baseline("copy", Target::cuda)->id(), "copy/on_gpu");
  EXPECT_EQ(catalogue.baseline("spin", Target::host), nullptr);
  EXPECT_EQ(catalogue.get("copy/better").parent, "copy/simple");
  EXPECT_EQ(catalogue.get("copy/simple").parent, "");
}

TEST_F(CatalogueTest, TheNextBaselineIsTheOldestRegisteredFileWhateverItsName) {
  const fs::path first = write(root() / "b" / "copy" / "second_by_name.cpp", "int x;\n");
  const fs::path later = write(root() / "b" / "copy" / "a_later_one.cpp", "int y;\n");
  fs::last_write_time(later, fs::last_write_time(first) + std::chrono::seconds(1));
  EXPECT_EQ(loaded().baseline("copy", Target::host)->id(), "copy/second_by_name");
  EXPECT_EQ(loaded().get("copy/a_later_one").parent, "copy/second_by_name");
}

TEST_F(CatalogueTest, UnregisteringMovesTheFileAndItsHeadersAway) {
  Catalogue catalogue = loaded();
  write(root() / "in" / "copy" / "two.h", "int more;\n");
  const fs::path file = write(root() / "in" / "copy" / "mine.cpp", "#include \"two.h\"\n");
  registered(catalogue, file);
  const fs::path retired = catalogue.unregister_variant("copy/mine", root() / "retired");
  EXPECT_TRUE(fs::exists(retired / "mine.cpp") && fs::exists(retired / "two.h"));
  EXPECT_EQ(catalogue.find("copy/mine"), nullptr);
  EXPECT_TRUE(loaded().ids().empty());
  write(root() / "a" / "copy" / "theirs.cpp", "int x;\n");
  Catalogue other = loaded();
  expect_contains(error_of([&] { other.unregister_variant("copy/theirs", root() / "retired"); }), "was not registered");
  expect_contains(error_of([&] { other.unregister_variant("copy/their", root() / "retired"); }), "did you mean");
}

TEST_F(CatalogueTest, FileThatAnotherProcessRegisteredIsNeverReplaced) {
  Catalogue catalogue = loaded();  // before the other process
  write(root() / "b" / "copy" / "one.cpp", source("one") + "// theirs\n");
  const fs::path mine = write(root() / "in" / "one.cpp", source("one"));
  EXPECT_THROW(registered(catalogue, mine), UserError);
  EXPECT_EQ(read_file(root() / "b" / "copy" / "one.cpp"), source("one") + "// theirs\n");
}

TEST_F(CatalogueTest, HeadersAreNoVariantsAndAreFoundInEveryRoot) {
  write(root() / "a" / "copy" / "one.cpp", source("one", "", "#include \"phases.h\"\n" + std::string(kBody)));
  write(root() / "b" / "copy" / "phases.h", "#include \"words.h\"\n");
  write(root() / "a" / "common" / "words.h", "// apo:variant copy/none\n");
  const Catalogue catalogue = loaded();
  EXPECT_EQ(catalogue.ids(), std::vector<std::string>{"copy/one"});
  EXPECT_TRUE(catalogue.problems().empty());
  EXPECT_EQ(catalogue.get("copy/one").headers.size(), 2u);
  fs::remove(root() / "a" / "common" / "words.h");
  ASSERT_EQ(loaded().problems().size(), 1u);
  expect_contains(loaded().problems()[0].what, "phases.h:1: there is no header \"words.h\"");
}

TEST_F(CatalogueTest, AVariantIsRegisteredWithItsHeadersBesideIt) {
  const std::string body = "#include \"phases.h\"\n" + std::string(kBody);
  write(root() / "in" / "phases.h", "int shared;\n");
  const fs::path file = write(root() / "in" / "x.cpp", source("one", "", body));
  Catalogue catalogue = loaded();
  const Registration first = registered(catalogue, file);
  EXPECT_EQ(first.variant->path, (root() / "b" / "copy" / "one" / "one.cpp").string());
  write(root() / "in" / "phases.h", "int changed;\n");
  write(file, source("two", "", body));
  registered(catalogue, file);
  const Catalogue again = loaded();
  EXPECT_EQ(again.ids(), (std::vector<std::string>{"copy/one", "copy/two"}));
  EXPECT_EQ(again.get("copy/one").headers.at(0).text, "int shared;\n");
  EXPECT_EQ(again.get("copy/two").headers.at(0).text, "int changed;\n");
  EXPECT_EQ(again.get("copy/one").source_hash, first.variant->source_hash);
}

TEST_F(CatalogueTest, AParentOrAPredictionOverNobodyIsAProblemOfAVariantThatStays) {
  for (const auto& [line, problem] :
       {std::pair{"// apo:parent register_ownd\n", "'copy/register_ownd', is no variant"},
        std::pair{"// apo:predict 1.1x..1.2x over register_ownd: so\n", "is over 'copy/register_ownd', which is no"}}) {
    write(root() / "a" / "one.cpp", source("register_owned"));
    write(root() / "a" / "two.cpp", source("two", line));
    Catalogue catalogue = loaded();
    EXPECT_EQ(catalogue.ids().size(), 2u);
    ASSERT_EQ(catalogue.problems().size(), 1u);
    EXPECT_FALSE(catalogue.problems()[0].left_out);
    expect_contains(catalogue.problems()[0].what, problem);
    expect_contains(catalogue.problems()[0].hint, "did you mean 'copy/register_owned'?");
    const fs::path third = write(root() / "in" / "three.cpp", source("three", line));
    expect_contains(error_of([&] { catalogue.add(third); }), "did you mean 'copy/register_owned'?");
  }
}

TEST_F(CatalogueTest, AnUnknownParentIsNotTakenForTheVariantItself) {
  write(root() / "a" / "two.cpp", source("in_blocks_2", "// apo:parent in_blocks\n"));
  const Catalogue catalogue = loaded();
  ASSERT_EQ(catalogue.problems().size(), 1u);
  EXPECT_EQ(catalogue.problems()[0].hint, "");
}

TEST_F(CatalogueTest, ChildrenAreThoseWhoseFilesNameTheParent) {
  write(root() / "a" / "copy" / "shipped.cpp", source("shipped", "// apo:parent base\n"));
  write(root() / "b" / "copy" / "base.cpp", source("base"));
  write(root() / "b" / "copy" / "named.cpp", source("named", "// apo:parent base\n"));
  write(root() / "b" / "copy" / "silent.cpp", "int silent;\n");
  const Catalogue catalogue = loaded();
  EXPECT_EQ(catalogue.get("copy/silent").parent, "copy/base") << "by default";
  EXPECT_EQ(catalogue.registered_children("copy/base"), std::vector<std::string>{"copy/named"});
  EXPECT_TRUE(catalogue.registered_children("copy/named").empty());
}

TEST(ShippedVariants, AllOfThemAreValid) {
  Catalogue catalogue;
  catalogue.load({fs::path(APO_SOURCE_FOLDER) / "variants"});
  for (const CatalogueProblem& problem : catalogue.problems()) {
    ADD_FAILURE() << problem.path << ": " << problem.what << "\n" << problem.hint;
  }
}

}  // namespace
}  // namespace apo
