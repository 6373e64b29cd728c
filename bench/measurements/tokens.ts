/** Tokens that the model of a worker reads: responses while it works and waits, and tool lists. */
import { z } from 'zod';
import { LEADER_LIST, listCost, SMALLER_LISTS } from '../../scripts/reference/budgets.ts';
import { tokensOf } from '../../test/support/tokens.ts';
import { idOf, McpCaller } from '../load/client.ts';
import type { Measurement } from '../measurement.ts';
import { createTasks } from '../queue.ts';
import { addCaller, newProject } from '../seed.ts';
import { musterFunction, serveFunction } from '../servers/functionServer.ts';

/** Claims per minute while a worker waits for tasks. Each claim waits up to 50 seconds. */
const CLAIMS_PER_MINUTE = 60 / 50;

/** Maximum tokens of the responses to a claim, a start and a completion, and of the responses in a minute of waiting. */
const MAX_TOKENS = { cycle: 1200, minute: 200 };
const content = z.object({ task: z.unknown().optional() });
const answer = z.object({ result: z.object({ structuredContent: content, isError: z.literal(false).optional() }) });

export async function measureTokens(): Promise<Measurement> {
  const project = newProject('tokens');
  const [leader, worker] = [await addCaller(project, 'leader'), await addCaller(project, 'worker')];
  const server = await serveFunction({ ...musterFunction, env: project.env });
  await createTasks(new McpCaller(server.url, leader.credential), 1);
  const caller = new McpCaller(server.url, worker.credential);
  const call = async (tool: string, args: object) => {
    const named = { name: `coordination_${tool}`, arguments: { agent_id: worker.agentId, ...args } };
    const { text } = await caller.send('tools/call', named);
    const { result } = answer.parse(JSON.parse(text));
    return { task: result.structuredContent.task, tokens: tokensOf(text) };
  };
  const claim = await call('claim_task', {});
  const held = { task_id: idOf(claim.task) };
  const [start, end] = [await call('start_task', held), await call('complete_task', { ...held, output: 'done' })];
  // The response does not depend on the length of the wait.
  const waiting = await call('claim_task', { wait_seconds: 1, start: true });
  await server.end();
  const lists = [LEADER_LIST, ...SMALLER_LISTS].map((list) => ({ list, cost: listCost(list) }));
  const listed = lists.flatMap(({ list: { address, role, maxTools, maxTokens }, cost }) => [
    { what: `tools at ${address} for a ${role}`, value: cost.tools, most: maxTools },
    { what: `tokens of the tools at ${address} for a ${role}`, value: cost.tokens, most: maxTokens },
  ]);
  const cycle = claim.tokens + start.tokens + end.tokens;
  const figures = [
    { what: 'tokens of the responses to claim, start and complete', value: cycle, most: MAX_TOKENS.cycle },
    { what: 'tokens per minute of waiting', value: waiting.tokens * CLAIMS_PER_MINUTE, most: MAX_TOKENS.minute },
    ...listed,
  ];
  return {
    name: 'tokens',
    title: 'Tokens in o200k that the model of a worker reads, with a task that has a short description and result',
    figures: Object.fromEntries(figures.map(({ what, value }) => [what, value])),
    figureTargets: Object.fromEntries(figures.map(({ what, most }) => [what, { kind: 'at most', value: most }])),
  };
}
