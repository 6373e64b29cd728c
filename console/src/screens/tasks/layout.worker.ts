/** Lays out a graph outside the main thread. */
import { Graph, layout } from '@dagrejs/dagre';
import { type Layout, NODE_HEIGHT, NODE_WIDTH, type Wanted } from './graph.ts';

const MARGIN = 12;

addEventListener('message', ({ data }: MessageEvent<Wanted>) => {
  postMessage(laidOut(data));
});

function laidOut({ ids, edges }: Wanted): Layout {
  const graph = new Graph();
  graph.setGraph({ rankdir: 'LR', nodesep: 14, ranksep: 48, marginx: MARGIN, marginy: MARGIN });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const id of ids) graph.setNode(id, { width: NODE_WIDTH, height: NODE_HEIGHT });
  for (const { from, to } of edges) graph.setEdge(from, to);
  layout(graph);
  const { width = 0, height = 0 } = graph.graph();
  return {
    width,
    height,
    nodes: ids.map((id) => {
      const { x = 0, y = 0 } = graph.node(id) ?? {};
      return { id, x, y };
    }),
    edges: edges.map(({ from, to }) => ({ from, to, points: graph.edge(from, to)?.points ?? [] })),
  };
}
