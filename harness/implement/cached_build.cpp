// harness/implement/cached_build.cpp - the steps that all builders share, and a build as JSON and back.
#include "harness/implement/cached_build.h"

#include <chrono>
#include <nlohmann/json.hpp>

#include "harness/core/hash.h"
#include "harness/core/sources.h"
#include "harness/core/stopwatch.h"
#include "harness/core/system/files.h"
#include "harness/core/text.h"
#include "harness/implement/variant/args_header.h"
#include "harness/implement/variant/headers.h"

namespace apo {
namespace fs = std::filesystem;
namespace {

constexpr const char* kLog = "build.log";

std::string to_text(const Built& built, const std::string& built_for) {
  nlohmann::json kernels = nlohmann::json::array();
  for (const KernelFacts& kernel : built.kernels) {
    kernels.push_back({kernel.name, kernel.shared_bytes});
  }
  const Build& build = built.build;
  return nlohmann::json{{"built_for", built_for},
                        {"object_hash", build.object_hash},
                        {"code_hash", build.code_hash},
                        {"flags", build.flags},
                        {"compiler", build.toolchain.compiler},
                        {"compiler_version", build.toolchain.version},
                        {"resources", build.resources},
                        {"kernels", kernels},
                        {"seconds", build.seconds}}
      .dump();
}

Built from_entry(const CacheEntry& entry, const std::string& key, const std::string& object) {
  const auto info = nlohmann::json::parse(entry.info);
  Built built;
  built.build = {.key = key,
                 .object_path = (entry.folder / object).string(),
                 .object_hash = info.at("object_hash"),
                 .code_hash = info.at("code_hash"),
                 .flags = info.at("flags").get<Words>(),
                 .toolchain = {.compiler = info.at("compiler"), .version = info.at("compiler_version")},
                 .log = read_file(entry.folder / kLog),
                 .evidence = "",
                 .seconds = info.at("seconds"),
                 .from_cache = true,
                 .resources = info.at("resources").get<std::map<std::string, std::int64_t>>(),
                 .plan = {}};
  for (const auto& kernel : info.at("kernels")) {
    built.kernels.push_back({.name = kernel.at(0), .shared_bytes = kernel.at(1)});
  }
  return built;
}

std::string key_of(const BuildRecipe& recipe) {
  Words parts = recipe.key;
  for (const SourceFile& file : recipe.files) {
    parts.insert(parts.end(), {file.name, file.text});
  }
  return sha256_of_parts(parts);
}

// Each is written under its own name; publish() syncs it.
Words write_files(const BuildRecipe& recipe, const fs::path& folder) {
  Words names;
  for (const SourceFile& file : recipe.files) {
    write_file_atomically(folder / file.name, file.text);
    names.push_back(file.name);
  }
  return names;
}

}  // namespace

Built cached_build(const BuildCache& cache, const BuildRecipe& recipe, const Compile& compile) {
  const std::string key = key_of(recipe);
  if (const auto entry = cache.find(key)) {
    return from_entry(*entry, key, recipe.object);
  }
  const LockFile turn = cache.turn_to_build(key);
  if (const auto entry = cache.find(key)) {
    return from_entry(*entry, key, recipe.object);
  }
  const CacheDraft draft = cache.draft();
  const Words sources = write_files(recipe, draft.path());
  Built built{.build = recipe.known, .kernels = {}};
  Build& build = built.build;
  build.key = key;
  build.object_path.clear();
  build.from_cache = false;
  const auto start = std::chrono::steady_clock::now();
  CompileStep step = compile(draft.path(), built);
  build.seconds = seconds_since(start);
  build.log = clean_lines(std::string_view(step.log).substr(0, kLongestLog));
  if (!step.ok) {
    build.outcome = Outcome::build_failed;
    build.evidence = step.evidence.empty() ? "the compiler said nothing" : one_line(step.evidence);
    return built;
  }
  build.object_hash = sha256(read_file(draft.path() / recipe.object));
  write_file_atomically(draft.path() / kLog, build.log);
  const std::string info = to_text(built, recipe.built_for);
  const CacheEntry entry = cache.publish(draft, key, joined(joined(sources, {recipe.object, kLog}), recipe.more), info);
  if (entry.info != info) {
    // Another process built the same first: its files stay.
    built = from_entry(entry, key, recipe.object);
    built.build.from_cache = false;
  }
  built.build.object_path = (entry.folder / recipe.object).string();
  return built;
}

Build not_built(Outcome outcome, const std::string& evidence, Build known) {
  known.outcome = outcome;
  known.evidence = evidence;
  return known;
}

Words include_flags(const IncludeFolders& folders) {
  Words flags;
  for (const fs::path& folder : folders.all()) {
    flags.insert(flags.end(), {"-isystem", folder.string()});
  }
  return flags;
}

std::vector<SourceFile> files_to_build(const Family& family, const Variant& variant, const std::string& args_header) {
  std::vector<SourceFile> files = all_sources(variant);
  files.push_back({.name = args_header_name(family), .text = args_header, .path = ""});
  return files;
}

}  // namespace apo
