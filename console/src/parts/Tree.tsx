/** Parents, parts and total usage of an item. Source: docs/guides/graph.md. */
import { z } from 'zod/mini';
import { callTool } from '../calls/tools.ts';
import { usePages } from '../calls/useResponse.ts';
import { addressOf } from '../router.ts';
import { Budgets, budget, nameOf } from './Budgets.tsx';
import { duration } from './dates.ts';
import { More } from './More.tsx';
import { Card, Shown } from './Notice.tsx';
import { Status } from './Status.tsx';
import { UserText } from './UserText.tsx';

const totals = z.object({
  attempts: z.number(),
  inputTokens: z.number(),
  outputTokens: z.number(),
  costUsd: z.number(),
  milliseconds: z.number(),
});

const node = z.object({
  kind: z.string(),
  id: z.exactOptional(z.string()),
  title: z.exactOptional(z.string()),
  status: z.exactOptional(z.string()),
  private: z.exactOptional(z.boolean()),
  deleted: z.exactOptional(z.boolean()),
  depth: z.exactOptional(z.number()),
  totals: z.exactOptional(totals),
});
type Node = z.output<typeof node>;

const tree = z.object({
  node,
  path: z.array(node),
  parts: z.array(node),
  budgets: z._default(z.array(budget), []),
  nextCursor: z.exactOptional(z.string()),
});

interface TreeProps {
  readonly kind: 'todo' | 'task' | 'run';
  readonly id: string;
  /** Reloads the tree when the item changes. */
  readonly version: string;
}

export function Tree({ kind, id, version }: TreeProps) {
  const { live, refetch, more } = usePages(
    `${kind} ${id}`,
    (cursor) => callTool('system.getTree', { kind, id, ...(cursor !== undefined && { cursor }) }, tree),
    ({ nextCursor }) => nextCursor,
    version,
  );
  // An item that is not in the graph has no tree.
  if (live.state === 'failed' || live.state === 'loading') return null;
  return (
    <Card title="Parents, parts and budgets">
      <Shown live={live}>
        {([first, ...next]) =>
          first !== undefined && (
            <Whole
              kind={kind}
              id={id}
              tree={{ ...first, parts: [first, ...next].flatMap(({ parts }) => parts) }}
              more={more}
              changed={refetch}
            />
          )
        }
      </Shown>
    </Card>
  );
}

interface WholeProps extends Omit<TreeProps, 'version'> {
  readonly tree: z.output<typeof tree>;
  readonly more: (() => void) | undefined;
  changed(): void;
}

function Whole({ kind, id, tree: { node: itself, path, parts, budgets }, more, changed }: WholeProps) {
  return (
    <>
      <ul class="plain rows">
        {[...path].reverse().map((one, index) => (
          <NodeLine key={`${one.kind} ${one.id ?? index}`} node={one} depth={index} />
        ))}
        {parts.map((one, index) => (
          <NodeLine key={`${one.kind} ${one.id ?? index}`} node={one} depth={path.length + (one.depth ?? 1)} />
        ))}
      </ul>
      <More what="parts" more={more} />
      {itself.totals !== undefined && (
        <p class="soft">
          {`All of it: ${counted(itself.totals.attempts)}, ${(
            itself.totals.inputTokens + itself.totals.outputTokens
          ).toLocaleString()} tokens, $${itself.totals.costUsd.toFixed(4)}, ${duration(itself.totals.milliseconds)} of work.`}
        </p>
      )}
      <Budgets kind={kind} id={id} budgets={budgets} changed={changed} />
    </>
  );
}

function counted(attempts: number): string {
  return attempts === 1 ? 'one attempt' : `${attempts} attempts`;
}

const PAGES: Readonly<Record<string, string>> = { todo: 'd', task: 't', run: 'r' };

function NodeLine({ node: one, depth }: { readonly node: Node; readonly depth: number }) {
  const page = PAGES[one.kind];
  const title = one.title ?? (one.private === true ? 'not yours to see' : 'no longer there');
  return (
    <li style={{ paddingLeft: `${depth}rem` }}>
      {one.status !== undefined && <Status of={one.status} />} <span class="tag">{nameOf(one.kind)}</span>{' '}
      {page === undefined || one.id === undefined ? (
        <UserText text={title} limit={140} />
      ) : (
        <a href={addressOf([page, one.id])}>
          <UserText text={title} limit={140} />
        </a>
      )}
      {one.totals !== undefined && one.totals.costUsd > 0 && (
        <span class="soft">{` $${one.totals.costUsd.toFixed(4)}`}</span>
      )}
    </li>
  );
}
