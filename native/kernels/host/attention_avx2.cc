#include "attention_decode_impl.h"
