// harness/implement/variant/catalogue.h - all variants that this program knows, and how one is added.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/core/records/records.h"
#include "harness/implement/variant/settings.h"

namespace apo {

// A file that is no variant, a duplicate, or a variant that names an unknown parent. The rest of the catalogue works.
struct CatalogueProblem {
  std::string path;
  std::string what;
  std::string hint;
  bool left_out = true;  // of the catalogue
};

// The file of a variant, or a text that takes its place.
struct GivenFile {
  GivenFile(std::filesystem::path of, std::string text = "") : path(std::move(of)), source(std::move(text)) {}
  std::filesystem::path path;
  std::string source;  // empty: that of the file
};

// Returns a variant of somebody's file as it is, whose own text, beside the file, is the `lines` of a metadata block
// and an include line. Its name is that of `function`, which is called, else that of the file. Where neither is given
// it is the file itself. Throws UserError for a file that has a block of its own.
GivenFile brought_file(const std::filesystem::path& file, const std::string& function,
                       const std::vector<std::string>& lines);

struct Registration {
  const Variant* variant = nullptr;  // in the catalogue
  bool already_registered = false;   // the same content was there before
};

class Catalogue {
 public:
  // Scans the folders for *.cpp, *.cu and *.py, in order; folders that do not exist, and what begins with a dot, are
  // skipped. Of a folder <family>/NAME/ with a source NAME that one alone counts. The first file of an id wins. Headers
  // are looked up in all of the folders. The first variant of a family and target that names no parent is its baseline,
  // and the parent of all others that name none: in the last of the folders the one that was registered first, else
  // the first by name.
  void load(const std::vector<std::filesystem::path>& roots);

  const std::vector<CatalogueProblem>& problems() const { return problems_; }
  // Returns nullptr when unknown. Pointers stay valid as long as the catalogue.
  const Variant* find(std::string_view id) const;
  // Throws UserError with "did you mean".
  const Variant& get(std::string_view id) const;
  // Returns the variant from which campaigns of a family start on a target; nullptr if it has none there.
  const Variant* baseline(const std::string& family, Target target) const;
  // Returns whether its file lies in one of the folders: one that was added from elsewhere is new and unchecked.
  bool is_scanned(const Variant& variant) const;
  // Returns the variants in order of names.
  std::vector<const Variant*> of_family(std::string_view family) const;
  std::vector<std::string> ids() const;
  // Returns the registered variants whose apo:parent line names this one, in order of names.
  std::vector<std::string> registered_children(std::string_view id) const;

  // Parses "family/name" or "family/name[CHUNK=16,LANES=2]", as Configuration::label() prints it. Throws UserError.
  Configuration configuration(std::string_view text) const;

  // Reads the variant of a file; `family` is that of a file whose block names none. Throws UserError when it is no
  // valid variant.
  Variant read(const GivenFile& file, const std::string& family = "") const;
  // Returns the variant with this text, under any name; nullptr if there is none.
  const Variant* with_text(std::string_view source_hash) const;
  // Adds a variant whose file stays where it is, in place of one of its name that was registered or came in this way:
  // one in the last of the folders, or in none of them. Throws UserError when its name is taken in another folder,
  // another variant has the same text, or its parent is unknown.
  Registration add(Variant variant);
  Registration add(const GivenFile& file, const std::string& family = "");
  // Uses this text under its name from now on, in place of the folders'.
  void replace(Variant variant);
  // Copies a variant to folder/<family>/<name>.cpp (.cu on cuda, .py of Python), or with headers to
  // folder/<family>/<name>/ with them beside it, and adds it, in place of what was registered there under its name.
  // Throws UserError as add() does.
  Registration register_variant(const Variant& variant, const std::filesystem::path& folder);
  // Moves the file of a registered variant, with its headers, to folder/<family>/ and takes it out of the catalogue;
  // returns its new place. Throws UserError when it is unknown, or lies outside of the last of the folders.
  std::filesystem::path unregister_variant(const std::string& id, const std::filesystem::path& folder);

 private:
  void load_file(const std::filesystem::path& path);
  // Returns the name of an unknown variant in its apo:parent or apo:predict line.
  struct UnknownRelative {
    std::string name, what, hint;
  };
  std::optional<UnknownRelative> unknown_relative(const Variant& variant) const;
  std::string nearest_other(const UnknownRelative& wrong, const Variant& variant) const;
  bool is_registered(const Variant& variant) const;
  const Variant* same(const Variant& variant) const;
  void adopt(Variant& variant) const;
  const Variant& first_registered(const std::filesystem::path& root, const Variant& one) const;
  // The one that was registered first; nullptr where that is not known, or it is gone.
  const Variant* kept_baseline(const std::filesystem::path& folder, const std::string& family, Target target) const;
  std::vector<std::filesystem::path> roots_;
  std::map<std::string, Variant, std::less<>> variants_;
  std::map<std::pair<std::string, Target>, std::string> baselines_;  // of a family for a target
  std::vector<CatalogueProblem> problems_;
};

}  // namespace apo
