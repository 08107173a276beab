package io.musabench.results.report.html;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.musabench.results.run.CaseResult;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The cases of all runs, numbered: rows and points name them by number and not by their text. */
final class Cases {
  private final List<Map<String, Integer>> numbers = new ArrayList<>();
  private final ArrayNode node = JsonNodeFactory.instance.arrayNode();

  Cases(List<ReportedRun> runs) {
    for (int run = 0; run < runs.size(); run++) {
      Map<String, Integer> ofRun = new HashMap<>();
      for (CaseResult c : runs.get(run).data().cases()) {
        ofRun.put(c.id(), node.size());
        ObjectNode entry = node.addObject();
        entry.put("id", c.id());
        entry.put("run", run);
        entry.put("command", c.reproduce());
      }
      numbers.add(ofRun);
    }
  }

  /** Number of a case; {@link Table#NO_CASE} if the run does not have it. */
  int of(int run, String id) {
    return numbers.get(run).getOrDefault(id, Table.NO_CASE);
  }

  ArrayNode json() {
    return node;
  }
}
