// harness/implement/variant/catalogue.h - every variant that this program knows, and how one is added.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "harness/core/records/records.h"
#include "harness/implement/variant/settings.h"

namespace apo {

// A file that is no variant, or one too many; the rest of the catalogue works without it.
struct CatalogueProblem {
  std::string path;
  std::string what;
  std::string hint;
};

struct Registration {
  const Variant* variant = nullptr;  // in the catalogue
  bool already_registered = false;   // the same content was there before
};

class Catalogue {
 public:
  // Scans the folders for *.cpp and *.cu, in order; folders that do not exist are skipped. The first file of an id
  // wins.
  void load(const std::vector<std::filesystem::path>& roots);

  const std::vector<CatalogueProblem>& problems() const { return problems_; }
  // nullptr when unknown. Pointers stay valid as long as the catalogue.
  const Variant* find(std::string_view id) const;
  // Throws UserError with "did you mean".
  const Variant& get(std::string_view id) const;
  // In order of names.
  std::vector<const Variant*> of_family(std::string_view family) const;
  std::vector<std::string> ids() const;

  // "family/name" or "family/name[CHUNK=16,LANES=2]", as Configuration::label() prints it. Throws UserError.
  Configuration configuration(std::string_view text) const;

  // Copies `file` to folder/<family>/<name>.cpp (.cu on cuda) and adds it. Throws UserError when the file is no valid
  // variant or its name is taken by other content.
  Registration register_variant(const std::filesystem::path& file, const std::filesystem::path& folder);

 private:
  void load_file(const std::filesystem::path& path);
  std::map<std::string, Variant, std::less<>> variants_;
  std::vector<CatalogueProblem> problems_;
};

}  // namespace apo
