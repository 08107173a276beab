#include "roof_impl.h"
