// For files that are compiled once per instruction set, with its flags and with its name as ALGOPERF_INSTRUCTION_SET.
// After `#define algoperf ALGOPERF_RENAMED`, such a file includes the library's headers in a namespace of its own, so
// that the linker cannot use a function of this file in code that is compiled with other flags.
#pragma once

#define ALGOPERF_JOIN_(a, b) a##_##b
#define ALGOPERF_JOIN(a, b) ALGOPERF_JOIN_(a, b)
#define ALGOPERF_RENAMED ALGOPERF_JOIN(algoperf_for, ALGOPERF_INSTRUCTION_SET)
