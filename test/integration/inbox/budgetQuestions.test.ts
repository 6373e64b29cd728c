/** Questions about exhausted budgets, which go to the person who set the budget. An approval raises the budget. */
import assert from 'node:assert/strict';
import { answer, call } from '../coordination/calls.ts';
import { InboxFixture } from './fixture.ts';

const CODE = { tool: 'CLAUDECODE', description: 'Add a test', instructions: 'Write it.' };

describe('a question about a budget', () => {
  const fixture = new InboxFixture();
  before(async () => {
    await fixture.open();
    const agent = await fixture.agentOf('ada', 'worker');
    const agent_id = String(agent.agent_id);
    const runner = { agent_id, role: 'worker', capabilities: ['claude'] };
    await answer(fixture, 'coordination_register_agent', runner, agent);
  });

  it('goes to the person who set the budget, and its approval raises the budget once', async () => {
    const [ada, agent] = [await fixture.person('ada'), await fixture.agentOf('ada', 'worker')];
    const of = { kind: 'workspace', id: fixture.workspace };
    await answer(fixture, 'system_setBudget', { ...of, tokens: 0, money: 5 }, ada);
    const { taskId } = Object((await answer(fixture, 'coding_create_task', CODE, agent))['result']);
    const claim = async () => Object((await answer(fixture, 'coding_claim_task', { taskId }, agent))['result']).task;
    assert.equal(await claim(), null);
    assert.equal(await claim(), null);
    const { requests } = await fixture.inbox(ada, 'list', { state: 'open' });
    const [question, ...more] = requests as { request_id: string; question: string; call: object }[];
    assert.ok(question);
    assert.deepEqual(more, [], 'the question is asked once');
    assert.match(question.question, /: \$0\.0000 of \$5 and 0 of 0 tokens are spent\..* to 10 tokens\?$/);
    const refused = await call(fixture, 'inbox_answer', { request_id: question.request_id, answer: 'approve' }, agent);
    assert.equal(refused.isError, true, 'an agent cannot raise its own budget');

    await fixture.inbox(ada, 'answer', { request_id: question.request_id, answer: 'approve' });
    const { approvedCalls } = fixture.app.services;
    const made = await Promise.all([1, 2].map(() => approvedCalls.execute(question.request_id)));
    assert.deepEqual(made.sort(), ['made', 'nothing']);
    const limited = await fixture.app.graph.ports.budgets.find(`workspace-${fixture.workspace}`);
    assert.deepEqual([limited?.value.tokens, limited?.value.cost_usd], [10, 5], 'only the exhausted limit is raised');
    await fixture.app.services.orchestration.runs.budgetChanged(`workspace-${fixture.workspace}`);
    fixture.pass(11 * 60);
    assert.equal((await claim()).id, taskId);
  });

  it('is not asked again after a refusal, until the budget is set again', async () => {
    const [ada, agent] = [await fixture.person('ada'), await fixture.agentOf('ada', 'worker')];
    const of = { kind: 'workspace', id: fixture.workspace };
    await answer(fixture, 'system_setBudget', { ...of, tokens: 0 }, ada);
    const { taskId } = Object((await answer(fixture, 'coding_create_task', CODE, agent))['result']);
    const open = async () => (await fixture.inbox(ada, 'list', { state: 'open' }))['requests'] as object[];
    const claim = () => answer(fixture, 'coding_claim_task', { taskId }, agent);
    await claim();
    const request_id = Object((await open())[0]).request_id;
    await fixture.inbox(ada, 'answer', { request_id, answer: 'refuse' });
    fixture.pass(11 * 60);
    await claim();
    assert.deepEqual(await open(), []);
    await answer(fixture, 'system_setBudget', { ...of, tokens: 0 }, ada);
    fixture.pass(11 * 60);
    await claim();
    assert.equal((await open()).length, 1);
  });
});
