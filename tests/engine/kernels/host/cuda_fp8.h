// In place of CUDA's header of this name: numbers of 8 bits, saturated and rounded to nearest, ties
// to even.
#pragma once

#include "engine/kernels/float8_format.h"

enum __nv_fp8_interpretation_t { __NV_E4M3, __NV_E5M2 };
enum __nv_saturation_t { __NV_SATFINITE };

inline uint8_t __nv_cvt_float_to_fp8(float x, __nv_saturation_t, __nv_fp8_interpretation_t kind) {
  if (x != x) return 0x7F;
  return kind == __NV_E4M3 ? heddle::kernels::E4m3::encoded(x) : heddle::kernels::E5m2::encoded(x);
}
