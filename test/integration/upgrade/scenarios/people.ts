/** Scenarios for people: questions, the audit log and undo. */
import assert from 'node:assert/strict';
import { z } from 'zod';
import type { Agent } from '../fixture.ts';
import type { Place, Scenario } from '../scenario.ts';

const oneTask = z.object({ task: z.object({ id: z.string(), status: z.string() }) });
const asked = z.object({ request_id: z.string(), state: z.string(), answer: z.string().optional() });
const box = z.object({ requests: z.array(asked) });
const events = z.object({
  events: z.array(
    z.object({ event_id: z.string(), tool: z.string(), by: z.string(), undone_by: z.string().optional() }),
  ),
});
const undone = z.object({ success: z.boolean() });
const found = z.object({ tasks: z.array(z.object({ id: z.string(), title: z.string() })) });

async function stateOf(at: Place, who: Agent, request_id: string) {
  return asked.parse(await at.call(who, 'inbox_wait', { request_id, wait_ms: 0 }));
}

/** A question to a person about a task, from its creation until the task's holder gets the answer. */
const question: Scenario = {
  name: 'a question to a person',
  steps: ({ lead, worker }) => {
    let [taskId, first, second] = ['', '', ''];
    const ask = async (at: Place, words: string) => {
      const more = { kind: 'choice', options: ['red', 'blue'], task_id: taskId };
      return asked.parse(await at.call(worker, 'inbox_ask', { question: words, ...more })).request_id;
    };
    const answer = (at: Place, request_id: string, chosen: string) =>
      at.call(at.stageFixture.person, 'inbox_answer', { request_id, answer: chosen });
    return [
      async (at) => {
        await at.call(lead, 'coordination_init_coordination', { goal: 'Paint it' });
        const draft = { description: 'Paint the door', priority: 1 };
        taskId = oneTask.parse(await at.call(lead, 'coordination_create_task', draft)).task.id;
        await at.call(worker, 'coordination_claim_task', { agent_id: worker.id });
        first = await ask(at, 'Which color has the door?');
      },
      async (at) => {
        const { requests } = box.parse(await at.call(at.stageFixture.person, 'inbox_list', { limit: 100 }));
        assert.ok(requests.some(({ request_id, state }) => request_id === first && state === 'open'));
        await answer(at, first, 'blue');
        await answer(at, first, 'blue');
      },
      async (at) => {
        const known = await stateOf(at, worker, first);
        assert.deepEqual([known.state, known.answer], ['answered', 'blue']);
        second = await ask(at, 'And the frame?');
      },
      async (at) => {
        await answer(at, second, 'red');
        const known = await stateOf(at, worker, second);
        assert.deepEqual([known.state, known.answer], ['answered', 'red']);
        const done = { agent_id: worker.id, task_id: taskId, output: 'Blue, with a red frame' };
        await at.call(worker, 'coordination_complete_task', done);
      },
    ];
  },
};

const oneTaskId = z.object({ task: z.object({ id: z.string() }) });

/** Changes that one version makes. The other version finds them in the audit log and undoes them. */
const takenBack: Scenario = {
  name: 'undone changes',
  steps: ({ workspace, worker }) => {
    const title = `Buy paint for ${workspace}`;
    let todoId = '';
    const trail = async (at: Place) => {
      const about = { thing: `todo:${todoId}`, limit: 100 };
      return events.parse(await at.call(worker, 'system_getAudit', about)).events;
    };
    const titleNow = async (at: Place) => {
      const { tasks } = found.parse(await at.call(worker, 'todo_search_tasks', { query: workspace }));
      return tasks.find(({ id }) => id === todoId)?.title;
    };
    const rename = (at: Place, to: string) => at.call(worker, 'todo_update_task', { task_id: todoId, title: to });
    const undo = async (at: Place, event_id: string | undefined) =>
      undone.parse(await at.call(worker, 'system_undo', { event_id }));
    const last = async (at: Place) => (await trail(at))[0]?.event_id;
    let renaming: string | undefined;
    return [
      async (at) => {
        todoId = oneTaskId.parse(await at.call(worker, 'todo_add_task', { title })).task.id;
        await rename(at, `${title}, green`);
        renaming = await last(at);
      },
      async (at) => {
        assert.equal((await undo(at, renaming)).success, true);
        assert.equal(await titleNow(at), title);
      },
      async (at) => {
        const reported = (await trail(at)).find(({ event_id }) => event_id === renaming);
        assert.ok(reported?.undone_by, 'the audit entry is marked as undone');
        await rename(at, `${title}, blue`);
        renaming = await last(at);
        await rename(at, `${title}, red`);
      },
      async (at) => {
        await assert.rejects(undo(at, renaming), /has changed since|changed in the meantime/);
        assert.equal((await undo(at, await last(at))).success, true);
        assert.equal(await titleNow(at), `${title}, blue`);
        assert.ok((await trail(at)).length >= 5);
      },
    ];
  },
};

export const peopleScenarios: readonly Scenario[] = [question, takenBack];
