// tests/cli/bring/register_test.cpp - what may join the catalogue, what may not, and that a refusal changes nothing.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "journal/journal.h"
#include "tests/cli/workplace.h"

namespace apo {
namespace {

using Words = std::vector<std::string>;

bool lists(const Workplace& place, const std::string& id) {
  return place.apo({"list", id}).exit_code == 0;
}

void expect_nothing_kept(const Workplace& place) {
  EXPECT_FALSE(std::filesystem::exists(place.path(".apo/variants")));
  EXPECT_FALSE(std::filesystem::exists(place.path(".apo/journal.db")));
}

TEST(Register, RightVariantIsVerifiedListedAndRemembered) {
  const Workplace place;
  place.write("mine.cpp", Workplace::variant("mine"));
  const Ran ran = place.apo({"register", "mine.cpp"});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  for (const char* gate : {"metadata: valid", "build: valid", "correctness: valid", "sanitizers: valid"}) {
    EXPECT_NE(ran.out.find(gate), std::string::npos) << gate << " not in " << ran.out;
  }
  EXPECT_TRUE(lists(place, "copy/mine"));
  EXPECT_EQ(read_file(place.path(".apo/variants/copy/mine.cpp")), Workplace::variant("mine"));
  Journal journal = Journal::open(place.path(".apo/journal.db"), Access::read_only);
  ASSERT_TRUE(journal.newest_variant("copy/mine"));
  EXPECT_EQ(journal.newest_variant("copy/mine")->source, Workplace::variant("mine"));
}

TEST(Register, SameContentAgainIsNoMistake) {
  const Workplace place;
  place.write("mine.cpp", Workplace::variant("mine"));
  ASSERT_EQ(place.apo({"register", "mine.cpp", "--no-verify"}).exit_code, 0);
  const Ran ran = place.apo({"register", "mine.cpp", "--json"});
  EXPECT_EQ(ran.exit_code, 0);
  EXPECT_EQ(only_document(ran)["state"], "already registered");
}

TEST(Register, ChangedContentIsANewVersionAndTheJournalKeepsBoth) {
  const Workplace place;
  place.write("mine.cpp", Workplace::variant("mine"));
  ASSERT_EQ(place.apo({"register", "mine.cpp", "--no-verify"}).exit_code, 0);
  place.write("mine.cpp", Workplace::variant("mine") + "// changed\n");
  const Ran ran = place.apo({"register", "mine.cpp", "--no-verify"});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_NE(ran.out.find("copy/mine@2 registered: "), std::string::npos) << ran.out;
  EXPECT_EQ(read_file(place.path(".apo/variants/copy/mine.cpp")), Workplace::variant("mine") + "// changed\n");
  Journal journal = Journal::open(place.path(".apo/journal.db"), Access::read_only);
  const std::optional<Variant> newest = journal.newest_variant("copy/mine");
  ASSERT_TRUE(newest);
  EXPECT_EQ(newest->source, Workplace::variant("mine") + "// changed\n");
  EXPECT_EQ(journal.variant_version(*newest), 2) << "the other text is kept";
}

TEST(Register, NotesNameUnknownTechniquesAndABaselineThatChanges) {
  const Workplace place;
  place.write(
      "halves.h",
      "// apo:family halves\n// apo:axis n 1..8\n// apo:input x f32[n]\n// apo:output y f32[n]\n"
      "// apo:workload w ragged n=3\ntemplate <class Real>\nvoid reference(int64_t n, const Real* x, Real* y) {\n"
      "  for (int64_t i = 0; i < n; ++i) y[i] = x[i] / 2;\n}\n");
  ASSERT_EQ(place.apo({"register", "halves.h", "--no-verify"}).exit_code, 0);
  const auto added = [&](const std::string& name) {
    place.write(name + ".cpp", "// apo:variant halves/" + name +
                                   "\n// apo:technique chunk-prefech\nvoid halves(const float*, float*, int64_t) {}\n");
    return place.apo({"register", name + ".cpp", "--no-verify"}).out;
  };
  EXPECT_NE(added("plain").find("no technique 'chunk-prefech', so that nothing is known of what it gives; did you mean "
                                "'chunk-prefetch'?"),
            std::string::npos);
  EXPECT_NE(added("another").find("it is the baseline of halves on host now"), std::string::npos);
  EXPECT_EQ(added("simple").find("baseline"), std::string::npos);
}

TEST(Register, ANoteNamesATunableThatNoLineReads) {
  const Workplace place;
  const auto notes_with = [&](const std::string& name, const std::string& code) {
    place.write(name + ".cpp", "// apo:variant copy/" + name +
                                   "\n// apo:tune BLOCK 64,128\n// apo:requires n > BLOCK\n#include \"copy.args.h\"\n" +
                                   code +
                                   "void copy(const float* x, float* y, int64_t n) {\n"
                                   "  for (int64_t i = 0; i < n; ++i) y[i] = x[i];\n}\n");
    const Ran ran = place.apo({"register", name + ".cpp", "--no-verify"});
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
    return ran.out;
  };
  constexpr const char* kNote = "note: no line reads BLOCK of its apo:tune line, so that all its values make the same";
  EXPECT_NE(notes_with("unread", "// BLOCK\n").find(kNote), std::string::npos);
  EXPECT_EQ(notes_with("is_read", "static_assert(BLOCK > 0);\n").find(kNote), std::string::npos);
}

TEST(Register, AVersionThatFailsAGateLeavesTheOneBefore) {
  const Workplace place;
  place.write("mine.cpp", Workplace::variant("mine"));
  ASSERT_EQ(place.apo({"register", "mine.cpp", "--no-verify"}).exit_code, 0);
  place.write("mine.cpp", replaced(Workplace::variant("mine"), "y[i] = x[i]", "y[i] = none"));
  EXPECT_EQ(place.apo({"register", "mine.cpp"}).exit_code, 3);
  EXPECT_EQ(read_file(place.path(".apo/variants/copy/mine.cpp")), Workplace::variant("mine"));
}

TEST(Register, OtherContentUnderTheNameOfTheRepositorysVariantIsRefused) {
  const Workplace place;
  place.write("simple.cpp", Workplace::variant("simple") + "// changed\n");
  const Ran ran = place.apo({"register", "simple.cpp"});
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_NE(ran.err.find("is taken by other content"), std::string::npos) << ran.err;
}

constexpr const char* kBare = "void copy(const float* x, float* y, long n) { while (n-- > 0) y[n] = x[n]; }\n";

TEST(Register, AFileWithoutABlockIsNamedByItsFileAndItsFamilyByTheCommand) {
  const Workplace place;
  place.write("backwards.cpp", kBare);
  const Ran unknown = place.apo({"register", "backwards.cpp"});
  EXPECT_EQ(unknown.exit_code, 1);
  EXPECT_NE(unknown.err.find("name it with --family"), std::string::npos) << unknown.err;
  ASSERT_EQ(place.apo({"register", "--family", "copy", "backwards.cpp"}).exit_code, 0);
  const nlohmann::json shown = only_document(place.apo({"show", "copy/backwards", "--json"}));
  EXPECT_EQ(shown["parent"], "copy/simple") << shown;
  EXPECT_TRUE(shown["prediction"].is_null()) << shown;
  EXPECT_EQ(shown["techniques"], nlohmann::json::array()) << shown;
  EXPECT_TRUE(lists(place, "copy/backwards")) << "read again from its folder";
}

TEST(Register, AnUnregisteredVariantIsGoneUntilItIsRegisteredAgain) {
  const Workplace place;
  place.write("backwards.cpp", kBare);
  const Words again = {"register", "--family", "copy", "--no-verify", "backwards.cpp"};
  ASSERT_EQ(place.apo(again).exit_code, 0);
  EXPECT_NE(place.apo({"unregister", "copy/backward"}).err.find("did you mean 'copy/backwards'?"), std::string::npos);
  ASSERT_EQ(place.apo({"unregister", "copy/backwards"}).exit_code, 0);
  EXPECT_NE(place.apo({"show", "copy/backwards"}).out.find("copy/backwards"), std::string::npos) << "in the journal";
  EXPECT_FALSE(std::filesystem::exists(place.path(".apo/variants/copy/backwards.cpp")));
  EXPECT_TRUE(std::filesystem::exists(place.path(".apo/retired/copy/backwards.cpp")));
  EXPECT_NE(place.apo({"unregister", "copy/simple"}).err.find("was not registered"), std::string::npos);
  const Ran back = place.apo(again);
  EXPECT_NE(back.out.find("copy/backwards registered: "), std::string::npos) << back.out << back.err;
}

TEST(Register, AVariantWithRegisteredChildrenIsNotUnregistered) {
  const Workplace place;
  place.write("mine.cpp", Workplace::variant("mine"));
  place.write("child.cpp", "// apo:variant copy/child\n// apo:parent mine\n" + std::string(kBare));
  ASSERT_EQ(place.apo({"register", "mine.cpp", "--no-verify"}).exit_code, 0);
  ASSERT_EQ(place.apo({"register", "child.cpp", "--no-verify"}).exit_code, 0);
  const Ran refused = place.apo({"unregister", "copy/mine"});
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_NE(refused.err.find("copy/mine is the apo:parent of copy/child"), std::string::npos) << refused.err;
  EXPECT_NE(refused.err.find("unregister these first"), std::string::npos) << refused.err;
  EXPECT_TRUE(lists(place, "copy/mine"));
  EXPECT_EQ(place.apo({"unregister", "copy/child"}).exit_code, 0);
  EXPECT_EQ(place.apo({"unregister", "copy/mine"}).exit_code, 0);
}

TEST(Register, WrongOutputIsStoppedByTheCorrectnessGate) {
  const Workplace place;
  place.write("wrong.cpp", replaced(Workplace::variant("wrong"), "y[i] = x[i]", "y[i] = x[i] + 1"));
  const Ran ran = place.apo({"register", "wrong.cpp"});
  EXPECT_EQ(ran.exit_code, 3) << ran.err;
  EXPECT_NE(ran.out.find("correctness: incorrect"), std::string::npos) << ran.out;
  EXPECT_FALSE(lists(place, "copy/wrong"));
  expect_nothing_kept(place);
}

TEST(Register, WriteBehindTheBufferIsStopped) {
  const Workplace place;
  place.write("behind.cpp", replaced(Workplace::variant("behind"), "i < n", "i < n + 1"));
  EXPECT_EQ(place.apo({"register", "behind.cpp"}).exit_code, 3);
  expect_nothing_kept(place);
}

TEST(Register, SourceThatDoesNotCompileShowsTheLog) {
  const Workplace place;
  place.write("broken.cpp", replaced(Workplace::variant("broken"), "y[i] = x[i]", "y[i] = no_such_thing"));
  const Ran ran = place.apo({"register", "broken.cpp"});
  EXPECT_EQ(ran.exit_code, 3);
  EXPECT_NE(ran.out.find("build: build_failed, broken.cpp:"), std::string::npos) << ran.out;
  EXPECT_NE(ran.err.find("no_such_thing"), std::string::npos) << ran.err;
  const Ran json = place.apo({"register", "broken.cpp", "--json"});
  EXPECT_EQ(json.exit_code, 3);
  EXPECT_EQ(only_document(json)["state"], "refused");
  expect_nothing_kept(place);
}

TEST(Register, CrashIsTheCandidatesOutcomeNotOurs) {
  const Workplace place;
  place.write("crash.cpp",
              replaced(Workplace::variant("crash"), "y[i] = x[i]", "*static_cast<volatile int*>(nullptr) = 1"));
  const Ran ran = place.apo({"register", "crash.cpp"});
  EXPECT_EQ(ran.exit_code, 3);
  EXPECT_NE(ran.out.find("correctness: faulted"), std::string::npos) << ran.out;
  expect_nothing_kept(place);
}

TEST(Register, LockedJournalLeavesTheCatalogueAlone) {
  const Workplace place;
  place.write("mine.cpp", Workplace::variant("mine"));
  { const Journal journal = Journal::open(place.path(".apo/journal.db"), Access::read_write); }
  const FileDescriptor lock(open(place.path(".apo/journal.db.lock").c_str(), O_RDWR | O_CLOEXEC));
  ASSERT_EQ(flock(lock.get(), LOCK_EX | LOCK_NB), 0);  // as an older program does
  const Ran ran = place.apo({"register", "mine.cpp", "--no-verify"});
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_NE(ran.err.find("is being written by process"), std::string::npos) << ran.err;
  EXPECT_FALSE(std::filesystem::exists(place.path(".apo/variants")));
}

// The loop of simple, in a header of a header.
void write_headed(const Workplace& place, const std::string& name, const std::string& value = "x[i]") {
  place.write("theirs.cpp", replaced(replaced(Workplace::variant(name), "#include \"copy.args.h\"",
                                              "#include \"copy.args.h\"\n#include \"outer.h\""),
                                     "y[i] = x[i]", "y[i] = value(x, i)"));
  place.write("outer.h", "#include \"inner.h\"\n");
  place.write("inner.h", "inline float value(const float* x, int64_t i) { return " + value + "; }\n");
}

TEST(Register, HeadersAreCopiedBesideTheVariantAndRemembered) {
  const Workplace place;
  write_headed(place, "headed");
  const Ran ran = place.apo({"register", "theirs.cpp"});
  ASSERT_EQ(ran.exit_code, 0) << ran.out << ran.err;
  for (const char* name : {"headed.cpp", "outer.h", "inner.h"}) {
    EXPECT_TRUE(std::filesystem::exists(place.path(".apo/variants/copy/headed") / name)) << name;
  }
  std::filesystem::remove(place.path("outer.h"));
  std::filesystem::remove(place.path("inner.h"));
  EXPECT_TRUE(lists(place, "copy/headed"));
  Journal journal = Journal::open(place.path(".apo/journal.db"), Access::read_only);
  EXPECT_EQ(journal.newest_variant("copy/headed")->headers.size(), 2U);
  const nlohmann::json shown = only_document(place.apo({"show", "copy/headed", "--source", "--json"}));
  EXPECT_EQ(shown["headers"][1]["source"], "#include \"inner.h\"\n");
  write_headed(place, "headed", "x[i] + 0");
  EXPECT_NE(place.apo({"register", "theirs.cpp"}).out.find("copy/headed@2 registered"), std::string::npos);
}

TEST(Register, TheCompilersLogNamesTheUsersFileAndHeader) {
  const Workplace place;
  write_headed(place, "headed", "no_such_thing");
  const Ran ran = place.apo({"register", "theirs.cpp"});
  EXPECT_EQ(ran.exit_code, 3) << ran.err;
  EXPECT_NE(ran.out.find("inner.h:1:"), std::string::npos) << ran.out;
  EXPECT_NE(ran.err.find("from theirs.cpp:"), std::string::npos) << ran.err;
  EXPECT_EQ((ran.out + ran.err).find("variant.cpp"), std::string::npos) << ran.out << ran.err;
}

struct BadFile {
  const char* name;
  std::string contents;
  Words said;
};

void PrintTo(const BadFile& file, std::ostream* out) {
  *out << file.name;
}

class BadFiles : public ::testing::TestWithParam<BadFile> {};

TEST_P(BadFiles, AreRefusedWithPlaceAndFix) {
  const Workplace place;
  place.write("bad.cpp", GetParam().contents);
  const Ran ran = place.apo({"register", "bad.cpp"});
  EXPECT_EQ(ran.exit_code, 1) << ran.out;
  EXPECT_EQ(ran.out, "");
  for (const std::string& said : GetParam().said) {
    EXPECT_NE(ran.err.find(said), std::string::npos) << "no '" << said << "' in: " << ran.err;
  }
  expect_nothing_kept(place);
}

std::string block(const std::string& from, const std::string& to) {
  return replaced(Workplace::variant("bad"), from, to);
}

std::string name_of(const ::testing::TestParamInfo<BadFile>& info) {
  return info.param.name;
}

INSTANTIATE_TEST_SUITE_P(
    Register, BadFiles,
    ::testing::Values(
        BadFile{"empty", "", {"bad.cpp"}},
        BadFile{"binary",
                std::string("\x7f"
                            "ELF\0\0\0",
                            7),
                {"bad.cpp"}},
        BadFile{"no_block", "int main() { return 0; }\n", {"bad.cpp", "apo:variant"}},
        BadFile{"repeated_line",
                block("// apo:target     host\n", "// apo:target     host\n// apo:target     host\n"),
                {"bad.cpp:3", "target"}},
        BadFile{"unknown_line", block("// apo:idea", "// apo:tecnique  x\n// apo:idea"), {"tecnique", "technique"}},
        BadFile{"unknown_target", block("host", "hots"), {"hots", "host"}},
        BadFile{"unknown_family", block("copy/bad", "copi/bad"), {"copi", "copy"}},
        BadFile{"name_without_family", block("copy/bad", "bad"), {"bad.cpp:1"}},
        BadFile{"name_leaves_the_folder", block("copy/bad", "copy/../../bad"), {"bad.cpp:1"}},
        BadFile{"tune_zero_values", block("// apo:idea", "// apo:tune CHUNK\n// apo:idea"), {"bad.cpp:4", "tune"}},
        BadFile{"tune_no_number", block("// apo:idea", "// apo:tune CHUNK 1,two\n// apo:idea"), {"bad.cpp:4", "two"}},
        BadFile{"tune_too_long",
                block("// apo:idea", "// apo:tune CHUNK 1" + std::string(4000, '0') + "\n// apo:idea"),
                {"bad.cpp:4", "list fewer values"}},
        BadFile{"unknown_parent",
                block("// apo:idea", "// apo:parent simpel\n// apo:idea"),
                {"bad.cpp", "did you mean 'copy/simple'"}},
        BadFile{"missing_header", block("#include \"copy.args.h\"", "#include \"gone.h\""), {"bad.cpp:5", "gone.h"}},
        BadFile{"header_elsewhere",
                block("#include \"copy.args.h\"", "#include \"../gone.h\""),
                {"bad.cpp:5", "cannot name a header"}},
        BadFile{"requires_no_expression", block("// apo:idea", "// apo:requires n <\n// apo:idea"), {"bad.cpp:4"}},
        BadFile{
            "requires_unknown_axis", block("// apo:idea", "// apo:requires m < 4\n// apo:idea"), {"bad.cpp:4", "m"}},
        BadFile{"predict_malformed", block("// apo:idea", "// apo:predict fast\n// apo:idea"), {"bad.cpp:4"}}),
    name_of);

TEST(Register, FileThatIsNotThereIsNamed) {
  const Ran ran = Workplace().apo({"register", "nowhere.cpp"});
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_NE(ran.err.find("nowhere.cpp"), std::string::npos) << ran.err;
}

TEST(Register, FolderIsNoVariant) {
  const Workplace place;
  std::filesystem::create_directory(place.path("folder"));
  const Ran ran = place.apo({"register", "folder"});
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_NE(ran.err.find("folder"), std::string::npos) << ran.err;
}

TEST(Register, BrokenFileInTheCatalogueIsReportedAndTheRestWorks) {
  const Workplace place;
  place.write(".apo/variants/copy/broken.cpp", "// apo:targte host\nint x;\n");
  const Ran ran = place.apo({"list"});
  EXPECT_EQ(ran.exit_code, 0);
  EXPECT_NE(ran.out.find("copy"), std::string::npos);
  EXPECT_NE(ran.err.find("broken.cpp"), std::string::npos) << ran.err;
  EXPECT_EQ(only_document(place.apo({"list", "--json"}))["problems"].size(), 1U);
}

}  // namespace
}  // namespace apo
