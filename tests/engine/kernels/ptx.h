// Kernels as nvcc compiles them: their instructions in PTX, the assembler's report. PTX decides how
// much a load or store moves at once and in which precision; the assembler changes neither.
#pragma once

#include <map>
#include <string>

namespace heddle::test {

/// A kernel's instructions on memory, and on numbers of 64 bits.
struct Instructions {
  int of_16_bytes = 0;    // loads and stores in global memory, in blocks without a jump that …
  int narrow_beside = 0;  // … have these too: of fewer than 8 bytes,
  int narrow_beside_in_loops = 0;  // such blocks being part of a loop
  int fp64_in_loops = 0;
  int long_divisions_in_loops = 0;
  int atomics = 0;  // in global memory, whose order nobody fixes
};

/// Instructions of each kernel in PTX, by its name in C++ without parameters: "backward<float, 4>".
std::map<std::string, Instructions> instructions_of(const std::string& ptx);

/// A thread's needs, in bytes but for the registers.
struct Needs {
  int registers = 0, stack = 0, spilled = 0;
};

/// The needs of each kernel that `ptxas -v` reports on.
std::map<std::string, Needs> needs_of(const std::string& report);

}  // namespace heddle::test
