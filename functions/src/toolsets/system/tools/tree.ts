/** The tools that show an item's parts and cost, and that set budgets. */
import { z } from 'zod';
import { BUDGET_KINDS, budgetResponse, budgetShape } from '../../../graph/rules/budget.ts';
import { keyOfNode, NODE_KINDS, NODE_STATUSES, nodeKey, shownCost } from '../../../graph/rules/graphNode.ts';
import { MusterError } from '../../../kernel/errors.ts';
import { idOf } from '../../../kernel/ids.ts';
import { fittingItems } from '../../../kernel/json.ts';
import { encodeCursor } from '../../../kernel/paging.ts';
import { clearArgument, clearedFields, type Given, optionalFields, reading, writing } from '../../../mcp/tool.ts';
import type { VisibleNode } from '../rules/tree.ts';
import { cursor, defineTool, pageShape, timeAfter } from './systemPages.ts';

const unpricedTokens = z.number().describe('Tokens of models without a price, which costUsd does not contain.');
const counts = z.record(z.string(), z.int());

const totalsShape = z.object({
  counts: counts.describe('Number of items by status, including this one.'),
  attempts: z.number().describe('Claims of tasks and requests to models.'),
  inputTokens: z.number(),
  outputTokens: z.number(),
  costUsd: z.number().optional().describe('Cost of metered calls, in US dollars; absent if unknown.'),
  unpricedTokens: unpricedTokens.optional(),
  milliseconds: z.number().describe('Working time in milliseconds; the times of parallel work are added up.'),
});

/** A workspace is the root of all its items; only its budget is counted. */
const SHOWN_KINDS = [...NODE_KINDS, 'workspace'] as const;

const nodeShape = z.object({
  kind: z.enum(SHOWN_KINDS),
  ...optionalFields({
    id: z.string(),
    private: z.boolean().describe('True if you may not see the item.'),
    deleted: z.boolean().describe('True if the item was deleted; its usage still counts.'),
    title: z.string(),
    workspace: z.string(),
    status: z.enum(NODE_STATUSES),
    createdAt: z.iso.datetime(),
    partOf: z.object({ kind: z.enum(NODE_KINDS), id: z.string().optional() }),
    depth: z.int().describe('Depth: 1 for direct parts of the requested item.'),
    totals: totalsShape,
  }).shape,
});
type NodeResponse = Given<z.output<typeof nodeShape>>;

function nodeResponse({ node, visibility }: VisibleNode): NodeResponse {
  const { kind, thing_id: id, status, workspace, created_at, totals, deleted: isDeleted } = node;
  if (visibility === undefined) return { kind, private: true };
  return {
    kind,
    id,
    ...(isDeleted ? { deleted: true } : visibility === 'all' && { title: node.title }),
    workspace,
    status,
    createdAt: created_at,
    totals: {
      counts: Object.fromEntries(Object.entries(totals.counts).filter(([, count]) => count !== 0)),
      attempts: totals.attempts,
      inputTokens: totals.input_tokens,
      outputTokens: totals.output_tokens,
      costUsd: shownCost(totals),
      unpricedTokens: totals.unpriced_tokens || undefined,
      milliseconds: totals.milliseconds,
    },
  };
}

export const getTree = defineTool({
  name: 'getTree',
  title: 'Work tree',
  description:
    'Shows what a to-do, task, run or pull request is part of, its own parts, and their total usage and cost.',
  details:
    'For a workspace, shows only its budget. Totals are maintained on each change, so reading them costs the same at any size. Items you may not see show only their kind, but still count.',
  input: z.strictObject({
    kind: z.enum(SHOWN_KINDS).describe('Its kind'),
    id: idOf('a to-do, task, run, pull request or workspace').describe('Its id'),
    limit: z.int().min(1).max(100).default(50).describe('Maximum parts'),
    cursor,
  }),
  output: z.object({
    node: nodeShape,
    path: z.array(nodeShape).describe('Its ancestors, nearest first.'),
    parts: z.array(nodeShape).describe('All parts of the requested item, in order of creation.'),
    budgets: z.array(budgetShape).describe('Budgets that apply to the requested item, its own first.'),
    ...pageShape,
  }),
  ...reading,
  example: { kind: 'task', id: 'task-xxx-001' },
  handler: async ({ services, principal, workspace }, { kind, id, limit, cursor: encoded }) => {
    const { trees, budgets } = services.system;
    if (kind === 'workspace') {
      const own = await budgets.ofWorkspace(principal, id);
      const node = { kind, id, workspace: id };
      return { node, path: [], parts: [], budgets: own.map(budgetResponse), truncated: false };
    }
    const question = nodeKey({ kind, id });
    const page = { limit, after: timeAfter(question, encoded) };
    const { root, path, below } = await trees.tree(principal, { kind, id, workspace, page });
    const ways = [root, ...path].filter(({ visibility }) => visibility !== undefined).map(({ node }) => node);
    const holding = await budgets.holderOf(principal, ways);
    // The response shows only the kind of a parent that the caller may not see.
    const shown = new Set(
      [root, ...path, ...below.items].flatMap((one) => (one.visibility ? [keyOfNode(one.node)] : [])),
    );
    const answerOf = (seen: VisibleNode): NodeResponse => {
      const { part_of, ancestors } = seen.node;
      const depth = seen === root ? 0 : ancestors.indexOf(keyOfNode(root.node)) + 1;
      if (seen.visibility === undefined) return { ...nodeResponse(seen), ...(depth > 0 && { depth }) };
      const parent = part_of && (shown.has(nodeKey(part_of)) ? { ...part_of } : { kind: part_of.kind });
      return { ...nodeResponse(seen), ...(parent && { partOf: parent }), ...(depth > 0 && { depth }) };
    };
    const items = fittingItems(below.items, answerOf);
    const last = below.more || items.length < below.items.length ? items.at(-1) : undefined;
    return {
      node: answerOf(root),
      path: path.map(answerOf),
      parts: items.map(answerOf),
      budgets: holding.map(budgetResponse),
      truncated: last !== undefined,
      nextCursor: last && encodeCursor(question, { order: [last.node.created_at.getTime()], id: keyOfNode(last.node) }),
    };
  },
});

export const setBudget = defineTool({
  name: 'setBudget',
  title: 'Set a budget',
  description: 'Limits model spending of a workspace, to-do, task or run and all its parts; clear removes a limit.',
  details:
    'A model call runs only if every budget that applies can cover its maximum cost. When a budget is exhausted, work waits and the person who set it is asked to raise it. Spending from before the budget was set counts too, except for a workspace. If an agent raises or removes a limit that it did not set, the person who set it approves the call first.',
  input: z.strictObject({
    kind: z.enum(BUDGET_KINDS).describe('Kind'),
    id: idOf('a workspace, to-do, task or run').describe('Its id'),
    money: z.number().min(0).max(1e6).optional().describe('US dollars'),
    tokens: z.int().min(0).max(1e12).optional().describe('Input plus output'),
    clear: clearArgument('money', 'tokens'),
  }),
  output: budgetShape,
  ...writing('worker', { destructiveHint: false, idempotentHint: true }, ['budget']),
  example: { kind: 'task', id: 'task-xxx-001', money: 5, tokens: 2_000_000 },
  response: budgetResponse,
  handler: ({ services, principal, workspace, recordResponse }, input) => {
    const { clear, money, tokens, kind, id: thing_id } = input;
    const changed = clearedFields(clear);
    const limits = { money: changed('money', money), tokens: changed('tokens', tokens) };
    if (limits.money === undefined && limits.tokens === undefined)
      throw new MusterError('REQUIRED_FIELD', 'Missing limit.', {
        field: 'money',
        reason: 'MISSING',
        suggestion: 'Set money, tokens or both; clear removes a limit. system.getTree shows the active budgets.',
      });
    return services.system.budgets.set(principal, { workspace, kind, thing_id, ...limits }, recordResponse);
  },
});
