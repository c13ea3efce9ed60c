// harness/exchange/family_document.cpp - writes axes, tensors, scalars and workloads one after the other.
#include <algorithm>

#include "harness/core/json/records_json.h"
#include "harness/core/words.h"
#include "harness/exchange/exchange.h"
#include "harness/families/known_families.h"

namespace apo {

APO_WORDS(DistributionKind, distribution_kind_from, normal, uniform, positive, probability, mask, index, function)

namespace {

using Document = nlohmann::ordered_json;

Document axis_document(const AxisSpec& record, const FamilyFile* file) {
  Document document = APO_DOCUMENT(name, meaning, min, max, specialised);
  const bool has_default = file != nullptr && file->axis_defaults.contains(record.name);
  document["default"] = has_default ? Document(file->axis_defaults.at(record.name)) : Document();
  return document;
}

Document draw_document(const Distribution& record) {
  return APO_DOCUMENT(kind, first, second, largest);
}

Document tensor_document(const TensorSpec& tensor, const FamilyFile* file) {
  Document document = {{"name", tensor.name},
                       {"shape", tensor.shape_text},
                       {"dtype", to_string(tensor.dtype)},
                       {"role", role_word(tensor)},
                       {"derived", tensor.role == Role::derived_input},
                       {"meaning", tensor.meaning}};
  if (file != nullptr && (tensor.role == Role::input || tensor.in_place)) {
    document["draw"] = draw_document(std::ranges::find(file->tensors, tensor.name, &FileTensor::name)->distribution);
  }
  return document;
}

Document scalar_document(const ScalarSpec& record) {
  return APO_DOCUMENT(name, dtype, value, meaning);
}

Document workload_document(const Family& family, const Workload& workload, const FamilyFile* file) {
  Document shapes = Document::object();
  for (const TensorSpec& tensor : family.tensors) {
    shapes[tensor.name] = tensor.shape(workload.axes);
  }
  const bool has_origin = file != nullptr && file->workload_origins.contains(workload.name);
  return {{"name", workload.name},
          {"kind", to_string(workload.kind)},
          {"class", workload.workload_class},
          {"axes", workload.axes},
          {"shapes", shapes},
          {"origin", has_origin ? file->workload_origins.find(workload.name)->second : ""}};
}

Document tolerance_document(const FamilyFile* file) {
  if (file == nullptr || !file->tolerance || file->tolerance->is_derived) {
    return {};
  }
  return {{"max_rtol", file->tolerance->relative}, {"max_atol", file->tolerance->absolute}};
}

}  // namespace

Document to_document(const Family& family) {
  const FamilyFile* file = find_family_file(family.name);
  return {{"name", family.name},
          {"summary", family.summary},
          {"file", file == nullptr ? "" : file->path},
          {"origin", file == nullptr ? "" : file->origin},
          {"axes", list_of(family.axes, [&](const AxisSpec& one) { return axis_document(one, file); })},
          {"tensors", list_of(arguments_of(family), [&](const TensorSpec& one) { return tensor_document(one, file); })},
          {"scalars", list_of(family.scalars, scalar_document)},
          {"requires", family.legal},
          {"tolerance", tolerance_document(file)},
          {"declared_tolerance", family.declared_tolerance},
          {"regimes", family.regimes},
          {"workloads",
           list_of(family.workloads, [&](const Workload& one) { return workload_document(family, one, file); })}};
}

}  // namespace apo
