/** Claims of tasks that name files. Source: docs/semantics.md#files. */
import assert from 'node:assert/strict';
import { countReads } from '../../support/countedReads.ts';
import { answer } from '../coordination/calls.ts';
import { FileTeam } from './fixture.ts';

const AUTH = ['src/auth/**'];
const LOGIN = ['src/auth/login.ts'];

describe('a claim of a task with files', () => {
  let team: FileTeam;
  let ann: string;
  let bob: string;

  beforeEach(async () => {
    team = new FileTeam();
    ann = await team.join('ann');
    bob = await team.join('bob');
  });

  it('reserves the files, and skips tasks with overlapping files', async () => {
    const [first = '', second = '', third = ''] = await team.naming(AUTH, LOGIN, ['docs/']);
    assert.equal(await team.claim(ann), first);
    assert.equal(await team.claim(bob), third);
    const { claim_epoch, ...entry } = (await team.entries(first))[first] ?? {};
    assert.deepEqual([claim_epoch, entry], [1, { agent_id: ann, globs: AUTH, touched: [], told: [] }]);
    const { status, blockers, files_wait, files_since, retry_at } = await team.task(second);
    assert.deepEqual([status, blockers, files_wait], ['available', 1, first]);
    assert.deepEqual([files_since, retry_at], [team.now, new Date(team.now.getTime() + 600_000)]);
    await team.assertBooks();
  });

  it('gets an explanation of which files it waits for', async () => {
    const [first = '', second = ''] = await team.naming(AUTH, LOGIN);
    await team.claim(ann);
    const { success, reason, explanation } = await team.asksFor(bob);
    assert.deepEqual([success, reason], [false, 'files']);
    assert.equal((await team.app.services.coordination.status(team.workspace)).blocked, 1);
    const text = `"${second}" waits for src/auth/login.ts, which "${ann}" has for "${first}". Claim with share_files: true to work on it at the same time.`;
    assert.equal(explanation, text);
    const { tasks } = await answer(team, 'coordination_get_all_tasks', {});
    assert.match(JSON.stringify(tasks), new RegExp(`"waits":"Waits for files of the task \\\\"${first}\\\\"`));
    const { waits } = await answer(team, 'access_explain', { task: second });
    assert.match(JSON.stringify(waits), /Waits for files of the task.*share_files/);
  });

  it('takes a waiting task at once with share_files, and lists the shared files', async () => {
    const [first = '', second = ''] = await team.naming(AUTH, LOGIN);
    await team.claim(ann);
    await team.asksFor(bob);
    const { task, files_shared } = await team.asksFor(bob, { share_files: true });
    assert.equal(Object(task).id, second);
    assert.deepEqual(files_shared, [{ file: 'src/auth/login.ts', task_id: first, agent_id: ann }]);
    const { blockers, files_wait, files_since, retry_at } = await team.task(second);
    assert.deepEqual([blockers, files_wait, files_since, retry_at], [0, undefined, undefined, undefined]);
    await team.assertBooks();
    const repeated = await team.asksFor(bob);
    assert.deepEqual([repeated['resumed'], repeated['files_shared']], [true, files_shared]);
  });

  it('does not take a waiting task with share_files whose capabilities it lacks', async () => {
    await team.naming(AUTH);
    const { id } = await team.createOne({ files: LOGIN, required_capabilities: ['rust'] });
    const eve = await team.join('eve', ['rust']);
    await team.claim(ann);
    assert.equal(await team.claim(eve), undefined);
    assert.equal((await team.task(id)).blockers, 1);
    assert.equal((await team.asksFor(bob, { share_files: true }))['success'], false);
    assert.equal(Object((await team.asksFor(eve, { share_files: true }))['task']).id, id);
  });

  it('takes a task that has waited for ten minutes, after those with free files', async () => {
    const [first = '', second = '', third = ''] = await team.naming(AUTH, LOGIN, LOGIN);
    await team.claim(ann);
    assert.equal(await team.claim(bob), undefined);
    team.pass(599);
    const free = await team.createOne({ files: ['docs/'] });
    assert.equal(await team.claim(bob), free.id);
    await team.complete(bob, free.id);
    team.pass(1);
    const another = await team.createOne();
    assert.equal(await team.claim(bob), another.id);
    await team.complete(bob, another.id);
    const { task, files_shared } = await team.asksFor(bob);
    assert.equal(Object(task).id, second);
    assert.deepEqual(files_shared, [{ file: 'src/auth/login.ts', task_id: first, agent_id: ann }]);
    // The other task has waited for as long, so it does not wait for this one again.
    const { task: next } = await team.asksFor(await team.join('eve'));
    assert.equal(Object(next).id, third);
    await team.assertBooks();
  });

  it('reserves without a wait in a workspace whose tasks do not wait', async () => {
    const [first = '', second = ''] = await team.naming(AUTH, LOGIN);
    await team.setFileWait(second, 0);
    await team.claim(ann);
    const { task, files_shared } = await team.asksFor(bob);
    assert.equal(Object(task).id, second);
    assert.deepEqual(files_shared, [{ file: 'src/auth/login.ts', task_id: first, agent_id: ann }]);
    await team.assertBooks();
  });

  it('reserves nothing for a task of an earlier release', async () => {
    const [first = '', second = ''] = await team.naming(AUTH, LOGIN);
    await team.setFileWait(first, null);
    assert.equal(await team.claim(ann), first);
    assert.equal(await team.claim(bob), second);
    assert.deepEqual(Object.keys(await team.entries(first)), [second]);
  });

  it('ignores names outside the repository, and says so', async () => {
    const hostile = [
      '../x',
      '/etc/passwd',
      'https://example.com',
      '\u202e',
      ...Array.from({ length: 40 }, (_, n) => `${n}.ts`),
    ];
    const [id = ''] = await team.naming(hostile);
    const { message } = await team.asksFor(ann);
    assert.equal(
      message,
      'Not reserved, because these names are outside the repository or too many: ../x, /etc/passwd, https://example.com and 9 more.',
    );
    assert.equal((await team.entries(id))[id]?.globs.length, 32);
    const [all = ''] = await team.naming(['**']);
    const eve = await team.join('eve');
    assert.equal(await team.claim(eve), undefined);
    assert.equal((await team.task(all)).files_wait, id);
  });

  it('succeeds without a reservation if the session has too many', async () => {
    const [id = ''] = await team.naming(AUTH);
    const { session } = await team.task(id);
    const globs = Array.from({ length: 32 }, (_, index) => `${index}/${'x'.repeat(195)}`);
    const full = { agent_id: 'x', claim_epoch: 1, globs, touched: [], told: [] };
    const entries = Object.fromEntries(Array.from({ length: 80 }, (_, index) => [`task-${index}`, full]));
    await team.app.kernel.store.commit([{ kind: 'holdFiles', session, workspace: team.workspace, entries }]);
    const { task, message } = await team.asksFor(ann);
    assert.deepEqual([Object(task).id, message], [id, 'Its files are not reserved: the session has too many.']);
    assert.equal((await team.task(id)).files_held, false);
  });

  it('never meets the files of another known project', async () => {
    await team.begin();
    const files = { context_files: AUTH };
    const one = await team.order({ ...files, config: { project: 'owner/one' } });
    const two = await team.order({ ...files, config: { project: 'owner/two' } });
    team.pass(1);
    const same = await team.order({ ...files, config: { project: 'owner/one' } });
    await team.allow(team.agentId('runner'), 5);
    assert.equal((await team.take({ project: 'owner/one' }))['id'], one);
    assert.equal((await team.take({ project: 'owner/two' }))['id'], two);
    const { task } = await team.ask('claim_task', { project: 'owner/one' });
    assert.equal(task, null);
    assert.equal((await team.task(same)).files_wait, one);
    // A caller that names the task shares its files.
    await team.join('creator', []);
    const { files_shared } = await team.ask('update_task', { taskId: same, status: 'in_progress' }, team.creator);
    assert.deepEqual(files_shared, [{ file: 'src/auth/**', task_id: one, agent_id: team.agentId('runner') }]);
    await team.assertBooks();
  });

  it('gives overlapping files to one of several concurrent claims', async () => {
    const [first = '', second = ''] = await team.naming(AUTH, LOGIN);
    const other = team.anotherInstance();
    const outcomes = await Promise.all([team.claimOutcome(ann), team.claimOutcome(bob, 1800, other)]);
    const kinds = outcomes.map(({ kind }) => kind).sort();
    assert.deepEqual(kinds, ['claimed', 'none']);
    const tasks = await Promise.all([first, second].map((id) => team.task(id)));
    assert.equal(tasks.filter(({ files_held }) => files_held).length, 1);
    await team.assertBooks();
  });

  it('reads one more document if the task names files, and none more otherwise', async () => {
    const [earlier = '', none = '', named = ''] = await team.naming([], [], AUTH);
    await team.setFileWait(earlier, null);
    const agents = await Promise.all(['cleo', 'dan', 'eve'].map((name) => team.join(name)));
    const warm = await team.createOne({ priority: 1 });
    assert.equal(await team.claim(ann), warm.id);
    const reads = countReads();
    const counted: number[] = [];
    for (const [index, agent] of agents.entries())
      counted.push(
        await reads.during(async () => assert.equal(await team.claim(agent), [earlier, none, named][index])),
      );
    reads.stop();
    const [usual = 0] = counted;
    assert.deepEqual(counted, [usual, usual, usual + 1]);
  });

  it('waits no longer if the holder freed its files while another claim decided', async () => {
    const [first = '', second = ''] = await team.naming(AUTH, LOGIN);
    await team.claim(ann);
    await team.claim(bob);
    // The trigger of this report is lost.
    await team.complete(ann, first);
    assert.equal(await team.claim(bob), second);
  });
});
