// apo:family    embedding_gradient
// apo:idea      adds the rows of d_residual to the rows of d_embedding that their tokens name
// apo:axis      rows 1..1048576
// apo:axis      dim 8..65536
// apo:input     tokens i32[rows] fill
// apo:input     d_residual f32[rows,dim] normal
// apo:input     before f32[256,dim] normal
// apo:derive    order i32[rows]
// apo:derive    starts i32[257]
// apo:output    d_embedding f32[256,dim]
// apo:regimes   typical
// apo:unit      dim
// apo:requires  dim % 8 == 0
// apo:workload  b2_t512   production rows=1024 dim=1920
// apo:workload  r37_d200  ragged     rows=37 dim=200
// apo:workload  r1_d8     small      rows=1 dim=8

// As in text: some bytes are often, most never.
inline void fill_tokens(int64_t rows, int64_t, Random& random, int64_t* tokens) {
  for (int64_t row = 0; row < rows; ++row) {
    const double x = random.uniform();
    tokens[row] = static_cast<int64_t>(255 * x * x * x * x);
  }
}

// The rows sorted by token, those of byte b from starts[b].
template <class Real>
void derive(int64_t rows, int64_t, const int64_t* tokens, const Real*, const Real*, int64_t* order, int64_t* starts) {
  int64_t place = 0;
  for (int64_t byte = 0; byte < 256; ++byte) {
    starts[byte] = place;
    for (int64_t row = 0; row < rows; ++row)
      if (tokens[row] == byte)
        order[place++] = row;
  }
  starts[256] = place;
}

template <class Real>
void reference(int64_t rows, int64_t dim, const int64_t* tokens, const Real* d_residual, const Real* before,
               const int64_t*, const int64_t*, Real* d_embedding) {
  for (int64_t i = 0; i < 256 * dim; ++i)
    d_embedding[i] = before[i];
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t i = 0; i < dim; ++i)
      d_embedding[tokens[row] * dim + i] += d_residual[row * dim + i];
}
