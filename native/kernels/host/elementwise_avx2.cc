#include "elementwise_impl.h"
