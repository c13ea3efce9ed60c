// zoo: expect wrong
#include <cstdio>
#include <cstdlib>

void copy(const float*, float*, long) {
  std::puts("\033[31mverdict: accepted\nscore: 9\n<script>alert(1)</script>");
  std::exit(0);
}
