/** Approved calls while instances run concurrently, crash or stall. Each call runs exactly once. */
import assert from 'node:assert/strict';
import type { Composition } from '../../../functions/src/composition/compose.ts';
import type { Principal } from '../../../functions/src/identity/rules/principal.ts';
import { firestore } from '../../../functions/src/kernel/firestore/client.ts';
import { ApprovedCalls } from '../../../functions/src/mcp/approvedCalls.ts';
import { ApprovalExecution, type RunApprovedCall } from '../../../functions/src/toolsets/inbox/rules/execution.ts';
import { answer, call } from '../coordination/calls.ts';
import { silent } from '../coordination/team.ts';
import { InboxFixture } from './fixture.ts';

const CODE = { tool: 'CLAUDECODE', description: 'Add a test', instructions: 'Write it.' };

/** Seconds after which another instance takes over the call. */
const SECONDS_AFTER = 121;

describe('an approved call', () => {
  let fixture: InboxFixture;
  let agent: Principal;
  let id: string;

  beforeEach(async () => {
    fixture = new InboxFixture();
    await fixture.open();
    const ada = await fixture.person('ada');
    const { lineage = [] } = await fixture.registered('worker');
    await answer(fixture, 'access_update_workspace', { approvals: [{ tool: 'coding.create_task' }] }, ada);
    agent = { ...(await fixture.agentOf('ada', 'worker')), lineage };
    const { structuredContent } = await call(fixture, 'coding_create_task', CODE, agent);
    id = String(/request-[a-z0-9]+/.exec(JSON.stringify(structuredContent))?.[0]);
    await fixture.inbox(ada, 'answer', { request_id: id, answer: 'approve' });
  });

  /** Returns an instance whose function for approved calls is `runApprovedCall`, which can crash or stall. */
  const instance = (
    runApprovedCall: (make: RunApprovedCall) => RunApprovedCall,
    app: Composition = fixture.anotherInstance(),
  ) => {
    const { services, inbox } = app;
    const calls = new ApprovedCalls({ ...app.calls, log: silent }, '');
    return new ApprovalExecution({
      ...inbox.ports,
      log: silent,
      liveness: services.liveness,
      agentsMayAnswer: async () => [],
      runApprovedCall: runApprovedCall((one) => calls.run(one)),
    });
  };

  const made = async () => {
    const found = await firestore().collection('tasks').where('workspace', '==', fixture.workspace).get();
    return found.docs.map((document) => document.id);
  };

  const request = async () => (await fixture.app.inbox.ports.requests.find(id))?.value ?? assert.fail();

  it('runs once if ten instances start it concurrently', async () => {
    const outcomes = await Promise.all(
      Array.from({ length: 10 }, () => fixture.anotherInstance().services.approvedCalls.execute(id)),
    );
    assert.equal(outcomes.filter((outcome) => outcome === 'made').length, 1);
    assert.equal((await made()).length, 1);
    const { execution_epoch: epoch, due_at: dueAt, outcome } = await request();
    assert.deepEqual([epoch, dueAt], [1, undefined]);
    assert.ok(Object(outcome).answer);
  });

  it('is run by another instance if the first instance crashes before running it', async () => {
    const dying = instance(() => () => Promise.reject(new Error('dead')));
    await assert.rejects(dying.execute(id), /dead/);
    assert.deepEqual(await made(), []);
    assert.equal(await fixture.app.services.approvedCalls.execute(id), 'nothing', 'it may still be running');
    fixture.pass(SECONDS_AFTER);
    await Promise.all([fixture.sweepApprovals(), fixture.app.services.approvedCalls.execute(id)]);
    assert.equal((await made()).length, 1);
    assert.equal((await request()).execution_epoch, 2);
  });

  it('runs once if an instance stalls while it runs the call and another instance takes over', async () => {
    let arrive = (): void => undefined;
    let goOn = (): void => undefined;
    const arrived = new Promise<void>((resolve) => {
      arrive = resolve;
    });
    const woken = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const stalling = instance((make) => async (one) => {
      arrive();
      await woken;
      return make(one);
    });
    const late = stalling.execute(id);
    await arrived;
    fixture.pass(SECONDS_AFTER);
    assert.equal(await fixture.app.services.approvedCalls.execute(id), 'made');
    const [first, settled] = [await made(), await request()];
    goOn();
    await late;
    assert.deepEqual(await made(), first);
    assert.deepEqual(await request(), settled, 'the late instance changes nothing');
  });

  it('is given up after five crashes, with an outcome that states the interruptions', async () => {
    for (let times = 0; times < 5; times++) {
      const dying = instance(() => () => Promise.reject(new Error('dead')));
      const ended = dying.execute(id);
      if (times < 4) await assert.rejects(ended, /dead/);
      else assert.equal(await ended, 'made');
      fixture.pass(SECONDS_AFTER);
    }
    assert.match(JSON.stringify((await request()).outcome), /interrupted 5 times/);
    assert.equal(await fixture.app.services.approvedCalls.execute(id), 'nothing');
    assert.deepEqual(await made(), []);
  });

  it('fails if the agent has lost its role, with an outcome that states this reason', async () => {
    const { store } = fixture.app.kernel;
    const { agents } = fixture.app.access.ports;
    const { value, version } = (await agents.find(String(agent.agent_id))) ?? assert.fail();
    await store.commit([{ kind: 'replaceAgent', agent: { ...value, role: 'viewer' }, version }]);
    await fixture.app.services.approvedCalls.execute(id);
    const seen = await fixture.inbox(agent, 'wait', { request_id: id, wait_ms: 0 });
    assert.equal(Object(seen['outcome']).error.reason, 'ROLE_TOO_WEAK');
    assert.deepEqual(await made(), []);
    const { structuredContent } = await call(fixture, 'coding_create_task', CODE, agent);
    assert.match(JSON.stringify(structuredContent), /ROLE_TOO_WEAK/, 'an identical call gets the same error');
  });
});
