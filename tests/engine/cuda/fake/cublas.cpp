// cuBLAS: products are checked and put in line, and not computed.
#include <cublas_v2.h>

#include "faults.h"
#include "streams.h"

struct cublasContext {
  cudaStream_t stream = nullptr;
  cublasMath_t math = CUBLAS_DEFAULT_MATH;
  cublasPointerMode_t pointers = CUBLAS_POINTER_MODE_HOST;
};

namespace {

// C [m, n] = A [m, k] · B [k, n], column by column; leading dimensions are those of what lies
// there.
cublasStatus_t product(cublasHandle_t handle, cublasOperation_t of_a, cublasOperation_t of_b, int m,
                       int n, int k, const void* a, int lda, const void* b, int ldb, const void* c,
                       int ldc) {
  const fake::Fate fate = fake::fate_of("cublasGemm", fake::is_capturing(handle->stream));
  if (fate.error) return static_cast<cublasStatus_t>(fate.error);
  const bool fits = m >= 0 && n >= 0 && k >= 0 && a && b && c &&
                    lda >= (of_a == CUBLAS_OP_N ? m : k) && ldb >= (of_b == CUBLAS_OP_N ? k : n) &&
                    ldc >= m;
  if (!fits) {
    fake::note("illegal product %d %d %d with %d %d %d", m, n, k, lda, ldb, ldc);
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  const auto work = [flops = 2.0 * m * n * k] { fake::take("FAKE_CUDA_GFLOPS", flops); };
  return fake::put(handle->stream, work) == cudaSuccess ? CUBLAS_STATUS_SUCCESS
                                                        : CUBLAS_STATUS_EXECUTION_FAILED;
}

}  // namespace

extern "C" {

cublasStatus_t cublasCreate_v2(cublasHandle_t* handle) {
  if (const fake::Fate fate = fake::fate_of("cublasCreate", false); fate.error)
    return static_cast<cublasStatus_t>(fate.error);
  *handle = new cublasContext();
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasDestroy_v2(cublasHandle_t handle) {
  delete handle;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream) {
  handle->stream = stream;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasGetStream_v2(cublasHandle_t handle, cudaStream_t* stream) {
  *stream = handle->stream;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t, void*, size_t) {
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t math) {
  handle->math = math;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasGetMathMode(cublasHandle_t handle, cublasMath_t* math) {
  *math = handle->math;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetPointerMode_v2(cublasHandle_t handle, cublasPointerMode_t mode) {
  handle->pointers = mode;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasGetPointerMode_v2(cublasHandle_t handle, cublasPointerMode_t* mode) {
  *mode = handle->pointers;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetAtomicsMode(cublasHandle_t, cublasAtomicsMode_t) {
  return CUBLAS_STATUS_SUCCESS;
}
const char* cublasGetStatusString(cublasStatus_t) { return "an error of the fake cuBLAS"; }

cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t of_a, cublasOperation_t of_b,
                            int m, int n, int k, const void*, const void* a,
                            cudaDataType of_factors, int lda, const void* b, cudaDataType, int ldb,
                            const void* kept, void* c, cudaDataType of_result, int ldc,
                            cublasComputeType_t, cublasGemmAlgo_t) {
  if (of_factors == CUDA_R_16BF && of_result == CUDA_R_32F)
    fake::note("fp32 %s of bf16", *static_cast<const float*>(kept) == 0 ? "product" : "sum");
  return product(handle, of_a, of_b, m, n, k, a, lda, b, ldb, c, ldc);
}
cublasStatus_t cublasSgemm_v2(cublasHandle_t handle, cublasOperation_t of_a, cublasOperation_t of_b,
                              int m, int n, int k, const float*, const float* a, int lda,
                              const float* b, int ldb, const float*, float* c, int ldc) {
  return product(handle, of_a, of_b, m, n, k, a, lda, b, ldb, c, ldc);
}
cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t handle, cublasOperation_t of_a,
                                          cublasOperation_t of_b, int m, int n, int k, const void*,
                                          const void* a, cudaDataType, int lda, long long,
                                          const void* b, cudaDataType, int ldb, long long,
                                          const void*, void* c, cudaDataType, int ldc, long long,
                                          int, cublasComputeType_t, cublasGemmAlgo_t) {
  return product(handle, of_a, of_b, m, n, k, a, lda, b, ldb, c, ldc);
}
cublasStatus_t cublasSgemmStridedBatched(cublasHandle_t handle, cublasOperation_t of_a,
                                         cublasOperation_t of_b, int m, int n, int k, const float*,
                                         const float* a, int lda, long long, const float* b,
                                         int ldb, long long, const float*, float* c, int ldc,
                                         long long, int) {
  return product(handle, of_a, of_b, m, n, k, a, lda, b, ldb, c, ldc);
}

}  // extern "C"
