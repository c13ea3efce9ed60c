// harness/implement/variant/catalogue.cpp - scans, looks up, and registers without ever replacing a file.
#include "harness/implement/variant/catalogue.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "harness/core/error.h"
#include "harness/core/system/files.h"
#include "harness/core/text.h"
#include "harness/implement/variant/metadata.h"

namespace apo {
namespace fs = std::filesystem;
namespace {

std::vector<fs::path> source_files(const fs::path& root) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::recursive_directory_iterator it(root, fs::directory_options::skip_permission_denied, error), end;
       !error && it != end; it.increment(error)) {
    const fs::path extension = it->path().extension();
    if (it->path().filename().string().starts_with('.')) {
      it.disable_recursion_pending();  // e.g. what another process is about to register
    } else if (extension == ".cpp" || extension == ".cu") {
      files.push_back(it->path());
    }
  }
  std::sort(files.begin(), files.end());  // the same catalogue whatever the file system's order
  return files;
}

[[noreturn]] void name_taken(const Variant& variant, const std::string& by) {
  throw UserError("the name '" + variant.id() + "' of '" + variant.path + "' is taken by other content in '" + by + "'",
                  "give it another name in its apo:variant line: a registered variant never changes");
}

// A hard link appears whole and never replaces what is there, unlike a rename of a file.
void create_file(const fs::path& draft, const fs::path& path, const std::string& contents, std::error_code& error) {
  write_file_atomically(draft, contents);
  fs::create_hard_link(draft, path, error);
}

// A folder appears whole and never replaces one with files in it.
void create_folder(const fs::path& draft, const fs::path& folder, const std::vector<SourceFile>& files,
                   std::error_code& error) {
  for (const SourceFile& file : files) {
    write_file_atomically(draft / file.name, file.text);
  }
  fs::rename(draft, folder, error);
}

// The variant's own file at `path`, its headers beside it; false when something has that name.
bool create_whole(const fs::path& path, const Variant& variant) {
  const bool alone = variant.headers.empty();
  const fs::path place = alone ? path : path.parent_path();
  const fs::path draft = place.parent_path() / fmt::format(".{}.draft-{}", place.filename().string(), getpid());
  std::vector<SourceFile> files = variant.headers;
  files.push_back({.name = path.filename().string(), .text = variant.source, .path = ""});
  std::error_code error;
  alone ? create_file(draft, place, variant.source, error) : create_folder(draft, place, files, error);
  std::error_code ignored;  // a leftover draft begins with a dot and is not scanned
  fs::remove_all(draft, ignored);
  const bool taken =
      error == std::errc::file_exists || error == std::errc::directory_not_empty || error == std::errc::not_a_directory;
  if (error && !taken) {
    throw EnvironmentError(fmt::format("cannot write '{}': {}", place.string(), error.message()));
  }
  return !taken;
}

std::string unknown_parent(const Variant& variant) {
  return fmt::format("{}: the apo:parent of {}, '{}', is no variant", variant.path, variant.id(), variant.parent);
}

}  // namespace

void Catalogue::load_file(const fs::path& path) {
  try {
    Variant variant = load_variant(path.string(), roots_);
    const auto known = variants_.find(variant.id());
    if (known == variants_.end()) {
      std::string id = variant.id();
      variants_.emplace(std::move(id), std::move(variant));
    } else if (known->second.source_hash != variant.source_hash) {
      problems_.push_back({.path = variant.path,
                           .what = "the variant '" + variant.id() + "' is defined twice: in '" + known->second.path +
                                   "', which is used, and in '" + variant.path + "'",
                           .hint = "rename one of the two in its apo:variant line"});
    }
  } catch (const UserError& error) {
    problems_.push_back({.path = path.string(), .what = error.what(), .hint = error.hint()});
  }
}

void Catalogue::load(const std::vector<fs::path>& roots) {
  roots_.insert(roots_.end(), roots.begin(), roots.end());
  for (const fs::path& root : roots) {
    for (const fs::path& path : source_files(root)) {
      load_file(path);
    }
  }
  for (const auto& [id, variant] : variants_) {
    if (!has_known_parent(variant)) {
      problems_.push_back({.path = variant.path,
                           .what = unknown_parent(variant),
                           .hint = did_you_mean(variant.parent, ids()),
                           .left_out = false});
    }
  }
}

bool Catalogue::has_known_parent(const Variant& variant) const {
  return variant.parent.empty() || variants_.contains(variant.parent);
}

const Variant* Catalogue::find(std::string_view id) const {
  const auto found = variants_.find(id);
  return found == variants_.end() ? nullptr : &found->second;
}

const Variant& Catalogue::get(std::string_view id) const {
  const Variant* variant = find(id);
  if (variant == nullptr) {
    const std::string guess = did_you_mean(id, ids());
    throw UserError("unknown variant '" + std::string(id) + "'",
                    (guess.empty() ? "" : guess + "  ") + "'apo list' shows all variants");
  }
  return *variant;
}

std::vector<const Variant*> Catalogue::of_family(std::string_view family) const {
  std::vector<const Variant*> variants;
  for (const auto& [id, variant] : variants_) {
    if (variant.family == family) {
      variants.push_back(&variant);
    }
  }
  return variants;
}

std::vector<std::string> Catalogue::ids() const {
  std::vector<std::string> ids;
  for (const auto& [id, variant] : variants_) {
    ids.push_back(id);
  }
  return ids;
}

Configuration Catalogue::configuration(std::string_view text) const {
  const std::size_t open = text.find('[');
  const Variant& variant = get(text.substr(0, open));
  Settings given;
  if (open != std::string_view::npos) {
    const std::string_view list = text.substr(open + 1);
    for (const std::string& part : split(list.substr(0, list.size() - (list.ends_with(']') ? 1u : 0u)), ',')) {
      const std::size_t equals = part.find('=');
      const auto value = equals == std::string::npos ? std::nullopt : parse_int(trim(part.substr(equals + 1)));
      if (!value || !list.ends_with(']')) {
        throw UserError("cannot read the settings in '" + std::string(text) + "'",
                        "write " + variant.id() + "[NAME=VALUE,NAME=VALUE]");
      }
      const auto [setting, is_new] = given.emplace(trim(part.substr(0, equals)), *value);
      if (!is_new) {
        throw UserError("'" + setting->first + "' is set twice in '" + std::string(text) + "'", "keep one of the two");
      }
    }
  }
  return {.variant = variant.id(), .settings = resolve_settings(variant, given)};
}

// The variant of that name, which has to have the same content; nullptr: the name is free.
const Variant* Catalogue::same(const Variant& variant) const {
  const Variant* known = find(variant.id());
  if (known != nullptr && known->source_hash != variant.source_hash) {
    name_taken(variant, known->path);
  }
  return known;
}

Registration Catalogue::add(const fs::path& file) {
  Variant variant = load_variant(file.string(), roots_);
  if (const Variant* known = same(variant)) {
    return {.variant = known, .already_registered = true};
  }
  if (!has_known_parent(variant)) {
    const std::string guess = did_you_mean(variant.parent, ids());
    throw UserError(unknown_parent(variant), (guess.empty() ? "" : guess + "  ") +
                                                 "register the parent first, or leave its apo:parent line out");
  }
  const std::string id = variant.id();
  return {.variant = &variants_.emplace(id, std::move(variant)).first->second};
}

Registration Catalogue::register_variant(const Variant& variant, const fs::path& folder) {
  if (const Variant* known = same(variant)) {
    return {.variant = known, .already_registered = true};
  }
  const fs::path family = folder / variant.family;
  const std::string name = variant.name + (variant.target == Target::cuda ? ".cu" : ".cpp");
  const fs::path path =
      fs::absolute(variant.headers.empty() ? family / name : family / variant.name / name).lexically_normal();
  const bool created = create_whole(path, variant);
  Variant copy = load_variant(path.string());  // with the headers beside it and no others
  if (copy.source_hash != variant.source_hash) {
    name_taken(variant, path.string());
  }
  const auto entry = variants_.emplace(variant.id(), std::move(copy)).first;
  return {.variant = &entry->second, .already_registered = !created};
}

}  // namespace apo
