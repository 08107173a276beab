package io.musabench.bindings;

import com.sun.jna.Function;
import com.sun.jna.Memory;
import com.sun.jna.Pointer;
import io.musabench.bindings.load.LoadedLibrary;
import io.musabench.bindings.runtime.Vendor;
import java.util.OptionalLong;

/** What a runtime says when it is asked for devices, without becoming this JVM's runtime. */
final class RuntimeCheck {
  private final Vendor vendor;
  private final LoadedLibrary library;
  private final int devices;
  private final String reason;

  RuntimeCheck(Vendor vendor, LoadedLibrary library) {
    this.vendor = vendor;
    this.library = library;
    String symbol = vendor.prefix() + "GetDeviceCount";
    OptionalLong function = library.find(symbol);
    if (function.isEmpty()) {
      devices = 0;
      reason = library.path() + " has no " + symbol;
      return;
    }
    try (Memory count = new Memory(4)) {
      count.setInt(0, 0);
      int code = LoadedLibrary.call(function.getAsLong(), count);
      devices = code == 0 ? count.getInt(0) : 0;
      if (code != 0) {
        reason =
            "%s failed: %d %s: %s"
                .formatted(symbol, code, text("GetErrorName", code), text("GetErrorString", code));
        // Or the process's first check of the last error would find it.
        library.find(vendor.prefix() + "GetLastError").ifPresent(LoadedLibrary::call);
      } else {
        reason = devices == 0 ? "it counts no device" : "";
      }
    }
  }

  /** The number of devices; 0 if it cannot be asked. */
  int devices() {
    return devices;
  }

  /** Why there is none; empty if there is one. */
  String reason() {
    return reason;
  }

  /** The library's version in words. */
  String version() {
    OptionalLong function = library.find(vendor.prefix() + "RuntimeGetVersion");
    if (function.isEmpty()) {
      return "unknown";
    }
    try (Memory version = new Memory(4)) {
      version.setInt(0, 0);
      return LoadedLibrary.call(function.getAsLong(), version) == 0
          ? vendor.versionText(version.getInt(0))
          : "unknown";
    }
  }

  private String text(String name, int code) {
    OptionalLong function = library.find(vendor.prefix() + name);
    return function.isEmpty()
        ? "?"
        : Function.getFunction(new Pointer(function.getAsLong()))
            .invokeString(new Object[] {code}, false);
  }
}
