// harness/implement/variant/metadata_lines.cpp - reads each key of a variant's block.
#include "harness/implement/variant/metadata_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "harness/core/pattern.h"
#include "harness/core/techniques/techniques.h"
#include "harness/core/text.h"
#include "kernels/family.h"

namespace apo {
namespace {

// Libraries of the toolkit that `apo:link` may name.
constexpr const char* kLinkable[] = {"cublas", "cublasLt", "cudart"};

struct Place {
  const std::string& path;
  int line;
  [[noreturn]] void fail(const std::string& what, const std::string& hint) const {
    block_error(path, line, what, hint);
  }
};

void check_family(const Place& place, const std::string& family) {
  if (find_family(family) != nullptr) {
    return;
  }
  std::vector<std::string> names;
  for (const Family& known : families()) {
    names.push_back(known.name);
  }
  const std::string guess = did_you_mean(family, names);
  place.fail("unknown family '" + family + "'",
             (guess.empty() ? "the families: " + join(names, ", ") : guess) + "  'apo list' shows all families");
}

void check_name(const Place& place, const std::string& name) {
  if (!is_identifier(name) || name.size() > 64) {
    place.fail("the name '" + name + "' is not an identifier of at most 64 characters",
               "name the idea with letters, digits and '_', e.g. register_owned");
  }
}

void read_variant(Variant& variant, const Place& place, const std::string& value) {
  const std::vector<std::string> parts = split(value, '/');
  if (parts.size() != 2 || parts[0].empty()) {
    place.fail("'" + value + "' is not FAMILY/NAME", "e.g. '// apo:variant e88_backward/register_owned'");
  }
  variant.family = parts[0];
  variant.name = parts[1];
}

void read_target(Variant& variant, const Place& place, const std::string& value) {
  static const Pattern kArch("sm_[0-9]{2,3}[af]?");
  const std::vector<std::string> words = split_words(value);
  const bool cuda = words[0] == "cuda";
  const bool with_arch = words.size() == 2 && cuda && kArch.matches(words[1]);
  if ((!cuda && words[0] != "host") || (words.size() > 1 && !with_arch)) {
    place.fail("unknown target '" + value + "'", "write 'host', 'cuda' or 'cuda sm_80'");
  }
  variant.target = cuda ? Target::cuda : Target::host;
  variant.arch = with_arch ? words[1] : "";
}

void read_technique(Variant& variant, const Place& place, const std::string& value) {
  static const Pattern kTechnique("[a-z0-9]+(-[a-z0-9]+)*");
  if (!kTechnique.matches(value)) {
    place.fail("'" + value + "' is not a technique", "one lower-case word a line, parts joined by '-': chunk-prefetch");
  }
  if (std::find(variant.techniques.begin(), variant.techniques.end(), value) != variant.techniques.end()) {
    place.fail("the technique '" + value + "' is repeated", "remove this line");
  }
  variant.techniques.push_back(value);
}

// FAMILY/NAME or NAME of the variant's own family, as FAMILY/NAME.
std::string read_sibling(const Variant& variant, const Place& place, const std::string& value) {
  const std::vector<std::string> parts = split(value, '/');
  if (parts.size() > 2 || !is_identifier(parts.back())) {
    place.fail("'" + value + "' is not the name of a variant",
               "write [FAMILY/]NAME, e.g. " + variant.family + "/simple");
  }
  if (parts.size() == 2 && parts[0] != variant.family) {
    place.fail("'" + value + "' is of another family than " + variant.id(),
               "name a variant of " + variant.family + ", or leave the line out");
  }
  const std::string id = variant.family + "/" + parts.back();
  if (id == variant.id()) {
    place.fail("the variant names itself", "name the variant it grew from, or leave the line out");
  }
  return id;
}

void read_parent(Variant& variant, const Place& place, const std::string& value) {
  variant.parent = read_sibling(variant, place, value);
}

void read_idea(Variant& variant, const Place&, const std::string& value) {
  variant.idea = value;
}

void read_predict(Variant& variant, const Place& place, const std::string& value) {
  static const Pattern kForm(R"((\d{1,6}(?:\.\d{1,6})?)x\.\.(\d{1,6}(?:\.\d{1,6})?)x\s+over\s+([^\s:]+)\s*:\s*(.+))");
  const char* example = "write '1.5x..1.8x over parent: REASON', or a variant's name for 'parent'";
  const auto match = kForm.match(value);
  if (!match) {
    place.fail("the prediction '" + value.substr(0, 200) + "' cannot be read", example);
  }
  const PatternMatch& parts = *match;
  const double low = parse_double(parts[1]).value_or(0);
  const double high = parse_double(parts[2]).value_or(0);
  if (!(low > 0) || !(low <= high)) {
    place.fail("the band " + parts[1] + "x.." + parts[2] + "x is not positive and rising", example);
  }
  const std::string over = parts[3];
  variant.prediction = Prediction{.low = low,
                                  .high = high,
                                  .relative_to = over == "parent" ? over : read_sibling(variant, place, over),
                                  .because = parts[4]};
}

void read_requires(Variant& variant, const Place&, const std::string& value) {
  std::string& all = variant.requires_expression;
  all = all.empty() ? value : "(" + all + ") && (" + value + ")";
}

void read_tune(Variant& variant, const Place& place, const std::string& value) {
  const char* example = "e.g. '// apo:tune CHUNK 8,16,32'; the first value is the default";
  const std::size_t space = value.find_first_of(" \t");
  Tunable tunable{.name = value.substr(0, space), .values = {}};
  if (space == std::string::npos) {
    place.fail("the tunable '" + value + "' has no values", example);
  }
  for (const std::string& text : split(value.substr(space), ',')) {
    const auto number = parse_int(trim(text));
    if (!number || *number >= std::int64_t{1} << 53 || *number <= -(std::int64_t{1} << 53)) {
      place.fail("the value '" + trim(text) + "' of " + tunable.name + " is not an integer", example);
    }
    if (std::find(tunable.values.begin(), tunable.values.end(), *number) != tunable.values.end()) {
      place.fail("the value " + trim(text) + " of " + tunable.name + " is repeated", "list each value once");
    }
    tunable.values.push_back(*number);
  }
  variant.tunables.push_back(std::move(tunable));
}

// A tunable of two values, off by default.
void read_toggle(Variant& variant, const Place& place, const std::string& value) {
  const std::vector<std::string> words = split_words(value);
  const char* example = "e.g. '// apo:toggle FUSED_NORM fused-l2-norm'; its values are 0, the default, and 1";
  if (words.size() != 2) {
    place.fail("'" + value + "' is not a macro and the technique that it applies", example);
  }
  if (find_technique(words[1], variant.target) == nullptr) {
    std::vector<std::string> known;
    for (const Technique& technique : technique_catalogue()) {
      known.push_back(technique.name);
    }
    const std::string guess = did_you_mean(words[1], known);
    place.fail("the catalogue has no technique '" + words[1] + "' for target " + std::string(to_string(variant.target)),
               guess.empty() ? example : guess);
  }
  variant.tunables.push_back({.name = words[0], .values = {0, 1}, .technique = words[1]});
}

// "NAME BYTES" or "NAME BYTES when=E"
void read_scratch(Variant& variant, const Place& place, const std::string& value) {
  static const Pattern kForm(R"((\S+)\s+(.*?)(?:\s+when=(.*))?)");
  const auto parts = kForm.match(value);
  if (!parts || (*parts)[2].empty()) {
    place.fail("the scratch buffer '" + value + "' has no size", "e.g. '// apo:scratch history 4*B*H*N'");
  }
  variant.scratch.push_back({.name = (*parts)[1], .bytes = trim((*parts)[2]), .when = trim((*parts)[3])});
}

// "grid=B * H block=32": a word that starts with NAME= opens an attribute, other words continue the one before.
void read_launch(Variant& variant, const Place& place, const std::string& value) {
  const std::vector<std::string> words = split_words(value);
  Launch launch{.kernel = words[0], .attributes = {}};
  std::string* open = nullptr;
  static const Pattern kAttribute(R"(([A-Za-z_][A-Za-z0-9_]*)=([^=].*)?)");
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (const auto parts = kAttribute.match(words[i])) {
      const auto [entry, added] = launch.attributes.emplace((*parts)[1], (*parts)[2]);
      if (!added) {
        place.fail("the launch attribute '" + (*parts)[1] + "' is repeated", "give it once");
      }
      open = &entry->second;
    } else if (open != nullptr) {
      *open += " " + words[i];
    } else {
      place.fail("'" + words[i] + "' is not a launch attribute", "write ATTRIBUTE=EXPRESSION, e.g. grid=B*H block=128");
    }
  }
  variant.launches.push_back(std::move(launch));
}

void read_link(Variant& variant, const Place& place, const std::string& value) {
  const std::vector<std::string> known(std::begin(kLinkable), std::end(kLinkable));
  if (std::find(known.begin(), known.end(), value) == known.end()) {
    const std::string guess = did_you_mean(value, known);
    place.fail("'" + value + "' is not a library that a variant may be linked with",
               guess.empty() ? "one of " + join(known, ", ") + " a line" : guess);
  }
  if (std::find(variant.libraries.begin(), variant.libraries.end(), value) != variant.libraries.end()) {
    place.fail("the library '" + value + "' is repeated", "remove this line");
  }
  variant.libraries.push_back(value);
}

void read_include(Variant& variant, const Place& place, const std::string& value) {
  if (std::find(variant.includes.begin(), variant.includes.end(), value) != variant.includes.end()) {
    place.fail("the include folder '" + value + "' is repeated", "remove this line");
  }
  variant.includes.push_back(value);
}

// "kernel.so" or "kernel.so NAME"
void read_ffi(Variant& variant, const Place& place, const std::string& value) {
  static const Pattern kObject(R"([A-Za-z0-9_][A-Za-z0-9_.+-]{0,95}\.so)");
  const std::vector<std::string> words = split_words(value);
  if (words.size() > 2 || !kObject.matches(words[0]) || (words.size() == 2 && !is_identifier(words[1]))) {
    place.fail("'" + value + "' is not a shared object beside the file and the name of its function",
               "e.g. '// apo:ffi kernel.so softmax' for the symbol __tvm_ffi_softmax");
  }
  variant.object = words[0];
  variant.function = words.size() == 2 ? words[1] : "";
}

struct Key {
  std::string_view name;
  bool repeatable;
  void (*read)(Variant&, const Place&, const std::string&);
};

constexpr std::array<Key, 14> kKeys = {{{"variant", false, read_variant},
                                        {"target", false, read_target},
                                        {"technique", true, read_technique},
                                        {"parent", false, read_parent},
                                        {"idea", false, read_idea},
                                        {"predict", false, read_predict},
                                        {"requires", true, read_requires},
                                        {"tune", true, read_tune},
                                        {"toggle", true, read_toggle},
                                        {"scratch", true, read_scratch},
                                        {"launch", true, read_launch},
                                        {"link", true, read_link},
                                        {"include", true, read_include},
                                        {"ffi", false, read_ffi}}};

const Key& key_of(const BlockLine& line, const std::string& path) {
  const auto found = std::find_if(kKeys.begin(), kKeys.end(), [&](const Key& key) { return key.name == line.key; });
  if (found == kKeys.end()) {
    std::vector<std::string> names;
    for (const Key& key : kKeys) {
      names.emplace_back(key.name);
    }
    const std::string guess = did_you_mean(line.key, names);
    block_error(path, line.number, "unknown key 'apo:" + line.key + "'",
                guess.empty() ? "the keys: " + join(names, ", ") : guess);
  }
  return *found;
}

void check_counts(const std::vector<BlockLine>& block, const std::string& path) {
  for (const BlockLine& line : block) {
    const Key& key = key_of(line, path);
    const auto first =
        std::find_if(block.begin(), block.end(), [&](const auto& other) { return other.key == line.key; });
    if (!key.repeatable && first->number != line.number) {
      block_error(path, line.number, fmt::format("apo:{} is repeated (first in line {})", line.key, first->number),
                  "keep one of the two lines");
    }
  }
}

// The family, the name and the target first: the other lines are read in their light.
void read_identity(Variant& variant, const std::vector<BlockLine>& block, const std::string& path) {
  int line = 1;
  for (const BlockLine& one : block) {
    if (one.key == "variant") {
      line = one.number;
      read_variant(variant, Place{path, line}, one.value);
    } else if (one.key == "target") {
      read_target(variant, Place{path, one.number}, one.value);
    }
  }
  const Place place{path, line};
  if (variant.family.empty()) {
    place.fail("it does not say which operation it computes",
               "name it with --family, put the file into a folder of the family's name, or begin it with '// "
               "apo:variant FAMILY/NAME'");
  }
  check_family(place, variant.family);
  check_name(place, variant.name);
}

}  // namespace

void read_lines(Variant& variant, const std::vector<BlockLine>& block, const std::string& path) {
  check_counts(block, path);
  read_identity(variant, block, path);
  for (const BlockLine& line : block) {
    if (line.key != "variant" && line.key != "target") {
      key_of(line, path).read(variant, Place{path, line.number}, line.value);
    }
  }
}

}  // namespace apo
