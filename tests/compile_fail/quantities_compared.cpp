// expect: algoperf: quantities of different units cannot be added or compared
#include <algoperf/scaling/cost/quantities.hpp>
namespace ap = algoperf;

bool compared(ap::Parameters n, ap::Samples d) { return n < d; }
