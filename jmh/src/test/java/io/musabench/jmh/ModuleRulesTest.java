package io.musabench.jmh;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import org.junit.jupiter.api.Test;

/** Which part may use which. */
class ModuleRulesTest {
  private static final JavaClasses CLASSES =
      new ClassFileImporter()
          .withImportOption(new ImportOption.DoNotIncludeTests())
          .importPackages("io.musabench");

  @Test
  void resultsShouldKnowNothingNative() {
    noClasses()
        .that()
        .resideInAPackage("io.musabench.results..")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage("io.musabench.bindings..", "io.musabench.jmh..", "com.sun.jna..")
        .check(CLASSES);
  }

  @Test
  void bindingsShouldKnowNothingOfBenchmarks() {
    noClasses()
        .that()
        .resideInAPackage("io.musabench.bindings..")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage("io.musabench.results..", "io.musabench.jmh..", "org.openjdk.jmh..")
        .check(CLASSES);
  }

  @Test
  void benchmarksShouldReachTheDeviceThroughBindingsOnly() {
    noClasses()
        .that()
        .resideInAPackage("io.musabench.jmh..")
        .should()
        .dependOnClassesThat()
        .resideInAPackage("com.sun.jna..")
        .check(CLASSES);
  }

  @Test
  void nothingShouldDependOnTheCommandLine() {
    noClasses()
        .that()
        .resideOutsideOfPackage("io.musabench.jmh.cli..")
        .should()
        .dependOnClassesThat()
        .resideInAPackage("io.musabench.jmh.cli..")
        .check(CLASSES);
  }

  // doctor and selftest measure nothing: what a library does to their process costs no results.
  @Test
  void theSuiteRunnerShouldLoadNoNativeLibrary() {
    noClasses()
        .that()
        .resideInAPackage("io.musabench.jmh.cli..")
        .and()
        .haveNameNotMatching(".*\\.(Doctor|Selftest)Command(\\$.*)?")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage(
            "io.musabench.bindings.runtime..",
            "io.musabench.bindings.ffi..",
            "io.musabench.bindings.kernels..")
        .check(CLASSES);
  }

  @Test
  void groupsOfBenchmarksShouldBeIndependent() {
    for (String group :
        new String[] {"attention", "gemm", "elementwise", "collective", "step", "launch", "roof"}) {
      noClasses()
          .that()
          .resideInAPackage("io.musabench.jmh." + group)
          .should()
          .dependOnClassesThat(
              com.tngtech.archunit.base.DescribedPredicate.describe(
                  "are benchmarks of another group",
                  type ->
                      type.getPackageName().startsWith("io.musabench.jmh.")
                          && !type.getPackageName().startsWith("io.musabench.jmh." + group)
                          && !type.getPackageName().equals("io.musabench.jmh.device")))
          .check(CLASSES);
    }
  }
}
