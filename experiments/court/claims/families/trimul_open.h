// apo:family    trimul_open
// apo:idea      AlphaFold's triangle multiplication over outgoing edges, of x and a mask of ones, as GPU MODE's TriMul has it
// apo:axis      B 1..2
// apo:axis      N 32..512 length of the sequence
// apo:axis      D 128..128 channels
// apo:axis      H 128..128 hidden channels
// apo:input     x f32[B,N,N,D] normal
// apo:input     mask f32[B,N,N] uniform(1,1.00000001)
// apo:input     norm_weight f32[D] normal
// apo:input     norm_bias f32[D] normal
// apo:input     left_proj f32[H,D] normal(0,0.0883883)
// apo:input     right_proj f32[H,D] normal(0,0.0883883)
// apo:input     left_gate f32[H,D] normal(0,0.0883883)
// apo:input     right_gate f32[H,D] normal(0,0.0883883)
// apo:input     out_gate f32[H,D] normal(0,0.0883883)
// apo:input     out_norm_weight f32[H] normal
// apo:input     out_norm_bias f32[H] normal
// apo:input     to_out f32[D,H] normal(0,0.0883883)
// apo:output    y f32[B,N,N,D]
// apo:requires  N % 32 == 0
// apo:workload  b1_n512_d128_h128 production B=1 N=512 D=128 H=128
// apo:workload  b2_n256_d128_h128 production B=2 N=256 D=128 H=128
// apo:workload  b1_n32_d128_h128  small B=1 N=32 D=128 H=128
// apo:workload  b1_n96_d128_h128  ragged B=1 N=96 D=128 H=128
// apo:regimes   typical
// apo:reference python3 trimul_reference.py
// apo:tolerance rtol=2e-2 atol=2e-2 because the task accepts what is so near to its reference
