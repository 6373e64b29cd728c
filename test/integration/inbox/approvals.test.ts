/** Calls that require approval wait for it, and then run once with the rights that the requester then has. */
import assert from 'node:assert/strict';
import type { Principal } from '../../../functions/src/identity/rules/principal.ts';
import { firestore } from '../../../functions/src/kernel/firestore/client.ts';
import type { JsonObject } from '../../../functions/src/kernel/json.ts';
import { ApprovedCalls } from '../../../functions/src/mcp/approvedCalls.ts';
import { ApprovalExecution } from '../../../functions/src/toolsets/inbox/rules/execution.ts';
import { answer, call } from '../coordination/calls.ts';
import { silent } from '../coordination/team.ts';
import { InboxFixture } from './fixture.ts';

const CREATE = 'coding_create_task';
const CODE = { tool: 'CLAUDECODE', description: 'Add a test', instructions: 'Write it.' };

describe('a call that requires approval', () => {
  let fixture: InboxFixture;
  let agent: Principal;
  let ada: Principal;

  beforeEach(async () => {
    fixture = new InboxFixture();
    await fixture.open();
    const { lineage = [] } = await fixture.registered('worker');
    await demand([{ tool: 'coding.create_task' }]);
    agent = { ...(await fixture.agentOf('ada', 'worker')), lineage };
    ada = await fixture.person('ada');
  });

  const demand = async (approvals: readonly JsonObject[]) =>
    answer(fixture, 'access_update_workspace', { approvals }, await fixture.person('ada'));
  const waits = async (args: JsonObject = CODE, by = agent, tool = CREATE) => {
    const { structuredContent, isError } = await call(fixture, tool, args, by);
    assert.equal(isError, true, JSON.stringify(structuredContent));
    const output = JSON.stringify(structuredContent);
    assert.match(output, /APPROVAL_REQUIRED|-32103/, output);
    return String(/request-[a-z0-9]+/.exec(output)?.[0]);
  };
  const settle = (request_id: string, given: string, comment?: string) =>
    fixture.inbox(ada, 'answer', { request_id, answer: given, ...(comment && { comment }) });
  const execute = (id: string, app = fixture.app) => app.services.approvedCalls.execute(id);
  const tasks = async () => {
    const found = await firestore().collection('tasks').where('workspace', '==', fixture.workspace).get();
    return found.docs.map((document) => document.data());
  };
  const seen = (request_id: string) => fixture.inbox(agent, 'wait', { request_id, wait_ms: 0 });

  it('waits in the inbox of the owner, and runs once as the requester after the approval', async () => {
    const request_id = await waits();
    assert.equal(await waits(), request_id, 'an identical call returns the same request');
    assert.equal(await execute(request_id), 'nothing', 'the request is not approved yet');
    const listed = await fixture.inbox(ada, 'list', { state: 'open' });
    const [shown] = Object(listed['requests']);
    assert.deepEqual(shown.call.tool, 'coding.create_task');
    assert.match(shown.question, /coding\.create_task/);
    assert.deepEqual(await tasks(), []);
    await settle(request_id, 'approve');
    assert.match(String((await seen(request_id))['next']), /wait/);
    const both = await Promise.all([execute(request_id), execute(request_id, fixture.anotherInstance())]);
    assert.deepEqual(both.sort(), ['made', 'nothing']);
    const made = await tasks();
    const rows = made.map((task) => [task['created_by'], task['coding'].owner_uid, task['description']]);
    assert.deepEqual(rows, [[agent.agent_id, ada.uid, 'Add a test']]);
    const { outcome } = await seen(request_id);
    const again = await answer(fixture, CREATE, CODE, agent);
    assert.deepEqual(Object(outcome).answer, again, 'an identical call returns the outcome');
    assert.equal(Object(again['result']).taskId, made[0]?.['id']);
    assert.equal((await tasks()).length, 1);
  });

  it('is recognized when repeated, by its idempotency key or else by its arguments', async () => {
    const keyed = await waits({ ...CODE, idempotency_key: 'one' });
    assert.equal(await waits({ ...CODE, idempotency_key: 'one' }), keyed);
    const ids = new Set([
      keyed,
      await waits({ ...CODE, idempotency_key: 'two' }),
      await waits(CODE),
      await waits({ ...CODE, description: 'Add another' }),
    ]);
    assert.equal(ids.size, 4);
    const reused = await call(fixture, CREATE, { ...CODE, description: 'B', idempotency_key: 'one' }, agent);
    assert.match(JSON.stringify(reused.structuredContent), /KEY_REUSED/);
  });

  it('creates one approval request if it is made several times concurrently', async () => {
    const ids = await Promise.all([1, 2, 3, 4].map(() => waits()));
    assert.equal(new Set(ids).size, 1);
  });

  it("does not run if the owner refuses it, and then returns the owner's reason", async () => {
    const request_id = await waits();
    await settle(request_id, 'refuse', 'Not on a Friday.');
    assert.equal(await execute(request_id), 'nothing');
    const { structuredContent } = await call(fixture, CREATE, CODE, agent);
    assert.match(JSON.stringify(structuredContent), /Not on a Friday.*NOT_APPROVED/);
    assert.deepEqual(await tasks(), []);
    fixture.pass(25 * 3600);
    assert.notEqual(await waits(), request_id, 'a call on another day creates another request');
  });

  it('creates another approval request after the first one has expired', async () => {
    const request_id = await waits();
    fixture.pass(25 * 3600);
    assert.notEqual(await waits(), request_id);
    await assert.rejects(settle(request_id, 'approve'));
  });

  it('fails if the requester has lost the required rights before the call runs', async () => {
    const { store } = fixture.app.kernel;
    const [first, second, third] = [
      await waits(),
      await waits({ ...CODE, description: 'B' }),
      await waits({ ...CODE, description: 'C' }),
    ];
    for (const id of [first, second, third]) await settle(id, 'approve');
    await store.commit([{ kind: 'removeMember', workspace: fixture.workspace, uid: ada.uid }]);
    await execute(first);
    await fixture.letIn(fixture.workspace, 'ada', 'viewer');
    await execute(second);
    await fixture.letIn(fixture.workspace, 'ada', 'leader');
    await store.commit([{ kind: 'withdrawCredential', apiKey: `mk_${agent.agent_id}` }]);
    await execute(third);
    const reasons = await Promise.all(
      [first, second, third].map(async (id) => Object((await seen(id))['outcome']).error.reason),
    );
    assert.deepEqual(reasons, ['NO_ROLE', 'ROLE_TOO_WEAK', 'RIGHTS_GONE']);
    assert.deepEqual(await tasks(), []);
  });

  it('fails if the approver has left the workspace before the call runs', async () => {
    const { store } = fixture.app.kernel;
    await demand([{ tool: 'coding.create_task', asks: fixture.id('ben') }]);
    const approved = async (description: string) => {
      const request_id = await waits({ ...CODE, description });
      await fixture.inbox(await fixture.person('ben'), 'answer', { request_id, answer: 'approve' });
      return request_id;
    };
    const made = await approved('Made');
    await execute(made);
    assert.equal((await tasks()).length, 1);
    const late = await approved('Late');
    await store.commit([{ kind: 'removeMember', workspace: fixture.workspace, uid: fixture.id('ben') }]);
    await execute(late);
    assert.equal(Object((await seen(late))['outcome']).error.reason, 'APPROVER_LEFT');
    assert.equal((await tasks()).length, 1);
    await demand([{ tool: 'coding.create_task', asks: ada.uid }]);
    assert.notEqual(await waits({ ...CODE, description: 'Late' }), late, 'the new rule asks another person');
  });

  it('is completed by another instance if an instance crashes before or after running it', async () => {
    const unmade = await waits();
    await settle(unmade, 'approve');
    const { requests } = fixture.app.inbox.ports;
    const { store } = fixture.app.kernel;
    const dead = fixture.anotherInstance();
    // The instance claims the request, runs the call, and crashes before it stores the outcome.
    let dies = true;
    const dying = {
      ...dead.inbox.ports,
      store: {
        commit: async (...[changes, recorded]: Parameters<typeof store.commit>) => {
          const isEnd = changes.some((one) => one.kind === 'replaceRequest' && one.request.outcome);
          if (dies && isEnd) throw new Error('dead');
          await store.commit(changes, recorded);
        },
      },
    };
    const calls = new ApprovedCalls(dead.calls, '');
    const execution = new ApprovalExecution({
      ...dying,
      log: silent,
      liveness: dead.services.liveness,
      agentsMayAnswer: async () => [],
      runApprovedCall: (one) => calls.run(one),
    });
    await assert.rejects(execution.execute(unmade), /dead/);
    dies = false;
    assert.equal((await tasks()).length, 1);
    assert.equal(await execute(unmade), 'nothing', 'the first instance may still be running');
    fixture.pass(121);
    await fixture.sweepApprovals();
    assert.equal((await tasks()).length, 1, 'the call does not run again');
    const { value } = (await requests.find(unmade)) ?? {};
    assert.deepEqual([value?.execution_epoch, value?.due_at], [2, undefined]);
    assert.ok(Object((await seen(unmade))['outcome']).answer);
    // This request is in the state that remains if an instance crashes before it runs the approved call.
    const other = await waits({ ...CODE, description: 'B' });
    await settle(other, 'approve');
    fixture.pass(1);
    await fixture.sweepApprovals();
    assert.equal((await tasks()).length, 2);
  });

  it('needs no approval if the approver personally makes the call', async () => {
    assert.ok(await answer(fixture, CREATE, CODE, ada));
    const ben = await fixture.person('ben');
    assert.ok(await answer(fixture, CREATE, CODE, ben), 'a person who calls is also the approver');
    await demand([{ tool: 'coding.create_task', asks: ada.uid }]);
    const request_id = await waits(CODE, ben);
    const found = await fixture.inbox(ada, 'list', { state: 'open' });
    assert.equal(Object(found['requests'])[0].request_id, request_id);
    const own = await fixture.refusal(ben, 'inbox_answer', { request_id, answer: 'approve' });
    assert.equal(own.reason, 'NOT_ASKED');
  });

  it("matches a leader's rule, which names a tool that writes and optionally a cost threshold", async () => {
    for (const tool of ['coding.report_task', 'inbox.answer', 'onboarding.registerAgent', 'nothing.at_all']) {
      const { reason, entries } = await fixture.refusal(ada, 'access_update_workspace', { approvals: [{ tool }] });
      assert.equal(reason, 'NOT_APPROVABLE');
      assert.ok(entries.includes('github.createPR'));
    }
    const stranger = { tool: 'coding.create_task', asks: fixture.id('eve') };
    assert.equal((await fixture.refusal(ada, 'access_update_workspace', { approvals: [stranger] })).code, -32200);
    await assert.rejects(answer(fixture, 'access_update_workspace', { approvals: [] }, await fixture.person('ben')));
    await demand([{ tool: 'orchestration.orchestrate', above_usd: 2 }]);
    agent = await fixture.agentOf('ada', 'worker');
    assert.ok(await answer(fixture, CREATE, CODE, agent), 'the tool no longer requires approval');
    const run = (cost_usd: number) => ({ prompt: 'Hi', options: { timeout: 0, budget: { cost_usd } } });
    await waits(run(3), agent, 'orchestration_orchestrate');
    const cheap = await call(fixture, 'orchestration_orchestrate', run(1), agent);
    assert.doesNotMatch(JSON.stringify(cheap.structuredContent), /-32103/);
  });

  it('requires approval for any amount in the rule if its tool states no maximum cost', async () => {
    for (const above_usd of [0, 5, 10_000]) {
      await demand([{ tool: 'coding.create_task', above_usd }]);
      await waits({ ...CODE, description: `Above ${above_usd}` });
    }
    assert.deepEqual(await tasks(), []);
  });

  it("requires approval if its budget, or else the deployment's, exceeds the amount in the rule", async () => {
    const orchestrate = 'orchestration_orchestrate';
    const run = (prompt: string, budget?: JsonObject) => ({
      prompt,
      options: { timeout: 0, ...(budget && { budget }) },
    });
    const isAsked = async (args: JsonObject) =>
      /waiting for approval/.test(JSON.stringify((await call(fixture, orchestrate, args, agent)).structuredContent));
    // The deployment of the tests has no limit in US dollars, which exceeds every amount.
    for (const [above_usd, cost_usd, asked] of [
      [2, 2, false],
      [2, 2.01, true],
      [0, 0.01, true],
      [10_000, undefined, true],
    ] as const) {
      await demand([{ tool: 'orchestration.orchestrate', above_usd }]);
      const args = run(`${above_usd} ${cost_usd}`, cost_usd === undefined ? undefined : { cost_usd });
      assert.equal(await isAsked(args), asked, `${cost_usd} above ${above_usd}`);
    }
  });

  it('cannot be approved by an agent that registered the caller', async () => {
    const deputy = { ...(await fixture.agentOf('ada', 'leader')), agent_id: 'deputy', uid: 'agent:deputy' };
    await fixture.lets('ada', ['deputy']);
    const lineage = [{ subject: 'key:mk_deputy' as const, agent_id: 'deputy' }];
    const own = await waits(CODE, { ...agent, lineage });
    const refused = await fixture.refusal(deputy, 'inbox_answer', { request_id: own, answer: 'approve' });
    assert.equal(refused['reason'], 'NOT_A_PERSON');
    const other = await waits({ ...CODE, description: 'Of another' });
    assert.ok(await fixture.inbox(deputy, 'answer', { request_id: other, answer: 'approve' }), 'an unrelated caller');
  });

  it('runs without approval if its workspace has no approval rules', async () => {
    await demand([]);
    const free = await fixture.agentOf('ada', 'worker');
    assert.equal(free.owner.asking?.[fixture.workspace], false);
    assert.ok(await answer(fixture, CREATE, CODE, free));
  });
});
