// The cuSOLVER decompositions that backend/cuda/linear_algebra.cuh calls, implemented with Eigen. Geqrf stores Q
// where cuSOLVER stores Householder reflectors, so Orgqr does nothing.
#pragma once

#include <Eigen/Eigenvalues>
#include <Eigen/QR>

#include "cublas_v2.h"

enum cusolverStatus_t { CUSOLVER_STATUS_SUCCESS };
enum cusolverEigMode_t { CUSOLVER_EIG_MODE_VECTOR };
struct cusolverDnContext {
  cudaStream_t stream = nullptr;
};
using cusolverDnHandle_t = cusolverDnContext*;

inline cusolverStatus_t cusolverDnCreate(cusolverDnHandle_t* handle) {
  return *handle = new cusolverDnContext, CUSOLVER_STATUS_SUCCESS;
}
inline cusolverStatus_t cusolverDnSetStream(cusolverDnHandle_t handle, cudaStream_t stream) {
  return handle->stream = stream, CUSOLVER_STATUS_SUCCESS;
}

namespace emulated_cuda {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic>;

}  // namespace emulated_cuda

inline cusolverStatus_t cusolverDnDsyevd_bufferSize(cusolverDnHandle_t, cusolverEigMode_t, cublasFillMode_t, int,
                                                    const double*, int, const double*, int* work) {
  return *work = 1, CUSOLVER_STATUS_SUCCESS;
}
inline cusolverStatus_t cusolverDnDsyevd(cusolverDnHandle_t handle, cusolverEigMode_t, cublasFillMode_t part, int n,
                                         double* a, int, double* values, double*, int, int* verdict) {
  emulated_cuda::start_call(handle->stream, [=] {
    Eigen::Map<emulated_cuda::Matrix> matrix(a, n, n);
    if (part == CUBLAS_FILL_MODE_UPPER) matrix.transposeInPlace();
    const Eigen::SelfAdjointEigenSolver<emulated_cuda::Matrix> solver(matrix);
    *verdict = solver.info() == Eigen::Success ? 0 : 1;
    Eigen::Map<Eigen::VectorXd>(values, n) = solver.eigenvalues();
    matrix = solver.eigenvectors();
  });
  return CUSOLVER_STATUS_SUCCESS;
}
inline cusolverStatus_t cusolverDnDgeqrf_bufferSize(cusolverDnHandle_t, int, int, double*, int, int* work) {
  return *work = 1, CUSOLVER_STATUS_SUCCESS;
}
inline cusolverStatus_t cusolverDnDgeqrf(cusolverDnHandle_t handle, int, int n, double* a, int, double*, double*, int,
                                         int* verdict) {
  emulated_cuda::start_call(handle->stream, [=] {
    Eigen::Map<emulated_cuda::Matrix> matrix(a, n, n);
    const Eigen::HouseholderQR<emulated_cuda::Matrix> found(matrix);
    matrix = found.householderQ();
    *verdict = 0;
  });
  return CUSOLVER_STATUS_SUCCESS;
}
inline cusolverStatus_t cusolverDnDorgqr_bufferSize(cusolverDnHandle_t, int, int, int, const double*, int,
                                                    const double*, int* work) {
  return *work = 1, CUSOLVER_STATUS_SUCCESS;
}
inline cusolverStatus_t cusolverDnDorgqr(cusolverDnHandle_t, int, int, int, double*, int, const double*, double*, int,
                                         int*) {
  return CUSOLVER_STATUS_SUCCESS;
}
