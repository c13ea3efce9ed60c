// kernels/gradients/binary_backward_reference.h - the equations of the families binary_backward*, whose dtypes differ.
//
// B has the dimensions of `kept`, bit 128 for d0 to bit 1 for d7; each of its elements is used by the elements of A
// that differ from it in the other dimensions alone.

// The offsets in A of what B keeps (`kept` = true), in the order of B, or of what an element of B is repeated along.
inline std::vector<int64_t> offsets_of(const int64_t (&extent)[8], int64_t mask, bool kept) {
  std::vector<int64_t> offsets = {0};
  int64_t pitch = 1;
  for (int i = 7; i >= 0; --i) {
    if ((mask >> (7 - i) & 1) == (kept ? 1 : 0)) {
      std::vector<int64_t> more;
      more.reserve(offsets.size() * static_cast<size_t>(extent[i]));
      for (int64_t index = 0; index < extent[i]; ++index) {
        for (const int64_t offset : offsets) {
          more.push_back(offset + index * pitch);
        }
      }
      offsets = more;
    }
    pitch *= extent[i];
  }
  return offsets;
}

// d out / d A and d out / d B, each of the element that is asked for; an operand that it has no use for is not read.
template <class Real>
Real derivative(int64_t op, bool of_a, const Real* A, int64_t i, const Real* B, int64_t j) {
  switch (op) {
    case 0:  // A + B
      return 1;
    case 1:  // A - B
      return of_a ? 1 : -1;
    case 2:  // A * B
      return of_a ? B[j] : A[i];
    case 3:  // A / B
      return of_a ? Real(1) / B[j] : -A[i] / (B[j] * B[j]);
    default:  // max(A, B), min(A, B): a tie is shared
      if (A[i] == B[j]) {
        return 0.5;
      }
      return ((A[i] < B[j]) == (op == 4)) == of_a ? 0 : 1;
  }
}

template <class Real>
void reference(int64_t op, int64_t need_dA, int64_t need_dB, int64_t kept, int64_t d0, int64_t d1, int64_t d2,
               int64_t d3, int64_t d4, int64_t d5, int64_t d6, int64_t d7, const Real* g, const Real* A, const Real* B,
               Real* dA, Real* dB) {
  const int64_t extent[8] = {d0, d1, d2, d3, d4, d5, d6, d7};
  const std::vector<int64_t> of_b = offsets_of(extent, kept, true);
  const std::vector<int64_t> repeats = offsets_of(extent, kept, false);
  for (size_t j = 0; j < of_b.size(); ++j) {
    const auto at = [&](int64_t r) { return of_b[j] + repeats[static_cast<size_t>(r)]; };
    const auto count = static_cast<int64_t>(repeats.size());
    for (int64_t r = 0; need_dA && r < count; ++r) {
      dA[at(r)] = g[at(r)] * derivative(op, true, A, at(r), B, static_cast<int64_t>(j));
    }
    if (need_dB) {
      dB[j] = sum<Real>(
          count, [&](int64_t r) { return g[at(r)] * derivative(op, false, A, at(r), B, static_cast<int64_t>(j)); });
    }
  }
}
