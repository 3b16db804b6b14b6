# Sourced by tests that compile who does what in an emitted product kernel for the CPU: prints C++ up to and with that section.
emitted_on_host() { # KERNEL
  cat <<'C'
#include <algorithm>
#include <cstdio>
#include <map>
#include <set>
#include <vector>
using std::max;
using std::min;
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned u32;
typedef long long i64;
#define __device__
#define __forceinline__ inline
#define __constant__ static const
struct Index { int x; };
static Index blockIdx, gridDim;
C
  sed -n '/^constexpr int STEPS/,/^\/\/ ---- counters in global memory/p' "$1"
}
