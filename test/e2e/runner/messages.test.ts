/** Messages to a coding agent at work, while its runner is killed and its network is cut at random moments. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import fc from 'fast-check';
import { z } from 'zod';
import { installStandIn } from '../../../runner/test/support/standIn.ts';
import { defaultOrNightly } from '../../support/nightly.ts';
import { succeed } from '../support/calls.ts';
import { connect } from '../support/clients.ts';
import { runConcurrently } from '../support/concurrently.ts';
import { eventually } from '../support/waiting.ts';
import { type RunnerFixture, TIMEOUT_MS, withRunnerFixture } from './fixture.ts';
import { openNetwork } from './network.ts';

/** Number of tasks whose runner is killed, per fixture. */
const KILLS = defaultOrNightly(2, { night: 100 });
const FIXTURES = 2;

/** Moments of the kills, in milliseconds after the messages were sent. */
const moments = fc.sample(fc.nat(700), { numRuns: KILLS * FIXTURES, seed: 42 });

describe('messages to a coding agent whose runner is killed', () => {
  const titles = Array.from({ length: FIXTURES }, (_, number) => `are heard, and once by each attempt (${number + 1})`);
  const tests = titles.map((title, number) => {
    const own = moments.slice(number * KILLS, (number + 1) * KILLS);
    return [title, withRunnerFixture('kills', (fixture) => killAt(fixture, own))] as const;
  });
  runConcurrently(FIXTURES, Object.fromEntries(tests));
});

async function killAt(fixture: RunnerFixture, own: readonly number[]): Promise<void> {
  const file = `${fixture.folder}/heard`;
  const note = `(text) => fs.appendFileSync(${JSON.stringify(file)}, JSON.stringify([process.pid, text]) + '\\n')`;
  // The agent works until it gets the message that ends its task.
  const work = "for (let text = ''; !/end-\\d/.test(text); said('Ready.')) text = listen(note) ?? process.exit();";
  installStandIn(fixture.bin, `const note = ${note}; ${work} result();`);
  const network = await openNetwork(fixture.url);
  const message = (text: string, taskId?: string) =>
    fixture.lead('message_agent', { agent_id: fixture.agent.id, message: text, ...(taskId && { task_id: taskId }) });
  for (const [number, moment] of own.entries()) {
    const { taskId } = await fixture.createTask({ branch: `work/${number}` });
    const killed = fixture.startRunner([], { url: network.url });
    await fixture.untilLogged(taskId, 'Ready.');
    await Promise.all([message(`about-${number}`, taskId), message(`free-${number}`)]);
    await delay(moment / 2);
    if (number % 2 === 1) network.cut();
    await delay(moment / 2);
    killed.signal('SIGKILL');
    await killed.ended;
    network.restore();
    const next = fixture.startRunner(['--task', taskId], { url: network.url });
    const wanted = [`about-${number}`, `free-${number}`];
    const isHeard = (text: string) => heardIn(file).some(([, said]) => said.includes(text));
    await eventually('both messages are heard', async () => wanted.every(isHeard) || undefined, TIMEOUT_MS);
    await message(`end-${number}`, taskId);
    assert.equal(await next.ended, 0, next.output());
  }
  await network.close();
  assertOnce(heardIn(file));
  const client = await connect('client 2026-07-28', fixture.url, fixture.agent.token);
  try {
    const { messages } = await succeed(client, 'coordination_heartbeat', { agent_id: fixture.agent.id });
    assert.equal(messages, undefined, 'every message is confirmed');
  } finally {
    await client.close();
  }
}

/** Returns the texts that agents heard, each with the id of the agent's process. */
function heardIn(file: string): readonly [pid: number, text: string][] {
  const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : [];
  return lines.map((line) => z.tuple([z.number(), z.string()]).parse(JSON.parse(line)));
}

function assertOnce(heard: readonly [pid: number, text: string][]): void {
  const each = heard.flatMap(([pid, text]) =>
    (text.match(/(?:about|free|end)-\d+/g) ?? []).map((id) => `${pid} ${id}`),
  );
  assert.deepEqual(each.length, new Set(each).size, `an attempt heard a message twice: ${each.join(', ')}`);
}
