// Matrix products and convolutions by tiles, for one instruction set.
#include "renamed.hpp"
#include "tile_tables.hpp"

namespace tables = algoperf::products;
namespace ALGOPERF_RENAMED {
using algoperf::Convolution;
using algoperf::DepthwiseConvolution;
}  // namespace ALGOPERF_RENAMED

#define algoperf ALGOPERF_RENAMED
#include "algoperf/backend/products/convolution_tiles.hpp"
#include "algoperf/backend/products/depthwise_tiles.hpp"
#include "algoperf/backend/products/gemm_tiles.hpp"

namespace {

template <class S>
constexpr tables::Functions<S> functions{
    algoperf::gemm_nn<S>,
    algoperf::gemm_nt<S>,
    algoperf::gemm_tn<S>,
    algoperf::gemm_nt_bias<S>,
    {algoperf::convolve<S>, algoperf::convolve_back_to_input<S>, algoperf::convolve_back_to_weight<S>},
    {algoperf::convolve<S>, algoperf::convolve_back_to_input<S>, algoperf::convolve_back_to_weight<S>}};

}  // namespace

constinit const tables::TileTable tables::ALGOPERF_INSTRUCTION_SET{functions<float>, functions<double>};
