// The matrix decompositions of the library algoperf::gemm, by Eigen, compiled once. Eigen's namespace is renamed,
// because a program that links this library may include Eigen with other flags.
#define Eigen EigenOfAlgoperf
#include "algoperf/backend/products/linear_algebra.hpp"
#include "algoperf/backend/products/linear_algebra_eigen.hpp"

template struct algoperf::LinearAlgebra<float>;
template struct algoperf::LinearAlgebra<double>;
