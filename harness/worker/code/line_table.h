// harness/worker/code/line_table.h - maps the instructions of a cubin to source lines, through inlined calls.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace apo {

// The source of an instruction. For a short function that was inlined it is the line of the call, because the
// function's own lines collect the samples of all its calls.
struct SourcePlace {
  std::string file;     // without its folder
  int line = 0;         // 0 where the cubin has no line for it
  std::string inlined;  // from there inwards: "reduce (sum.h:8) > low (bf16.h:2)"; empty where nothing was inlined
};

// Reads the section .debug_line of a cubin: DWARF 2 with NVIDIA's extended opcode 0x90, "inlined call". libdw sorts the
// rows of all kernels by address and numbers them as one, but the opcode uses the numbers of its own kernel.
class LineTable {
 public:
  // Empty when `cubin` is damaged or has no line table.
  explicit LineTable(std::string_view cubin);

  SourcePlace place(const std::string& kernel, std::uint64_t pc_offset) const;

  struct Row {
    std::uint64_t address = 0;  // bytes from the kernel's begin
    std::string file;
    int line = 0;
    std::size_t caller = 0;  // row of the call that this one was inlined for, counted from 1; 0: it was not
    std::string function;    // whose code was inlined, where one was
  };

 private:
  std::map<std::string, std::vector<Row>> rows_;                // by kernel, ascending
  std::map<std::string, std::map<std::string, int>> lines_of_;  // by kernel and inlined function: how many lines it has
};

}  // namespace apo
