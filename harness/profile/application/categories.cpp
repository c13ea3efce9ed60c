// harness/profile/application/categories.cpp - the rules that sort kernels by their names.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "harness/core/error.h"
#include "harness/profile/application/application_summary.h"

namespace apo {
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
