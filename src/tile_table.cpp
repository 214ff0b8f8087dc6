// Compiled once per instruction set, with its flags and with its name as ALGOPERF_INSTRUCTION_SET. The library's
// namespace is renamed, so that the linker cannot use a function of this file in code that is compiled with other
// flags.
#include "tile_tables.hpp"

#define ALGOPERF_JOIN_(a, b) a##_##b
#define ALGOPERF_JOIN(a, b) ALGOPERF_JOIN_(a, b)
#define ALGOPERF_RENAMED ALGOPERF_JOIN(algoperf_tiles, ALGOPERF_INSTRUCTION_SET)
namespace tables = algoperf::products;
namespace ALGOPERF_RENAMED {
using algoperf::Convolution;
}

#define algoperf ALGOPERF_RENAMED
#include "algoperf/backend/products/convolution_tiles.hpp"
#include "algoperf/backend/products/gemm_tiles.hpp"

namespace {

template <class S>
constexpr tables::Functions<S> functions{algoperf::gemm_nn<S>,
                                         algoperf::gemm_nt<S>,
                                         algoperf::gemm_tn<S>,
                                         algoperf::convolve<S>,
                                         algoperf::convolve_back_to_input<S>,
                                         algoperf::convolve_back_to_weight<S>};

}  // namespace

constinit const tables::TileTable tables::ALGOPERF_INSTRUCTION_SET{functions<float>, functions<double>};
