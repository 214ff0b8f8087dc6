// The matrix decompositions of the library algoperf::gemm, by Eigen, compiled once.
#include "algoperf/backend/products/linear_algebra.hpp"
#include "algoperf/backend/products/linear_algebra_eigen.hpp"

template struct algoperf::LinearAlgebra<float>;
template struct algoperf::LinearAlgebra<double>;
