// harness/loop/export/dispatch_functions.cpp - translates every expression of a row with expression_cpp.h.
#include "harness/loop/export/dispatch_functions.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/core/error.h"
#include "harness/core/expression/expression.h"
#include "harness/core/text.h"
#include "harness/implement/variant/expression_cpp.h"
#include "harness/implement/variant/settings.h"

namespace apo {
namespace {

class RowFunctions {
 public:
  RowFunctions(const Family& family, const DispatchRow& row, std::size_t index)
      : family_(family), row_(row), index_(std::to_string(index)) {}

  std::string text() const { return serves() + plan(); }

 private:
  std::string number(const std::string& expression) const {
    if (const std::string why = check_expression(expression, symbol_names(family_, row_.variant)); !why.empty()) {
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
    const std::string fact = name == "SMS" ? "sms" : name == "SHARED_MAX" ? "shared_max" : "max_threads";
    return "number(device." + fact + ")";
  }

  std::string serves() const {
    std::string text =
        "constexpr bool serves_" + index_ + "(const Axes& axes, [[maybe_unused]] const Device& device) {\n";
    text += "  return legal(axes) && holds(" + number(row_.region) + ")";
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
    const std::size_t pointers = family_.tensors.size() + row_.variant.scratch.size();
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

  const Family& family_;
  const DispatchRow& row_;
  std::string index_;
};

}  // namespace

std::string dispatch_functions(const Family& family, const DispatchRow& row, std::size_t index) {
  return RowFunctions(family, row, index).text();
}

}  // namespace apo
