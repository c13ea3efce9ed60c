// tests/implement/variant/metadata_test.cpp - what a metadata block may say, and the error for each thing it may not.
#include "harness/implement/variant/metadata.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "harness/core/sources.h"
#include "harness/core/text.h"
#include "harness/implement/variant/form.h"
#include "harness/implement/variant/headers.h"
#include "harness/implement/variant/metadata_block.h"
#include "tests/implement/fixtures.h"

namespace apo {
namespace {

using namespace test;

std::string problem(const std::string& text) {
  return error_of([&] { parse_variant(text, "dir/a.cpp"); });
}
std::string problem_with(const std::string& line) {
  return problem(source("plain", line + "\n"));
}
std::string cuda_problem(const std::string& lines) {
  return problem(cuda_source(lines + "\n"));
}

std::string without(const std::string& key) {
  std::string text;
  for (const std::string& line : split(source(), '\n')) {
    text += line.find("apo:" + key) == std::string::npos ? line + "\n" : "";
  }
  return text;
}

TEST(Metadata, ReadsEveryKey) {
  const std::string text = source("fast",
                                  "// apo:technique two-loops\n// apo:parent plain\n"
                                  "// apo:predict 1.5x..1.8x over parent: stalls vanish, see a:b.\n"
                                  "// apo:requires n >= CHUNK && n % 4 == 0\n// apo:tune CHUNK 16,8, 4\n"
                                  "// apo:tune SHIFT -1,0\n// apo:scratch history 2*n*CHUNK\n");
  const Variant variant = parse_variant(text, "a.cpp");
  EXPECT_EQ(variant.id(), "copy/fast");
  EXPECT_EQ(variant.target, Target::host);
  EXPECT_EQ(variant.techniques, (std::vector<std::string>{"straight-copy", "two-loops"}));
  EXPECT_EQ(variant.parent, "copy/plain");
  EXPECT_EQ(variant.idea, "One loop that the compiler turns into a call of memmove.");
  ASSERT_TRUE(variant.prediction.has_value());
  EXPECT_EQ(variant.prediction->low, 1.5);
  EXPECT_EQ(variant.prediction->high, 1.8);
  EXPECT_EQ(variant.prediction->relative_to, "parent");
  EXPECT_EQ(variant.prediction->because, "stalls vanish, see a:b.");
  EXPECT_EQ(variant.requires_expression, "n >= CHUNK && n % 4 == 0");
  ASSERT_EQ(variant.tunables.size(), 2u);
  EXPECT_EQ(variant.tunables[0].values, (std::vector<std::int64_t>{16, 8, 4}));
  EXPECT_EQ(variant.tunables[1].values, (std::vector<std::int64_t>{-1, 0}));
  ASSERT_EQ(variant.scratch.size(), 1u);
  EXPECT_EQ(variant.scratch[0].bytes, "2*n*CHUNK");
  EXPECT_EQ(variant.source_hash, source_identity(variant));
  EXPECT_EQ(variant.source, text);
  EXPECT_FALSE(is_device_variant(variant));
}

TEST(Metadata, AToggleIsATunableThatAppliesATechnique) {
  const Variant variant = parse_variant(cuda_source("// apo:toggle FUSED fused-l2-norm\n// apo:tune W 1,2\n"
                                                    "// apo:requires !FUSED || n > 4\n// apo:requires W == 1 || n > 8\n"
                                                    "// apo:scratch unit 4*n when=!FUSED\n"
                                                    "// apo:launch k grid=1 block=32 when=!FUSED || W == 2\n"),
                                        "a.cu");
  ASSERT_EQ(variant.tunables.size(), 2u);
  EXPECT_EQ(variant.tunables[0].values, (std::vector<std::int64_t>{0, 1}));
  EXPECT_EQ(variant.tunables[0].technique, "fused-l2-norm");
  EXPECT_EQ(variant.tunables[1].technique, "");
  EXPECT_EQ(variant.requires_expression, "(!FUSED || n > 4) && (W == 1 || n > 8)");
  EXPECT_EQ(variant.scratch[0].bytes, "4*n");
  EXPECT_EQ(variant.scratch[0].when, "!FUSED");
  EXPECT_EQ(variant.launches[0].attributes.at("when"), "!FUSED || W == 2");
}

TEST(Metadata, AToggleNamesAMacroThatIsReadAndATechniqueOfTheCatalogue) {
  const auto toggle = [](const std::string& rest) { return problem_with("// apo:toggle " + rest); };
  expect_contains(toggle("FUSED fused-l2-nrm"),
                  "dir/a.cpp:5: the catalogue has no technique 'fused-l2-nrm' for target host | did you mean");
  expect_contains(toggle("FAST register-owned"), "has no technique 'register-owned' for target host");
  expect_contains(toggle("FUSED 0,1"), "has no technique '0,1'");
  expect_contains(toggle("FUSED"), "'FUSED' is not a macro and the technique that it applies");
  expect_contains(toggle("FUSED fused-l2-norm 0,1"), "is not a macro and the technique that it applies");
  expect_contains(toggle("FUSED fused-l2-norm"),
                  "dir/a.cpp:5: no line reads the toggle 'FUSED' | switch 'fused-l2-norm' by 'if constexpr (FUSED)'");
  expect_contains(toggle("n fused-l2-norm"), "is already taken");
  expect_contains(cuda_problem("// apo:toggle A fused-l2-norm\n// apo:launch k grid=1 block=A when=n > 4"),
                  "unknown symbol 'n'");
}

TEST(Metadata, AMacroInACommentIsNotRead) {
  const std::string text = source("plain", "// apo:toggle FUSED fused-l2-norm\n");
  expect_contains(problem(text + "// #if FUSED\n/* FUSED */\n"), "no line reads the toggle 'FUSED'");
  EXPECT_EQ(problem(text + "#if FUSED\n#endif\n"), "");
}

TEST(Metadata, ReadsADeviceVariantWithItsLaunches) {
  const Variant variant = parse_variant(
      cuda_source("// apo:tune W 1,2\n// apo:requires SMS > 8 && SHARED_MAX > 0 && MAX_THREADS >= 32*W\n"
                  "// apo:launch copy_kernel grid=ceil_div(n,256),W block=32 * W shared=0 cooperative=1 cluster=1,1,1\n"
                  "// apo:launch copy_kernel grid=1 block=1 l2_persist=4*n\n"),
      "a.cu");
  EXPECT_EQ(variant.target, Target::cuda);
  EXPECT_EQ(variant.arch, "sm_80");
  ASSERT_EQ(variant.launches.size(), 2u);
  EXPECT_EQ(variant.launches[0].attributes.at("grid"), "ceil_div(n,256),W");
  EXPECT_EQ(variant.launches[0].attributes.at("block"), "32 * W");
  EXPECT_TRUE(is_device_variant(variant));
}

TEST(Metadata, WindowsLineEndsByteOrderMarkAndCommentsAroundAreAccepted) {
  std::string text = "\xef\xbb\xbf// variants/copy/plain.cpp - a first line.\n\n" + source();
  std::string windows;
  for (const char letter : text) {
    windows += letter == '\n' ? "\r\n" : std::string(1, letter);
  }
  EXPECT_EQ(parse_variant(windows, "a.cpp").name, "plain");
  EXPECT_EQ(parse_variant(windows, "a.cpp").techniques.front(), "straight-copy");
}

TEST(Metadata, EveryLineIsOptionalButForTheFamily) {
  for (const char* key : {"target", "technique", "idea"}) {
    EXPECT_EQ(problem(without(key)), "");
  }
  expect_contains(problem(without("variant")), "dir/a.cpp:1: it does not say which operation it computes");
  const Variant bare = parse_variant("int x;\n", "here/copy/fast.cu");
  EXPECT_EQ(bare.id(), "copy/fast");
  EXPECT_EQ(bare.target, Target::cuda);
  EXPECT_TRUE(bare.techniques.empty());
  EXPECT_FALSE(bare.prediction.has_value());
  EXPECT_EQ(parse_variant("int x;\n", "here/copy/fast/fast.cpp").id(), "copy/fast") << "a folder of its own";
  EXPECT_EQ(parse_variant("int x;\n", "copy/spin/spin.cpp").id(), "copy/spin");
  EXPECT_EQ(parse_variant("int x;\n", "journal:x", {}, {.family = "spin", .name = "y", .target = Target::cuda}).id(),
            "spin/y");
  expect_contains(problem("int x;\n"), "name it with --family");
  expect_contains(error_of([] { parse_variant("int x;\n", "copy/fast-1.cpp"); }), "is not an identifier");
}

TEST(Metadata, AFamilyThatTheFileContradictsIsAnError) {
  const TemporaryFolder folder;
  const std::string path = write(folder.path() / "a.cpp", source()).string();
  EXPECT_EQ(load_variant(path, {}, "copy").id(), "copy/plain");
  expect_contains(error_of([&] { load_variant(path, {}, "spin"); }), "is copy/plain, and not of family spin");
  expect_contains(error_of([&] { load_variant(write(folder.path() / "b.cpp", "int x;\n").string(), {}, "copi"); }),
                  "unknown family 'copi' | did you mean 'copy'?");
}

TEST(Metadata, ErrorsNameTheLine) {
  expect_contains(problem_with("// apo:tune CHUNK x"), "dir/a.cpp:5: ");
}

TEST(Metadata, SingleLinesMayNotRepeat) {
  for (const char* line : {"variant copy/b", "target cuda", "idea x", "parent a\n// apo:parent b",
                           "predict 1x..1x over a: b\n// apo:predict 1x..1x over a: b"}) {
    expect_contains(problem_with(std::string("// apo:") + line), "is repeated (first in line ");
  }
}

TEST(Metadata, UnknownKeyGetsASuggestion) {
  expect_contains(problem_with("// apo:techniqe x"), "unknown key 'apo:techniqe' | did you mean 'technique'?");
  expect_contains(problem_with("// apo:zzzzzz x"), "the keys: variant, target");
}

TEST(Metadata, MalformedLinesAreNotSilentlyComments) {
  for (const char* line :
       {"// apo: tune CHUNK 1", "// apo :tune CHUNK 1", "// APO:tune CHUNK 1", "//apo:", "// apo:1 x"}) {
    expect_contains(problem_with(line), "malformed metadata line");
  }
  expect_contains(problem_with("// apo:requires"), "apo:requires has no value");
  expect_contains(problem_with("// apo:requires   \r"), "apo:requires has no value");
  expect_contains(problem_with("// apo:parent a\x01"), "control character");
  for (const char* unseen : {"\xc2\x9b", "\xe2\x80\xae", "\xe2\x80\x8b", "\xe2\x81\xa6", "\xef\xbb\xbf"}) {
    expect_contains(problem_with(std::string("// apo:idea it is ") + unseen + "fast"), "control character");
  }
  expect_contains(problem_with("// apo:parent " + std::string(5000, 'a')), "is longer than 4000");
  EXPECT_EQ(problem_with("// apology accepted: fine"), "");
}

TEST(Metadata, LongestValuesAreRead) {
  const std::string reason(3900, 'r');
  EXPECT_EQ(variant("plain", "// apo:predict 1x..2x over a: " + reason + "\n").prediction->because, reason);
  EXPECT_EQ(cuda_problem("// apo:launch k block=1 grid=" + std::string(3900, '0') + "1"), "");
}

TEST(Metadata, LinesAfterTheCodeAreRefused) {
  expect_contains(problem(source() + "// apo:tune CHUNK 1\n"), "metadata line after the code that starts in line 5");
}

TEST(Metadata, UnknownFamilyGetsASuggestion) {
  expect_contains(problem("// apo:variant copi/x\n// apo:target host\n// apo:technique a\n// apo:idea b\n"),
                  "dir/a.cpp:1: unknown family 'copi' | did you mean 'copy'?");
}

TEST(Metadata, VariantNameIsAnIdentifier) {
  for (const char* name : {"", "a-b", "1a", "a b", "../x", "a/b", "ä"}) {
    EXPECT_NE(problem(source(name)), "") << name;
  }
  EXPECT_NE(problem(source(std::string(65, 'a'))), "");
}

TEST(Metadata, TargetIsHostOrCuda) {
  for (const char* target : {"gpu", "host sm_80", "cuda 80", "cuda sm_8x", "cuda sm_80 sm_90", "Host"}) {
    std::string text = source();
    text.replace(text.find("host"), 4, target);
    expect_contains(problem(text), "unknown target");
  }
}

TEST(Metadata, TechniqueIsOneWordGivenOnce) {
  expect_contains(problem_with("// apo:technique Two Words"), "is not a technique");
  expect_contains(problem_with("// apo:technique straight-copy"), "is repeated");
}

TEST(Metadata, ParentIsAnotherVariantOfTheSameFamily) {
  expect_contains(problem_with("// apo:parent other/simple"), "of another family than copy/plain");
  expect_contains(problem_with("// apo:parent copy/plain"), "names itself");
  expect_contains(problem_with("// apo:parent a-b"), "not the name of a variant");
  EXPECT_EQ(variant("plain", "// apo:parent copy/other\n").parent, "copy/other");
}

TEST(Metadata, PredictionIsARisingPositiveBandWithAReason) {
  for (const char* bad :
       {"1.5x", "1.5x..1.8x", "1.5x..1.8x over parent", "1.5x..1.8x over parent:", "1.5..1.8 over a: b", "fast",
        "-1x..2x over a: b", "nanx..2x over a: b", "1e9x..2x over a: b"}) {
    expect_contains(problem_with(std::string("// apo:parent p\n// apo:predict ") + bad), "cannot be read");
  }
  expect_contains(problem_with("// apo:predict 1.8x..1.5x over a: b"), "not positive and rising");
  expect_contains(problem_with("// apo:predict 0x..1.5x over a: b"), "not positive and rising");
  EXPECT_EQ(variant("plain", "// apo:predict 1x..2x over parent: b\n").prediction->relative_to, "parent")
      << "the family's baseline, where no parent is named";
  expect_contains(problem_with("// apo:predict 1x..2x over other/a: b"), "another family");
  EXPECT_EQ(variant("plain", "// apo:predict 2x..2x over a: b\n").prediction->relative_to, "copy/a");
}

TEST(Metadata, TuneValuesAreDistinctIntegers) {
  for (const char* bad : {"CHUNK", "CHUNK 1,,2", "CHUNK 1.5", "CHUNK 1,a", "CHUNK ,", "CHUNK 1 2",
                          "CHUNK 9007199254740992", "CHUNK 99999999999999999999"}) {
    EXPECT_NE(problem_with(std::string("// apo:tune ") + bad), "") << bad;
  }
  expect_contains(problem_with("// apo:tune CHUNK 1,2,1"), "the value 1 of CHUNK is repeated");
}

TEST(Metadata, NamesThatWouldBreakTheHeaderAreRefused) {
  for (const char* name : {"int", "while", "_A", "A__B", "a-b", "1A"}) {
    expect_contains(problem_with(std::string("// apo:tune ") + name + " 1"), "cannot name a constant or a field");
    expect_contains(problem_with(std::string("// apo:scratch ") + name + " 1"), "cannot name a constant or a field");
  }
  for (const char* name : {"n", "kn", "x", "y", "min", "SMS", "copy_args"}) {
    expect_contains(problem_with(std::string("// apo:tune ") + name + " 1"), "is already taken");
  }
  expect_contains(problem_with("// apo:tune A 1\n// apo:tune A 2"), "dir/a.cpp:6: the name 'A' is already taken");
  expect_contains(problem_with("// apo:tune A 1\n// apo:scratch A 2"), "is already taken");
}

TEST(Metadata, SettingsSpaceThatCannotBeSearchedIsRefused) {
  std::string lines;
  for (char name = 'A'; name < 'A' + 20; ++name) {
    lines += std::string("// apo:tune ") + name + " 1,2\n";
  }
  expect_contains(problem(source("plain", lines)), "dir/a.cpp:21: the tunables give more than 65536 configurations");
}

TEST(Metadata, ExpressionsAreChecked) {
  expect_contains(problem_with("// apo:requires N <= 64"), "unknown symbol 'N'");
  expect_contains(problem_with("// apo:requires n <="), "does not parse");
  expect_contains(problem_with("// apo:requires SMS > 1"), "unknown symbol 'SMS'");  // a fact of cuda devices
  expect_contains(problem_with("// apo:scratch h 4*m"), "apo:scratch: unknown symbol 'm'");
  expect_contains(problem_with("// apo:scratch h"), "has no size");
  expect_contains(cuda_problem("// apo:launch k grid=m block=1"), "unknown symbol 'm'");
  expect_contains(cuda_problem("// apo:launch k grid= block=1"), "the expression is empty");
}

TEST(Metadata, LaunchAttributesAreChecked) {
  expect_contains(cuda_problem("// apo:launch k gird=1 block=1\n"),
                  "unknown launch attribute 'gird' | did you mean 'grid'?");
  expect_contains(cuda_problem("// apo:launch k grid=1\n"), "has no block");
  expect_contains(cuda_problem("// apo:launch k block=1\n"), "has no grid");
  expect_contains(cuda_problem("// apo:launch k grid=1 grid=2 block=1\n"), "'grid' is repeated");
  expect_contains(cuda_problem("// apo:launch k grid=1,1,1,1 block=1\n"), "too many expressions");
  expect_contains(cuda_problem("// apo:launch k grid=1 block=1 shared=1,2\n"), "too many expressions");
  expect_contains(cuda_problem("// apo:launch k 3 grid=1 block=1\n"), "'3' is not a launch attribute");
  expect_contains(cuda_problem("// apo:launch 3 grid=1 block=1\n"), "not the name of a kernel");
}

TEST(Metadata, LaunchLinesMakeADeviceVariantWhateverTheCodeSays) {
  expect_contains(problem_with("// apo:launch k grid=1 block=1"), "a host variant has no kernels to launch");
  const std::string library = "APO_EXPORT int apo_launch(const apo_call*) { return 0; }\n";
  EXPECT_FALSE(is_device_variant(parse_variant(cuda_source("", library), "a.cu")));
  EXPECT_FALSE(is_device_variant(parse_variant(cuda_source(""), "a.cu")));
  EXPECT_TRUE(is_device_variant(parse_variant(cuda_source("// apo:launch k grid=1 block=1\n", library), "a.cu")));
}

TEST(Metadata, FilesThatAreNoSourceAreRefused) {
  const TemporaryFolder folder;
  const auto load = [&](const std::string& name) {
    return error_of([&] { load_variant((folder.path() / name).string()); });
  };
  write(folder.path() / "empty.cpp", "");
  write(folder.path() / "blank.cpp", " \n\t\r\n");
  write(folder.path() / "binary.cpp", std::string("// apo:variant copy/a\n\0x", 24));
  write(folder.path() / "latin1.cpp", source() + "// caf\xe9\n");
  write(folder.path() / "large.cpp", source() + std::string(kMaxSourceBytes, ' '));
  std::filesystem::create_directory(folder.path() / "folder.cpp");
  ASSERT_EQ(mkfifo((folder.path() / "pipe.cpp").c_str(), 0600), 0);
  expect_contains(load("empty.cpp"), "is empty");
  expect_contains(load("blank.cpp"), "is empty");
  expect_contains(load("binary.cpp"), "binary file (a NUL byte in line 2)");
  expect_contains(load("latin1.cpp"), ":12: not valid UTF-8 | convert the file");
  expect_contains(load("large.cpp"), "is larger than a variant may be: 4.00 MiB");
  expect_contains(load("folder.cpp"), "is a directory");
  expect_contains(load("pipe.cpp"), "is not a regular file");
  expect_contains(load("missing.cpp"), "missing.cpp");
}

TEST(Metadata, LoadedPathIsAbsolute) {
  const TemporaryFolder folder;
  write(folder.path() / "a.cpp", source());
  EXPECT_EQ(load_variant((folder.path() / "." / "a.cpp").string()).path, (folder.path() / "a.cpp").string());
}

}  // namespace
}  // namespace apo
