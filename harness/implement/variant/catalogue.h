// harness/implement/variant/catalogue.h - all variants that this program knows, and how one is added.
#pragma once

#include <filesystem>
#include <map>
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

struct Registration {
  const Variant* variant = nullptr;  // in the catalogue
  bool already_registered = false;   // the same content was there before
};

class Catalogue {
 public:
  // Scans the folders for *.cpp and *.cu, in order; missing folders and names that begin with a dot are skipped. The
  // first file of an id wins. Headers are looked up in all of the folders.
  void load(const std::vector<std::filesystem::path>& roots);

  const std::vector<CatalogueProblem>& problems() const { return problems_; }
  // Returns nullptr when unknown. Pointers stay valid as long as the catalogue.
  const Variant* find(std::string_view id) const;
  // Throws UserError with "did you mean".
  const Variant& get(std::string_view id) const;
  // Returns the variants in order of names.
  std::vector<const Variant*> of_family(std::string_view family) const;
  std::vector<std::string> ids() const;

  // Parses "family/name" or "family/name[CHUNK=16,LANES=2]", as Configuration::label() prints it. Throws UserError.
  Configuration configuration(std::string_view text) const;

  // Reads and adds the variant of a file that stays in place. Throws UserError when it is no valid variant, its name is
  // taken by other content, or its parent is unknown.
  Registration add(const std::filesystem::path& file);
  // Copies a variant to folder/<family>/<name>.cpp (.cu on cuda), or with headers to folder/<family>/<name>/ with them
  // beside it, and adds it. Throws UserError when its name is taken by other content.
  Registration register_variant(const Variant& variant, const std::filesystem::path& folder);

 private:
  void load_file(const std::filesystem::path& path);
  bool has_known_parent(const Variant& variant) const;
  const Variant* same(const Variant& variant) const;
  std::vector<std::filesystem::path> roots_;
  std::map<std::string, Variant, std::less<>> variants_;
  std::vector<CatalogueProblem> problems_;
};

}  // namespace apo
