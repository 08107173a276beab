// Graphs and their executable form.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "runtime/stream.h"
#include "runtime/work.h"

namespace musabench {

struct GraphNode {
  Work work;
  std::vector<uint32_t> after;  // nodes that come before this one; all have lower numbers
};

// Never changed once its capture has ended, so graphs and executable graphs share it.
// The nodes stand in an order that fulfils all dependencies: it is the order of replay.
struct Graph {
  int device = 0;
  std::vector<GraphNode> nodes;
};

// What musaGraphLaunch needs: two launches of one executable graph never overlap.
struct GraphExec {
  std::shared_ptr<const Graph> graph;
  std::mutex mutex;
  StreamPoint last_launch;  // guarded by mutex
};

}  // namespace musabench
