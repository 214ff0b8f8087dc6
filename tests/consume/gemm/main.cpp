#include <algoperf/backend/convolution.hpp>
#include <algoperf/backend/host.hpp>

namespace ap = algoperf;

#if !defined(ALGOPERF_EXTERN_GEMM)
#error "algoperf::gemm does not define ALGOPERF_EXTERN_GEMM"
#endif

// Computes a matrix product and a convolution. Returns 0 if both are correct.
int main() {
  const ap::Host<> host;
  const float a[] = {1, 2, 3, 4}, b[] = {5, 6, 7, 8};
  float c[4] = {};
  host.gemm_nn(2, 2, 2, a, b, c);
  if (c[0] != 19 || c[1] != 22 || c[2] != 43 || c[3] != 50) return 1;
  const ap::Convolution shape{
      .images = 1, .rows = 2, .cols = 2, .channels = 1, .filters = 1, .size = 2, .stride = 1, .padding = 0};
  const float bias = 0.5f;
  float y = 0;
  host.convolution(shape).forward(a, b, &bias, &y);
  if (y != 70.5f) return 2;
  return 0;
}
