#pragma once

#include <array>
#include <cmath>

#include "../fit/fit.hpp"
#include "../laws/power_law.hpp"
#include "quantities.hpp"
#include "requirements.hpp"

namespace algoperf {

// A deep learning domain with its scaling laws, from Hestness et al. 2019 ("Beyond Human-Level Accuracy"), Tables 1
// and 2.
struct FrontierDomain {
  const char* name;
  double error, target;  // error of the best models at the time, and the desired error
  Samples data;          // samples that those models were trained on
  double sequence;       // samples per batch element (a sequence or an image); 0: not given
  double alpha, beta_g;  // error = alpha data^beta_g
  double sigma, beta_p;  // parameters = 1e6 sigma data^beta_p: the paper's sigma counts millions without stating it
  Requirements requirements;  // per sequence or image
  Samples batch;              // in sequences or images, from Table 3

  Fit<PowerLaw> curve() const { return {{.theta = {std::log(alpha), beta_g}}}; }
  Fit<PowerLaw> model() const { return {{.theta = {std::log(1e6 * sigma), beta_p}}}; }
  // data_scale() returns the factor by which the data must grow for the error to fall from `error` to `target`, from
  // the learning curve's exponent alone, as in the paper. model_scale() returns the factor by which the model then
  // grows.
  double data_scale() const { return std::pow(target / error, 1 / beta_g); }
  double model_scale(double scale_of_data) const { return std::pow(scale_of_data, beta_p); }
};

// Four values in the paper are inconsistent with its others:
//   - the data scale of speech: 19.5 from these values, 33 printed;
//   - sigma of character models: it gives 1.7e12 parameters, 146e9 printed;
//   - the requirements of translation: 149 FLOPs per parameter here, 276 in the step of Table 3;
//   - 4071 days in Table 5, 4671 in the text.
inline constexpr std::array<FrontierDomain, 5> frontier{{
    {"word language model",
     3.37,
     2.48,
     Samples(768e6),
     768e6 / 30301028,
     13.0,
     -0.066,
     9.4e-4,
     0.68,
     {481, 1755, 30784, 11.94},
     Samples(128)},
    {"character language model",
     1.30,
     0.70,
     Samples(3.48e9),
     3.48e9 / 30301028,
     9.39,
     -0.092,
     1.2e-5,
     0.89,
     {900, 3510, 102980, 12.47},
     Samples(96)},
    {"translation",
     0.28,
     0.12,
     Samples(130e6),
     130e6 / 4.5e6,
     3.06,
     -0.128,
     6.4e-4,
     0.68,
     {149, 533, 22653, 10.32},
     Samples(96)},
    {"speech recognition",
     0.095,
     0.04,
     Samples(425e6),
     0,
     30.5,
     -0.291,
     2.4e-3,
     0.54,
     {775, 3100, 162750, 32.94},
     Samples(128)},
    {"image classification",
     0.194,
     0.05,
     Samples(1.3e6),
     1,
     15.0,
     -0.309,
     2.0e-2,
     0.57,
     {1111, 66.7, 268862, 42.57},
     Samples(32)},
}};

}  // namespace algoperf
