// tests/implement/variant/metadata_test.cpp - what a metadata block may say, and the error for each thing it may not.
#include "harness/implement/variant/metadata.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "harness/core/sources.h"
#include "harness/core/text.h"
#include "harness/implement/variant/headers.h"
#include "harness/implement/variant/metadata_block.h"
#include "harness/implement/variant/settings.h"
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

// Parts of an error (its place, the name, the hint), and the lines behind the block of a host variant that get it.
const std::vector<std::pair<std::string, std::vector<std::string>>> kMistakes = {
    {"dir/a.cpp:5: the catalogue has no technique 'fused-l2-nrm' for target host | did you mean",
     {"toggle FUSED fused-l2-nrm"}},
    {"no technique 'register-owned' for target host", {"toggle FAST register-owned"}},
    {"no technique '0,1'", {"toggle FUSED 0,1"}},
    {"'FUSED' is not a macro", {"toggle FUSED"}},
    {"is not a macro", {"toggle FUSED fused-l2-norm 0,1"}},
    {"dir/a.cpp:5: no line reads the toggle 'FUSED' | switch 'fused-l2-norm' by 'if constexpr",
     {"toggle FUSED fused-l2-norm"}},
    {"already taken", {"toggle n fused-l2-norm", "tune A 1\n// apo:scratch A 2"}},
    {"dir/a.cpp:5: ",
     {"tune CHUNK x", "tune CHUNK", "tune CHUNK 1,,2", "tune CHUNK 1.5", "tune CHUNK 1,a", "tune CHUNK ,",
      "tune CHUNK 1 2", "tune CHUNK 9007199254740992", "tune CHUNK 99999999999999999999"}},
    {"is repeated (first in line ",
     {"variant copy/b", "target cuda", "idea x", "parent a\n// apo:parent b",
      "predict 1x..1x over a: b\n// apo:predict 1x..1x over a: b"}},
    {"unknown key 'apo:techniqe' | did you mean 'technique'?", {"techniqe x"}},
    {"the keys: variant, target", {"zzzzzz x"}},
    {"malformed", {" tune CHUNK 1", "", "1 x"}},
    {"apo:requires has no value", {"requires", "requires \r"}},
    {"control character",
     {"parent a\x01", "idea it is \xc2\x9b now", "idea it is \xe2\x80\xae now", "idea it is \xe2\x80\x8b now",
      "idea it is \xe2\x81\xa6 now", "idea it is \xef\xbb\xbf now"}},
    {"not a technique", {"technique Two Words"}},
    {"is repeated", {"technique straight-copy"}},
    {"another family than copy/plain", {"parent other/simple"}},
    {"names itself", {"parent copy/plain"}},
    {"not the name of a variant", {"parent a-b"}},
    {"cannot be read",
     {"predict 1.5x", "predict 1.5x..1.8x", "predict 1.5x..1.8x over parent",
      "predict 1.5x..1.8x over parent:", "predict 1.5..1.8 over a: b", "predict fast", "predict -1x..2x over a: b",
      "predict nanx..2x over a: b", "predict 1e9x..2x over a: b"}},
    {"not positive and rising", {"predict 1.8x..1.5x over a: b", "predict 0x..1.5x over a: b"}},
    {"another family", {"predict 1x..2x over other/a: b"}},
    {"the value 1 of CHUNK is repeated", {"tune CHUNK 1,2,1"}},
    {"dir/a.cpp:6: the name 'A' is already taken", {"tune A 1\n// apo:tune A 2"}},
    {"unknown symbol 'N'", {"requires N <= 64"}},
    {"does not parse", {"requires n <="}},
    {"unknown symbol 'SMS'", {"requires SMS > 1"}},
    {"apo:scratch: unknown symbol 'm'", {"scratch h 4*m"}},
    {"has no size", {"scratch h"}},
    {"a host variant has no kernels to launch", {"launch k grid=1 block=1"}},
    {"is not a flag that a variant may have on target host",
     {"flags -O2 -o", "flags -fplugin=x.so", "flags -include", "flags -I.", "flags -DX=$(x)", "flags -std=c++17/x",
      "flags --use_fast_math", "flags -fsanitize=address", "flags -mcpu=@file", "flags @file"}},
    {"'-fplugin=x.so' is not a flag that a variant may have on target host | -std=c++17", {"flags -fplugin=x.so"}},
    {"the parameter 'N' is repeated", {"function f N=1 N=2"}},
    {"'N' is not a parameter | write PARAMETER=EXPRESSION", {"function f N"}},
    {"is not the name of a function", {"function 3f", "function f;g", "function f<"}},
};

TEST(Metadata, AMistakeIsNamedWithItsLineAndHint) {
  for (const auto& [error, lines] : kMistakes) {
    for (const std::string& line : lines) {
      expect_contains(problem_with("// apo:" + line), error);
    }
  }
  for (const char* line : {"// apo :tune CHUNK 1", "// APO:tune CHUNK 1", "//apo:"}) {
    expect_contains(problem_with(line), "malformed");
  }
  expect_contains(problem_with("// apo:parent " + std::string(5000, 'a')), "is longer than 4000");
  expect_contains(problem(source() + "// apo:tune CHUNK 1\n"), "after the code that starts in line 5");
  expect_contains(problem("// apo:variant copi/x\n// apo:target host\n// apo:technique a\n// apo:idea b\n"),
                  "dir/a.cpp:1: unknown family 'copi' | did you mean 'copy'?");
  EXPECT_EQ(problem_with("// apology accepted: fine"), "");
}

TEST(Metadata, AMistakeInALaunchIsNamed) {
  constexpr std::pair<const char*, const char*> kLaunches[] = {
      {"k gird=1 block=1", "unknown launch attribute 'gird' | did you mean 'grid'?"},
      {"k grid=1", "has no block"},
      {"k block=1", "has no grid"},
      {"k grid=1 grid=2 block=1", "'grid' is repeated"},
      {"k grid=1,1,1,1 block=1", "too many expressions"},
      {"k grid=1 block=1 shared=1,2", "too many expressions"},
      {"k 3 grid=1 block=1", "'3' is not a launch attribute"},
      {"3 grid=1 block=1", "not the name of a kernel"},
      {"k grid=m block=1", "unknown symbol 'm'"},
      {"k grid= block=1", "the expression is empty"},
      {"k grid=1 block=A when=n > 4\n// apo:toggle A fused-l2-norm", "unknown symbol 'n'"},
  };
  for (const auto& [launch, error] : kLaunches) {
    expect_contains(cuda_problem(std::string("// apo:launch ") + launch), error);
  }
}

TEST(Metadata, FlagsAndFunctionAreReadForItsForm) {
  const Variant variant = parse_variant(
      cuda_source("// apo:flags -std=c++17 --use_fast_math\n// apo:flags --maxrregcount=64 -DTILE=8 -fmad=false -O2\n"
                  "// apo:function mine::f<8> N=n / 2 block_size=256\n"),
      "a.cu");
  EXPECT_EQ(join(variant.flags, " "), "-std=c++17 --use_fast_math --maxrregcount=64 -DTILE=8 -fmad=false -O2");
  EXPECT_TRUE(variant.tuned_flags.empty());
  EXPECT_EQ(variant.function, "mine::f<8>");
  EXPECT_EQ(variant.arguments.at("N"), "n / 2");
  expect_contains(cuda_problem("// apo:flags -ffast-math"), "is not a flag that a variant may have on target cuda");
  expect_contains(cuda_problem("// apo:function f\n// apo:launch k grid=1 block=1"),
                  "an apo:launch line excludes this one");
}

TEST(Metadata, FlagsMayBeTuned) {
  const Variant variant = parse_variant(
      cuda_source("// apo:tune REGISTERS 0,64\n// apo:tune LEVEL 1,2\n"
                  "// apo:flags --maxrregcount={REGISTERS} when=REGISTERS > 0\n// apo:flags -Xptxas -O{LEVEL} -DA\n"),
      "a.cu");
  EXPECT_EQ(join(as_set(variant, {}).flags, " "), "-DA --ptxas-options=-O1");
  EXPECT_EQ(join(as_set(variant, {{"REGISTERS", 64}, {"LEVEL", 2}}).flags, " "),
            "-DA --maxrregcount=64 --ptxas-options=-O2");
  EXPECT_TRUE(is_read(variant, "REGISTERS") && is_read(variant, "LEVEL"));
  for (const auto& [line, error] : {std::pair{"-maxrregcount={MANY}", "apo:flags: unknown symbol 'MANY'"},
                                    {"-O2 when=n > 4", "apo:flags: unknown symbol 'n'"},
                                    {"-o{MANY}", "'-o1' is not a flag that a variant may have on target cuda"},
                                    {"-Xptxas --warn-on-spills", "'--ptxas-options=--warn-on-spills' is not a flag"},
                                    {"-Xptxas", "-Xptxas has no option behind it"}}) {
    expect_contains(cuda_problem(std::string("// apo:flags ") + line), error);
  }
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

TEST(Metadata, LongestValuesAreRead) {
  const std::string reason(3900, 'r');
  EXPECT_EQ(variant("plain", "// apo:predict 1x..2x over a: " + reason + "\n").prediction->because, reason);
  EXPECT_EQ(cuda_problem("// apo:launch k block=1 grid=" + std::string(3900, '0') + "1"), "");
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

TEST(Metadata, NamesWithoutAFolderAreOfTheFamily) {
  EXPECT_EQ(variant("plain", "// apo:parent copy/other\n").parent, "copy/other");
  EXPECT_EQ(variant("plain", "// apo:predict 1x..2x over parent: b\n").prediction->relative_to, "parent")
      << "the family's baseline, where no parent is named";
  EXPECT_EQ(variant("plain", "// apo:predict 2x..2x over a: b\n").prediction->relative_to, "copy/a");
}

TEST(Metadata, NamesThatWouldBreakTheHeaderAreRefused) {
  for (const char* name : {"int", "while", "_A", "A__B", "a-b", "1A"}) {
    expect_contains(problem_with(std::string("// apo:tune ") + name + " 1"), "cannot name a constant or a field");
    expect_contains(problem_with(std::string("// apo:scratch ") + name + " 1"), "cannot name a constant or a field");
  }
  for (const char* name : {"n", "kn", "x", "y", "min", "SMS", "copy_args"}) {
    expect_contains(problem_with(std::string("// apo:tune ") + name + " 1"), "is already taken");
  }
}

TEST(Metadata, KeywordsAreWholeWordsOfTheLanguage) {
  for (const char* word : {"class", "co_await", "xor"}) {
    EXPECT_TRUE(is_cpp_keyword(word)) << word;
  }
  EXPECT_FALSE(is_cpp_keyword("classes"));
  EXPECT_FALSE(is_cpp_keyword(""));
}

TEST(Metadata, SettingsSpaceThatCannotBeSearchedIsRefused) {
  std::string lines;
  for (char name = 'A'; name < 'A' + 20; ++name) {
    lines += std::string("// apo:tune ") + name + " 1,2\n";
  }
  expect_contains(problem(source("plain", lines)), "dir/a.cpp:21: the tunables give more than 65536 configurations");
}

TEST(Metadata, LaunchLinesMakeADeviceVariantWhateverTheCodeSays) {
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
