// tests/kernels/e88_work_test.cpp - the work model of the E88 families against numbers that count their own operations.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "kernels/family.h"
#include "kernels/oracle/counted.h"

namespace apo {
namespace {

using oracle::Counted;

// Of exp, division, rsqrt and tanh, whatever it gives.
Counted special(Counted x) {
  return Counted::special("special", x.value, 0);
}

using Row = std::vector<Counted>;
const Counted kOne = 1;

struct WorkSizes {
  std::size_t N, V;
  bool gate, norm;
};

void normalise(Row& x) {
  Counted sum;  // the epsilon
  for (const Counted value : x) {
    sum = sum + value * value;
  }
  const Counted scale = special(sum);
  for (Counted& value : x) {
    value = value * scale;
  }
}

// sum_i S_i k_i of one column; the first term is added to nothing in the contract's count of 2 a term.
Counted dot(std::size_t count) {
  Counted sum;
  for (std::size_t i = 0; i < count; ++i) {
    sum = sum + Counted{} * Counted{};
  }
  return sum;
}

void replay_step(const WorkSizes& z) {
  for (std::size_t j = 0; j < z.V; ++j) {
    const Counted delta = Counted{} - dot(z.N);
    for (std::size_t i = 0; i < z.N; ++i) {
      special(Counted{} * Counted{} + Counted{} * delta);  // tanh(a S + k delta)
    }
  }
}

Counted sigmoid() {
  return special(kOne + special(Counted{}));
}

void forward_step(const WorkSizes& z) {
  Row k(z.N), q(z.N);
  if (z.norm) {
    normalise(k);
    normalise(q);
  }
  replay_step(z);
  for (std::size_t j = 0; j < z.V; ++j) {
    const Counted y = dot(z.N);
    if (z.gate) {
      static_cast<void>(y * Counted{} * sigmoid());
    }
  }
}

void chain_rule(const WorkSizes& z) {
  const Counted projection = dot(z.N);
  for (std::size_t i = 0; i < z.N; ++i) {
    static_cast<void>((Counted{} - Counted{} * projection) * Counted{});
  }
}

void backward_step(const WorkSizes& z) {
  Row k(z.N), q(z.N);
  if (z.norm) {
    normalise(k);
    normalise(q);
  }
  replay_step(z);
  for (std::size_t j = 0; j < z.V && z.gate; ++j) {
    const Counted s = sigmoid(), g;
    static_cast<void>(Counted{} * Counted{} * (s * (kOne + g * (kOne - s))));  // dg
    static_cast<void>(Counted{} * g * s);                                      // dy
  }
  for (std::size_t e = 0; e < z.N * z.V; ++e) {
    const Counted S;
    Counted dq, dk, dd, ddecay;
    const Counted P = (Counted{} + Counted{} * Counted{}) * (kOne - S * S);
    dq = dq + S * Counted{};
    dd = dd + P * Counted{};
    ddecay = ddecay + P * S;
    dk = dk + P * Counted{};
    dk = dk - S * dd;
    static_cast<void>(Counted{} * P - Counted{} * dd);  // the carry
  }
  if (z.norm) {
    chain_rule(z);
    chain_rule(z);
  }
}

TEST(E88Work, FlopsAndSpecialFunctionsEqualACountOfTheEquations) {
  for (const int gate : {0, 1}) {
    for (const int norm : {0, 1}) {
      const Axes axes = {{"B", 2}, {"T", 3}, {"H", 5}, {"N", 7}, {"V", 4}, {"GATE", gate}, {"NORM", norm}};
      const WorkSizes sizes = {.N = 7, .V = 4, .gate = gate == 1, .norm = norm == 1};
      for (const bool forward : {true, false}) {
        oracle::counts = {};
        for (int step = 0; step < 2 * 3 * 5; ++step) {
          forward ? forward_step(sizes) : backward_step(sizes);
        }
        const Work work = find_family(forward ? "e88_forward" : "e88_backward")->work(axes);
        EXPECT_EQ(work.flops, oracle::counts.flops) << forward << gate << norm;
        EXPECT_EQ(work.special_functions, oracle::counts.special["special"]) << forward << gate << norm;
      }
    }
  }
}

// A number that only knows how long it had to be waited for: one for each operation, an fma being one, 1000 for tanh.
double after(double a, double b) {
  return std::max(a, b) + 1;
}

// sum_i state_i k_i plus what is ready from the start, the best way: all products at once, then pairs.
double summed(const std::vector<double>& state) {
  std::vector<double> terms;
  for (const double depth : state) {
    terms.push_back(after(depth, 0));
  }
  while (terms.size() > 1) {
    std::vector<double> next;
    for (std::size_t i = 0; i + 1 < terms.size(); i += 2) {
      next.push_back(after(terms[i], terms[i + 1]));
    }
    if (terms.size() % 2 == 1) {
      next.push_back(terms.back());
    }
    terms = next;
  }
  return terms.front();
}

// One column: S <- tanh(a S + k delta), where delta = v - sum S k.
void forward_chain(std::vector<double>& state) {
  const double delta = summed(state);
  for (double& depth : state) {
    depth = after(after(depth, 0), delta) + 1000;
  }
}

// One column of the carry: D <- a P - k dd with dd = sum D w + ..., P = (D + q dy)(1 - S^2).
void reverse_chain(std::vector<double>& carry, double states_ready) {
  for (double& depth : carry) {
    depth = std::max(depth, states_ready);
  }
  const double dd = summed(carry);
  for (double& depth : carry) {
    depth = std::max(depth + 2, dd) + 1;
  }
}

double chain_of(const Work& work) {
  return work.serial_flops + 1000 * work.serial_special_functions;
}

TEST(E88Work, TheSerialChainIsTheDepthOfTheEquations) {
  for (const int T : {1, 15, 16, 17, 40}) {
    for (const int N : {4, 7, 32}) {
      const Axes axes = {{"B", 2}, {"T", T}, {"H", 5}, {"N", N}, {"V", 4}, {"GATE", 1}, {"NORM", 1}};
      std::vector<double> state(static_cast<std::size_t>(N));
      for (int t = 0; t < T; ++t) {
        forward_chain(state);
      }
      EXPECT_EQ(chain_of(find_family("e88_forward")->work(axes)), state.front()) << T << " " << N;
      std::vector<double> replayed(static_cast<std::size_t>(N));
      for (int t = 16 * ((T - 1) / 16); t < T; ++t) {
        forward_chain(replayed);
      }
      std::vector<double> carry(static_cast<std::size_t>(N));
      for (int t = 0; t < T; ++t) {
        reverse_chain(carry, replayed.front());
      }
      EXPECT_EQ(chain_of(find_family("e88_backward")->work(axes)), carry.front()) << T << " " << N;
    }
  }
}

TEST(E88Work, BytesAreEveryTensorOnce) {
  for (const char* name : {"e88_forward", "e88_backward"}) {
    const Family& family = *find_family(name);
    for (const Workload& workload : family.workloads) {
      double bytes = 0;
      for (const TensorSpec& tensor : family.tensors) {
        bytes += static_cast<double>(element_count(tensor, workload.axes) * dtype_bytes(tensor.dtype));
      }
      EXPECT_EQ(family.work(workload.axes).bytes, bytes) << name << "/" << workload.name;
    }
  }
}

}  // namespace
}  // namespace apo
