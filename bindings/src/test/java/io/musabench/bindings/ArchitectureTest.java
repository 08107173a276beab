package io.musabench.bindings;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import org.junit.jupiter.api.Test;

class ArchitectureTest {
  private static final JavaClasses BINDINGS =
      new ClassFileImporter()
          .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
          .importPackages("io.musabench");

  @Test
  void bindingsShouldKnowNothingOfBenchmarksAndResults() {
    noClasses()
        .that()
        .resideInAPackage("io.musabench.bindings..")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage("io.musabench.jmh..", "io.musabench.results..", "org.openjdk.jmh..")
        .check(BINDINGS);
  }

  @Test
  void bindingsShouldNeedNothingButJna() {
    classes()
        .that()
        .resideInAPackage("io.musabench.bindings..")
        .should()
        .onlyDependOnClassesThat()
        .resideInAnyPackage("io.musabench.bindings..", "com.sun.jna..", "java..")
        .check(BINDINGS);
  }

  @Test
  void runtimeShouldKnowNothingOfKernels() {
    noClasses()
        .that()
        .resideInAPackage("io.musabench.bindings.runtime..")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage("io.musabench.bindings.ffi..", "io.musabench.bindings.kernels..")
        .check(BINDINGS);
  }

  @Test
  void referencesShouldNotTouchNativeCode() {
    noClasses()
        .that()
        .resideInAPackage("io.musabench.bindings.kernels.reference..")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage("com.sun.jna..", "io.musabench.bindings.runtime..")
        .check(BINDINGS);
  }
}
