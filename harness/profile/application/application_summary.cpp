// harness/profile/application/application_summary.cpp - merges processes, sorts by time and category, computes shares.
#include "harness/profile/application/application_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>

#include "harness/core/error.h"
#include "harness/core/pattern.h"
#include "harness/core/text.h"

namespace apo {
namespace {

constexpr std::size_t kMostSearched = 4096;

double share_of_total(std::int64_t part, std::int64_t total) {
  return total > 0 ? static_cast<double>(part) / static_cast<double>(total) : 0;
}

double ceiling_of(std::int64_t part, std::int64_t total) {
  return part < total ? static_cast<double>(total) / static_cast<double>(total - part)
                      : std::numeric_limits<double>::infinity();
}

void merge(GpuWork& into, const GpuWork& work) {
  into.min_ns = into.calls == 0 ? work.min_ns : std::min(into.min_ns, work.min_ns);
  into.max_ns = std::max(into.max_ns, work.max_ns);
  into.calls += work.calls;
  into.total_ns += work.total_ns;
  into.bytes += work.bytes;
}

void add_devices(ApplicationSummary& summary, const ProcessTimes& process) {
  for (const DeviceBusy& device : process.devices) {
    summary.span_ns += device.span_ns();
    summary.busy_ns += device.busy_ns;
    summary.longest_gap_ns = std::max(summary.longest_gap_ns, device.longest_gap_ns);
    for (std::size_t i = 0; i < summary.gaps.size(); ++i) {
      summary.gaps[i].count += device.gaps[i].count;
      summary.gaps[i].ns += device.gaps[i].ns;
    }
  }
}

// Sorts by time, then by name, so that a document is the same each time.
template <class Row, class Name>
void sort_by_time(std::vector<Row>& rows, const Name& key) {
  std::sort(rows.begin(), rows.end(), [&](const Row& a, const Row& b) { return key(a) < key(b); });
}

std::vector<CategoryRow> rows_of(const std::map<std::string, CategoryRow>& categories, std::int64_t total_ns) {
  std::vector<CategoryRow> rows;
  for (const auto& [name, category] : categories) {
    rows.push_back({.name = name,
                    .calls = category.calls,
                    .total_ns = category.total_ns,
                    .share = share_of_total(category.total_ns, total_ns),
                    .ceiling = ceiling_of(category.total_ns, total_ns)});
  }
  sort_by_time(rows, [](const CategoryRow& row) { return std::pair(-row.total_ns, row.name); });
  return rows;
}

void add_categories(ApplicationSummary& summary) {
  std::map<std::string, CategoryRow> categories;
  for (const WorkRow& row : summary.work) {
    categories[row.category].calls += row.work.calls;
    categories[row.category].total_ns += row.work.total_ns;
  }
  summary.categories = rows_of(categories, summary.total_ns);
}

// The ranges of one name within one other, of all processes.
struct RangeNode {
  std::map<std::string, RangeNode> within;
  std::int64_t entered = 0;
  std::int64_t calls = 0;  // with those within, once they are summed up
  std::int64_t own_ns = 0;
  std::int64_t total_ns = 0;
  std::map<std::string, CategoryRow> categories;
};

void add_ranges(RangeNode& root, const ProcessTimes& process, const Categories& categories) {
  std::vector<RangeNode*> nodes;  // of process.ranges; a parent comes before what is within it
  for (const NvtxRange& range : process.ranges) {
    RangeNode& parent = range.parent < 0 ? root : *nodes.at(static_cast<std::size_t>(range.parent));
    RangeNode& node = parent.within[range.name];
    nodes.push_back(&node);
    node.entered += range.entered;
    for (const RangeWork& one : range.work) {
      const GpuWork& work = process.work.at(one.work);
      CategoryRow& category =
          node.categories[categories.of(work.kind == WorkKind::kernel ? demangled(work.name) : work.name)];
      category.calls += one.calls;
      category.total_ns += one.total_ns;
      node.calls += one.calls;
      node.own_ns += one.total_ns;
    }
  }
}

void sum_up(RangeNode& node) {
  node.total_ns = node.own_ns;
  for (auto& [name, inner] : node.within) {
    sum_up(inner);
    node.calls += inner.calls;
    node.total_ns += inner.total_ns;
    for (const auto& [category, row] : inner.categories) {
      node.categories[category].calls += row.calls;
      node.categories[category].total_ns += row.total_ns;
    }
  }
}

void write_ranges(const RangeNode& node, const std::string& path, int depth, ApplicationSummary& summary) {
  std::vector<std::pair<std::string, const RangeNode*>> inner;
  for (const auto& [name, one] : node.within) {
    inner.emplace_back(name, &one);
  }
  sort_by_time(inner, [](const auto& one) { return std::pair(-one.second->total_ns, one.first); });
  for (const auto& [name, one] : inner) {
    const std::string its_path = path.empty() ? name : path + " / " + name;
    summary.ranges.push_back({.name = name,
                              .path = its_path,
                              .depth = depth,
                              .entered = one->entered,
                              .calls = one->calls,
                              .total_ns = one->total_ns,
                              .own_ns = one->own_ns,
                              .share = share_of_total(one->total_ns, summary.total_ns),
                              .categories = rows_of(one->categories, one->total_ns)});
    write_ranges(*one, its_path, depth + 1, summary);
  }
}

}  // namespace

NamePattern::NamePattern(const std::string& pattern) try : expression_(pattern, PatternCase::ignored) {
} catch (const PatternError& error) {
  throw UserError("'" + pattern + "' is no regular expression: " + error.what(),
                  "write an ECMAScript expression, for example \"gemm|cutlass\"");
}

bool NamePattern::found_in(std::string_view name) const {
  return expression_.found_in(name.substr(0, kMostSearched));
}

ApplicationSummary summarise(const ApplicationProfile& profile, const Categories& categories) {
  ApplicationSummary summary;
  std::map<std::pair<WorkKind, std::string>, GpuWork> merged;
  for (const ProcessTimes& process : profile.processes) {
    for (const GpuWork& work : process.work) {
      const std::string name = work.kind == WorkKind::kernel ? demangled(work.name) : work.name;
      merge(merged.try_emplace({work.kind, name}, GpuWork{.kind = work.kind, .name = name}).first->second, work);
      summary.total_ns += work.total_ns;
    }
    add_devices(summary, process);
  }
  for (auto& [key, work] : merged) {
    WorkRow row{.category = categories.of(work.name),
                .share = share_of_total(work.total_ns, summary.total_ns),
                .ceiling = ceiling_of(work.total_ns, summary.total_ns)};
    row.work = std::move(work);
    summary.work.push_back(std::move(row));
  }
  sort_by_time(summary.work,
               [](const WorkRow& row) { return std::tuple(-row.work.total_ns, row.work.kind, row.work.name); });
  add_categories(summary);
  RangeNode root;
  for (const ProcessTimes& process : profile.processes) {
    add_ranges(root, process, categories);
  }
  sum_up(root);
  write_ranges(root, "", 0, summary);
  return summary;
}

std::int64_t time_of(const ApplicationSummary& summary, const NamePattern& pattern) {
  std::int64_t found_ns = 0;
  for (const WorkRow& row : summary.work) {
    found_ns += pattern.found_in(row.work.name) ? row.work.total_ns : 0;
  }
  return found_ns;
}

double share_of(const ApplicationSummary& summary, const NamePattern& pattern) {
  return share_of_total(time_of(summary, pattern), std::max(summary.total_ns, summary.span_ns));
}

namespace {

using Json = nlohmann::json;

const std::string kOther = "other";

const std::string& text_of(const Json& rule, const char* key, std::size_t index, const std::string& where) {
  if (!rule.is_object() || !rule.contains(key) || !rule.at(key).is_string() || rule.at(key).empty() ||
      rule.at(key).get_ref<const std::string&>().empty()) {
    throw UserError(fmt::format("category {} has no text \"{}\" in {}", index + 1, key, where),
                    "write for example {\"name\": \"GEMM\", \"pattern\": \"gemm|cutlass\"}");
  }
  return rule.at(key).get_ref<const std::string&>();
}

}  // namespace

// Earlier rules are the more particular ones: a CUTLASS kernel of attention is attention.
Categories Categories::for_pytorch() {
  Categories categories;
  for (const auto& [name, pattern] :
       {std::pair{"E88", "e88"},
        {"communication", "nccl"},
        {"copies", "^memcpy|^memset|copy_kernel|direct_copy|CatArray"},
        {"attention", "flash|fmha|attention|attn"},
        {"GEMM", "gemm|gemv|cutlass|cublas|xmma|nvjet|ampere_|hopper_|sm[89][0-9]_|sm1[0-9][0-9]_"},
        {"convolution", "conv|cudnn|winograd"},
        {"normalisation", "layer_?norm|rms_?norm|batch_?norm|group_?norm"},
        {"optimizer", "multi_tensor|adam|optimizer"},
        {"softmax and loss", "softmax|nll_loss|cross_entropy"},
        {"reduction", "reduce|reduction"},
        {"indexing", "index|gather|scatter|embedding|sort|scan"},
        {"elementwise", "elementwise|vectorized|triton_poi"}}) {
    categories.rules_.push_back({name, NamePattern(pattern)});
  }
  return categories;
}

Categories Categories::from_json(const std::string& text, const std::string& where) {
  const Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded()) {
    throw UserError("'" + where + "' is not JSON");
  }
  if (!json.is_object() || !json.contains("categories") || !json.at("categories").is_array()) {
    throw UserError("'" + where + "' has no list \"categories\"",
                    "write {\"categories\": [{\"name\": \"GEMM\", \"pattern\": \"gemm|cutlass\"}]}");
  }
  Categories categories;
  for (const Json& rule : json.at("categories")) {
    const std::size_t index = categories.rules_.size();
    const std::string& name = text_of(rule, "name", index, "'" + where + "'");
    categories.rules_.push_back({name, NamePattern(text_of(rule, "pattern", index, "'" + where + "'"))});
  }
  return categories;
}

const std::string& Categories::of(std::string_view name) const {
  const auto found =
      std::find_if(rules_.begin(), rules_.end(), [&](const Rule& rule) { return rule.pattern.found_in(name); });
  return found == rules_.end() ? kOther : found->name;
}

}  // namespace apo
