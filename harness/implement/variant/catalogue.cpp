// harness/implement/variant/catalogue.cpp - scanning, looking up, and registering without ever replacing a file.
#include "harness/implement/variant/catalogue.h"

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
    if (extension == ".cpp" || extension == ".cu") {
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

// A hard link appears whole and never replaces what is there, unlike a rename.
bool create_whole(const fs::path& path, const std::string& contents) {
  const fs::path draft = path.string() + ".draft-" + std::to_string(getpid());
  write_file_atomically(draft, contents);
  std::error_code error;
  fs::create_hard_link(draft, path, error);
  std::error_code ignored;  // a leftover draft has no extension that is scanned
  fs::remove(draft, ignored);
  if (error && error != std::errc::file_exists) {
    throw EnvironmentError("cannot write '" + path.string() + "': " + error.message());
  }
  return !error;
}

}  // namespace

void Catalogue::load_file(const fs::path& path) {
  try {
    Variant variant = load_variant(path.string());
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
  for (const fs::path& root : roots) {
    for (const fs::path& path : source_files(root)) {
      load_file(path);
    }
  }
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

Registration Catalogue::register_variant(const fs::path& file, const fs::path& folder) {
  Variant variant = load_variant(file.string());
  if (const Variant* known = find(variant.id())) {
    if (known->source_hash != variant.source_hash) {
      name_taken(variant, known->path);
    }
    return {.variant = known, .already_registered = true};
  }
  const fs::path path =
      fs::absolute(folder / variant.family / (variant.name + (variant.target == Target::cuda ? ".cu" : ".cpp")))
          .lexically_normal();
  const bool created = create_whole(path, variant.source);
  if (!created && read_file(path) != variant.source) {
    name_taken(variant, path.string());
  }
  variant.path = path.string();
  const auto entry = variants_.emplace(variant.id(), variant).first;
  return {.variant = &entry->second, .already_registered = !created};
}

}  // namespace apo
