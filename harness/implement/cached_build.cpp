// harness/implement/cached_build.cpp - writes drafts, fsyncs, renames once; DeepGEMM's csrc/jit is the model. The steps
// that all builders share, and a build as JSON and back.
#include "harness/implement/cached_build.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <nlohmann/json.hpp>

#include "harness/core/error.h"
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

constexpr const char* kManifest = "manifest.json";
constexpr const char* kDraftPrefix = "draft-";
constexpr const char* kTurns = "turns";

[[noreturn]] void fail(const std::string& what, const fs::path& path) {
  throw EnvironmentError("cannot " + what + " '" + path.string() + "': " + std::strerror(errno),
                         "check the permissions and the free space of the build cache");
}

void sync(const fs::path& path) {
  const FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file || fsync(file.get()) != 0) {
    fail("sync", path);
  }
}

std::string seal(const std::string& key, const nlohmann::json& files, const std::string& info) {
  return sha256_of_parts(std::vector<std::string>{key, files.dump(), info});
}

std::optional<CacheEntry> read_entry(const fs::path& folder, const std::string& key) {
  if (!fs::exists(folder / kManifest)) {
    return std::nullopt;
  }
  const auto manifest = nlohmann::json::parse(read_file(folder / kManifest));
  const std::string info = manifest.at("info");
  if (manifest.at("seal") != seal(key, manifest.at("files"), info)) {
    return std::nullopt;
  }
  for (const auto& [name, hash] : manifest.at("files").items()) {
    if (sha256(read_file(folder / name)) != hash) {
      return std::nullopt;
    }
  }
  return CacheEntry{.folder = folder, .info = info};
}

void remove_quietly(const fs::path& path) {
  std::error_code error;
  fs::remove_all(path, error);  // best effort: what stays behind is swept later
}

// ---------------------------------------------------------------- builds

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

CacheDraft::CacheDraft(const fs::path& cache) {
  std::string name = (cache / (std::string(kDraftPrefix) + "XXXXXX")).string();
  if (mkdtemp(name.data()) == nullptr) {
    fail("create a folder in", cache);
  }
  path_ = name;
  lock_ = FileDescriptor(open(name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!lock_ || flock(lock_.get(), LOCK_EX | LOCK_NB) != 0) {
    fail("lock", path_);
  }
  fs::permissions(path_, fs::perms::owner_all | fs::perms::group_read | fs::perms::group_exec | fs::perms::others_read |
                             fs::perms::others_exec);
}

CacheDraft::~CacheDraft() {
  if (!path_.empty()) {
    remove_quietly(path_);  // gone already when it was published
  }
}

BuildCache::BuildCache(fs::path folder) : folder_(std::move(folder)) {
  std::error_code error;
  fs::create_directories(folder_, error);
  if (error) {
    throw EnvironmentError("cannot create the build cache '" + folder_.string() + "': " + error.message(),
                           "give a folder that can be written");
  }
  folder_ = fs::canonical(folder_);
  sweep();
}

// An unlocked draft was left by a killed process. The minute's grace is for one that is just being created.
void BuildCache::sweep() const {
  const auto now = fs::file_time_type::clock::now();
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder_, error)) {
    if (!entry.path().filename().string().starts_with(kDraftPrefix)) {
      continue;
    }
    const auto age = now - entry.last_write_time(error);
    const FileDescriptor folder(open(entry.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!error && age > std::chrono::minutes(1) && folder && flock(folder.get(), LOCK_EX | LOCK_NB) == 0) {
      remove_quietly(entry.path());
    }
  }
}

std::optional<CacheEntry> BuildCache::find(const std::string& key) const {
  try {
    return read_entry(folder_ / key, key);
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;  // a damaged manifest: the entry is built again
  } catch (const UserError&) {
    return std::nullopt;  // a missing or unreadable file: likewise
  }
}

// Each key locks a byte of one file, so that no lock files need removal.
LockFile BuildCache::turn_to_build(const std::string& key) const {
  constexpr std::size_t kDigits = 15;  // 60 of the 63 bits of an offset
  LockFile turn((folder_ / kTurns).string());
  turn.lock_within({.first = static_cast<std::int64_t>(std::stoull(key.substr(0, kDigits), nullptr, 16)), .count = 1},
                   std::chrono::minutes(10));
  return turn;
}

CacheEntry BuildCache::publish(const CacheDraft& draft, const std::string& key, const std::vector<std::string>& files,
                               const std::string& info) const {
  nlohmann::json hashes = nlohmann::json::object();
  for (const std::string& name : files) {
    hashes[name] = sha256(read_file(draft.path() / name));
    sync(draft.path() / name);
  }
  const nlohmann::json manifest = {{"files", hashes}, {"info", info}, {"seal", seal(key, hashes, info)}};
  write_file_atomically(draft.path() / kManifest, manifest.dump(1) + "\n");
  sync(draft.path());
  const fs::path target = folder_ / key;
  // A second attempt only after a damaged entry was moved out of the way; a third when another process did the same.
  for (int attempt = 0; attempt < 3; ++attempt) {
    if (rename(draft.path().c_str(), target.c_str()) == 0) {
      sync(folder_);
      return {.folder = target, .info = info};
    }
    if (errno != ENOTEMPTY && errno != EEXIST && errno != ENOTDIR) {
      fail("publish", target);
    }
    if (auto other = find(key)) {
      return *other;
    }
    const CacheDraft grave(folder_);
    rename(target.c_str(), (grave.path() / "damaged").c_str());  // fails when another process was faster: try again
  }
  fail("publish", target);
}

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

Words with_flags(const Words& usual, const Words& own) {
  Words flags = usual;
  for (const char* option : {"-std=", "-O"}) {
    const auto sets_it = [&](const std::string& flag) { return flag.starts_with(option); };
    if (std::ranges::any_of(own, sets_it)) {
      std::erase_if(flags, sets_it);
    }
  }
  return joined(flags, own);
}

std::vector<SourceFile> files_to_build(const Family& family, const Variant& variant, const std::string& args_header) {
  std::vector<SourceFile> files = all_sources(variant);
  files.push_back({.name = args_header_name(family), .text = args_header, .path = ""});
  return files;
}

}  // namespace apo
