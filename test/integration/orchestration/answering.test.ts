import assert from 'node:assert/strict';
import { callTool } from '../../../functions/src/mcp/call.ts';
import { authenticatorOf } from '../../support/principals.ts';
import { directory, toolNamed } from '../coordination/calls.ts';
import { silent } from '../coordination/team.ts';
import { OrchestrationFixture } from './fixture.ts';

/** Milliseconds before the request's timeout at which a call responds. */
const ANSWERING_MS = 5000;

describe('a call that starts a run', () => {
  const fixture = new OrchestrationFixture();
  before(() => fixture.start());
  after(() => fixture.stop());

  /** @param milliseconds remaining time of the request when its call starts */
  function orchestrate(input: string, milliseconds: number, app = fixture.app) {
    const end = performance.now() + milliseconds;
    const exchange = {
      principal: fixture.principal,
      credential: `credential of ${fixture.owner}`,
      workspace: fixture.workspace,
      requestId: 'a-request',
      baseUrl: 'https://muster.example/mcp',
      directory,
      disconnectSignal: () => new AbortController().signal,
      timeLeft: () => Math.max(0, end - performance.now()),
    };
    const authenticator = authenticatorOf(fixture.principal);
    const ports = { ...app.calls, authenticator, log: silent };
    const args = {
      prompt: input,
      preferences: { agent: 'claude' },
      options: { budget: { tokens: 1_000_000, cost_usd: 10 } },
    };
    return callTool(ports, exchange, toolNamed('orchestration_orchestrate'), { args });
  }

  it('responds with the unfinished run before its request times out if a model is slow', async () => {
    const input = fixture.question();
    fixture.models.when({ text: input, times: 1 }, { does: 'hang' });
    const outcome = await orchestrate(input, ANSWERING_MS + 1000);
    assert.ok('answer' in outcome, JSON.stringify(outcome));
    const { runId, status, next } = outcome.answer;
    assert.match(String(runId), /^run-/);
    assert.ok(status === 'pending' || status === 'running');
    assert.match(String(next), new RegExp(`get_run with runId "${runId}"`));
    await fixture.app.services.orchestration.runs.cancel(fixture.principal, String(runId), () => undefined);
    await fixture.ended(String(runId));
  });

  it("returns the run's id in the error if the database responds too late", async () => {
    const slow = fixture.anotherInstance();
    const { store } = slow.kernel;
    const commit = store.commit.bind(store);
    const answering: (() => void)[] = [];
    store.commit = async (changes, settled) => {
      await commit(changes, settled);
      if (changes.some(({ kind }) => kind === 'createRun'))
        await new Promise<void>((resolve) => answering.push(resolve));
    };
    const outcome = await orchestrate(fixture.question(), 1000, slow);
    assert.ok('error' in outcome);
    const { code, details } = outcome.error;
    assert.equal(code, 'TIMEOUT');
    const runId = details.about?.['runId'] ?? '';
    assert.match(details.suggestion ?? '', new RegExp(`get_run with runId "${runId}"`));
    assert.equal((await fixture.view(runId)).run.id, runId, 'the run exists');
    for (const answer of answering) answer();
    assert.equal((await fixture.ended(runId)).run.status, 'succeeded');
  });
});
