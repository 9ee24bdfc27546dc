// FLINT and Arb, wherever the distribution puts them: in one library with FLINT 3, as <arb.h>
// beside FLINT 2.
#pragma once

#if __has_include(<flint/arb.h>)
#include <flint/acb.h>
#include <flint/acb_calc.h>
#include <flint/arb.h>
#include <flint/fmpq.h>
#else
#include <acb.h>
#include <acb_calc.h>
#include <arb.h>
#include <flint/fmpq.h>
#endif
#include <flint/ulong_extras.h>
