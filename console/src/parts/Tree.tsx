/** Cost and relations of an item: what it has spent, its limits, parents, parts, and what it needs. Source: docs/guides/graph.md. */
import type { ComponentChildren } from 'preact';
import { z } from 'zod/mini';
import { common, kinds } from '../../text/common.ts';
import { task as text } from '../../text/task.ts';
import { costOf, duration, fill, money, number, plural } from '../../ui/format.ts';
import { Meter } from '../../ui/Meter.tsx';
import { State } from '../../ui/State.tsx';
import { UserText } from '../../ui/UserText.tsx';
import { callTool } from '../calls/tools.ts';
import { usePages } from '../calls/useResponse.ts';
import { addressOf } from '../router.ts';
import { mayAs } from '../shell/role.ts';
import { PAGES } from '../shell/screens.ts';
import { type Budget, budget } from './budget.ts';
import { LimitField } from './LimitField.tsx';
import { More } from './More.tsx';
import { Section } from './Notice.tsx';
import { TaskTitle, useTaskState } from './Title.tsx';

const totals = z.object({
  attempts: z.number(),
  inputTokens: z.number(),
  outputTokens: z.number(),
  costUsd: z.exactOptional(z.number()),
  unpricedTokens: z.exactOptional(z.number()),
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
type Answer = z.output<typeof tree>;

interface TreeProps {
  readonly kind: 'todo' | 'task' | 'run';
  readonly id: string;
  /** Reloads the tree when the item changes. */
  readonly version: string;
  /** Ids of the tasks that a task needs, and of those that need it. */
  readonly needs?: readonly string[];
  readonly neededBy?: readonly string[];
}

export function Tree({ kind, id, version, needs = [], neededBy = [] }: TreeProps) {
  const { live, refetch, more } = usePages(
    `${kind} ${id}`,
    (cursor) => callTool('system.getTree', { kind, id, ...(cursor !== undefined && { cursor }) }, tree),
    ({ nextCursor }) => nextCursor,
    { version },
  );
  // An item that is not in the graph has no tree.
  const [first, ...next] = 'value' in live ? live.value : [];
  const path = first?.path ?? [];
  const parts = [first, ...next].flatMap((page) => page?.parts ?? []);
  return (
    <>
      {first !== undefined && <Cost kind={kind} id={id} of={first} changed={refetch} />}
      {[path, parts, needs, neededBy].some((list) => list.length > 0) && (
        <Section title={common.relations}>
          <dl class="facts">
            <Fact name={text.partOf}>{path.map(nodeLine)}</Fact>
            <Fact name={text.needs}>{tasks(needs)}</Fact>
            <Fact name={text.neededBy}>{tasks(neededBy)}</Fact>
            <Fact name={text.parts}>{parts.map(nodeLine)}</Fact>
          </dl>
          <More what={text.parts.toLowerCase()} more={more} />
        </Section>
      )}
    </>
  );
}

/** A relation is left out if it has no items. */
function Fact({ name, children }: { readonly name: string; readonly children: readonly ComponentChildren[] }) {
  if (children.length === 0) return null;
  return (
    <>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </>
  );
}

/** Maximum number of tasks that are listened to for their titles. */
const MAX_TASKS = 20;

function tasks(ids: readonly string[]): readonly ComponentChildren[] {
  const shown = ids.slice(0, MAX_TASKS).map((id) => <TaskLine key={id} id={id} />);
  const more = ids.length - shown.length;
  return more === 0
    ? shown
    : [
        ...shown,
        <span key="more" class="faint">
          {fill(text.more, { n: more })}
        </span>,
      ];
}

function TaskLine({ id }: { readonly id: string }) {
  const state = useTaskState(id);
  return (
    <span class="line">
      {state !== undefined && <State of={state} words="" />}
      <TaskTitle id={id} limit={80} />
    </span>
  );
}

const PATHS: Readonly<Record<string, string>> = PAGES;

const nodeLine = (one: Node, index: number) => <NodeLine key={`${one.kind} ${one.id ?? index}`} node={one} />;

function NodeLine({ node: one }: { readonly node: Node }) {
  const page = PATHS[one.kind];
  const title = one.title ?? (one.private === true ? common.private : common.deleted);
  return (
    <span class="line">
      {one.status !== undefined && <State of={one.status} words="" />}
      {page === undefined || one.id === undefined || one.title === undefined ? (
        <span class={one.title === undefined ? 'faint' : ''}>
          <UserText text={title} limit={100} />
        </span>
      ) : (
        <a href={addressOf([page, one.id])}>
          <UserText text={title} limit={100} />
        </a>
      )}
      {one.totals !== undefined && one.totals.costUsd !== 0 && (
        <small class="faint num">{costOf(one.totals.costUsd, one.totals.unpricedTokens)}</small>
      )}
    </span>
  );
}

interface CostProps {
  readonly kind: 'todo' | 'task' | 'run';
  readonly id: string;
  readonly of: Answer;
  changed(): void;
}

function Cost({ kind, id, of: { node: itself, path, budgets }, changed }: CostProps) {
  const own = budgets.find((one) => one.kind === kind && one.id === id && one.limit.money !== undefined);
  const above = budgets.find((one) => one !== own && one.limit.money !== undefined);
  const used = itself.totals;
  const spent = Math.max(used?.costUsd ?? 0, own?.spent.money ?? 0);
  const limit = own?.limit.money;
  return (
    <Section
      title={text.cost}
      actions={mayAs('worker') && <LimitField kind={kind} id={id} money={limit} changed={changed} />}>
      <p class="line">
        <span class="big">{costOf(spent, used?.unpricedTokens)}</span>
        <span class="soft">
          {limit === undefined ? text.noLimit.toLowerCase() : fill(text.ofLimit, { limit: money(limit) })}
        </span>
      </p>
      {limit !== undefined && limit > 0 && (
        <Meter parts={[[spent >= limit ? 'bad' : 'lead', Math.min(1, spent / limit)]]} />
      )}
      {used !== undefined && (
        <p class="hint">
          {fill(text.usage, {
            tokens: number(used.inputTokens + used.outputTokens),
            attempts: plural(used.attempts, text.attemptsUsed),
            time: duration(used.milliseconds),
          })}
        </p>
      )}
      {above !== undefined && <p class="hint">{aboveWords(above, path)}</p>}
      {own !== undefined && (own.left.money ?? 1) <= 0 && <p class="hint bad">{text.paused}</p>}
    </Section>
  );
}

function aboveWords(above: Budget, path: readonly Node[]): string {
  const values = { limit: money(above.limit.money ?? 0), left: money(Math.max(0, above.left.money ?? 0)) };
  if (above.kind === 'workspace') return fill(text.partOfWorkspace, values);
  const title = path.find((one) => one.id === above.id)?.title ?? kinds[above.kind]?.[0] ?? above.kind;
  return fill(text.partOfLimit, { ...values, title: title.slice(0, 80) });
}
