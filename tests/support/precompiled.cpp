#include "support/precompiled.hpp"  // a precompiled header needs a target with a source
