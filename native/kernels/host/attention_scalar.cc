#include "attention_impl.h"
