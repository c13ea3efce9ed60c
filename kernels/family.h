// kernels/family.h - what a kernel family is: the contract of one operation, as plain data and pure functions.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/dtype.h"

namespace apo {

enum class Role : std::uint8_t { input, derived_input, output };
enum class Target : std::uint8_t { host, cuda };

// How new inputs of the regime "typical" are made of drawn ones, which takes a copy where drawing takes long.
enum class Redraw : std::uint8_t {
  whole,     // not at all: each set is drawn by itself
  units,     // the inputs of each unit are drawn by themselves: units may change places, also between sets
  elements,  // so is each element, from one distribution a tensor: any order is as good, and no input is derived
};

// Axis name -> value, e.g. {B:2, T:64, H:4, N:32, V:32}. The order is that of the family's contract, not of this map.
using Axes = std::map<std::string, std::int64_t, std::less<>>;

// Tensor name -> values in row-major order, always double: the harness rounds inputs to their dtype first.
using TensorMap = std::map<std::string, std::vector<double>, std::less<>>;

// The bytes of a tensor in its storage dtype, and those of several by name. The views belong to somebody else.
using TensorBytes = std::map<std::string, std::vector<std::byte>, std::less<>>;
using StoredTensors = std::map<std::string, std::span<const std::byte>, std::less<>>;

struct AxisSpec {
  std::string name;
  std::string meaning;
  std::int64_t min = 1;
  std::int64_t max = 1;
  bool specialised = false;  // known to every build as a compile-time constant k<name>
};

struct TensorSpec {
  std::string name;
  DType dtype = DType::bf16;
  Role role = Role::input;
  std::string shape_text;  // for people: "[B,T,H,N]"
  std::function<std::vector<std::int64_t>(const Axes&)> shape;
  std::string meaning;
  // Memory that a call reads and writes is two tensors of one name, dtype and shape: an input, what it holds before a
  // call, and an output, what it holds afterwards. A kernel gets one pointer, that of the output.
  bool in_place = false;
  // An output whose elements a call draws, see Family::alternatives. `drawn_by`: the integer input that decides what is
  // drawn, so that the same value promises the same bits; "": nothing is promised.
  bool random = false;
  std::string drawn_by = "";
};

// The contents before a call are no argument of their own. Also of a family file's tensors.
template <class Tensor>
bool is_argument(const Tensor& tensor) {
  return !tensor.in_place || tensor.role == Role::output;
}

// A number that every call gets, the same for all workloads: an epsilon, a scale. `value` is exact in its dtype.
struct ScalarSpec {
  std::string name;
  DType dtype = DType::f32;
  double value = 0;
  std::string meaning;
};

// Half-open run of elements [offset, offset + count) of a tensor in row-major order.
struct ElementRun {
  std::int64_t offset = 0;
  std::int64_t count = 0;
};

struct NamedCount {
  std::string name;
  double count = 0;
};

// Compulsory work of one call, counted from the equations, never from an implementation.
struct Work {
  double flops = 0;                         // additions and multiplications, an fma counts 2
  double bytes = 0;                         // each input byte read once, each output byte written once
  double special_functions = 0;             // tanh, exp, rsqrt evaluations
  std::vector<NamedCount> special_by_name;  // where the family tells; divisions, which are no part of the sum, too
  // The longest chain of operations that each wait for the one before, whatever the parallelism: 0 = not counted. An
  // fma is one; a sum of n terms takes ceil(log2 n).
  double serial_steps = 0;  // of a recurrence, over which the chain is spread
  double serial_flops = 0;
  double serial_special_functions = 0;
  bool is_estimate = false;  // counted on a smaller shape, and no polynomial of the axes
};

// One of the values that a draw may give the outputs, and the others where they are fewer. Full-size tensors.
struct Alternative {
  TensorMap values;       // fp64
  TensorMap noise;        // as Family::noise
  TensorMap probability;  // of this alternative, at each element that a draw decides
};

struct Alternatives {
  std::vector<Alternative> each;
  // Of each element the draw that decides it, numbered in its unit from 0 on; -1: none.
  TensorMap draws;
};

// How many units of a slow reference are enough, each with all samples of its noise.
struct Patience {
  double enough_s = 150;  // after so long no other units are begun than the fewest; with eight after 3 s
  std::int64_t fewest_units = 2;
};

// How much of the reference Family::expected is asked for.
struct Asked {
  std::vector<std::int64_t> units;  // ascending; empty: all
  bool whole = false;               // also the reference of all units
  int threads = 1;
  Patience patience = {};
  std::uint64_t seed = 0;  // of the order in which they are computed
};

// What Family::expected returns, the elements of the asked units alone, unit by unit in the order of unit_elements.
struct ExpectedValues {
  std::vector<std::int64_t> units;  // those that were asked for, ascending; fewer where computing them takes too long
  TensorMap reference;
  TensorMap noise;
  TensorMap whole;  // the reference of all units, full-size, if it was asked for
};

enum class WorkloadKind : std::uint8_t { small, ragged, production, extreme };

struct Workload {
  std::string name;  // "b2_t64_h4_n32": the part after the slash of "e88_backward/b2_t64_h4_n32"
  Axes axes;
  WorkloadKind kind = WorkloadKind::small;
  std::string workload_class;    // incumbents are kept per (family, workload class, device), e.g. "n32"
  Target target = Target::host;  // where timing it makes sense by default; correctness runs anywhere
  // Too large to draw as a whole: only the first `distinct` entries along this axis are, and the others repeat them in
  // turn. The units are numbered with this axis outermost. Empty: every element is drawn.
  std::string repeated_axis;
  std::int64_t distinct = 0;
};

// One that correctness is always checked on.
inline bool is_small(const Workload& workload) {
  return workload.kind == WorkloadKind::small || workload.kind == WorkloadKind::ragged;
}

// Which sizes a workload class stands for, as an integer expression over the axes in the language of apo:requires.
struct WorkloadClass {
  std::string name;
  std::string condition;
};

// How far an output may be from the fp64 reference. A family says how large the error of a legal implementation is at
// every element (Family::noise, sigma_i, before the output is rounded to its dtype). The elements of a unit, in the
// order of unit_elements, form groups of `group` (the last group takes the rest); scale_i is the larger of sigma_i and
// the RMS of sigma over i's group. Both must hold, for every output tensor and every unit (closeness.h computes them):
//   rounding_i = max(output_rounding * |ref_i|, output_spacing / 2)
//   element: |x_i - ref_i| <= rounding_i + element_sigmas * scale_i
//   rms:     sqrt(mean_i (x_i - ref_i)^2 / (scale_i^2 + rounding_i^2 / 3)) <= rms_factor + rms_spread / sqrt(n)
// where 0/0 counts as 0 and n is the number of different ref_i: equal ones are of equal inputs, and a kernel rounds
// these alike. Where all are equal, or there is one, it has one error, and the limit of the second is element_sigmas.
// A ref_i that is NaN or infinite is right where x_i is NaN or the same infinity, and counts as no error.
// The first finds few wrong elements, the second many slightly wrong ones. All zeros: equality. A family
// derives the numbers in its docstring.
struct Tolerance {
  double output_rounding = 0;  // unit roundoff of the output dtype, 2^-8 for bf16; its error is uniform within that
  double output_spacing = 0;   // of the output dtype's subnormal numbers; 0 where they are too small to matter
  double element_sigmas = 0;
  double rms_factor = 0;
  double rms_spread = 0;  // a mean over few elements spreads
  std::int64_t group = 64;
  bool signed_zero = false;  // 0 and -0 are two values
};

// The contract of one operation. Everything is pure: no files, no clock, no global state; threads <= 0 means one.
// "Unit" is the smallest independent part of the work (for E88 one (b,h) sequence): a large workload is checked on a
// subset of its units, all elements of which are compared. An empty `units` vector means all of them.
struct Family {
  std::string name;
  std::string summary;
  std::vector<AxisSpec> axes;       // in contract order
  std::vector<TensorSpec> tensors;  // inputs first, then derived inputs, then outputs; see TensorSpec::in_place
  std::vector<ScalarSpec> scalars;
  std::vector<std::string> regimes;                 // first = "typical"
  bool names_regimes = true;                        // else a check leaves out one in which nothing can be compared
  std::vector<Workload> workloads;                  // the default workload first
  std::function<std::string(const Axes&)> invalid;  // "" when the combination of (in-range) axes is legal, else why not

  // `invalid` and the classes as text, for tables that leave this program: `legal` holds where invalid() says "". A
  // family that leaves them out, or a class that is not listed, vouches for the sizes of its own workloads only.
  std::string legal;
  std::vector<WorkloadClass> classes;

  std::function<std::int64_t(const Axes&)> unit_count;
  // The runs of `tensor` that belong to `unit`; every element of every tensor belongs to at least one unit.
  std::function<std::vector<ElementRun>(const Axes&, std::string_view tensor, std::int64_t unit)> unit_elements;

  // Fills every tensor of role input. Deterministic in (axes, seed, regime), whatever the number of threads.
  std::function<TensorMap(const Axes&, std::uint64_t seed, std::string_view regime, int threads)> fill;
  // The same as stored: the bytes of every tensor of role input, where no double of each element has to be kept. Empty:
  // what `fill` returns is to be encoded.
  std::function<TensorBytes(const Axes&, std::uint64_t seed, std::string_view regime, int threads)> draw;
  Redraw redraw = Redraw::whole;
  // Fills every tensor of role derived_input from inputs already rounded to their dtype; all units.
  std::function<TensorMap(const Axes&, const TensorMap& inputs, int threads)> derive;
  // fp64 outputs, full-size vectors; only the elements of `units` are meaningful.
  std::function<TensorMap(const Axes&, const TensorMap& inputs, const std::vector<std::int64_t>& units, int threads)>
      reference;
  // An honest implementation in the contract's own precision (fp32 arithmetic, dtype roundings where the contract has
  // them), its outputs rounded to their dtype. It must pass its own tolerance.
  std::function<TensorMap(const Axes&, const TensorMap& inputs, const std::vector<std::int64_t>& units, int threads)>
      honest;
  // Full-size, like `expected`, which is what `reference` returned for the same arguments: the RMS error of legal
  // implementations at each element of `units` before output rounding; 0 where they make none. The yardstick of the
  // tolerance.
  std::function<TensorMap(const Axes&, const TensorMap& inputs, const TensorMap& expected,
                          const std::vector<std::int64_t>& units, int threads)>
      noise;
  // What `reference` and `noise` say of some units, all at once, from inputs as they are stored: what no unit needs is
  // not read. Empty: the two are to be called.
  std::function<ExpectedValues(const Axes&, const StoredTensors& inputs, const Asked&)> expected;
  // Where outputs are random by contract; else empty. `reference` and `noise` are those of the first alternative, and
  // `honest` draws by chance, on the same arguments alike.
  std::function<Alternatives(const Axes&, const TensorMap& inputs, const std::vector<std::int64_t>& units, int threads)>
      alternatives;
  std::function<Tolerance(std::string_view tensor, const Axes&)> tolerance;
  // The same inputs have to give the same bits, call for call: no order of additions may be left to chance.
  bool repeatable = false;
  // "rtol=0.5 atol=0.5 because ...": the author's own tolerance, which stands beside every verdict; "" where it is
  // derived.
  std::string declared_tolerance;
  std::function<Work(const Axes&)> work;
  // The text of the files that define the family. A verdict on a variant holds for this contract alone. "" where the
  // family is compiled into the program.
  std::string contract;
};

// Every family this program knows, in order of registration. The built-in ones are always there.
const std::deque<Family>& families();
// Throws std::runtime_error when the name is taken. Pointers to other families stay valid.
void add_family(Family family);
// nullptr when unknown.
const Family* find_family(std::string_view name);

const Workload* find_workload(const Family& family, std::string_view name);
// Of memory that a call reads and writes, the input.
const TensorSpec* find_tensor(const Family& family, std::string_view name);
const TensorSpec* find_output(const Family& family, std::string_view name);
std::vector<TensorSpec> arguments_of(const Family& family);  // in their order: inputs, then outputs
bool updates_in_place(const Family& family);
std::string_view role_word(const TensorSpec& tensor);  // "input", "inout", "output"

// "dk[0,12,3,7]".
std::string element_name(const TensorSpec& tensor, const Axes& axes, std::int64_t element);
std::int64_t element_count(const TensorSpec& tensor, const Axes& axes);
// Of all tensors.
std::int64_t element_count(const Family& family, const Axes& axes);
bool has_doubles(const Family& family);  // a tensor of f64
std::string_view to_string(Target target);
std::string_view to_string(WorkloadKind kind);
std::string describe_axes(const Axes& axes);  // "B=2 T=64"

// "" when every axis is present, in range and the combination is legal; else one sentence for the user.
std::string check_axes(const Family& family, const Axes& axes);

}  // namespace apo
