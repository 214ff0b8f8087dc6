// expect: algoperf: a schedule is any callable `double (std::uint64_t step) const`
#include <algoperf/schedules/all.hpp>

auto schedule = algoperf::join(0.1, 100, 0.01);
