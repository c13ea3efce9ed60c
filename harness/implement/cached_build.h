// harness/implement/cached_build.h - builds once per content: key, find, draft, compile, publish into a folder of
// content-addressed entries, each whole or absent.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "harness/core/records/records.h"
#include "harness/core/system/files.h"
#include "harness/core/system/lock_file.h"
#include "harness/implement/compile.h"
#include "harness/implement/object/elf.h"

namespace apo {

struct CacheEntry {
  std::filesystem::path folder;
  std::string info;  // what publish() was given
};

// A folder in the making, invisible to readers. Removed with its contents unless published; the next BuildCache removes
// one that a killed process left.
class CacheDraft {
 public:
  explicit CacheDraft(const std::filesystem::path& cache);
  CacheDraft(CacheDraft&& other) noexcept = default;
  CacheDraft& operator=(CacheDraft&&) = delete;
  ~CacheDraft();
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  FileDescriptor lock_;  // held while its process lives
};

class BuildCache {
 public:
  // Creates the folder; throws EnvironmentError when it cannot.
  explicit BuildCache(std::filesystem::path folder);
  // Returns the entry after checking every one of its files; a damaged one counts as absent.
  std::optional<CacheEntry> find(const std::string& key) const;
  // Waits while another thread or process holds the same key's turn, for ten minutes at most, and holds it for as long
  // as the result lives. Who came second finds the entry. Where nothing can be locked both build, and publish() sorts
  // it out.
  LockFile turn_to_build(const std::string& key) const;
  CacheDraft draft() const { return CacheDraft(folder_); }
  // Publishes `files` of the draft, with `info`, as the entry of `key`. When another process was faster, its entry
  // stays.
  CacheEntry publish(const CacheDraft& draft, const std::string& key, const std::vector<std::string>& files,
                     const std::string& info) const;

 private:
  void sweep() const;
  std::filesystem::path folder_;
};

// Names of a build's files; sources keep their own names.
inline constexpr const char* kObject = "variant.o";
inline constexpr const char* kLibrary = "variant.so";

// A build, with the facts of its kernels that planning its launches needs.
struct Built {
  Build build;
  std::vector<KernelFacts> kernels;
};

struct IncludeFolders;

struct BuildOptions {
  std::filesystem::path cache;    // folder of built variants
  std::filesystem::path home;     // include folder that holds kernels/abi.h, usually home_folder()
  std::string compiler = "g++";   // a name in PATH or a path
  bool sanitize = false;          // AddressSanitizer and UndefinedBehaviorSanitizer
  bool watch_threads = false;     // ThreadSanitizer instead; target host only
  std::uint64_t layout_seed = 0;  // 0: the compiler's order; else see layout_script()
  double timeout_s = 120;         // of one compilation
  // Target cuda: the device to build and to plan launches for.
  std::optional<DeviceFacts> device = std::nullopt;
  bool executor = false;      // build device variants for the CPU executor instead
  bool debugger = false;      // with `executor`: for a debugger, which asks where variables are
  std::stop_token stop = {};  // ends the compiler, and build() throws Cancelled
};

struct BuildRecipe {
  Words key;                      // what the result depends on besides `files`
  std::vector<SourceFile> files;  // put into the draft, and kept
  std::string object;             // the file that Build::object_path names
  Words more = {};                // other files of the draft that are kept
  std::string built_for;          // for readers of the cache
  Build known;                    // the fields that are known before compiling: toolchain, flags
};

// Makes the object and the recipe's other results in `folder`, where the recipe's files are. Fills the fields that
// follow from the result: code_hash, resources, kernels. A step that is not ok is a failed build with its evidence.
using Compile = std::function<CompileStep(const std::filesystem::path& folder, Built& built)>;

Built cached_build(const BuildCache& cache, const BuildRecipe& recipe, const Compile& compile);

// A build that ends before it begins.
Build not_built(Outcome outcome, const std::string& evidence, Build known = {});

// -isystem FOLDER of each, for g++ and nvcc.
Words include_flags(const IncludeFolders& folders);

// The usual flags without the standard and the level of optimisation that the variant's own replace, and these.
Words with_flags(const Words& usual, const Words& own);

// The variant's files, and its generated header.
std::vector<SourceFile> files_to_build(const Family& family, const Variant& variant, const std::string& args_header);

}  // namespace apo
