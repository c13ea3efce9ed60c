// harness/implement/variant/catalogue.cpp - scans, looks up, and registers without ever replacing a file.
#include "harness/implement/variant/catalogue.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <optional>
#include <system_error>

#include "harness/core/error.h"
#include "harness/core/sources.h"
#include "harness/core/system/files.h"
#include "harness/core/text.h"
#include "harness/implement/variant/headers.h"
#include "harness/implement/variant/metadata.h"
#include "harness/implement/variant/metadata_block.h"

namespace apo {
namespace fs = std::filesystem;
namespace {

// The source that a folder is named after: the others beside it are its parts.
std::optional<fs::path> source_of_folder(const fs::path& folder) {
  for (const char* extension : {".cpp", ".cu", ".py"}) {
    if (const fs::path file = folder / (folder.filename().string() + extension); !is_absent(file)) {
      return file;
    }
  }
  return std::nullopt;
}

std::vector<fs::path> source_files(const fs::path& root) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::recursive_directory_iterator it(root, fs::directory_options::skip_permission_denied, error), end;
       !error && it != end; it.increment(error)) {
    if (it->path().filename().string().starts_with('.')) {
      it.disable_recursion_pending();  // e.g. what another process is about to register
    } else if (const auto own = it.depth() == 1 ? source_of_folder(it->path()) : std::nullopt) {
      it.disable_recursion_pending();
      files.push_back(*own);
    } else if (is_source_extension(it->path().extension().string())) {
      files.push_back(it->path());
    }
  }
  std::sort(files.begin(), files.end());  // the same catalogue whatever the file system's order
  return files;
}

[[noreturn]] void name_taken(const Variant& variant, const std::string& by) {
  throw UserError("the name '" + variant.id() + "' of '" + variant.path + "' is taken by other content in '" + by + "'",
                  "give it another name: its apo:variant line, or that of the file without one");
}

// The variant's own file at `path`, its headers beside it; false when something has that name. What appears is whole,
// and never replaces what is there: a hard link, unlike a rename of a file, or the rename of a folder.
bool create_whole(const fs::path& path, const Variant& variant) {
  const bool alone = variant.headers.empty();
  const fs::path place = alone ? path : path.parent_path();
  const fs::path draft = place.parent_path() / fmt::format(".{}.draft-{}", place.filename().string(), getpid());
  write_file_atomically(alone ? draft : draft / path.filename(), variant.source);
  for (const SourceFile& header : variant.headers) {
    write_file_atomically(draft / header.name, header.text);
  }
  std::error_code error;
  alone ? fs::create_hard_link(draft, place, error) : fs::rename(draft, place, error);
  std::error_code ignored;  // a leftover draft begins with a dot and is not scanned
  fs::remove_all(draft, ignored);
  const bool taken =
      error == std::errc::file_exists || error == std::errc::directory_not_empty || error == std::errc::not_a_directory;
  if (error && !taken) {
    throw EnvironmentError(fmt::format("cannot write '{}': {}", place.string(), error.message()));
  }
  return !taken;
}

// Its file, or the folder that it has with its headers.
fs::path place_of(const Variant& variant) {
  const fs::path path = variant.path;
  return variant.headers.empty() ? path : path.parent_path();
}

// Keeps an earlier version out of the way, and puts it back when nothing took its place.
class TemporaryPlace {
 public:
  explicit TemporaryPlace(fs::path place) : place_(std::move(place)) {
    if (!place_.empty()) {
      aside_ = place_.parent_path() / fmt::format(".{}.before-{}", place_.filename().string(), getpid());
      fs::rename(place_, aside_);
    }
  }
  TemporaryPlace(const TemporaryPlace&) = delete;
  TemporaryPlace& operator=(const TemporaryPlace&) = delete;
  ~TemporaryPlace() {
    if (place_.empty()) {
      return;
    }
    std::error_code ignored;  // a leftover begins with a dot and is not scanned; the journal has its text
    if (std::uncaught_exceptions() > exceptions_) {
      fs::rename(aside_, place_, ignored);
    } else {
      fs::remove_all(aside_, ignored);
    }
  }

 private:
  fs::path place_;
  fs::path aside_;
  int exceptions_ = std::uncaught_exceptions();
};

// A folder that is relative to the variant's file would be another one, or none, for its copy below `folder`.
void check_includes(const Variant& variant, const fs::path& folder) {
  const fs::path copy = fs::absolute(folder / variant.family / "copy");
  for (const std::string& named : variant.includes) {
    const fs::path meant = include_folder(named, variant.path);
    if (include_folder(named, copy) != meant) {
      throw UserError(fmt::format("the include folder '{}' is relative to '{}', and a registered variant is a copy",
                                  named, variant.path),
                      fmt::format("write '// apo:include {}'", meant.string()));
    }
  }
}

// False for one that has the family's baseline because its file names none.
bool names_its_parent(const Variant& variant) {
  const std::vector<BlockLine> block = read_block(variant.source, variant.path);
  return std::ranges::find(block, "parent", &BlockLine::key) != block.end();
}

bool is_below(const Variant& variant, const fs::path& root) {
  return lies_in(variant.path, fs::absolute(root).lexically_normal());
}

// Names the registered variant that is a family's baseline on a target: the first one that was registered, whatever
// names come later.
fs::path baseline_file(const fs::path& folder, const std::string& family, Target target) {
  return folder / family / fmt::format(".baseline_{}", to_string(target));
}

}  // namespace

GivenFile brought_file(const fs::path& file, const std::string& function, const std::vector<std::string>& lines) {
  if (function.empty() && lines.empty()) {
    return {file};
  }
  const std::string text = candidate_text(file.string());
  const std::string sign = file.extension() == ".py" ? "# apo:" : "// apo:";
  std::string block = function.empty() ? "" : sign + "function " + function + "\n";
  for (const std::string& line : lines) {
    block += sign + one_line(line) + "\n";
  }
  const std::string called = function.substr(0, function.find_first_of("< "));  // "mine::norm" of "mine::norm<4> n=N"
  const std::string name = called.empty() ? file.stem().string() : called.substr(called.rfind(':') + 1);
  const fs::path path = file.parent_path() / (name + file.extension().string());
  // An include line leaves the numbers of the author's lines; a name of its own would include itself.
  const bool include = name != file.stem() && !is_python(text) && read_block(text, file.string()).empty();
  return {path, block + (include ? "#include \"" + file.filename().string() + "\"\n" : text)};
}

void Catalogue::load_file(const fs::path& path) {
  try {
    Variant variant = load_variant(path.string(), roots_);
    const auto known = variants_.find(variant.id());
    if (known == variants_.end()) {
      std::string id = variant.id();
      if (variant.parent.empty()) {
        baselines_.try_emplace({variant.family, variant.target}, id);
      }
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
    for (auto& [of, id] : baselines_) {
      if (is_below(get(id), root)) {
        const Variant* kept = kept_baseline(root, of.first, of.second);
        id = kept != nullptr ? kept->id() : first_registered(root, get(id)).id();
      }
    }
  }
  for (auto& [id, variant] : variants_) {
    adopt(variant);
    if (const auto wrong = unknown_relative(variant)) {
      problems_.push_back(
          {.path = variant.path, .what = wrong->what, .hint = nearest_other(*wrong, variant), .left_out = false});
    }
  }
}

// Where no file tells, the oldest of those that name no parent, like `one`: a registered file is written once. Equally
// old ones, as a repository has them, go by name.
const Variant& Catalogue::first_registered(const fs::path& root, const Variant& one) const {
  const Variant* first = &one;
  for (const auto& [id, other] : variants_) {
    const bool competes =
        other.family == one.family && other.target == one.target && other.parent.empty() && is_below(other, root);
    if (competes && root == roots_.back() && fs::last_write_time(other.path) < fs::last_write_time(first->path)) {
      first = &other;
    }
  }
  return *first;
}

const Variant* Catalogue::kept_baseline(const fs::path& folder, const std::string& family, Target target) const {
  const fs::path file = baseline_file(folder, family, target);
  const Variant* kept = fs::exists(file) ? find(trim(read_file(file))) : nullptr;
  const bool fits = kept != nullptr && kept->family == family && kept->target == target && !names_its_parent(*kept);
  return fits ? kept : nullptr;
}

std::optional<Catalogue::UnknownRelative> Catalogue::unknown_relative(const Variant& variant) const {
  if (!variant.parent.empty() && !variants_.contains(variant.parent)) {
    return UnknownRelative{.name = variant.parent,
                           .what = fmt::format("{}: the apo:parent of {}, '{}', is no variant", variant.path,
                                               variant.id(), variant.parent),
                           .hint = "register the parent first, or leave its apo:parent line out"};
  }
  const std::string over = variant.prediction ? variant.prediction->relative_to : "parent";
  if (over != "parent" && !variants_.contains(over)) {
    return UnknownRelative{.name = over,
                           .what = fmt::format("{}: the apo:predict of {} is over '{}', which is no variant",
                                               variant.path, variant.id(), over),
                           .hint = "predict over its parent, or register the other one first"};
  }
  return std::nullopt;
}

// No variant grows from itself.
std::string Catalogue::nearest_other(const UnknownRelative& wrong, const Variant& variant) const {
  std::vector<std::string> others = ids();
  std::erase(others, variant.id());
  return did_you_mean(wrong.name, others);
}

const Variant* Catalogue::find(std::string_view id) const {
  const auto found = variants_.find(id);
  return found == variants_.end() ? nullptr : &found->second;
}

const Variant& Catalogue::get(std::string_view id) const {
  const Variant* variant = find(id);
  if (variant == nullptr) {
    const std::string guess = did_you_mean(id, ids());
    std::error_code ignored;  // what cannot be looked at is no file of theirs
    throw UserError(
        "unknown variant '" + std::string(id) + "'",
        fs::is_regular_file(id, ignored)
            ? fmt::format("it is a file: 'apo register {}' adds it, 'apo try FAMILY {}' judges it too", id, id)
            : (guess.empty() ? "" : guess + "  ") + "'apo list' shows all variants");
  }
  return *variant;
}

const Variant* Catalogue::baseline(const std::string& family, Target target) const {
  const auto found = baselines_.find({family, target});
  return found == baselines_.end() ? nullptr : find(found->second);
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

std::vector<std::string> Catalogue::registered_children(std::string_view id) const {
  std::vector<std::string> children;
  for (const auto& [name, variant] : variants_) {
    if (variant.parent == id && name != id && is_registered(variant) && names_its_parent(variant)) {
      children.push_back(name);
    }
  }
  return children;
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
  return {.variant = variant.id(), .settings = stated_settings(variant, resolve_settings(variant, given))};
}

void Catalogue::replace(Variant variant) {
  adopt(variant);
  std::string id = variant.id();
  variants_.insert_or_assign(std::move(id), std::move(variant));
}

void Catalogue::adopt(Variant& variant) const {
  const auto baseline = baselines_.find({variant.family, variant.target});
  if (variant.parent.empty() && baseline != baselines_.end() && baseline->second != variant.id()) {
    variant.parent = baseline->second;
  }
}

bool Catalogue::is_registered(const Variant& variant) const {
  return is_below(variant, roots_.back());
}

bool Catalogue::is_scanned(const Variant& variant) const {
  return std::ranges::any_of(roots_, [&](const fs::path& root) { return is_below(variant, root); });
}

const Variant* Catalogue::with_text(std::string_view source_hash) const {
  const auto found =
      std::ranges::find_if(variants_, [&](const auto& one) { return one.second.source_hash == source_hash; });
  return found == variants_.end() ? nullptr : &found->second;
}

// The variant of that name and the same content; nullptr: the name is free, or its variant may be replaced.
const Variant* Catalogue::same(const Variant& variant) const {
  const Variant* known = find(variant.id());
  if (known != nullptr && known->source_hash == variant.source_hash) {
    return known;
  }
  if (known != nullptr && is_scanned(*known) && !is_registered(*known)) {
    name_taken(variant, known->path);
  }
  if (const Variant* other = with_text(variant.source_hash)) {
    throw UserError("'" + variant.path + "' has the very text of " + other->id(),
                    "a variant is known by its text: change it, for example by a line '// apo:idea'");
  }
  return nullptr;
}

Variant Catalogue::read(const GivenFile& file, const std::string& family) const {
  return load_variant(file.path.string(), roots_, family, file.source);
}

Registration Catalogue::add(const GivenFile& file, const std::string& family) {
  return add(read(file, family));
}

Registration Catalogue::add(Variant variant) {
  if (const Variant* known = same(variant)) {
    return {.variant = known, .already_registered = true};
  }
  if (const auto wrong = unknown_relative(variant)) {
    const std::string other = nearest_other(*wrong, variant);
    throw UserError(wrong->what, (other.empty() ? "" : other + "  ") + wrong->hint);
  }
  check_includes(variant, roots_.back());
  adopt(variant);
  if (variant.parent.empty()) {
    baselines_.try_emplace({variant.family, variant.target}, variant.id());
  }
  const std::string id = variant.id();
  return {.variant = &variants_.insert_or_assign(id, std::move(variant)).first->second};
}

Registration Catalogue::register_variant(const Variant& variant, const fs::path& folder) {
  if (const Variant* known = same(variant); known != nullptr && is_scanned(*known)) {
    return {.variant = known, .already_registered = true};
  }
  const fs::path family = folder / variant.family;
  const std::string name = variant.name + source_extension(variant);
  const fs::path path =
      fs::absolute(variant.headers.empty() ? family / name : family / variant.name / name).lexically_normal();
  const Variant* before = find(variant.id());
  const TemporaryPlace aside(before == nullptr || !is_scanned(*before) ? fs::path() : place_of(*before));
  const bool created = create_whole(path, variant);
  Variant copy = load_variant(path.string());  // with the headers beside it and no others
  if (copy.source_hash != variant.source_hash) {
    name_taken(variant, path.string());
  }
  adopt(copy);
  const Variant& entry = variants_.insert_or_assign(variant.id(), std::move(copy)).first->second;
  if (entry.parent.empty()) {
    baselines_.try_emplace({entry.family, entry.target}, entry.id());
  }
  if (const Variant* first = baseline(entry.family, entry.target);
      first != nullptr && is_below(*first, folder) && kept_baseline(folder, entry.family, entry.target) == nullptr) {
    write_file_atomically(baseline_file(folder, entry.family, entry.target), first->id() + "\n");
  }
  return {.variant = &entry, .already_registered = !created};
}

fs::path Catalogue::unregister_variant(const std::string& id, const fs::path& folder) {
  const Variant& variant = get(id);
  if (!is_registered(variant)) {
    throw UserError("'" + id + "' was not registered: it lies in '" + variant.path + "'",
                    "delete that file where it is not wanted any more");
  }
  const fs::path place = place_of(variant);
  const fs::path target = folder / variant.family / place.filename();
  std::error_code error;
  fs::create_directories(target.parent_path(), error);
  fs::remove_all(target, error);  // an earlier version that was retired, which the journal has
  fs::rename(place, target, error);
  if (error) {
    throw EnvironmentError("cannot move '" + place.string() + "' to '" + target.string() + "': " + error.message());
  }
  variants_.erase(variants_.find(id));
  return target;
}

}  // namespace apo
