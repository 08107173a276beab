package io.musabench.bindings.runtime;

import com.sun.jna.FunctionMapper;
import com.sun.jna.NativeLibrary;
import java.lang.reflect.Method;

/** Puts a vendor's prefix before a function's name: {@code malloc} to {@code musaMalloc}. */
final class RuntimeFunctionMapper implements FunctionMapper {
  private final String prefix;

  RuntimeFunctionMapper(String prefix) {
    this.prefix = prefix;
  }

  @Override
  public String getFunctionName(NativeLibrary library, Method method) {
    return map(method.getName());
  }

  String map(String name) {
    return prefix + Character.toUpperCase(name.charAt(0)) + name.substring(1);
  }
}
