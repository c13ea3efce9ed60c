// harness/implement/variant/metadata.cpp - a variant of its file: reads each key of its block, finds the headers,
// checks the whole.
#include "harness/implement/variant/metadata.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "harness/core/error.h"
#include "harness/core/pattern.h"
#include "harness/core/sources.h"
#include "harness/core/system/files.h"
#include "harness/core/techniques/techniques.h"
#include "harness/core/text.h"
#include "harness/implement/variant/headers.h"
#include "harness/implement/variant/metadata_block.h"
#include "harness/implement/variant/settings.h"
#include "harness/implement/variant/shared_object.h"
#include "kernels/family.h"

namespace apo {
namespace {

void add_once(std::vector<std::string>& list, const BlockLine& line, const char* what) {
  if (std::ranges::find(list, line.value) != list.end()) {
    line.fail(std::string("the ") + what + " '" + line.value + "' is repeated", "remove this line");
  }
  list.push_back(line.value);
}

void read_variant(Variant& variant, const BlockLine& line) {
  const std::vector<std::string> parts = split(line.value, '/');
  if (parts.size() != 2 || parts[0].empty()) {
    line.fail("'" + line.value + "' is not FAMILY/NAME", "e.g. '// apo:variant e88_backward/register_owned'");
  }
  variant.family = parts[0];
  variant.name = parts[1];
}

void read_target(Variant& variant, const BlockLine& line) {
  static const Pattern kArch("sm_[0-9]{2,3}[af]?");
  const std::vector<std::string> words = split_words(line.value);
  const bool cuda = words[0] == "cuda";
  const bool with_arch = words.size() == 2 && cuda && kArch.matches(words[1]);
  if ((!cuda && words[0] != "host") || (words.size() > 1 && !with_arch)) {
    line.fail("unknown target '" + line.value + "'", "write 'host', 'cuda' or 'cuda sm_80'");
  }
  variant.target = cuda ? Target::cuda : Target::host;
  variant.arch = with_arch ? words[1] : "";
}

void read_technique(Variant& variant, const BlockLine& line) {
  static const Pattern kTechnique("[a-z0-9]+(-[a-z0-9]+)*");
  if (!kTechnique.matches(line.value)) {
    line.fail("'" + line.value + "' is not a technique",
              "one lower-case word a line, parts joined by '-': chunk-prefetch");
  }
  add_once(variant.techniques, line, "technique");
}

// FAMILY/NAME or NAME of the variant's own family, as FAMILY/NAME.
std::string read_sibling(const Variant& variant, const BlockLine& line, const std::string& named) {
  const std::vector<std::string> parts = split(named, '/');
  if (parts.size() > 2 || !is_identifier(parts.back())) {
    line.fail("'" + named + "' is not the name of a variant",
              "write [FAMILY/]NAME, e.g. " + variant.family + "/simple");
  }
  if (parts.size() == 2 && parts[0] != variant.family) {
    line.fail("'" + named + "' is of another family than " + variant.id(),
              "name a variant of " + variant.family + ", or leave the line out");
  }
  const std::string id = variant.family + "/" + parts.back();
  if (id == variant.id()) {
    line.fail("the variant names itself", "name the variant it grew from, or leave the line out");
  }
  return id;
}

void read_parent(Variant& variant, const BlockLine& line) {
  variant.parent = read_sibling(variant, line, line.value);
}

void read_idea(Variant& variant, const BlockLine& line) {
  variant.idea = line.value;
}

void read_predict(Variant& variant, const BlockLine& line) {
  static const Pattern kForm(R"((\d{1,6}(?:\.\d{1,6})?)x\.\.(\d{1,6}(?:\.\d{1,6})?)x\s+over\s+([^\s:]+)\s*:\s*(.+))");
  const char* example = "write '1.5x..1.8x over parent: REASON', or a variant's name for 'parent'";
  const auto match = kForm.match(line.value);
  if (!match) {
    line.fail("the prediction '" + line.value.substr(0, 200) + "' cannot be read", example);
  }
  const PatternMatch& parts = *match;
  const double low = parse_double(parts[1]).value_or(0);
  const double high = parse_double(parts[2]).value_or(0);
  if (!(low > 0) || !(low <= high)) {
    line.fail("the band " + parts[1] + "x.." + parts[2] + "x is not positive and rising", example);
  }
  const std::string over = parts[3];
  variant.prediction = Prediction{.low = low,
                                  .high = high,
                                  .relative_to = over == "parent" ? over : read_sibling(variant, line, over),
                                  .because = parts[4]};
}

void read_requires(Variant& variant, const BlockLine& line) {
  std::string& all = variant.requires_expression;
  all = all.empty() ? line.value : "(" + all + ") && (" + line.value + ")";
}

void read_tune(Variant& variant, const BlockLine& line) {
  const char* example = "e.g. '// apo:tune CHUNK 8,16,32'; the first value is the default";
  const std::size_t space = line.value.find_first_of(" \t");
  Tunable tunable{.name = line.value.substr(0, space), .values = {}};
  if (space == std::string::npos) {
    line.fail("the tunable '" + line.value + "' has no values", example);
  }
  for (const std::string& text : split(line.value.substr(space), ',')) {
    const auto number = parse_int(trim(text));
    if (!number || *number >= std::int64_t{1} << 53 || *number <= -(std::int64_t{1} << 53)) {
      line.fail("the value '" + trim(text) + "' of " + tunable.name + " is not an integer", example);
    }
    if (std::find(tunable.values.begin(), tunable.values.end(), *number) != tunable.values.end()) {
      line.fail("the value " + trim(text) + " of " + tunable.name + " is repeated", "list each value once");
    }
    tunable.values.push_back(*number);
  }
  variant.tunables.push_back(std::move(tunable));
}

// A tunable of two values, off by default.
void read_toggle(Variant& variant, const BlockLine& line) {
  const std::vector<std::string> words = split_words(line.value);
  const char* example = "e.g. '// apo:toggle FUSED_NORM fused-l2-norm'; its values are 0, the default, and 1";
  if (words.size() != 2) {
    line.fail("'" + line.value + "' is not a macro and the technique that it applies", example);
  }
  if (find_technique(words[1], variant.target) == nullptr) {
    std::vector<std::string> known;
    for (const Technique& technique : technique_catalogue()) {
      known.push_back(technique.name);
    }
    const std::string guess = did_you_mean(words[1], known);
    line.fail("the catalogue has no technique '" + words[1] + "' for target " + std::string(to_string(variant.target)),
              guess.empty() ? example : guess);
  }
  variant.tunables.push_back({.name = words[0], .values = {0, 1}, .technique = words[1]});
}

// "NAME BYTES" or "NAME BYTES when=E"
void read_scratch(Variant& variant, const BlockLine& line) {
  static const Pattern kForm(R"((\S+)\s+(.*?)(?:\s+when=(.*))?)");
  const auto parts = kForm.match(line.value);
  if (!parts || (*parts)[2].empty()) {
    line.fail("the scratch buffer '" + line.value + "' has no size", "e.g. '// apo:scratch history 4*B*H*N'");
  }
  variant.scratch.push_back({.name = (*parts)[1], .bytes = trim((*parts)[2]), .when = trim((*parts)[3])});
}

// "grid=B * H block=32": a word that starts with NAME= opens an attribute, other words continue the one before. `what`
// an attribute is, and an `example` of some.
std::map<std::string, std::string> read_attributes(const BlockLine& line, const std::string& what,
                                                   const std::string& example) {
  const std::vector<std::string> words = split_words(line.value);
  std::map<std::string, std::string> attributes;
  std::string* open = nullptr;
  static const Pattern kAttribute(R"(([A-Za-z_][A-Za-z0-9_]*)=([^=].*)?)");
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (const auto parts = kAttribute.match(words[i])) {
      const auto [entry, added] = attributes.emplace((*parts)[1], (*parts)[2]);
      if (!added) {
        line.fail("the " + what + " '" + (*parts)[1] + "' is repeated", "give it once");
      }
      open = &entry->second;
    } else if (open != nullptr) {
      *open += " " + words[i];
    } else {
      line.fail("'" + words[i] + "' is not a " + what, "write " + example);
    }
  }
  return attributes;
}

void read_launch(Variant& variant, const BlockLine& line) {
  variant.launches.push_back(
      {.kernel = split_words(line.value)[0],
       .attributes = read_attributes(line, "launch attribute", "ATTRIBUTE=EXPRESSION, e.g. grid=B*H block=128")});
}

// "NAME" or "NAME PARAMETER=EXPRESSION ..."
void read_function(Variant& variant, const BlockLine& line) {
  static const Pattern kName(R"([A-Za-z_][A-Za-z0-9_:]*(<[A-Za-z0-9_:,]*>)?)");
  variant.function = split_words(line.value)[0];
  if (!kName.matches(variant.function)) {
    line.fail("'" + variant.function + "' is not the name of a function", "e.g. '// apo:function softmax_forward4'");
  }
  variant.arguments = read_attributes(line, "parameter", "PARAMETER=EXPRESSION, e.g. N=B*T block_size=256");
}

// Flags that read or write no file, and that leave the checks of a build alone.
void check_flag(const Variant& variant, const BlockLine& line, const std::string& flag) {
  static const Pattern kBoth(
      R"(-std=(c|gnu)\+\+[0-9a-z]{2}|-O([0-3]|fast)|-D[A-Za-z_][A-Za-z0-9_]*(=[A-Za-z0-9_.+-]*)?)");
  static const Pattern kHost(R"(-ffast-math|-f(no-)?(math-errno|associative-math|reciprocal-math|signed-zeros|)"
                             R"(trapping-math|finite-math-only|unroll-loops|strict-aliasing)|-ffp-contract=[a-z]+|)"
                             R"(-m[a-z0-9.=-]+)");
  static const Pattern kCuda(R"(--?(use_fast_math|extended-lambda|expt-relaxed-constexpr|maxrregcount=[0-9]{1,3}|)"
                             R"((fmad|ftz|prec-div|prec-sqrt)=(true|false))|)"
                             R"(--ptxas-options=(-O[0-3]|--?def-(load|store)-cache=[a-z]{2}|-d[ls]cm=[a-z]{2}|)"
                             R"(--?allow-expensive-optimizations=(true|false)|--?register-usage-level=[0-9]{1,2}))");
  const bool cuda = variant.target == Target::cuda;
  if (!kBoth.matches(flag) && !(cuda ? kCuda : kHost).matches(flag)) {
    line.fail(
        "'" + flag + "' is not a flag that a variant may have on target " + std::string(to_string(variant.target)),
        std::string("-std=c++17, -O2, -DNAME=VALUE") +
            (cuda ? ", --use_fast_math, --maxrregcount=N, --fmad=false, -Xptxas -O2 and their like"
                  : ", -ffast-math, -funroll-loops, -mavx2 and their like"));
  }
}

// "FLAG ..." or "FLAG ... when=E". Two words are one flag after -Xptxas, which NVRTC has in the long form alone.
void read_flags(Variant& variant, const BlockLine& line) {
  static const Pattern kForm(R"((.*?)(?:\s+when=(.*))?)");
  static const Pattern kTunable(R"(\{[A-Za-z_][A-Za-z0-9_]*\})");
  const auto parts = kForm.match(line.value);
  const std::string when = trim((*parts)[2]);
  std::string prefix;
  for (const std::string& word : split_words((*parts)[1])) {
    if (word == "-Xptxas" && variant.target == Target::cuda) {
      prefix = "--ptxas-options=";
      continue;
    }
    const std::string flag = std::exchange(prefix, "") + word;
    const std::string with_values = kTunable.replace(flag, "1");
    check_flag(variant, line, with_values);
    if (when.empty() && with_values == flag) {
      variant.flags.push_back(flag);
    } else {
      variant.tuned_flags.push_back({.text = flag, .when = when});
    }
  }
  if (!prefix.empty()) {
    line.fail("-Xptxas has no option behind it", "e.g. '// apo:flags -Xptxas -O2'");
  }
}

void read_link(Variant& variant, const BlockLine& line) {
  static const std::vector<std::string> known = {"cublas", "cublasLt", "cudart"};  // of the toolkit
  if (std::find(known.begin(), known.end(), line.value) == known.end()) {
    const std::string guess = did_you_mean(line.value, known);
    line.fail("'" + line.value + "' is not a library that a variant may be linked with",
              guess.empty() ? "one of " + join(known, ", ") + " a line" : guess);
  }
  add_once(variant.libraries, line, "library");
}

void read_include(Variant& variant, const BlockLine& line) {
  add_once(variant.includes, line, "include folder");
}

// "kernel.so" or "kernel.so NAME"
void read_ffi(Variant& variant, const BlockLine& line) {
  static const Pattern kObject(R"([A-Za-z0-9_][A-Za-z0-9_.+-]{0,95}\.so)");
  const std::vector<std::string> words = split_words(line.value);
  if (words.size() > 2 || !kObject.matches(words[0]) || (words.size() == 2 && !is_identifier(words[1]))) {
    line.fail("'" + line.value + "' is not a shared object beside the file and the name of its function",
              "e.g. '// apo:ffi kernel.so softmax' for the symbol __tvm_ffi_softmax");
  }
  variant.object = words[0];
  variant.function = words.size() == 2 ? words[1] : "";
}

// "softmax.record"
void read_record(Variant& variant, const BlockLine& line) {
  static const Pattern kRecord(R"([A-Za-z0-9_][A-Za-z0-9_.+-]{0,95}\.record)");
  if (!kRecord.matches(line.value) || variant.target != Target::cuda) {
    line.fail("'" + line.value + "' is not a record beside the file, for target cuda",
              "'apo record --kernel NAME -- COMMAND' writes one with its variant");
  }
  variant.object = line.value;
}

constexpr std::array<BlockKey<Variant>, 17> kKeys = {{{"variant", false, read_variant},
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
                                                      {"flags", true, read_flags},
                                                      {"function", false, read_function},
                                                      {"ffi", false, read_ffi},
                                                      {"record", false, read_record}}};

// `line`: the one that names the variant, or the first of the file.
void check_identity(const Variant& variant, const BlockLine& line) {
  if (variant.family.empty()) {
    line.fail("it does not say which operation it computes",
              "name it with --family, put the file into a folder of the family's name, or begin it with '// "
              "apo:variant FAMILY/NAME'");
  }
  if (find_family(variant.family) == nullptr) {
    std::vector<std::string> names;
    for (const Family& known : families()) {
      names.push_back(known.name);
    }
    const std::string guess = did_you_mean(variant.family, names);
    line.fail("unknown family '" + variant.family + "'",
              (guess.empty() ? "the families: " + join(names, ", ") : guess) + "  'apo list' shows all families");
  }
  if (!is_short_name(variant.name)) {
    line.fail("the name '" + variant.name + "' is not an identifier of at most 64 characters",
              "name the idea with letters, digits and '_', e.g. register_owned");
  }
}

// Family, name and target first: the other lines are read in their light.
void read_variant_lines(Variant& variant, const std::vector<BlockLine>& block, const std::string& path) {
  std::vector<BlockLine> lines = block;
  const auto others = std::stable_partition(
      lines.begin(), lines.end(), [](const BlockLine& line) { return line.key == "variant" || line.key == "target"; });
  const std::span<const BlockKey<Variant>> keys = kKeys;
  read_lines(variant, {lines.begin(), others}, keys);
  const auto named = std::ranges::find(lines, "variant", &BlockLine::key);
  check_identity(variant, named != lines.end() ? *named : BlockLine{.path = path, .number = 1, .key = "", .value = ""});
  read_lines(variant, {others, lines.end()}, keys);
}

struct Read {
  std::vector<BlockLine> block;
  Variant variant;  // without headers so far
};

Read read_source(std::string_view source, const std::string& path, const FileIdentity& otherwise) {
  Read read{.block = read_block(source, path),
            .variant = {.family = otherwise.family, .name = otherwise.name, .target = otherwise.target}};
  read_variant_lines(read.variant, read.block, path);
  read.variant.path = path;
  read.variant.source = source;
  return read;
}

Variant with_headers(Read read, std::vector<SourceFile> headers) {
  Variant& variant = read.variant;
  variant.headers = std::move(headers);
  for (const SourceFile& header : variant.headers) {  // a registered copy is named like the variant
    if (header.name == source_name(variant) || header.name == variant.name + source_extension(variant)) {
      throw UserError(fmt::format("{}: it includes \"{}\", and its own file has that name", variant.path, header.name),
                      "give the variant another name: its apo:variant line, or that of its file");
    }
  }
  if (!variant.object.empty() && !is_recorded(variant)) {  // whose symbols tell
    const SourceFile& object = object_of(variant);
    variant.function =
        ffi_function(object.text, object.path.empty() ? object.name : object.path, variant.function, variant.family);
  }
  const Family& family = *find_family(variant.family);
  variant.contract = family.contract;
  variant.source_hash = source_identity(variant);
  check_metadata(variant, family, read.block, variant.path);
  return variant;
}

void check_size(const std::string& path, const std::filesystem::file_status& status, std::size_t most) {
  std::error_code error;
  const std::uintmax_t bytes = std::filesystem::is_regular_file(status) ? std::filesystem::file_size(path, error) : 0;
  if (!error && bytes > most) {
    throw UserError("'" + path + "' is larger than a variant may be: " + format_bytes(static_cast<double>(bytes)) +
                        ", at most " + format_bytes(static_cast<double>(most)),
                    "give the source file of the variant");
  }
}

// The object that an apo:ffi line names, beside the file.
SourceFile load_object(const Variant& variant) {
  const std::filesystem::path path = std::filesystem::path(variant.path).parent_path() / variant.object;
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (!std::filesystem::is_regular_file(status)) {
    throw UserError(variant.path + ": there is no object '" + variant.object + "' beside the file",
                    "put what its apo:ffi or apo:record line names there");
  }
  check_size(path.string(), status, kMaxObjectBytes);
  return {.name = variant.object, .text = read_file(path), .path = path.string()};
}

}  // namespace

FileIdentity identity_of(const std::filesystem::path& path, const std::string& family) {
  FileIdentity identity{.family = family,
                        .name = path.stem().string(),
                        .target = path.extension() == ".cu" || path.extension() == ".py" ? Target::cuda : Target::host};
  const std::filesystem::path folder = path.parent_path();
  const bool has_own = folder.filename() == identity.name;
  const std::string holds = (has_own ? folder.parent_path() : folder).filename().string();
  if (family.empty() && find_family(holds) != nullptr) {
    identity.family = holds;
  }
  return identity;
}

Variant parse_variant(std::string_view source, const std::string& path, const std::vector<SourceFile>& headers,
                      const FileIdentity& otherwise) {
  Read read = read_source(source, path, otherwise);
  check_headers(headers, path, read.variant.family);
  return with_headers(std::move(read), headers);
}

Variant parse_variant(std::string_view source, const std::string& path, const std::vector<SourceFile>& headers) {
  return parse_variant(source, path, headers, identity_of(path));
}

Variant load_variant(const std::string& path, const std::vector<std::filesystem::path>& roots,
                     const std::string& family, const std::string& given) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (fs::exists(status) && !fs::is_directory(status) && !fs::is_regular_file(status)) {
    throw UserError("'" + path + "' is not a regular file", "give the source file of the variant");
  }
  const bool is_object = fs::path(path).extension() == ".so";
  check_size(path, status, is_object ? kMaxObjectBytes : kMaxSourceBytes);
  const std::string text = given.empty() ? read_file(path) : given;
  const std::string absolute = fs::absolute(path).lexically_normal().string();
  if (fs::path(path).extension() == ".py" && !is_python(text)) {
    throw UserError(
        "'" + path + "' does not begin as Python does: with an import, a definition, a text, or '# apo:' lines",
        "begin it with 'import torch'");
  }
  const FileIdentity identity = identity_of(absolute, family);
  const std::string source = is_object ? ffi_block(text, path, identity.family, identity.name) : text;
  Read read = read_source(source, absolute, identity);
  const Variant& its = read.variant;
  std::vector<SourceFile> files = find_headers(source, absolute, its.family, roots, include_folders(its).all());
  if (!its.object.empty()) {
    files.push_back(is_object ? SourceFile{.name = its.object, .text = text, .path = absolute} : load_object(its));
    std::ranges::sort(files, {}, &SourceFile::name);
  }
  Variant variant = with_headers(std::move(read), std::move(files));
  if (!family.empty() && variant.family != family) {
    throw UserError("'" + path + "' is " + variant.id() + ", and not of family " + family,
                    "name its own family, or change its apo:variant line");
  }
  return variant;
}

}  // namespace apo
