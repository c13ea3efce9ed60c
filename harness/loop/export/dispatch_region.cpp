// harness/loop/export/dispatch_region.cpp - the sizes that a row of a dispatch table serves.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <iterator>

#include "harness/core/expression/expression.h"
#include "harness/core/text.h"
#include "harness/loop/export/dispatch.h"
#include "harness/loop/workspace/chosen_workload.h"

namespace apo {
namespace {

// "(N == 32 && V == 32)" for every one of the workloads.
std::string exact_sizes(const Family& family, const std::vector<std::string>& workloads) {
  std::vector<std::string> sizes;
  for (const std::string& name : workloads) {
    const Workload* workload = find_workload(family, name);
    if (workload == nullptr) {
      continue;  // measured when the family still had it
    }
    std::vector<std::string> terms;
    for (const auto& [axis, value] : workload->axes) {
      terms.push_back(fmt::format("{} == {}", axis, value));
    }
    sizes.push_back("(" + join(terms, " && ") + ")");
  }
  return join(sizes, " || ");
}

bool is_part_of_a_name(char letter) {
  return letter == '_' || std::isalnum(static_cast<unsigned char>(letter)) != 0;
}

// What was verified: every small and ragged workload, and what was measured.
std::vector<const Workload*> verified_workloads(const Family& family, const std::vector<std::string>& measured) {
  std::vector<const Workload*> verified;
  for (const Workload& workload : family.workloads) {
    if (is_small(workload) || std::ranges::find(measured, workload.name) != measured.end()) {
      verified.push_back(&workload);
    }
  }
  return verified;
}

// "B*T*H*N" of "[B,T,H,N]"; "" where the text is none that can be computed, or says something else.
std::string elements_expression(const TensorSpec& tensor, const std::vector<const Workload*>& verified) {
  if (tensor.shape_text.size() < 2) {
    return "";
  }
  std::string product;
  for (const std::string& extent : split_expressions(tensor.shape_text.substr(1, tensor.shape_text.size() - 2))) {
    const bool plain = std::ranges::all_of(extent, is_part_of_a_name);
    product += (product.empty() ? "" : "*") + (plain ? extent : "(" + extent + ")");
  }
  try {
    const bool same = std::ranges::all_of(verified, [&](const Workload* one) {
      return evaluate(product, one->axes) == element_count(tensor, one->axes);
    });
    return same ? product : "";
  } catch (const ExpressionError&) {
    return "";
  }
}

// "B*T*H*N <= 43515904" for every tensor that would have more elements than in any verified shape where all axes are at
// their largest.
std::vector<std::string> verified_elements(const Family& family, const std::string& workload_class,
                                           const std::vector<const Workload*>& verified) {
  const auto most_of = [&](const std::string& axis, bool of_class) {
    std::int64_t most = 0;
    for (const Workload* one : verified) {
      most = !of_class || one->workload_class == workload_class ? std::max(most, one->axes.at(axis)) : most;
    }
    return most;
  };
  // What an axis that was verified to its end may be, the class says, if anything.
  Axes largest;
  for (const AxisSpec& axis : family.axes) {
    const std::int64_t most = most_of(axis.name, false);
    largest[axis.name] = most < axis.max ? most : std::max(axis.min, most_of(axis.name, true));
  }
  std::vector<std::string> terms;
  for (const TensorSpec& tensor : family.tensors) {
    std::int64_t most = 0;
    for (const Workload* one : verified) {
      most = std::max(most, element_count(tensor, one->axes));
    }
    const std::string expression =
        element_count(tensor, largest) > most ? elements_expression(tensor, verified) : std::string();
    const std::string term = fmt::format("{} <= {}", expression, most);
    if (!expression.empty() && std::ranges::find(terms, term) == terms.end()) {
      terms.push_back(term);
    }
  }
  return terms;
}

// "B <= 16 && T <= 512": no axis beyond what was verified, and no tensor with more elements.
std::string verified_sizes(const Family& family, const std::string& workload_class,
                           const std::vector<std::string>& measured) {
  const std::vector<const Workload*> verified = verified_workloads(family, measured);
  std::vector<std::string> terms;
  for (const AxisSpec& axis : family.axes) {
    std::int64_t most = axis.min;
    for (const Workload* workload : verified) {
      most = std::max(most, workload->axes.at(axis.name));
    }
    if (most < axis.max) {
      terms.push_back(fmt::format("{} <= {}", axis.name, most));
    }
  }
  std::ranges::move(verified_elements(family, workload_class, verified), std::back_inserter(terms));
  return join(terms, " && ");
}

// None where nothing says which sizes are of the class.
const WorkloadClass* class_with_sizes(const Family& family, const std::string& workload_class) {
  const auto found = std::ranges::find(family.classes, workload_class, &WorkloadClass::name);
  return family.legal.empty() || found == family.classes.end() ? nullptr : &*found;
}

std::vector<const Workload*> measured_workloads(const Family& family, const DispatchRow& row) {
  std::vector<const Workload*> workloads;
  for (const std::string& name : row.measured->workloads) {
    if (const Workload* workload = find_workload(family, name)) {
      workloads.push_back(workload);
    }
  }
  return workloads;
}

// One of the row's workloads is nearer than every one of the other's.
std::string nearer_row(const Family& family, const DispatchRow& row, const DispatchRow& other) {
  std::vector<std::string> any;
  for (const Workload* own : measured_workloads(family, row)) {
    std::vector<std::string> all;
    for (const Workload* its : measured_workloads(family, other)) {
      all.push_back(nearer_condition(family, own->axes, its->axes));
    }
    any.push_back(join(all, " && "));
  }
  return join(any, " || ");
}

// The expression with the values of its tunables, which another row does not know.
std::string with_settings(std::string_view expression, const Settings& settings) {
  std::string text;
  while (!expression.empty()) {
    const auto end = std::ranges::find_if_not(expression, is_part_of_a_name);
    const std::string word(expression.begin(), end);
    const auto found = settings.find(word);
    text += found == settings.end() ? word : std::to_string(found->second);
    expression.remove_prefix(word.size());
    if (!expression.empty()) {
      text += expression.front();
      expression.remove_prefix(1);
    }
  }
  return text;
}

// What the row asks beyond its class: the verified sizes, and what its variant requires.
std::string limits_of(const Family& family, const DispatchRow& row) {
  std::vector<std::string> terms;
  if (const std::string verified = verified_sizes(family, row.workload_class, row.measured->workloads);
      !row.unchecked && !verified.empty()) {
    terms.push_back(verified);
  }
  if (!row.variant.requires_expression.empty()) {
    terms.push_back("(" + with_settings(row.variant.requires_expression, row.settings) + ")");
  }
  return join(terms, " && ");
}

}  // namespace

Region region_of(const Family& family, const std::string& workload_class, const std::vector<std::string>& workloads,
                 bool unchecked) {
  const WorkloadClass* found = class_with_sizes(family, workload_class);
  if (found == nullptr) {
    return {.expression = exact_sizes(family, workloads)};
  }
  std::vector<std::string> terms = {"(" + found->condition + ")"};
  if (family.legal != "1") {
    terms.push_back("(" + family.legal + ")");
  }
  const std::string verified = verified_sizes(family, workload_class, workloads);
  if (!unchecked && !verified.empty()) {
    terms.push_back(verified);
  }
  return {.expression = join(terms, " && "), .unchecked = unchecked && !verified.empty()};
}

void leave_sizes_to_nearer_rows(const Family& family, std::vector<DispatchRow>& rows) {
  if (rows.empty() || class_with_sizes(family, rows.front().workload_class) == nullptr) {
    return;  // they serve their workloads alone
  }
  for (std::size_t row = 0; row < rows.size(); ++row) {
    for (std::size_t later = row + 1; later < rows.size(); ++later) {
      const std::string limits = limits_of(family, rows[later]);
      const std::string nearer = nearer_row(family, rows[row], rows[later]);
      rows[row].region += limits.empty() ? " && (" + nearer + ")" : " && (!(" + limits + ") || " + nearer + ")";
    }
  }
}

}  // namespace apo
