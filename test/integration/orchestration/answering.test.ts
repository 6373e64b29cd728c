import assert from 'node:assert/strict';
import { callTool } from '../../../functions/src/mcp/call.ts';
import { authenticatorOf } from '../../support/principals.ts';
import { directory, toolNamed } from '../coordination/calls.ts';
import { silent } from '../coordination/team.ts';
import { Orchestra } from './orchestra.ts';

/** Time that a call reserves for its response. */
const ANSWERING_MS = 5000;

describe('a call that starts a run', () => {
  const orchestra = new Orchestra();
  before(() => orchestra.start());
  after(() => orchestra.stop());

  /** @param milliseconds remaining time of the request when its call starts */
  function orchestrate(input: string, milliseconds: number, app = orchestra.app) {
    const end = performance.now() + milliseconds;
    const exchange = {
      principal: orchestra.principal,
      credential: `credential of ${orchestra.owner}`,
      workspace: orchestra.workspace,
      requestId: 'a-request',
      baseUrl: 'https://muster.example/mcp',
      directory,
      gone: () => new AbortController().signal,
      timeLeft: () => Math.max(0, end - performance.now()),
    };
    const authenticator = authenticatorOf(orchestra.principal);
    const ports = { ...app.calls, authenticator, log: silent };
    const given = {
      prompt: input,
      preferences: { agent: 'claude' },
      options: { budget: { tokens: 1_000_000, cost_usd: 10 } },
    };
    return callTool(ports, exchange, toolNamed('orchestration_orchestrate'), { given });
  }

  it('responds with the run before its request times out if a model is slow', async () => {
    const input = orchestra.question();
    orchestra.models.when({ text: input, times: 1 }, { does: 'hang' });
    const outcome = await orchestrate(input, ANSWERING_MS + 1000);
    assert.ok('answer' in outcome, JSON.stringify(outcome));
    const { runId, status, next } = outcome.answer;
    assert.match(String(runId), /^run-/);
    assert.ok(status === 'pending' || status === 'running');
    assert.match(String(next), new RegExp(`get_run with runId "${runId}"`));
    await orchestra.app.services.orchestration.runs.cancel(
      orchestra.principal,
      String(runId),
      () => undefined,
    );
    await orchestra.ended(String(runId));
  });

  it("returns the run's id in the error if the database responds too late", async () => {
    const slow = orchestra.anotherInstance();
    const { store } = slow.kernel;
    const commit = store.commit.bind(store);
    const answering: (() => void)[] = [];
    store.commit = async (changes, settled) => {
      await commit(changes, settled);
      if (changes.some(({ kind }) => kind === 'createRun'))
        await new Promise<void>((resolve) => answering.push(resolve));
    };
    const outcome = await orchestrate(orchestra.question(), 1000, slow);
    assert.ok('error' in outcome);
    const { code, details } = outcome.error;
    assert.equal(code, 'TIMEOUT');
    const runId = details.about?.['runId'] ?? '';
    assert.match(details.suggestion ?? '', new RegExp(`get_run with runId "${runId}"`));
    assert.equal((await orchestra.view(runId)).run.id, runId, 'the run exists');
    for (const answer of answering) answer();
    assert.equal((await orchestra.ended(runId)).run.status, 'succeeded');
  });
});
