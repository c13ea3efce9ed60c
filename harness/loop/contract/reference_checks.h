// harness/loop/contract/reference_checks.h - what has to hold of a family's reference and inputs by themselves.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "harness/families/known_families.h"
#include "harness/families/oracle_program.h"
#include "harness/runtime/tensor_data.h"

namespace apo {

// The family under check.
struct CheckedFamily {
  CheckedFamily(const FamilyFile& its_file, const OracleOptions& its_options, std::uint64_t its_seed, int its_threads)
      : file(its_file),
        options(its_options),
        family(family_of(its_file, options)),
        program(its_file, its_options),
        seed(its_seed),
        threads(its_threads) {}

  const FamilyFile& file;
  OracleOptions options;
  Family family;
  OracleProgram program;
  std::uint64_t seed;
  int threads;
};

// One regime on one workload, which is scaled down where it is large: all of it is computed.
struct Case {
  Workload workload;
  std::string regime;
  bool is_scaled = false;
  std::string workload_name() const { return workload.name + (is_scaled ? " scaled down" : ""); }
  std::string name() const { return workload_name() + ", " + regime; }
};

// Does `work` on a case. Its UserErrors say on which, and which lines of the file leave it out.
void on_case(const Case& each, const std::function<void()>& work);

// Whether the reference is C++ in the file, and not a command.
bool is_cpp(const CheckedFamily& subject);
// Throws a UserError that names the line of the file in which `tensor` stands, or its first.
[[noreturn]] void refuse(const CheckedFamily& subject, const std::string& tensor, const std::string& what,
                         const std::string& hint);
InputSet inputs_of(const CheckedFamily& subject, const Case& each, std::uint64_t seed);
// Two regimes on each workload, all of them on ragged ones or, without any, on one; the smallest first. A workload of
// more than kSmallElements is scaled down. A reference in another language is slow to start: of it two regimes on the
// smallest workloads.
std::vector<Case> plan_cases(const Family& family, bool is_cpp);

// The axes along which the work of a family without apo:unit falls into independent parts, the finest of these that
// have some work: batch and position, or n/4096 where each element is one. Empty where there are none.
std::vector<FileUnitAxis> independent_axes(const CheckedFamily& subject, const std::vector<Case>& cases);

// Each of these throws a UserError. The reference touches memory that is not its own:
void check_memory(const CheckedFamily& subject, const std::vector<Case>& cases);
// A program's outputs that differ from one call to the next, an output that depends on no input, is nearly constant or
// is so along an extent; units that are not independent:
void check_reference(const CheckedFamily& subject, const std::vector<Case>& cases);

}  // namespace apo
