// harness/implement/variant/metadata_checks.cpp - clashing names, expressions, launches and the size of the settings
// space.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "harness/core/bare_source.h"
#include "harness/core/expression/expression.h"
#include "harness/core/pattern.h"
#include "harness/core/sources.h"
#include "harness/core/text.h"
#include "harness/implement/variant/args_header.h"
#include "harness/implement/variant/metadata.h"
#include "harness/implement/variant/settings.h"

namespace apo {
namespace {

const std::vector<std::string> kLaunchAttributes = {"grid",       "block",       "shared", "cluster",
                                                    "l2_persist", "cooperative", "when"};

// Without comments: the metadata block is one.
std::string code_of(const Variant& variant, const SourceFile& file) {
  std::string code;
  for (const std::string& line : split(bare_source(file.text, is_python(variant.source)), '\n')) {
    code += line.find("apo:") == std::string::npos ? line + "\n" : "";
  }
  return code;
}

class Checker {
 public:
  Checker(const Variant& variant, const Family& family, const std::vector<BlockLine>& block, const std::string& path)
      : variant_(variant), family_(family), block_(block), path_(path), symbols_(symbol_names(family, variant)) {}

  void check() const {
    check_names();
    check_space();
    std::size_t conditions = 0;
    for (const BlockLine& line : block_) {
      if (line.key == "requires") {
        check_expression_of("requires", conditions++, line.value, symbols_);
      }
    }
    for (std::size_t i = 0; i < variant_.scratch.size(); ++i) {
      check_expression_of("scratch", i, variant_.scratch[i].bytes, symbols_);
      check_when("scratch", i, variant_.scratch[i].when);
    }
    if (is_python(variant_.source)) {
      check_python();
      return;
    }
    for (const TunedFlag& flag : variant_.tuned_flags) {
      check_when("flags", 0, flag.when);
      for (const std::string& name : tunables_in(flag)) {
        check_when("flags", 0, name);
      }
    }
    check_form();
    for (std::size_t i = 0; i < variant_.launches.size(); ++i) {
      check_launch(variant_.launches[i], i);
    }
  }

 private:
  // The line of the index-th `key`; tunables are the lines apo:tune and apo:toggle.
  int line_of(std::string_view key, std::size_t index = 0) const {
    for (const BlockLine& line : block_) {
      const bool is_tunable = line.key == "tune" || line.key == "toggle";
      if ((line.key == key || (key == "tunable" && is_tunable)) && index-- == 0) {
        return line.number;
      }
    }
    return block_.empty() ? 1 : block_.front().number;
  }
  [[noreturn]] void fail(std::string_view key, std::size_t index, const std::string& what,
                         const std::string& hint) const {
    block_error(path_, line_of(key, index), what, hint);
  }

  void check_expression_of(std::string_view key, std::size_t index, std::string_view expression,
                           const std::vector<std::string>& names) const {
    if (const std::string why = check_expression(expression, names); !why.empty()) {
      fail(key, index, "apo:" + std::string(key) + ": " + why,
           "use integers, the known symbols, + - * / % comparisons && || ! ?: min max ceil_div next_pow2");
    }
  }

  // A build has to know all buffers and kernels.
  void check_when(std::string_view key, std::size_t index, const std::string& expression) const {
    std::vector<std::string> names;
    for (const Tunable& tunable : variant_.tunables) {
      names.push_back(tunable.name);
    }
    if (!expression.empty()) {
      check_expression_of(key, index, expression, names);
    }
  }

  // Tunables become constants and scratch buffers become fields of the generated header.
  void check_names() const {
    std::set<std::string, std::less<>> taken = {"min",       "max",        "ceil_div",
                                                "next_pow2", "APO_EXPORT", variant_.family + "_args"};
    taken.insert(device_fact_names().begin(), device_fact_names().end());
    for (const AxisSpec& axis : family_.axes) {
      taken.insert({axis.name, "k" + axis.name});
    }
    for (const TensorSpec& tensor : family_.tensors) {
      taken.insert(tensor.name);
    }
    for (std::size_t i = 0; i < variant_.tunables.size(); ++i) {
      check_name("tunable", i, variant_.tunables[i].name, taken);
      check_toggle(variant_.tunables[i], i);
    }
    for (std::size_t i = 0; i < variant_.scratch.size(); ++i) {
      check_name("scratch", i, variant_.scratch[i].name, taken);
    }
  }
  void check_name(std::string_view key, std::size_t index, const std::string& name,
                  std::set<std::string, std::less<>>& taken) const {
    if (!is_short_name(name) || is_cpp_keyword(name) || name.front() == '_' || name.find("__") != std::string::npos) {
      fail(key, index, "'" + name + "' cannot name a constant or a field in C++",
           "use letters, digits and '_', no leading '_', no keyword");
    }
    if (!taken.insert(name).second) {
      fail(key, index, "the name '" + name + "' is already taken",
           "choose one that is no axis, tensor, device fact, function or other line of the block");
    }
  }

  // A toggle that nothing reads would be judged as the technique that it names.
  void check_toggle(const Tunable& tunable, std::size_t index) const {
    if (!tunable.technique.empty() && !is_read(variant_, tunable.name)) {
      fail("tunable", index, "no line reads the toggle '" + tunable.name + "'",
           "switch '" + tunable.technique + "' by 'if constexpr (" + tunable.name + ")' or '#if " + tunable.name +
               "', or in an apo:launch line");
    }
  }

  void check_space() const {
    std::int64_t count = 1;
    for (std::size_t i = 0; i < variant_.tunables.size(); ++i) {
      count *= static_cast<std::int64_t>(variant_.tunables[i].values.size());
      if (count > kMaxConfigurations) {
        fail("tunable", i, fmt::format("the tunables give more than {} configurations", kMaxConfigurations),
             "list fewer values");
      }
    }
  }

  // Workloads and configurations cannot reach compiled code.
  void check_object() const {
    for (const auto& [key, lines] : {std::pair{"tunable", variant_.tunables.size()},
                                     {"scratch", variant_.scratch.size()},
                                     {"launch", variant_.launches.size()},
                                     {"link", variant_.libraries.size()},
                                     {"include", variant_.includes.size()},
                                     {"flags", variant_.flags.size() + variant_.tuned_flags.size()},
                                     {"function", has_function() ? std::size_t{1} : 0}}) {
      if (lines > 0) {
        fail(key, 0, fmt::format("an apo:{} line excludes this one", is_recorded(variant_) ? "record" : "ffi"),
             "the object gets the tensors and scalars of the contract and nothing else");
      }
    }
  }

  // Variant::function is that of a shared object too.
  bool has_function() const { return std::ranges::find(block_, "function", &BlockLine::key) != block_.end(); }

  void check_form() const {
    if (!variant_.object.empty()) {
      check_object();
    }
    const bool device = is_device_variant(variant_);
    if (!device && !variant_.launches.empty()) {
      fail("launch", 0, "a host variant has no kernels to launch", "remove the apo:launch lines");
    }
    if (device && has_function()) {
      fail("function", 0, "an apo:launch line excludes this one",
           "leave one of the two out: either apo launches the "
           "kernels, or the function does");
    }
    if ((device || variant_.target == Target::host) && !variant_.libraries.empty()) {
      fail("link", 0, "only host code on target cuda is linked with libraries of the toolkit",
           "remove the apo:link lines" + std::string(device ? ", or the apo:launch lines" : ""));
    }
  }

  // The file launches what it likes.
  void check_python() const {
    if (variant_.target != Target::cuda) {
      fail("target", 0, "a Python file is called on target cuda, and recorded there", "remove the apo:target line");
    }
    for (const auto& [key, given] : {std::pair{"link", !variant_.libraries.empty()},
                                     {"include", !variant_.includes.empty()},
                                     {"flags", !variant_.flags.empty() || !variant_.tuned_flags.empty()},
                                     {"scratch", !variant_.scratch.empty()},
                                     {"launch", !variant_.launches.empty()},
                                     {"ffi", !variant_.object.empty()}}) {
      if (given) {
        fail(key, 0, std::string("a Python file takes no apo:") + key,
             "remove the line: a function of the file allocates and launches, such as '" + variant_.family + "'");
      }
    }
  }

  void check_launch(const Launch& launch, std::size_t index) const {
    if (!is_identifier(launch.kernel)) {
      fail("launch", index, "'" + launch.kernel + "' is not the name of a kernel",
           "write '// apo:launch KERNEL grid=... block=...'");
    }
    for (const auto& [name, expression] : launch.attributes) {
      check_attribute(name, expression, index);
    }
    check_has(launch, index, {"grid", "block"});
  }
  void check_has(const Launch& launch, std::size_t index, std::initializer_list<const char*> needed) const {
    for (const char* name : needed) {
      if (!launch.attributes.contains(name)) {
        fail("launch", index, "the launch of '" + launch.kernel + "' has no " + name,
             std::string("add ") + name + "=EXPRESSION");
      }
    }
  }
  void check_expressions(std::size_t index, const std::string& name, const std::string& text, std::size_t most,
                         const std::vector<std::string>& names) const {
    const std::vector<std::string> parts = split_expressions(text);
    if (parts.size() > most) {
      fail("launch", index, "too many expressions in " + name + "=" + text,
           most == 3 ? "at most three: x,y,z" : "give one");
    }
    for (const std::string& part : parts) {
      check_expression_of("launch", index, part, names);
    }
  }
  void check_attribute(const std::string& name, const std::string& expression, std::size_t index) const {
    if (std::find(kLaunchAttributes.begin(), kLaunchAttributes.end(), name) == kLaunchAttributes.end()) {
      const std::string guess = did_you_mean(name, kLaunchAttributes);
      fail("launch", index, "unknown launch attribute '" + name + "'",
           guess.empty() ? "the attributes: " + join(kLaunchAttributes, ", ") : guess);
    }
    if (name == "when") {
      check_when("launch", index, expression);
      return;
    }
    const bool dimensions = name == "grid" || name == "block" || name == "cluster";
    check_expressions(index, name, expression, dimensions ? 3 : 1, symbols_);
  }

  const Variant& variant_;
  const Family& family_;
  const std::vector<BlockLine>& block_;
  const std::string& path_;
  std::vector<std::string> symbols_;
};

}  // namespace

bool is_read(const Variant& variant, const std::string& tunable) {
  const auto reads = [&](const std::string& text) { return has_word(text, tunable); };
  return std::ranges::any_of(all_sources(variant),
                             [&](const SourceFile& file) { return reads(code_of(variant, file)); }) ||
         std::ranges::any_of(variant.tuned_flags,
                             [&](const TunedFlag& flag) { return reads(flag.text) || reads(flag.when); }) ||
         std::ranges::any_of(variant.arguments, [&](const auto& one) { return reads(one.second); }) ||
         std::ranges::any_of(variant.launches, [&](const Launch& launch) {
           return std::ranges::any_of(launch.attributes, [&](const auto& one) { return reads(one.second); });
         });
}

void check_metadata(const Variant& variant, const Family& family, const std::vector<BlockLine>& block,
                    const std::string& path) {
  Checker(variant, family, block, path).check();
}

}  // namespace apo
