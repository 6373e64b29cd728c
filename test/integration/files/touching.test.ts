/** Files that runners and agents report while other tasks have reserved them. Source: docs/semantics.md#files. */
import assert from 'node:assert/strict';
import { answer } from '../coordination/calls.ts';
import { FileTeam } from './fixture.ts';

describe('changed files of a coding task', () => {
  let team: FileTeam;
  let ann: string;
  let first: string;
  let second: string;

  const beat = (files: readonly string[]) =>
    team.ask('heartbeat_task', { taskId: second, epoch: 1, files: [...files] });
  const mail = async (agentId: string) =>
    ((await team.app.coordination.ports.mailboxes.find(agentId))?.value.messages ?? []).map(
      ({ from, text, task_id }) => {
        return { from, text, task_id };
      },
    );

  beforeEach(async () => {
    team = await new FileTeam().begin();
    ann = await team.join('ann');
    [first = ''] = await team.naming(['src/auth/**']);
    await team.claim(ann);
    second = await team.order({ context_files: ['docs/'] });
    await team.take();
  });

  it('are reported to both holders once, with their next calls', async () => {
    const runner = team.agentId('runner');
    await beat(['docs/a.md']);
    assert.deepEqual([await mail(ann), await mail(runner)], [[], []]);
    assert.deepEqual((await team.entries(second))[second]?.touched, ['docs/a.md']);
    await beat(['docs/a.md', 'src/auth/login.ts']);
    const own = { from: 'muster', text: `You and "${ann}" (${first}) both change src/auth/login.ts.`, task_id: second };
    const theirs = {
      from: 'muster',
      text: `You and "${runner}" (${second}) both change src/auth/login.ts.`,
      task_id: first,
    };
    assert.deepEqual([await mail(ann), await mail(runner)], [[theirs], [own]]);
    const reader = { ...team.runner, has_messages: true as const };
    const { messages } = await team.ask('heartbeat_task', { taskId: second, epoch: 1 }, reader);
    assert.match(JSON.stringify(messages), /both change src/);
    await beat(['docs/a.md', 'src/auth/login.ts', 'src/auth/jwt.ts']);
    assert.deepEqual([(await mail(ann)).length, (await mail(runner)).length], [1, 1]);
    await team.assertBooks();
  });

  it('of a task that names none are reserved from the first report on', async () => {
    await team.ask('end_task', { taskId: second, epoch: 1, status: 'completed' });
    second = await team.order();
    await team.take();
    await beat(['lib/x.ts']);
    assert.equal((await team.task(second)).files_held, true);
    await team.assertBooks();
    const [third = ''] = await team.naming(['lib/**']);
    assert.equal(await team.claim(await team.join('bob')), undefined);
    assert.equal((await team.task(third)).files_wait, second);
    await team.ask('end_task', { taskId: second, epoch: 1, status: 'completed' });
    assert.deepEqual(Object.keys(await team.entries(first)), [first]);
  });

  it('are not reported to an agent whose mailbox is full, but to the other', async () => {
    for (let count = 0; count < 20; count++)
      await answer(team, 'coordination_message_agent', { agent_id: ann, message: `${count}` });
    await beat(['src/auth/login.ts']);
    assert.equal((await mail(ann)).length, 20);
    assert.equal((await mail(team.agentId('runner'))).length, 1);
  });

  it('outside the repository, and more than 200, are ignored', async () => {
    await beat(['/etc/passwd', '../x', ...Array.from({ length: 300 }, (_, index) => `lib/${index}.ts`)]);
    const touched = (await team.entries(second))[second]?.touched ?? [];
    assert.deepEqual([touched.length, touched[0]], [200, 'lib/0.ts']);
  });

  it('of an agent are listed by complete_task, unless its task named them', async () => {
    const bob = await team.join('bob');
    const [third = ''] = await team.naming(['lib/']);
    await team.claim(bob);
    const report = { agent_id: bob, task_id: third, output: 'x', files_modified: ['lib/a.ts', './src/auth/login.ts'] };
    const { files_shared } = await answer(team, 'coordination_complete_task', report, team.principal('bob'));
    assert.deepEqual(files_shared, [{ file: 'src/auth/login.ts', task_id: first, agent_id: ann }]);
  });

  it('of one workspace never meet those of another', async () => {
    const other = await new FileTeam().begin();
    await other.naming(['src/auth/**']);
    const eve = await other.join('eve');
    assert.ok(await other.claim(eve));
    await beat(['src/auth/login.ts']);
    assert.deepEqual((await other.app.coordination.ports.mailboxes.find(eve))?.value.messages, undefined);
  });
});
