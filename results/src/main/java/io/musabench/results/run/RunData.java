package io.musabench.results.run;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Everything a report needs: what a run directory holds besides the samples.
 *
 * @param name name of the run directory
 * @param environment where and with what it was measured
 * @param cases in the order in which they were run
 */
public record RunData(String name, Environment environment, List<CaseResult> cases) {
  /** Copies the list. */
  public RunData {
    cases = List.copyOf(cases);
  }

  /** The cases of a group that have a number. */
  public List<CaseResult> measured(String group) {
    return cases.stream().filter(c -> c.ok() && c.group().equals(group)).toList();
  }

  /** The cases that have a number, by their id. */
  public Map<String, CaseResult> measured() {
    Map<String, CaseResult> all = new LinkedHashMap<>();
    cases.stream().filter(CaseResult::ok).forEach(c -> all.put(c.id(), c));
    return all;
  }

  /** What a run has to say that was stopped, or still goes on; empty if it is whole. */
  public String partial() {
    return environment.partial(cases.size());
  }

  /** The roofs measured in this run. */
  public Roofs roofs() {
    return Roofs.of(cases);
  }
}
