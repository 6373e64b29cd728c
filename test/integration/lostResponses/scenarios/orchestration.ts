import type { JsonObject } from '../../../../functions/src/kernel/json.ts';
import { answer } from '../../coordination/calls.ts';
import { unkeyed } from '../../coordination/team.ts';
import { type LostResponseFixture, scenariosOf } from '../fixture.ts';

const WORKFLOW = { name: 'two', steps: [{ agent: 'claude' }, { agent: 'gemini' }] };
const SAVED = { name: 'saved', steps: [{ name: 'only', agent: 'claude' }] };
const PROMPT = { prompt: 'Do it', preferences: { workflow: 'direct', agent: 'claude' } };

async function save(fixture: LostResponseFixture): Promise<void> {
  await fixture.app.services.orchestration.workflows.save(fixture.leader.owner_uid, SAVED, undefined, unkeyed);
}

/** Makes the owner of the leader a member, because each step checks the owner's role. Returns the arguments. */
async function asMember(fixture: LostResponseFixture, args: JsonObject) {
  const { workspace, leader, now: addedAt } = fixture;
  const member = { uid: leader.owner_uid, workspace, role: 'leader', added_by: 'a-test', added_at: addedAt } as const;
  await fixture.app.kernel.store.commit([
    { kind: 'nameWorkspace', workspace, access: 'private' },
    { kind: 'setMember', member },
  ]);
  return { args };
}

export const orchestration = scenariosOf('orchestration', {
  orchestrate: {
    'that calls a model': (fixture) => asMember(fixture, PROMPT),
    'with a repeated prompt': async (fixture) => {
      const asked = await asMember(fixture, PROMPT);
      await answer(fixture, 'orchestration_orchestrate', PROMPT);
      return asked;
    },
  },
  orchestrate_workflow: (fixture) => asMember(fixture, { workflow: WORKFLOW, input: 'Do it' }),
  orchestrate_parallel: (fixture) => asMember(fixture, { prompt: 'Do it', agents: ['claude', 'gemini'], mode: 'all' }),
  execute_code: (fixture) => asMember(fixture, { prompt: 'Do it' }),
  execute_task: (fixture) => asMember(fixture, { task: { id: 'one', prompt: 'Do it' } }),
  save_workflow: {
    'for the first time': async () => ({ args: { workflow: SAVED } }),
    'over an existing one': async (fixture) => {
      await save(fixture);
      return { args: { workflow: { ...SAVED, steps: [{ name: 'only', agent: 'gemini' }] } } };
    },
  },
  delete_workflow: async (fixture) => {
    await save(fixture);
    return { args: { name: 'saved' } };
  },
  cancel_run: async (fixture) => ({ args: { runId: await fixture.pendingRun() } }),
});
