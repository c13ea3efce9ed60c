// harness/loop/export/dispatch_header.cpp - rows become constexpr functions; all text of the journal goes through
// cpp_literal.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <functional>

#include "harness/core/error.h"
#include "harness/core/expression/expression.h"
#include "harness/core/system/machine.h"
#include "harness/core/text.h"
#include "harness/implement/variant/args_header.h"
#include "harness/implement/variant/expression_cpp.h"
#include "harness/implement/variant/settings.h"
#include "harness/loop/export/dispatch_document.h"
#include "harness/loop/export/dispatch_header_text.h"

namespace apo {
namespace {

std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::toupper(letter)); });
  return text;
}

// Never "inf" or "nan", which are no C++.
std::string number_text(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.17g", std::isfinite(value) ? value : 0.0);
  const std::string result = text;
  return result.find_first_of(".e") == std::string::npos ? result + ".0" : result;
}

// Comments end at the end of the line, and a backslash would carry them on.
std::string comment(const std::string& text) {
  std::string result = text;
  std::replace_if(
      result.begin(), result.end(),
      [](char letter) { return letter < ' ' || letter > '~' || letter == '\\' || letter == '?'; }, ' ');
  return result;
}

std::string indexed(const std::string& name, std::size_t index) {
  return fmt::format("{}_{}", name, index);
}

std::size_t most_of(const DispatchTable& table, const std::function<std::size_t(const DispatchRow&)>& count) {
  std::size_t most = 1;  // std::array of none is awkward
  for (const DispatchRow* row : all_rows(table)) {
    most = std::max(most, count(*row));
  }
  return most;
}

std::string axes_text(const Family& family) {
  std::string text = "// The sizes of one call.\nstruct Axes {\n";
  std::string legal = "constexpr bool legal(const Axes& axes) {\n  return ";
  std::string describe;
  for (const AxisSpec& axis : family.axes) {
    text +=
        fmt::format("  std::int64_t {} = 0;  // {}, {}..{}\n", axis.name, comment(axis.meaning), axis.min, axis.max);
    legal += axis.name == family.axes.front().name ? "" : " &&\n         ";
    legal += fmt::format("axes.{0} >= {1} && axes.{0} <= {2}", axis.name, axis.min, axis.max);
    describe += (describe.empty() ? "\"" : " + \" ") + axis.name + "=\" + std::to_string(axes." + axis.name + ")";
  }
  return text + "};\n\nnamespace detail {\n" + legal + ";\n}\n#if defined(__cpp_exceptions)\n" +
         "inline std::string describe(const Axes& axes) {\n  return " + describe +
         ";\n}\n#endif\n}  // namespace detail\n";
}

std::string speedup_text(double ratio, double lower, double upper, int rounds, const Configuration& over,
                         CachePolicy cache) {
  return "Speedup{" + number_text(ratio) + ", " + number_text(lower) + ", " + number_text(upper) + ", " +
         std::to_string(rounds) + ", " + cpp_literal(over.label()) + ", " + cpp_literal(std::string(to_string(cache))) +
         "}";
}

std::string certified_text(const std::vector<Certification>& all) {
  std::vector<std::string> items;
  // The newest of each cache policy: Evidence has room for two.
  for (const CachePolicy cache : {CachePolicy::cold, CachePolicy::warm}) {
    const auto found =
        std::find_if(all.rbegin(), all.rend(), [&](const Certification& one) { return one.cache_policy == cache; });
    if (found != all.rend()) {
      const QuotedEffect quoted = found->quoted();
      items.push_back(speedup_text(std::exp(quoted.effect), std::exp(quoted.lower), std::exp(quoted.upper),
                                   found->clock_coupled() ? found->clock->blocks : found->rounds, found->baseline,
                                   found->cache_policy));
    }
  }
  return "Some<Speedup, 2>{{{" + join(items, ", ") + "}}, " + std::to_string(items.size()) + "}";
}

std::string evidence_text(const DispatchRow& row, std::size_t index) {
  if (!row.measured) {
    return "detail::unmeasured(" + cpp_literal(statement_of(row)) + ")";
  }
  const DispatchEvidence& evidence = *row.measured;
  const Judgement& judgement = evidence.judgement;
  const Ratio ratio = ratio_of(evidence);
  const std::string list = evidence.workloads.empty() ? "List{}"
                                                      : "List{" + indexed("detail::kWorkloads", index) + ", " +
                                                            std::to_string(evidence.workloads.size()) + "}";
  std::string text = "Evidence{true, " + cpp_literal(statement_of(row)) + ", " + std::to_string(evidence.experiment) +
                     ", " + std::to_string(evidence.campaign) + ",\n     " +
                     speedup_text(ratio.middle, ratio.lower, ratio.upper, judgement.rounds, evidence.other,
                                  judgement.cache_policy.value_or(CachePolicy::cold)) +
                     ",\n     " + certified_text(evidence.certifications) + ",\n     " + list;
  for (const std::string& word :
       {evidence.machine.model, evidence.machine.id, evidence.machine.driver, evidence.build.toolchain.version,
        join(evidence.build.flags, " "), evidence.build.code_hash, judgement.rule_version, evidence.since}) {
    text += ",\n     " + cpp_literal(word);
  }
  return text + "}";
}

// The arrays that a row points to.
std::string arrays_text(const DispatchRow& row, std::size_t index) {
  std::string text;
  if (!row.settings.empty()) {
    std::vector<std::string> values;
    for (const auto& [name, value] : row.settings) {
      values.push_back("{" + cpp_literal(name) + ", " + std::to_string(value) + "}");
    }
    text += "inline constexpr Value " + indexed("kSettings", index) + "[] = {" + join(values, ", ") + "};\n";
  }
  if (row.measured && !row.measured->workloads.empty()) {
    std::vector<std::string> names;
    for (const std::string& name : row.measured->workloads) {
      names.push_back(cpp_literal(name));
    }
    text += "inline constexpr std::string_view " + indexed("kWorkloads", index) + "[] = {" + join(names, ", ") + "};\n";
  }
  return text;
}

std::string region_text(const DispatchRow& row) {
  const std::string& needs = row.variant.requires_expression;
  return needs.empty() ? row.region : "(" + row.region + ") && (" + needs + ")";
}

std::string row_text(const DispatchRow& row, std::size_t index) {
  const std::string settings = row.settings.empty() ? "nullptr" : indexed("detail::kSettings", index);
  std::string text = "    {" + cpp_literal(row.variant.id()) + ", " + cpp_literal(row.workload_class) + ",\n     " +
                     cpp_literal(region_text(row)) + ",\n     " + cpp_literal(row.devices) + ", " + settings + ", " +
                     std::to_string(row.settings.size()) + ",\n     ";
  for (const std::string& word : {source_file(row), row.variant.source_hash, source_folder(row)}) {
    text += cpp_literal(word) + ", ";
  }
  return text + "\n     " + evidence_text(row, index) + ",\n     " + indexed("detail::serves", index) + ", " +
         indexed("detail::plan", index) + "},\n";
}

std::string device_text(const Machine& machine) {
  const DeviceFacts facts = device_facts(machine);
  std::string text = "    {" + cpp_literal(machine.id) + ", " + cpp_literal(machine.model);
  for (const std::int64_t value : {std::int64_t{10} * facts.major + facts.minor, std::int64_t{facts.sms},
                                   facts.shared_per_block, std::int64_t{facts.threads_per_block}}) {
    text += fmt::format(", {}", value);
  }
  return text + "},\n";
}

std::string limits_text(const DispatchTable& table) {
  const auto line = [](const std::string& name, std::size_t value) {
    return fmt::format("inline constexpr std::size_t {} = {};\n", name, value);
  };
  return line("kMostLaunches", most_of(table, [](const DispatchRow& row) { return row.variant.launches.size(); })) +
         line("kMostScratch", most_of(table, [](const DispatchRow& row) { return row.variant.scratch.size(); })) +
         line("kMostConstants", most_of(table, [&](const DispatchRow& row) {
                return constant_names(*table.family, row.variant).size();
              }));
}

// ---------------------------------------------------------------- the functions of a row

// Writes serves_<index>(axes, device), which tests the row's conditions, and plan_<index>(axes, device), which returns
// its launches, scratch and constants. Throws UserError naming the variant for an expression that does not parse.
class RowFunctions {
 public:
  RowFunctions(const Family& family, const DispatchRow& row, std::size_t index)
      : family_(family), row_(row), index_(std::to_string(index)) {}

  std::string text() const { return serves() + plan(); }

 private:
  std::string number(const std::string& expression) const {
    std::vector<std::string> names = symbol_names(family_, row_.variant);
    names.emplace_back(kCapability);
    if (const std::string why = check_expression(expression, names); !why.empty()) {
      throw UserError(row_.variant.id() + " cannot be exported: " + why, "its source in the journal is damaged");
    }
    return to_cpp(expression, [&](std::string_view name) { return symbol(name); });
  }

  std::string symbol(std::string_view name) const {
    if (const auto found = row_.settings.find(name); found != row_.settings.end()) {
      return fmt::format("number({})", found->second);
    }
    const auto axis =
        std::find_if(family_.axes.begin(), family_.axes.end(), [&](const AxisSpec& one) { return one.name == name; });
    if (axis != family_.axes.end()) {
      return "number(axes." + axis->name + ")";
    }
    const std::string fact = name == kCapability    ? std::string(name)
                             : name == "SMS"        ? "sms"
                             : name == "SHARED_MAX" ? "shared_max"
                                                    : "max_threads";
    return "number(device." + fact + ")";
  }

  std::string serves() const {
    std::string text =
        "constexpr bool serves_" + index_ + "(const Axes& axes, [[maybe_unused]] const Device& device) {\n";
    text += "  return legal(axes) && holds(" + number(row_.devices) + ") && holds(" + number(row_.region) + ")";
    if (!row_.variant.requires_expression.empty()) {
      text += " &&\n         holds(" + number(row_.variant.requires_expression) + ")";
    }
    return text + ";\n}\n";
  }

  std::string sizes(const Launch& launch, const std::string& name) const {
    const auto found = launch.attributes.find(name);
    if (found == launch.attributes.end()) {
      return "";
    }
    std::vector<std::string> parts = split_expressions(found->second);
    if (parts.size() > 3) {
      throw UserError(row_.variant.id() + " cannot be exported: " + name + "=" + found->second + " has over 3 sizes");
    }
    std::string text = "    launch." + name + " = {{";
    for (std::string& part : parts) {
      part = "take(" + number(part) + ", plan.valid)";
    }
    parts.resize(3, "1");
    return text + join(parts, ", ") + "}};\n";
  }

  std::string attribute(const Launch& launch, const std::string& name, const std::string& field) const {
    const auto found = launch.attributes.find(name);
    return found == launch.attributes.end()
               ? ""
               : "    launch." + field + " = take(" + number(found->second) + ", plan.valid);\n";
  }

  std::string launch_text(const Launch& launch) const {
    std::string text = "  {\n    Launch launch;\n    launch.kernel = " + cpp_literal(launch.kernel) + ";\n";
    text += sizes(launch, "grid") + sizes(launch, "block") + sizes(launch, "cluster");
    text += attribute(launch, "shared", "shared_bytes") + attribute(launch, "l2_persist", "l2_persist");
    if (const auto found = launch.attributes.find("cooperative"); found != launch.attributes.end()) {
      text += "    const std::int64_t cooperative = take(" + number(found->second) + ", plan.valid);\n";
      text += "    plan.valid = plan.valid && within(cooperative, 0, 1);\n    launch.cooperative = cooperative != 0;\n";
    }
    const std::size_t pointers = arguments_of(family_).size() + row_.variant.scratch.size();
    text += fmt::format("    plan.valid = plan.valid && fits(launch, device, {}, {});\n", row_.static_shared_bytes,
                        pointers);
    return text + "    plan.launches.add(launch);\n  }\n";
  }

  std::string plan() const {
    std::string text = "constexpr Plan plan_" + index_ +
                       "([[maybe_unused]] const Axes& axes, [[maybe_unused]] const Device& device) {\n  Plan plan;\n" +
                       "  plan.valid = true;\n";
    for (const Launch& launch : row_.variant.launches) {
      text += launch_text(launch);
    }
    for (const ScratchBuffer& buffer : row_.variant.scratch) {
      text += "  plan.scratch.add({" + cpp_literal(buffer.name) + ", take(" + number(buffer.bytes) +
              ", plan.valid)});\n  plan.valid = plan.valid && plan.scratch[plan.scratch.count - 1].value >= 0;\n";
    }
    for (const AxisSpec& axis : family_.axes) {
      if (axis.specialised) {
        text += "  plan.constants.add({" + cpp_literal("k" + axis.name) + ", axes." + axis.name + "});\n";
      }
    }
    for (const auto& [name, value] : row_.settings) {
      text += "  plan.constants.add({" + cpp_literal(name) + ", " + std::to_string(value) + "});\n";
    }
    return text + "  return plan;\n}\n";
  }

  static constexpr std::string_view kCapability = "compute_capability";
  const Family& family_;
  const DispatchRow& row_;
  std::string index_;
};

// ---------------------------------------------------------------- the header

std::string beginning(const Family& family) {
  const std::string guard = "APO_DISPATCH_" + upper(family.name) + "_H";
  return "// " + dispatch_header_name(family) +
         " - which kernel serves which sizes, with the evidence; written by 'apo export --dispatch': do not edit.\n//\n"
         "//   const auto& choice = apo_dispatch::" +
         family.name +
         "::choose(axes);        // throws for sizes that nothing supports; find() gives nullptr\n"
         "//   const auto plan = choice.plan(axes, device);               // launches, scratch bytes, constants\n"
         "#ifndef " +
         guard + "\n#define " + guard +
         "\n\n#include <array>\n#include <cstddef>\n#include <cstdint>\n#include <string_view>\n"
         "#if defined(__cpp_exceptions)\n#include <stdexcept>\n#include <string>\n#endif\n\nnamespace apo_dispatch::" +
         family.name + " {\n\ninline constexpr std::string_view kFamily = " + cpp_literal(family.name) + ";\n";
}

}  // namespace

std::string dispatch_header_name(const Family& family) {
  return family.name + "_dispatch.h";
}

std::string dispatch_header(const DispatchTable& table) {
  const Family& family = *table.family;
  const auto bad = std::find_if(family.axes.begin(), family.axes.end(),
                                [](const AxisSpec& axis) { return !is_identifier(axis.name); });
  if (!is_identifier(family.name) || bad != family.axes.end()) {
    throw UserError("family '" + family.name + "' cannot be exported: its name and axes have to be C++ identifiers");
  }
  std::string functions;
  std::string arrays;
  std::string rows;
  std::string devices;
  std::size_t index = 0;
  for (const DispatchRow* row : all_rows(table)) {
    functions += RowFunctions(family, *row, index).text();
    arrays += arrays_text(*row, index);
    rows += row_text(*row, index);
    ++index;
  }
  for (const DispatchDevice& device : table.devices) {
    devices += device_text(device.machine);
  }
  const std::string unmeasured =
      "constexpr Evidence unmeasured(std::string_view statement) {\n  Evidence evidence;\n"
      "  evidence.statement = statement;\n  return evidence;\n}\n";
  const std::string default_device = table.devices.empty()       ? " = {}"  // a CPU
                                     : table.devices.size() == 1 ? " = kDevices[0]"
                                                                 : "";
  return beginning(family) + limits_text(table) + "\n" + axes_text(family) + kDispatchTypes + "namespace detail {\n" +
         std::string(cpp_arithmetic()) + kDispatchFits + unmeasured + "\n" + functions + arrays +
         "}  // namespace detail\n\ninline constexpr std::size_t kDeviceCount = " +
         std::to_string(table.devices.size()) + ";\ninline constexpr std::array<Device, kDeviceCount> kDevices = {{\n" +
         devices + "}};\n\ninline constexpr Choice kTable[] = {\n" + rows +
         "};\ninline constexpr std::size_t kRowCount = " + std::to_string(index) + ";\n" +
         replace_all(kDispatchSearch, "@DEFAULT@", default_device) + "\n}  // namespace apo_dispatch::" + family.name +
         "\n\n#endif\n";
}

}  // namespace apo
