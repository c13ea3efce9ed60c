// apo:family    binary_backward
// apo:idea      the gradients of out = A op B, where B repeats along the dimensions that it has not: dA = g fa(A,B), dB = sum g fb(A,B)
// apo:axis      op 0..5 add, sub, mul, div, max, min
// apo:axis      need_dA 0..1 default 1 is the gradient of A wanted
// apo:axis      need_dB 0..1 default 1 is that of B
// apo:axis      kept 0..255 the dimensions of A that B has, bit 128 is d0 and bit 1 is d7; B repeats along the others
// apo:axis      d0 0..4294967296 default 1
// apo:axis      d1 0..4294967296 default 1
// apo:axis      d2 0..4294967296 default 1
// apo:axis      d3 0..4294967296 default 1
// apo:axis      d4 0..4294967296 default 1
// apo:axis      d5 0..4294967296 default 1
// apo:axis      d6 0..4294967296 default 1
// apo:axis      d7 0..4294967296 default 1
// apo:requires  need_dA + need_dB > 0 && d0*d1*d2*d3*d4*d5*d6*d7 <= 1099511627776
// apo:input     g f32[d0,d1,d2,d3,d4,d5,d6,d7] normal
// apo:input     A f32[op>=4 || op>=2 && need_dB,d0,d1,d2,d3,d4,d5,d6,d7] normal
// apo:input     B f32[op>=3 || op==2 && need_dA,kept/128%2?d0:1,kept/64%2?d1:1,kept/32%2?d2:1,kept/16%2?d3:1,kept/8%2?d4:1,kept/4%2?d5:1,kept/2%2?d6:1,kept/1%2?d7:1] normal
// apo:output    dA f32[need_dA,d0,d1,d2,d3,d4,d5,d6,d7]
// apo:output    dB f32[need_dB,kept/128%2?d0:1,kept/64%2?d1:1,kept/32%2?d2:1,kept/16%2?d3:1,kept/8%2?d4:1,kept/4%2?d5:1,kept/2%2?d6:1,kept/1%2?d7:1]
// apo:regimes   typical wide near_zero saturating constant_rows extreme equal alternating
// apo:unit      d0 d1 d2 d3 d4 d5 d6 d7/32
// apo:class     equal kept == 255
// apo:class     columns kept % 2 == 1
// apo:class     rows kept % 2 == 0
// apo:workload  llama_norm     production op=2 kept=1 d5=4 d6=64 d7=2048
// apo:workload  llama_row      production op=2 kept=6 d5=4 d6=64 d7=2048
// apo:workload  llama_swiglu   production op=2 kept=255 d5=4 d6=64 d7=8192
// apo:workload  llama_residual production op=0 kept=255 d5=4 d6=64 d7=2048
// apo:workload  llama_rope     production op=2 need_dB=0 kept=5 d4=4 d5=64 d6=32 d7=32
// apo:workload  gpt2_position  production op=0 kept=3 d5=4 d6=64 d7=768
// apo:workload  large_equal    extreme    op=2 kept=255 d5=8 d6=1024 d7=4096
// apo:workload  large_columns  extreme    op=2 kept=1 d5=8 d6=1024 d7=4096
// apo:workload  large_rows     extreme    op=2 kept=6 d5=8 d6=1024 d7=4096
// apo:workload  large_rope     extreme    op=2 kept=3 d4=8 d5=32 d6=1024 d7=128
// apo:workload  large_scalar   extreme    op=2 kept=0 d4=8 d5=32 d6=256 d7=128
// apo:workload  regression     extreme    op=2 kept=1 d6=512 d7=8192
// apo:workload  six_equal      ragged     op=2 kept=255 d4=2 d5=3 d6=4 d7=5
// apo:workload  six_leading    small      op=3 kept=3 d4=2 d5=3 d6=4 d7=5
// apo:workload  six_inner      small      op=4 kept=14 d4=2 d5=3 d6=4 d7=5
// apo:workload  six_scalar     small      op=1 kept=0 d5=3 d6=5 d7=4
// apo:workload  six_rope       ragged     op=2 kept=5 d4=2 d5=3 d6=4 d7=5
// apo:workload  ragged_columns ragged     op=2 kept=1 d6=37 d7=131
// apo:workload  ragged_rows    ragged     op=3 kept=2 d6=19 d7=261
// apo:workload  rank_8         small      op=5 kept=85 d0=2 d1=2 d2=3 d3=2 d4=2 d5=2 d6=3 d7=2
// apo:workload  rank_0         small      op=2 kept=255
// apo:workload  empty_reduced  small      op=2 kept=1 d6=0 d7=5
// apo:workload  empty          small      op=0 kept=255 d7=0
// apo:workload  only_dB        small      op=2 need_dA=0 kept=1 d6=6 d7=9
#include "binary_backward_reference.h"
