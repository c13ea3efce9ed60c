// tests/implement/builder_test.cpp - the real compiler on small variants; a scripted one where time and failure matter.
#include "harness/implement/builder.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <functional>
#include <future>
#include <set>
#include <thread>
#include <tuple>

#include "harness/core/hash.h"
#include "harness/implement/executor_builder.h"
#include "harness/implement/object/elf.h"
#include "tests/implement/fixtures.h"
#include "tests/shipped_families.h"

namespace apo {
namespace {

using namespace test;
namespace fs = std::filesystem;

bool copies(const Build& build) {
  return call_copy(build.object_path) == std::pair(0, std::vector<float>{1, 2, 3});
}

std::string body_with(const std::string& expression) {
  return "#include \"copy.args.h\"\n"
         "__attribute__((noinline)) static float value(const copy_args& a, int64_t i) { return " +
         expression +
         "; }\n"
         "APO_EXPORT int apo_launch(const apo_call* call) {\n"
         "  const copy_args& a = *static_cast<const copy_args*>(call->arguments);\n"
         "  for (int64_t i = 0; i < a.n; ++i) a.y[i] = value(a, i);\n"
         "  return 0;\n}\n";
}

class BuilderTest : public ::testing::Test {
 protected:
  BuildOptions options() const {
    return {.cache = folder_.path() / "cache", .home = APO_SOURCE_FOLDER, .timeout_s = 1000};
  }
  static Build build_with(const BuildOptions& options, const Variant& variant, const Settings& settings = {}) {
    return Builder(options).build(*find_family("copy"), variant, {{"n", 1024}}, settings);
  }
  Build build(const Variant& variant, const Settings& settings = {}) const {
    return build_with(options(), variant, settings);
  }
  fs::path root() const { return folder_.path(); }
  std::vector<std::string> cached() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(root() / "cache")) {
      if (entry.path().filename() != "turns") {
        names.push_back(entry.path().filename().string());
      }
    }
    return names;
  }
  // A compiler that is g++ but for `on_compile`, shell code that runs before each compilation of a variant.
  std::string scripted_compiler(const std::string& on_compile) const {
    const fs::path path =
        write(root() / "compiler", "#!/bin/sh\ncase \"$*\" in *'-c '*) " + on_compile + ";; esac\nexec g++ \"$@\"\n");
    fs::permissions(path, fs::perms::owner_all);
    return path.string();
  }

 private:
  TemporaryFolder folder_;
};

// Runs `work` in a child process and returns its exit status as waitpid gives it.
pid_t in_child(const std::function<void()>& work) {
  const pid_t child = fork();
  if (child == 0) {
    try {
      work();
      _exit(0);
    } catch (const std::exception&) {
      _exit(1);
    }
  }
  return child;
}

int status_of(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

TEST_F(BuilderTest, ValidVariantBecomesALibraryThatRuns) {
  const Build built = build(variant());
  ASSERT_EQ(built.outcome, Outcome::valid) << built.log;
  EXPECT_TRUE(copies(built));
  EXPECT_EQ(built.object_hash, sha256(read_file(built.object_path)));
  EXPECT_FALSE(built.from_cache);
  EXPECT_GT(built.resources.at("text_bytes"), 0);
  EXPECT_GT(built.seconds, 0);
  EXPECT_FALSE(built.toolchain.version.empty());
}

TEST_F(BuilderTest, SecondBuildComesFromTheCacheAndIsTheSame) {
  const Build first = build(variant());
  const Build second = build(variant());
  EXPECT_TRUE(second.from_cache);
  EXPECT_EQ(second.key, first.key);
  EXPECT_EQ(second.object_path, first.object_path);
  EXPECT_EQ(second.object_hash, first.object_hash);
  EXPECT_EQ(second.code_hash, first.code_hash);
  EXPECT_EQ(second.resources, first.resources);
  EXPECT_EQ(second.flags, first.flags);
  EXPECT_EQ(cached(), std::vector<std::string>{first.key});
}

TEST_F(BuilderTest, EntryHoldsSourceHeaderObjectLogAndManifest) {
  const fs::path entry = fs::path(build(variant()).object_path).parent_path();
  for (const char* name :
       {"plain.cpp", "copy.args.h", "variant.o", "variant.so", "build.log", "manifest.json", ".plain.cpp"}) {
    EXPECT_TRUE(fs::is_regular_file(entry / name)) << name;
  }
  EXPECT_EQ(std::distance(fs::directory_iterator(entry), {}), 7);
}

TEST_F(BuilderTest, SameSourceGivesTheSameBytesInAnyFolder) {
  BuildOptions elsewhere = options();
  elsewhere.cache = root() / "a" / "much" / "longer" / "path" / "to" / "another" / "cache";
  const Variant timed =
      variant("plain", "", std::string(kBody) + "const char* when() { return __FILE__ __DATE__ __TIME__; }\n");
  EXPECT_EQ(build_with(elsewhere, timed).object_hash, build(timed).object_hash);
}

TEST_F(BuilderTest, ErrorInTheSourceIsAnOutcomeWithItsLine) {
  const Build built = build(variant("plain", "", "#include \"copy.args.h\"\nint x = \"text\";\n"));
  EXPECT_EQ(built.outcome, Outcome::build_failed);
  expect_contains(built.evidence, "plain.cpp:6:9: error: ");
  expect_contains(built.log, "error: ");
  EXPECT_TRUE(built.object_path.empty());
  EXPECT_TRUE(cached().empty());
}

TEST_F(BuilderTest, HeadersReachTheCompilerAndAreNamedInItsLogAndItsErrors) {
  const std::string body = "#include \"outer.h\"\n" + body_with("same(a.x[i])");
  const std::string outer = "#pragma once\n#include \"inner.h\"\nstatic int unused_one() { return 1; }\n";
  const auto with_inner = [&](const std::string& inner) {
    return parse_variant(source("plain", "", body), "/home/me/mine.cpp",
                         {{"inner.h", inner, "/home/me/inner.h"}, {"outer.h", outer, "/home/me/outer.h"}});
  };
  const Build built = build(with_inner("inline float same(float x) { return x; }\n"));
  ASSERT_EQ(built.outcome, Outcome::valid) << built.log;
  EXPECT_TRUE(copies(built));
  expect_contains(built.log, "outer.h:3:12: warning");
  expect_contains(built.log, "from mine.cpp:5");
  const Build other = build(with_inner("inline float same(float x) { return x + 1; }\n"));
  EXPECT_NE(other.key, built.key);
  EXPECT_NE(other.code_hash, built.code_hash);
  const Build broken = build(with_inner("inline float same(float x) { return y; }\n"));
  EXPECT_EQ(broken.outcome, Outcome::build_failed);
  expect_contains(broken.evidence, "/home/me/inner.h:1:37: error");
}

// __FILE__ is no part of the code, so that a renamed file is no other candidate.
TEST_F(BuilderTest, TheNameOfAFileIsNoPartOfItsCode) {
  const std::string text = source("plain", "", std::string(kBody) + "const char* file() { return __FILE__; }\n");
  const Build one = build(parse_variant(text, "/home/me/one.cpp"));
  const Build other = build(parse_variant(text, "/home/me/other one.txt"));
  EXPECT_EQ(one.code_hash, other.code_hash);
  expect_contains(read_file(other.object_path), "variant.cpp");
}

TEST_F(BuilderTest, UndefinedSymbolIsFoundWhileBuilding) {
  const Build built =
      build(variant("plain", "", "void missing();\n" + std::string(kBody) + "void f() { missing(); }\n"));
  EXPECT_EQ(built.outcome, Outcome::build_failed);
  expect_contains(built.evidence, "undefined reference to `missing()'");
}

TEST_F(BuilderTest, WarningsStayInTheLogOfASuccessAlsoFromTheCache) {
  const Variant warned = variant("plain", "", std::string(kBody) + "static int unused_one() { return 1; }\n");
  const Build first = build(warned);
  EXPECT_EQ(first.outcome, Outcome::valid);
  expect_contains(first.log, "unused_one");
  EXPECT_EQ(build(warned).log, first.log);
}

TEST_F(BuilderTest, SettingsAndAxesAreCheckedBeforeTheCompilerRuns) {
  EXPECT_THROW(build(variant(), {{"CHUNK", 1}}), UserError);
  EXPECT_THROW(Builder(options()).build(*find_family("copy"), variant(), {{"n", -1}}, {}), UserError);
}

TEST_F(BuilderTest, SettingReachesTheCode) {
  const Variant tuned = variant("tuned", "// apo:tune SCALE 1,2\n", body_with("a.x[i] * SCALE"));
  const Build one = build(tuned);
  const Build two = build(tuned, {{"SCALE", 2}});
  EXPECT_TRUE(copies(one));
  EXPECT_FALSE(copies(two));
  EXPECT_NE(one.key, two.key);
  EXPECT_NE(one.code_hash, two.code_hash);
}

TEST_F(BuilderTest, SameCodeUnderOtherNamesHasTheSameCodeHash) {
  const Build plain = build(variant("plain", "", body_with("a.x[i] + 2")));
  std::string renamed = body_with("a.x[i] + 2");
  for (std::size_t at = 0; (at = renamed.find("value", at)) != std::string::npos; at += 9) {
    renamed.replace(at, 5, "other_one");
  }
  const Build other = build(variant("other", "// apo:technique x\n// a comment\n", renamed));
  EXPECT_EQ(other.code_hash, plain.code_hash);
  EXPECT_EQ(other.resources, plain.resources);
  EXPECT_NE(other.key, plain.key);
}

TEST_F(BuilderTest, AFunctionUnderTwoNamesInAFileIsOneCodeAndTwoFunctionsAreTwo) {
  const auto function = [](const std::string& name, const std::string& expression) {
    return "void " + name +
           "(const float* x, float* y, int64_t n) {\n  for (int64_t i = 0; i < n; ++i) y[i] = " + expression + ";\n}\n";
  };
  const std::string file = "#include <cmath>\n" + function("one", "std::tanh(x[i])") +
                           function("twin", "std::tanh(x[i])") + function("other", "std::tan(x[i])");
  const auto hash_of = [&](const std::string& name) {
    return build(variant("plain", "// apo:function " + name + "\n", file)).code_hash;
  };
  EXPECT_EQ(hash_of("twin"), hash_of("one"));
  EXPECT_NE(hash_of("other"), hash_of("one"));
}

// After linking, calls of sinhf and coshf use slot 0 of the procedure linkage table: the bytes alone could not tell
// them apart. Initialised data belongs to the code.
TEST_F(BuilderTest, AnyOtherCodeHasAnotherCodeHash) {
  const std::vector<std::string> bodies = {body_with("a.x[i] + 2"),
                                           body_with("a.x[i] + 3"),
                                           body_with("a.x[i] - 2"),
                                           "extern \"C\" float sinhf(float);\n" + body_with("sinhf(a.x[i])"),
                                           "extern \"C\" float coshf(float);\n" + body_with("coshf(a.x[i])"),
                                           "float table[3] = {1, 2, 3};\n" + body_with("a.x[i] * table[i & 1]"),
                                           "float table[3] = {1, 2, 4};\n" + body_with("a.x[i] * table[i & 1]")};
  std::set<std::string> hashes;
  for (const std::string& body : bodies) {
    EXPECT_TRUE(hashes.insert(build(variant("plain", "", body)).code_hash).second) << body;
  }
}

TEST_F(BuilderTest, ChangedToolkitHeaderIsAnotherBuild) {
  const fs::path home = root() / "home";
  fs::create_directories(home / "kernels");
  fs::copy_file(fs::path(APO_SOURCE_FOLDER) / "kernels" / "abi.h", home / "kernels" / "abi.h");
  BuildOptions with_home = options();
  with_home.home = home;
  const Variant user = variant("plain", "", "#include \"toolkit/outer.h\"\n" + body_with("a.x[i] + kTwo"));
  write(home / "toolkit" / "outer.h", "#include \"inner.h\"\n");
  write(home / "toolkit" / "inner.h", "constexpr float kTwo = 2;\n");
  const Build first = build_with(with_home, user);
  EXPECT_TRUE(build_with(with_home, user).from_cache);
  write(home / "toolkit" / "inner.h", "constexpr float kTwo = 3;\n");
  const Build second = build_with(with_home, user);
  EXPECT_FALSE(second.from_cache);
  EXPECT_NE(second.code_hash, first.code_hash);
}

TEST_F(BuilderTest, VariantThatTakesInAnotherFileIsNotBuilt) {
  const fs::path other = root() / "with a blank.h";
  write(other, "constexpr float kTwo = 2;\n");
  const std::string body = body_with("a.x[i] + kTwo");
  const std::vector<std::string> sources = {
      "#include \"" + other.string() + "\"\n" + body,
      "#define NAME \"" + other.string() + "\"\n#include NAME\n" + body,
      "%: include \"" + other.string() + "\"\n" + body,
      "# 1 \"x.h\" 1 3\n#include \"" + other.string() + "\"\n" + body,
      "asm(\".section .rodata\\n.incbin \\\"" + other.string() + "\\\"\\n.text\");\n" + body_with("a.x[i]"),
      "asm(\".include \\\"" + other.string() + "\\\"\");\n" + body_with("a.x[i]")};
  for (const std::string& source : sources) {
    const Build built = build(variant("plain", "", source));
    EXPECT_EQ(built.outcome, Outcome::build_failed) << source;
    const bool assembled = source.find(".include") != std::string::npos;  // which is no assembler's text
    EXPECT_TRUE(assembled || built.evidence.find("it reads '" + other.string() + "'") != std::string::npos)
        << built.evidence;
  }
}

TEST_F(BuilderTest, AHomeMayConsistOfLinks) {
  BuildOptions linked = options();
  linked.home = root() / "home";
  fs::create_directory(linked.home);
  fs::create_directory_symlink(options().home / "kernels", linked.home / "kernels");
  const Build built = build_with(linked, variant());
  EXPECT_EQ(built.outcome, Outcome::valid) << built.evidence;
  linked.home += "/";
  linked.cache = root() / "another cache";
  EXPECT_EQ(build_with(linked, variant()).outcome, Outcome::valid);
}

TEST_F(BuilderTest, AnotherPlaceOfTheCompilersHeadersIsAnotherBuild) {
  const Build first = build(variant());
  setenv("CPLUS_INCLUDE_PATH", root().c_str(), 1);
  const Build second = build(variant());
  unsetenv("CPLUS_INCLUDE_PATH");
  EXPECT_FALSE(second.from_cache);
  EXPECT_NE(second.key, first.key);
}

TEST_F(BuilderTest, DamagedEntryIsBuiltAgain) {
  const Build first = build(variant());
  for (const char* name : {"variant.so", "build.log", "manifest.json", "copy.args.h"}) {
    const fs::path file = fs::path(first.object_path).parent_path() / name;
    write(file, read_file(file) + "x");
    const Build second = build(variant());
    EXPECT_FALSE(second.from_cache) << name;
    EXPECT_EQ(second.object_hash, first.object_hash);
    EXPECT_TRUE(copies(second));
  }
  fs::remove(first.object_path);
  EXPECT_FALSE(build(variant()).from_cache);
  EXPECT_TRUE(build(variant()).from_cache);
  EXPECT_EQ(cached(), std::vector<std::string>{first.key});
}

TEST_F(BuilderTest, KilledBuildLeavesNoEntryAndItsDraftIsSwept) {
  BuildOptions slow = options();
  slow.compiler = scripted_compiler("touch " + (root() / "started").string() + "; sleep 100000");
  const pid_t child = in_child([&] { build_with(slow, variant()); });
  while (!fs::exists(root() / "started")) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  kill(child, SIGKILL);
  EXPECT_TRUE(WIFSIGNALED(status_of(child)));
  ASSERT_EQ(cached().size(), 1u);
  const fs::path draft = root() / "cache" / cached().front();
  EXPECT_TRUE(draft.filename().string().starts_with("draft-"));
  fs::last_write_time(draft, fs::file_time_type::clock::now() - std::chrono::minutes(5));
  EXPECT_FALSE(build(variant()).from_cache);
  EXPECT_FALSE(fs::exists(draft));
}

TEST_F(BuilderTest, DraftOfALivingBuilderIsNotSwept) {
  const BuildCache cache(root() / "cache");
  const CacheDraft draft = cache.draft();
  fs::last_write_time(draft.path(), fs::file_time_type::clock::now() - std::chrono::minutes(5));
  const BuildCache other(root() / "cache");
  EXPECT_TRUE(fs::exists(draft.path()));
}

TEST_F(BuilderTest, OfManyThatBuildTheSameOneCompiles) {
  BuildOptions counted = options();
  counted.compiler = scripted_compiler("echo once >>" + (root() / "compiled").string() + "; sleep 0.2");
  const auto valid = [&] { return build_with(counted, variant()).outcome == Outcome::valid; };
  BuildOptions alone = counted;
  alone.cache = root() / "another cache";
  build_with(alone, variant());
  const std::string of_one = read_file(root() / "compiled");
  fs::remove(root() / "compiled");
  const pid_t another = in_child([&] {
    if (!valid()) {
      throw std::runtime_error("not built");
    }
  });
  std::vector<std::future<bool>> threads;
  for (int i = 0; i < 2; ++i) {
    threads.push_back(std::async(std::launch::async, valid));
  }
  for (auto& thread : threads) {
    EXPECT_TRUE(thread.get());
  }
  EXPECT_EQ(status_of(another), 0);
  EXPECT_EQ(read_file(root() / "compiled"), of_one);
}

TEST_F(BuilderTest, WhereNothingCanBeLockedAllThatBuildTheSameSucceed) {
  fs::create_directories(root() / "cache" / "turns");
  // All compilers wait until each of the three has started, so that every one of them publishes what no other made.
  BuildOptions together = options();
  together.compiler = scripted_compiler(
      "touch " + (root() / "started").string() + ".$$; while [ $(ls " + root().string() +
      " | grep -c started) -lt 3 ]; do sleep 0.01; done; " +
      "grep -q salt plain.cpp || echo \"__attribute__((used)) static const int salt = $$;\" >>plain.cpp");
  std::vector<pid_t> children;
  for (int i = 0; i < 3; ++i) {
    children.push_back(in_child([&] {
      const Build built = build_with(together, variant());
      if (built.outcome != Outcome::valid || built.from_cache ||
          sha256(read_file(built.object_path)) != built.object_hash) {
        throw std::runtime_error("not built, or another object than it says");
      }
    }));
  }
  for (const pid_t child : children) {
    EXPECT_EQ(status_of(child), 0);
  }
  const Build after = build_with(together, variant());
  EXPECT_TRUE(after.from_cache);
  EXPECT_EQ(cached(), std::vector<std::string>{after.key});
}

TEST_F(BuilderTest, CompilerThatDiesOrDoesNotFinishIsAFailedBuild) {
  for (const auto& [script, timeout_s, evidence] :
       {std::tuple{"sleep 100000", 0.3, "the compiler did not finish in"},
        std::tuple{"kill -SEGV $$", 1000.0, "the compiler was ended by SIGSEGV"},
        std::tuple{"exit 3", 1000.0, "the compiler exited with code 3"}}) {
    BuildOptions failing = options();
    failing.compiler = scripted_compiler(script);
    failing.timeout_s = timeout_s;
    const Build built = build_with(failing, variant());
    EXPECT_EQ(built.outcome, Outcome::build_failed);
    expect_contains(built.evidence, evidence);
    EXPECT_TRUE(cached().empty());
  }
}

TEST_F(BuilderTest, ASourceThatWouldFillTheDiskIsAFailedBuild) {
  const Build built = build(variant("bomb", "", std::string(kBody) + "char bomb[1ull << 40] = {1};\n"));
  EXPECT_EQ(built.outcome, Outcome::build_failed);
  EXPECT_NE(built.evidence.find("File size limit exceeded"), std::string::npos) << built.evidence;
}

TEST_F(BuilderTest, FullDiskIsNotTheCandidatesFault) {
  BuildOptions full = options();
  full.compiler = scripted_compiler("echo 'variant.s: No space left on device' >&2; exit 1");
  EXPECT_THROW(build_with(full, variant()), EnvironmentError);
}

TEST_F(BuilderTest, MissingCompilerNamesThePackage) {
  BuildOptions missing = options();
  missing.compiler = "no-such-compiler";
  const std::string error = error_of<EnvironmentError>([&] { Builder builder(missing); });
  expect_contains(error, "no-such-compiler");
  expect_contains(error, "apt-get install g++");
}

TEST_F(BuilderTest, HomeWithoutTheAbiAndUnwritableCacheAreTheEnvironments) {
  BuildOptions lost = options();
  lost.home = root();
  EXPECT_THROW(Builder{lost}, EnvironmentError);
  BuildOptions unwritable = options();
  unwritable.cache = write(root() / "file", "x") / "cache";
  EXPECT_THROW(Builder{unwritable}, EnvironmentError);
}

TEST_F(BuilderTest, LayoutSeedMovesTheCodeAndKeepsItsMeaning) {
  const Variant mover = variant("plain", "", "static int calls = 40;\n" + body_with("a.x[i] + float(calls++ < 0)"));
  const Build plain = build(mover);
  BuildOptions drawn = options();
  std::vector<std::string> hashes = {plain.object_hash};
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    drawn.layout_seed = seed;
    const Build moved = build_with(drawn, mover);
    ASSERT_EQ(moved.outcome, Outcome::valid) << moved.log;
    EXPECT_TRUE(copies(moved));
    EXPECT_EQ(moved.code_hash, plain.code_hash);
    EXPECT_EQ(std::count(hashes.begin(), hashes.end(), moved.object_hash), 0);
    EXPECT_TRUE(build_with(drawn, mover).from_cache);
    hashes.push_back(moved.object_hash);
  }
}

TEST_F(BuilderTest, SanitizedBuildIsAnotherOneThatCarriesTheChecks) {
  BuildOptions checked = options();
  checked.sanitize = true;
  const Build sanitized = build_with(checked, variant());
  ASSERT_EQ(sanitized.outcome, Outcome::valid) << sanitized.log;
  expect_contains(read_file(sanitized.object_path), "__asan_report_load");
  EXPECT_NE(sanitized.key, build(variant()).key);
  EXPECT_TRUE(fs::exists(Builder(checked).sanitizer_runtime()));
}

// Every build of the executor has lines. Where variables are is in the sections that -g adds.
TEST_F(BuilderTest, OnlyTheExecutorsBuildForADebuggerSaysWhereVariablesAre) {
  BuildOptions executor = options();
  executor.device = executor_device();
  executor.executor = true;
  const Variant variant = load_variant(std::string(APO_SOURCE_FOLDER) + "/tests/zoo/executor/honest_syncwarp.cu");
  const Build plain = build_with(executor, variant);
  executor.debugger = true;
  const Build debugged = build_with(executor, variant);
  ASSERT_EQ(debugged.outcome, Outcome::valid) << debugged.evidence;
  expect_contains(read_file(plain.object_path), ".debug_line");
  expect_contains(read_file(debugged.object_path), ".debug_loclists");
  EXPECT_EQ(read_file(plain.object_path).find(".debug_loclists"), std::string::npos);
}

TEST_F(BuilderTest, ObjectsThatAreNotWholeAreNeverRead) {
  const fs::path object = fs::path(build(variant()).object_path).parent_path() / "variant.o";
  const std::string bytes = read_file(object);
  EXPECT_THROW(read_object(""), EnvironmentError);
  EXPECT_THROW(read_object("text, not an object, but longer than the header of one would have to be to be read whole"),
               EnvironmentError);
  for (std::size_t length = 0; length < bytes.size(); length += 97) {
    EXPECT_THROW(read_object(bytes.substr(0, length)), EnvironmentError) << length;
  }
}

}  // namespace
}  // namespace apo
