// expect: algoperf: fit_values solves for the coefficients in which y is linear, but this law declares none
#include <algoperf/algoperf.hpp>
#include <algoperf/scaling/fit/fit_values.hpp>
#include <algoperf/scaling/laws/kaplan.hpp>

void fit(const std::vector<algoperf::Observation<2>>& runs) { algoperf::fit_values(algoperf::Kaplan{}, runs); }
