// harness/families/family_record.h - what a family file says, as plain data.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/core/records/variant.h"
#include "harness/core/words.h"
#include "kernels/family.h"

namespace apo {

enum class DistributionKind : std::uint8_t { normal, uniform, positive, probability, mask, index, function };

// Numbers beside the finite ones that an input may hold (apo:values), and whether 0 and -0 are two of them.
struct SpecialValues {
  bool nan = false;
  bool plus_infinity = false;
  bool minus_infinity = false;
  bool signed_zero = false;
  bool any() const { return nan || plus_infinity || minus_infinity || signed_zero; }
  bool any_not_finite() const { return nan || plus_infinity || minus_infinity; }
};

// How the elements of an input are drawn. normal(mean,deviation); uniform(low,high); positive: |normal| + 2^-10;
// probability: uniform(0,1); mask: 0 or 1; index(0..LAST): an integer up to the expression LAST; function: fill_NAME()
// of the file, or the command that is its reference.
struct Distribution {
  DistributionKind kind = DistributionKind::normal;
  double first = 0;
  double second = 1;
  std::string largest;  // index: an expression over the axes
  SpecialValues special = {};
};

struct FileTensor {
  int line = 0;
  std::string name;
  DType dtype = DType::f32;
  Role role = Role::input;
  std::vector<std::string> extents;  // expressions over the axes
  Distribution distribution;
  bool in_place = false;  // as in TensorSpec
  bool random = false;
  std::string drawn_by = "";
};

struct FileUnitAxis {
  std::string axis;
  std::int64_t block = 1;
  std::string output;  // that is split like this; empty: all of them
};

// Given by the author instead of derived: |x - ref| <= absolute + relative * |ref|. One that is wider than what would
// be derived needs a reason. `is_derived`: the author's reason for a derived bound that is wide against its value.
struct FileTolerance {
  double relative = 0;
  double absolute = 0;
  bool is_derived = false;
  std::string reason;
};

// The precision in which a reference in another language computes; `declared`: the dtypes of the contract.
enum class ReferencePrecision : std::uint8_t { float64, float32, declared };
APO_WORDS(ReferencePrecision, precision_from, float64, float32, declared)

struct FamilyFile {
  std::string path;
  std::string text;
  std::vector<SourceFile> headers;  // included with quotes, found beside the file
  std::string name;
  std::string idea;
  std::vector<AxisSpec> axes;
  Axes axis_defaults;  // what a workload that leaves the axis out has
  std::vector<ScalarSpec> scalars;
  std::vector<FileTensor> tensors;  // inputs, derived inputs, outputs
  std::vector<FileUnitAxis> units;
  std::vector<std::string> regimes;  // the first is "typical"; those that change an input
  bool names_regimes = false;        // with apo:regimes; else a check leaves out those in which nothing can be compared
  std::vector<std::string> no_regimes;  // of the line 'apo:regimes all but NAME...'
  std::vector<Workload> workloads;
  std::vector<WorkloadClass> classes;
  std::string legal = "1";
  std::vector<std::string> reference_command;               // empty: the reference is C++ in this file
  ReferencePrecision widest = ReferencePrecision::float64;  // that its command can compute in
  ReferencePrecision honest = ReferencePrecision::float32;  // that of its honest version
  std::optional<FileTolerance> tolerance;
  bool signed_zero = false;  // outputs too tell 0 from -0
  bool repeatable = false;
  std::string origin;                                                // its name where it came from
  std::map<std::string, std::string, std::less<>> workload_origins;  // workload -> its name there
};

}  // namespace apo
