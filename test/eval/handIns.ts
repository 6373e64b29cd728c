/** Hand-ins and reviews through the real tools, with the emulator: their times, their tokens, and concurrent agents. */
import assert from 'node:assert/strict';
import type { Principal } from '../../functions/src/identity/rules/principal.ts';
import type { JsonObject } from '../../functions/src/kernel/json.ts';
import { AccessFixture } from '../integration/access/fixture.ts';
import { answer, call } from '../integration/coordination/calls.ts';
import { ProvingFixture } from '../integration/coordination/provingFixture.ts';
import { tokensOf } from '../support/tokens.ts';
import { unprovenStarts } from './histories.ts';
import { requireProofInvariants } from './invariants.ts';
import { type Chance, pick, seeded } from './random.ts';
import { storedIn } from './stored.ts';

export interface Verified {
  /** Time of the three calls from the hand-in to the verdict: 95th percentile, in milliseconds. */
  readonly p95: number;
  /** Tokens of the calls and responses of the author and of the reviewer. */
  readonly workTokens: number;
  readonly checkTokens: number;
}

const OUTPUT =
  'The parser reads nested lists and quoted names. It returns an error with the line number for an unclosed bracket. Tests are in test/parser.test.ts; npm test passes.';
const REVIEW = 'I ran the tests on the branch and read the parser. Nested lists, quotes and errors are right.';

/** Hands in and approves `count` results, one at a time. */
export async function measureHandIns(count: number): Promise<Verified> {
  const team = new ProvingFixture();
  await team.open();
  const used = { author: 0, reviewer: 0 };
  const metered = async (name: 'author' | 'reviewer', tool: string, args: JsonObject) => {
    const given = { agent_id: team.name(name), ...args };
    const response = await team.does(name, tool, given);
    used[name] += tokensOf(JSON.stringify(given)) + tokensOf(JSON.stringify(response));
    return response;
  };
  const times: number[] = [];
  for (let number = 0; number < count; number++) {
    const id = await team.creates({ review: 'any' }, { context_files: ['src/parser.ts'] });
    await metered('author', 'claim_task', { start: true });
    const handed = performance.now();
    await metered('author', 'complete_task', { task_id: id, output: OUTPUT, files_modified: ['src/parser.ts'] });
    const review = Object((await metered('reviewer', 'claim_task', { start: true }))['task']);
    const verdict = { task_id: review.id, output: REVIEW, verdict: 'approve' };
    const judged = await metered('reviewer', 'complete_task', verdict);
    times.push(performance.now() - handed);
    assert.equal(Object(judged['reviewed']).status, 'done');
  }
  times.sort((one, other) => one - other);
  const p95 = times[Math.ceil(0.95 * times.length) - 1] ?? 0;
  return { p95, workTokens: used.author, checkTokens: used.reviewer };
}

export interface ConcurrentStarts {
  readonly histories: number;
  readonly starts: number;
  readonly unproven: number;
}

const PEOPLE = ['ada', 'ben', 'cleo', 'dan'];
const TASKS = 10;
const MAX_TURNS = 200;

/** Lets four agents work concurrently on graphs of ten tasks, and counts starts on results that are not proven. */
export async function countConcurrentStarts(histories: number, seed: number): Promise<ConcurrentStarts> {
  const sums = { histories, starts: 0, unproven: 0 };
  for (let number = 0; number < histories; number++) {
    const { starts, unproven } = await concurrentHistory(seeded(seed + number));
    sums.starts += starts;
    sums.unproven += unproven;
  }
  return sums;
}

async function concurrentHistory(chance: Chance): Promise<{ readonly starts: number; readonly unproven: number }> {
  const team = new AccessFixture();
  await team.closeTo(Object.fromEntries(PEOPLE.map((name) => [name, 'leader'])));
  const ada = await team.person('ada');
  const agents = await Promise.all(PEOPLE.map((name) => team.agentOf(name, 'leader')));
  const [lead = assert.fail()] = agents;
  await answer(team, 'coordination_init_coordination', { goal: 'Prove it' }, lead);
  for (const agent of agents)
    await answer(team, 'coordination_register_agent', { agent_id: agent.agent_id, role: 'worker' }, agent);
  const ids: string[] = [];
  for (let place = 0; place < TASKS; place++) {
    const acceptance = pick(chance, [{ review: 'any' }, { review: 'any', confirm: 'owner' }, { confirm: 'owner' }, {}]);
    const dependencies = ids.filter(() => chance() < 0.2);
    const task = { description: `Task ${place}`, dependencies, acceptance };
    ids.push(Object(await answer(team, 'coordination_create_task', task, lead)).task.id);
  }
  const counts = { starts: 0, unproven: 0 };
  const isOver = async () => (await storedIn(team.workspace)).tasks.every(({ status }) => status === 'done');
  await Promise.all([
    ...agents.map((agent) => works(team, agent, chance, counts)),
    ...[0, 1].map(() => confirms(team, ada, chance)),
  ]);
  // Completes the remaining checks, one agent at a time.
  for (let turn = 0; turn < MAX_TURNS && !(await isOver()); turn++) {
    await confirms(team, ada, chance, 1);
    for (const agent of agents) await works(team, agent, chance, Object.assign(counts, { turns: 1 }));
  }
  assert.ok(await isOver(), 'every task is done');
  requireProofInvariants(await storedIn(team.workspace));
  return counts;
}

/** Claims and completes tasks and reviews. After each claim, checks that the dependencies of the task are proven. */
async function works(
  team: AccessFixture,
  agent: Principal,
  chance: Chance,
  counts: { starts: number; unproven: number; turns?: number },
): Promise<void> {
  const { agent_id } = agent;
  const { turns = 30 } = counts;
  for (let turn = 0; turn < turns; turn++) {
    const { task } = await answer(team, 'coordination_claim_task', { agent_id, start: true }, agent);
    if (task === undefined || task === null) continue;
    const { id, type, dependencies = [] } = Object(task);
    if (dependencies.length > 0) counts.starts++;
    const before = await Promise.all([id, ...dependencies].map((one: string) => team.task(one)));
    counts.unproven += unprovenStarts(before).length;
    const verdict = chance() < 0.7 ? 'approve' : 'request_changes';
    const report = { agent_id, task_id: id, output: `Words ${word(chance)}`, ...(type === 'review' && { verdict }) };
    // The check can have ended since the claim.
    await call(team, 'coordination_complete_task', report, agent);
  }
}

async function confirms(team: AccessFixture, ada: Principal, chance: Chance, turns = 15): Promise<void> {
  for (let turn = 0; turn < turns; turn++) {
    const { questions } = await storedIn(team.workspace);
    const question = pick(
      chance,
      questions.filter(({ state }) => state === 'open'),
    );
    if (question === undefined) continue;
    const given = chance() < 0.8 ? { answer: 'approve' } : { answer: 'request changes', comment: word(chance) };
    await call(team, 'inbox_answer', { request_id: question.id, ...given }, ada);
  }
}

/** Returns a word of letters, because corrections that differ only in digits count as the same. */
function word(chance: Chance): string {
  return Array.from({ length: 8 }, () => pick(chance, [...'abcdefghijklmnop'])).join('');
}
