# The imported target heddle::torch: LibTorch's CPU libraries as packaging/start.sh lays them out
# ($XDG_CACHE_HOME/heddle/libtorch-2.11.0/{include,lib}).

if(DEFINED ENV{XDG_CACHE_HOME} AND NOT "$ENV{XDG_CACHE_HOME}" STREQUAL "")
  set(_heddle_cache "$ENV{XDG_CACHE_HOME}")
else()
  set(_heddle_cache "$ENV{HOME}/.cache")
endif()
set(HEDDLE_LIBTORCH "${_heddle_cache}/heddle/libtorch-2.11.0" CACHE PATH "LibTorch 2.11.0")
if(NOT EXISTS "${HEDDLE_LIBTORCH}/lib/libtorch_cpu.so")
  message(FATAL_ERROR "no LibTorch in ${HEDDLE_LIBTORCH}: run packaging/start.sh or packaging/test.sh, "
                      "which fetch it, or pass -DHEDDLE_LIBTORCH=DIR")
endif()

add_library(heddle_torch INTERFACE)
add_library(heddle::torch ALIAS heddle_torch)
target_include_directories(heddle_torch SYSTEM INTERFACE
  "${HEDDLE_LIBTORCH}/include" "${HEDDLE_LIBTORCH}/include/torch/csrc/api/include")
# Without errno, sqrt vectorises. Without OpenMP, at::parallel_for is a plain loop. Every user of the
# precompiled header needs the same flags.
target_compile_options(heddle_torch INTERFACE -fno-math-errno -fno-trapping-math)
if(NOT HEDDLE_FUZZ)  # clang's would need a runtime of its own
  target_compile_options(heddle_torch INTERFACE -fopenmp)
endif()
# LibTorch brings the headers of a newer fmt than the system library.
target_compile_definitions(heddle_torch INTERFACE USE_DISTRIBUTED USE_C10D_GLOO FMT_HEADER_ONLY)
target_link_libraries(heddle_torch INTERFACE
  "${HEDDLE_LIBTORCH}/lib/libtorch_cpu.so" "${HEDDLE_LIBTORCH}/lib/libc10.so"
  "${HEDDLE_LIBTORCH}/lib/libgomp.so.1"
  "-Wl,-rpath,${HEDDLE_LIBTORCH}/lib" "-Wl,-rpath-link,${HEDDLE_LIBTORCH}/lib")

# One precompiled header serves every library that includes LibTorch.
add_library(heddle_torch_headers OBJECT "${HEDDLE_ROOT}/engine/torch_headers.cpp")
target_include_directories(heddle_torch_headers PUBLIC "${HEDDLE_ROOT}")
target_compile_options(heddle_torch_headers PRIVATE -Wall -Wextra -Werror)
target_link_libraries(heddle_torch_headers PUBLIC heddle::torch tl::expected fmt::fmt)
target_precompile_headers(heddle_torch_headers PRIVATE "${HEDDLE_ROOT}/engine/torch_headers.h")
function(heddle_torch_headers target)
  target_precompile_headers(${target} REUSE_FROM heddle_torch_headers)
endfunction()
