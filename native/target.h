/* All functions from here to target_end.h are compiled for the instruction set TARGET; the library chooses among the
 * files when it knows the processor. */
#if defined(__clang__)
#define TARGETED_(name) _Pragma(#name)
#define TARGETED(name) TARGETED_(clang attribute push(__attribute__((target(name))), apply_to = function))
TARGETED(TARGET)
#else
#pragma GCC push_options
#define TARGETED_(name) _Pragma(#name)
#define TARGETED(name) TARGETED_(GCC target(name))
TARGETED(TARGET)
#endif
