/** Lays out a graph outside the main thread. */
import { Graph, layout } from '@dagrejs/dagre';
import { NODE_HEIGHT, NODE_WIDTH, stacked, type Wanted } from './graph.ts';

addEventListener('message', ({ data }: MessageEvent<Wanted>) => {
  postMessage(stacked(data, laidOut));
});

function laidOut({ ids, edges }: Wanted) {
  const graph = new Graph();
  graph.setGraph({ rankdir: 'LR', nodesep: 26, ranksep: 66, marginx: 0, marginy: 0 });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const id of ids) graph.setNode(id, { width: NODE_WIDTH, height: NODE_HEIGHT });
  for (const { from, to } of edges) graph.setEdge(from, to);
  layout(graph);
  const { width = 0, height = 0 } = graph.graph();
  const nodes = ids.map((id) => {
    const { x = 0, y = 0 } = graph.node(id) ?? {};
    return { id, x: x - NODE_WIDTH / 2, y: y - NODE_HEIGHT / 2 };
  });
  return { width, height, nodes };
}
