// harness/loop/contract/skeleton.h - the first files of a new family: `apo new`.
#pragma once

#include <string>
#include <vector>

namespace apo {

// The lines of the block as its author gives them, without "apo:KEY"; what is empty gets a first version.
struct SkeletonRequest {
  std::string name;
  std::vector<std::string> axes;     // "rows 1..65536", or "rows"
  std::vector<std::string> scalars;  // "eps f32 1e-6"
  std::vector<std::string> inputs;   // "x f32[rows,cols] normal"
  std::vector<std::string> outputs;  // "y f32[rows,cols]"
  std::vector<std::string> inouts;   // "p f32[rows,cols] normal"
};

struct Skeleton {
  std::string family_file;   // NAME.h: computes y = x until its author writes what it is to compute
  std::string variant_file;  // NAME_simple.cpp: the same as a host variant
};

// Throws UserError when the family file would not be valid.
Skeleton write_skeleton(const SkeletonRequest& request);

}  // namespace apo
