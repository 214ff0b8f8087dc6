// expect: algoperf: join(first, steps, second, ...) takes a whole number of steps after each schedule
#include <algoperf/schedules/all.hpp>

auto schedule = algoperf::join(algoperf::Constant{1}, algoperf::Constant{2}, algoperf::Constant{3});
