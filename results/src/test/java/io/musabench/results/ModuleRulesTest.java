package io.musabench.results;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import org.junit.jupiter.api.Test;

class ModuleRulesTest {
  private static final JavaClasses RESULTS =
      new ClassFileImporter()
          .withImportOption(new ImportOption.DoNotIncludeTests())
          .importPackages("io.musabench.results");

  @Test
  void resultsKnowsNeitherBindingsNorBenchmarksNorNativeCode() {
    noClasses()
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage(
            "io.musabench.bindings..", "io.musabench.jmh..", "com.sun.jna..", "org.openjdk.jmh..")
        .check(RESULTS);
    noClasses().should().callMethod(System.class, "load", String.class).check(RESULTS);
    noClasses().should().callMethod(System.class, "loadLibrary", String.class).check(RESULTS);
  }

  @Test
  void everythingLivesInAKnownPackage() {
    classes()
        .should()
        .resideInAnyPackage(
            "io.musabench.results",
            "io.musabench.results.model",
            "io.musabench.results.stats",
            "io.musabench.results.stopping",
            "io.musabench.results.run",
            "io.musabench.results.tpot",
            "io.musabench.results.tpot.kernels",
            "io.musabench.results.tpot.answers",
            "io.musabench.results.audit",
            "io.musabench.results.devices",
            "io.musabench.results.report",
            "io.musabench.results.report.html",
            "io.musabench.results.compare",
            "io.musabench.results.calibration",
            "io.musabench.results.history",
            "io.musabench.results.serving")
        .check(RESULTS);
  }

  @Test
  void modelsAndStatisticsStandOnTheirOwn() {
    // Kernel times may come from a run directory, so tpot.kernels is not among these.
    noClasses()
        .that()
        .resideInAnyPackage(
            "..results.model..", "..results.stats..", "..results.stopping..", "..results.tpot")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage("..results.run..", "..results.report..")
        .check(RESULTS);
  }
}
