/** The tools that show what is part of what, with what it has cost, and that set what it may cost. */
import { z } from 'zod';
import { BUDGET_KINDS, budgetAnswer, budgetShape } from '../../../graph/rules/budget.ts';
import { keyOfNode, NODE_KINDS, NODE_STATUSES, nodeKey } from '../../../graph/rules/graphNode.ts';
import { MusterError } from '../../../kernel/errors.ts';
import { idOf } from '../../../kernel/ids.ts';
import { fitting } from '../../../kernel/json.ts';
import { encodeCursor } from '../../../kernel/paging.ts';
import { clearArgument, clearing, partial } from '../../../mcp/tool.ts';
import type { SeenNode } from '../rules/tree.ts';
import { cursor, defineTool, pageShape, placeAfter } from './systemPages.ts';

const counts = z.record(z.string(), z.int());

const totalsShape = z.object({
  counts: counts.describe('By status: how many things, itself with them.'),
  attempts: z.number().describe('Claims of tasks and requests to models.'),
  inputTokens: z.number(),
  outputTokens: z.number(),
  costUsd: z.number().describe('Where somebody was paid by use.'),
  milliseconds: z.number().describe('Of work; what goes on side by side is added up.'),
});

const nodeShape = z.object({
  kind: z.enum(NODE_KINDS),
  ...partial({
    id: z.string(),
    private: z.boolean().describe('It is not yours to see.'),
    deleted: z.boolean().describe('It is gone; what it has taken still counts.'),
    title: z.string(),
    workspace: z.string(),
    status: z.enum(NODE_STATUSES),
    createdAt: z.iso.datetime(),
    partOf: z.object({ kind: z.enum(NODE_KINDS), id: z.string().optional() }),
    depth: z.int().describe('1 for what is directly part of what was asked for.'),
    totals: totalsShape,
  }).shape,
});

type NodeAnswer = z.output<typeof nodeShape>;

function nodeAnswer({ node, sight }: SeenNode): NodeAnswer {
  const { kind, thing_id: id, status, workspace, created_at, totals, deleted: isDeleted } = node;
  if (sight === undefined) return { kind, private: true };
  return {
    kind,
    id,
    ...(isDeleted ? { deleted: true } : sight === 'all' && { title: node.title }),
    workspace,
    status,
    createdAt: created_at.toISOString(),
    totals: {
      counts: Object.fromEntries(Object.entries(totals.counts).filter(([, count]) => count !== 0)),
      attempts: totals.attempts,
      inputTokens: totals.input_tokens,
      outputTokens: totals.output_tokens,
      costUsd: totals.cost_usd,
      milliseconds: totals.milliseconds,
    },
  };
}

export const getTree = defineTool({
  name: 'getTree',
  title: 'Tree of work',
  description:
    'Shows what is part of a to-do, task, run or pull request, what it is part of itself, and what all of it has taken.',
  details:
    'Totals are kept by each change, so they cost no more to read the more there is. What is not yours to see is there by its kind alone, and counts.',
  input: z.strictObject({
    kind: z.enum(NODE_KINDS).describe('What it is'),
    id: idOf('a to-do, task, run or pull request').describe('Its id'),
    limit: z.int().min(1).max(100).default(50).describe('How many parts'),
    cursor,
  }),
  output: z.object({
    node: nodeShape,
    path: z.array(nodeShape).describe('What it is part of, the nearest first.'),
    parts: z.array(nodeShape).describe('All below it, in the order in which it was made.'),
    budgets: z.array(budgetShape).describe('Those that hold for it, its own first.'),
    ...pageShape,
  }),
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  role: 'viewer',
  example: { kind: 'task', id: 'task-xxx-001' },
  handler: async ({ services, principal, workspace }, { kind, id, limit, cursor: encoded }) => {
    const question = nodeKey({ kind, id });
    const after = placeAfter(question, encoded);
    const page = { limit, ...(after && { after: { at: new Date(after.order[0] ?? 0), id: after.id } }) };
    const { trees, budgets } = services.system;
    const { root, path, below } = await trees.tree(principal, { kind, id, workspace, page });
    const ways = [root, ...path].filter(({ sight }) => sight !== undefined).map(({ node }) => node);
    const holding = await budgets.holdingFor(principal, ways);
    // What is shown to nobody who may not see it: of a parent too, its kind alone.
    const shown = new Set(
      [root, ...path, ...below.items].flatMap((one) => (one.sight ? [keyOfNode(one.node)] : [])),
    );
    const answerOf = (seen: SeenNode): NodeAnswer => {
      const { part_of, ancestors } = seen.node;
      const depth = seen === root ? 0 : ancestors.indexOf(keyOfNode(root.node)) + 1;
      if (seen.sight === undefined) return { ...nodeAnswer(seen), ...(depth > 0 && { depth }) };
      const parent = part_of && (shown.has(nodeKey(part_of)) ? { ...part_of } : { kind: part_of.kind });
      return { ...nodeAnswer(seen), ...(parent && { partOf: parent }), ...(depth > 0 && { depth }) };
    };
    const items = fitting(below.items, answerOf);
    const last = below.more || items.length < below.items.length ? items.at(-1) : undefined;
    return {
      node: answerOf(root),
      path: path.map(answerOf),
      parts: items.map(answerOf),
      budgets: holding.map(budgetAnswer),
      truncated: last !== undefined,
      nextCursor:
        last && encodeCursor(question, { order: [last.node.created_at.getTime()], id: keyOfNode(last.node) }),
    };
  },
});

export const setBudget = defineTool({
  name: 'setBudget',
  title: 'Set a budget',
  description:
    'Limits what a workspace, to-do, task or run and all its parts may spend on models; clear removes a limit.',
  details:
    'A call of a model is made where what it can cost at most is left of every budget above it. When one is spent, work waits, and whoever set it is asked to raise it. What was spent before counts, but for a workspace: that counts from when it is set. If an agent raises or removes a limit that it did not set, the person who set it approves the call first.',
  input: z.strictObject({
    kind: z.enum(BUDGET_KINDS).describe('Of what'),
    id: idOf('a workspace, to-do, task or run').describe('Its id'),
    money: z.number().min(0).max(1e6).optional().describe('US dollars'),
    tokens: z.int().min(0).max(1e12).optional().describe('In and out together'),
    clear: clearArgument('money', 'tokens'),
  }),
  output: budgetShape,
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  loosens: ['budget'],
  role: 'worker',
  audience: 'those who administer',
  example: { kind: 'task', id: 'task-xxx-001', money: 5, tokens: 2_000_000 },
  answer: budgetAnswer,
  handler: ({ services, principal, workspace, recordAnswer }, input) => {
    const { clear, money, tokens, kind, id: thing_id } = input;
    const changed = clearing(clear);
    const limits = { money: changed('money', money), tokens: changed('tokens', tokens) };
    if (limits.money === undefined && limits.tokens === undefined) throw nothingSaid();
    return services.system.budgets.set(principal, { workspace, kind, thing_id, ...limits }, recordAnswer);
  },
});

function nothingSaid(): MusterError {
  return new MusterError('REQUIRED_FIELD', 'It does not say how much may be spent.', {
    field: 'money',
    reason: 'MISSING',
    suggestion:
      'Give money, tokens or both; clear removes a limit. system.getTree shows the budgets that hold.',
  });
}
