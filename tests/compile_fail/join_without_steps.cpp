// expect: algoperf: join takes `first, steps, second, steps, ..., last`: schedules with a whole number of steps between
// them
#include <algoperf/schedules/all.hpp>

auto schedule = algoperf::join(algoperf::Constant{1}, algoperf::Constant{2});
