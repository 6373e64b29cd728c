/** After `npm run people -- erase`, no document mentions the person, and the team keeps the person's work. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { deleteApp, initializeApp } from 'firebase-admin/app';
import { getAuth } from 'firebase-admin/auth';
import { z } from 'zod';
import type { Principal } from '../../../functions/src/identity/rules/principal.ts';
import { firestore } from '../../../functions/src/kernel/firestore/client.ts';
import { personPath, preferencesPath, todoPath } from '../../../functions/src/kernel/firestore/paths.ts';
import type { JsonObject } from '../../../functions/src/kernel/json.ts';
import {
  devicesPath,
  firebaseApp,
  notificationsPath,
  realtimeDatabase,
  taskUpdatesPath,
} from '../../../functions/src/kernel/realtime/database.ts';
import { erase } from '../../../scripts/people/erasure/erase.ts';
import { ownProject } from '../../../scripts/tests/ownProject.mjs';
import { variables } from '../../support/environment.ts';
import { answer } from '../coordination/calls.ts';
import { InboxFixture } from '../inbox/fixture.ts';
import { authenticate, bearerIn, printed, run } from './commands.ts';

const UID = randomUUID().replaceAll('-', '').slice(0, 28);

/** Fixture in which the erased person has a uid in Firebase's format. */
class Named extends InboxFixture {
  override id(name: string): string {
    return name === 'ada' ? UID : super.id(name);
  }
}

/** Returns all documents and nodes of both databases, by path. */
async function everything(): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  const open = await firestore().listCollections();
  for (let collection = open.pop(); collection !== undefined; collection = open.pop())
    for (const document of await collection.listDocuments()) {
      const snapshot = await document.get();
      found.set(document.path, `${JSON.stringify(snapshot.data())} ${snapshot.updateTime?.toMillis()}`);
      open.push(...(await document.listCollections()));
    }
  const realtime = await (await realtimeDatabase()).ref().get();
  realtime.forEach((root) => {
    root.forEach((child) => void found.set(`realtime ${root.key}/${child.key}`, JSON.stringify(child.val())));
  });
  return found;
}

/** Returns all data except call metrics, because the metrics are written a few seconds after the calls. */
async function settled(): Promise<ReadonlyMap<string, string>> {
  return new Map([...(await everything())].filter(([path]) => !path.startsWith('realtime metrics/')));
}

function naming(all: ReadonlyMap<string, string>, ...names: readonly string[]): readonly string[] {
  const says = (text: string) => names.some((name) => text.toLowerCase().includes(name.toLowerCase()));
  return [...all].filter(([path, data]) => says(path) || says(data)).map(([path]) => path);
}

/** Creates an account with the role admin in its claim. */
async function createAdmin(projectId: string, uid: string): Promise<void> {
  const app = initializeApp({ projectId }, uid);
  await getAuth(app).createUser({ uid });
  await getAuth(app).setCustomUserClaims(uid, { role: 'admin' });
  await deleteApp(app);
}

describe('npm run people -- erase', function () {
  this.timeout('5m');
  const fixture = new Named();
  const mail = fixture.email('ada');
  const name = `Ada ${randomUUID().slice(0, 8)} Lovelace`;
  const names = [UID, mail, name];
  let ben: Principal;
  let agent: Principal;
  let bearer = '';
  let pseudonym = '';
  let taskId = '';
  let whole: ReadonlyMap<string, string>;

  const idIn = (found: unknown, field: string): string =>
    z.looseObject({ [field]: z.string() }).parse(found)[field] ?? '';

  /** Creates, for a person, data of every kind that can belong to a person. */
  async function settleIn(person: Principal, address: string, called: string): Promise<void> {
    const ask = (tool: string, args: JsonObject) => answer(fixture, tool, args, person);
    const title = `Water the plants of ${called}`;
    const { task } = await ask('todo_add_task', { title, due_date: '2041-02-03T04:05:06Z' });
    await ask('todo_set_reminder', { task_id: idIn(task, 'id'), remind_at: '2041-02-03T03:05:06Z' });
    await ask('todo_add_task', { title: `Gone: ${address}` });
    await ask('todo_create_recurring_task', {
      title: `Sweep for ${called}`,
      frequency: 'DAILY',
      start_date: '2041-01-01T00:00:00Z',
    });
    await firestore().doc(preferencesPath(person.uid)).set({ push: false });
    const database = await realtimeDatabase();
    await database
      .ref()
      .update({
        [devicesPath(person.uid)]: { phone: { token: 'a-token', registered_at: 1 } },
        [notificationsPath(person.uid)]: { one: { at: 1, title } },
        [taskUpdatesPath(person.uid)]: { one: { at: 1, title } },
      });
  }

  before(async () => {
    await fixture.open();
    await getAuth(firebaseApp()).updateUser(UID, { displayName: name });
    await fixture.letIn(fixture.workspace, 'ben', 'leader');
    const ada = await fixture.person('ada');
    ben = await fixture.person('ben');
    agent = await fixture.agentOf('ada', 'worker');
    await settleIn(ada, mail, name);
    await settleIn(ben, fixture.email('ben'), 'Ben');

    const made = (tool: string, args: JsonObject, by: Principal = ada) => answer(fixture, tool, args, by);
    await made('coordination_init_coordination', { goal: `What ${name} wants`, master_plan: `Write to ${mail}` });
    const created = await made('coordination_create_task', { description: `Ask ${name} at ${mail}` });
    taskId = idIn(created['task'], 'id');
    const agent_id = String(agent.agent_id);
    await made('coordination_register_agent', { agent_id, role: 'worker' }, agent);
    await made('coordination_claim_task', { agent_id }, agent);
    await made('coordination_start_task', { agent_id, task_id: taskId }, agent);
    const question = { question: `Is it you, ${name}?`, kind: 'text', task_id: taskId };
    const { request_id } = await made('inbox_ask', question, agent);
    await made('inbox_answer', { request_id, answer: `Yes, ${name}` });
    await made('coordination_complete_task', { agent_id, task_id: taskId, output: `${mail} was asked` }, agent);
    await made('coordination_message_agent', { agent_id, message: `Thanks, ${name}` });
    await made('coordination_add_discovery', { agent_id, content: `${UID} knows` }, agent);
    await made('access_invite', { workspace: fixture.workspace, role: 'worker', email: `guest-${UID}@example.com` });
    await made('access_invite', { workspace: fixture.workspace, role: 'worker', email: mail.toLowerCase() }, ben);
    await made('orchestration_save_workflow', {
      workflow: { name: 'mine', steps: [{ name: 'ask', agent: 'claude', role: 'plan', prompt: `For ${name}` }] },
    });
    const created2 = await printed('agents', 'create', '--name', 'of-ada', '--owner', UID);
    bearer = bearerIn(created2);
    await firestore()
      .doc('messages/talk/lines/one')
      .set({ from: UID, text: `I am ${name}`, others: ['Ben'] });
    await firestore().doc(`shared/people/of/${UID}`).set({ mail });
    const database = await realtimeDatabase();
    await database.ref('shared/talk').set({ one: { text: `I am ${name}`, at: 1 }, [UID]: { seen: true } });
    whole = await settled();
  });

  it('lists the changes of a dry run, and applies none', async () => {
    const lines = await printed('people', 'erase', '--person', mail, '--dry-run');
    assert.match(lines, /Would be deleted: .*todos 3/);
    assert.match(lines, /Would be replaced in: .*tasks 1/);
    assert.deepEqual(await settled(), whole);
  });

  it('locks the person out, and deletes every mention of the person', async () => {
    const { agent_id: agentId } = await authenticate(bearer);
    assert.ok(agentId);
    const lines = await printed('people', 'erase', '--person', mail, '--yes');
    pseudonym = /erased-[0-9a-f]{20}/.exec(lines)?.[0] ?? '';
    assert.match(lines, /still blocks their last tokens\. To delete it too, run this command again with the uid after/);
    await assert.rejects(authenticate(bearer), { code: 'UNAUTHORIZED' });
    await assert.rejects(getAuth(firebaseApp()).getUser(UID), { code: 'auth/user-not-found' });
    assert.deepEqual(naming(await everything(), ...names), [personPath(UID), `realtime access/people`]);

    // An hour later, when the last tokens of the person have expired.
    const { sentences } = await erase(UID, { isDry: false, now: new Date(Date.now() + 3_700_000) });
    assert.match(sentences.join('\n'), /no data names the person anymore/);
    assert.deepEqual(naming(await everything(), ...names), []);
  });

  it('changes nothing if it runs a second time', async () => {
    const once = await settled();
    const { sentences } = await erase(UID, { isDry: false });
    assert.deepEqual(sentences.slice(0, 2), ['Deleted: nothing.', 'Replaced in: nothing.']);
    assert.deepEqual(await settled(), once);
  });

  it('does not change documents that do not mention the person', async () => {
    const after = await everything();
    const named = naming(whole, ...names);
    const others = naming(whole, ben.uid).filter((path) => !named.includes(path));
    assert.ok(others.length >= 8, `${others.length}`);
    for (const path of others) assert.equal(after.get(path), whole.get(path), path);
  });

  it("keeps the team's tasks, history and findings", async () => {
    const seen = (tool: string, args: JsonObject = {}) => answer(fixture, tool, args, ben);
    const { tasks } = z
      .object({ tasks: z.array(z.looseObject({ id: z.string() })) })
      .parse(await seen('coordination_get_all_tasks'));
    const task = tasks.find(({ id }) => id === taskId);
    assert.deepEqual(
      [task?.['description'], task?.['status'], task?.['claimed_by']],
      [`Ask erased person at ${pseudonym}@erased.invalid`, 'done', agent.agent_id],
    );
    assert.match(JSON.stringify(await seen('system_getAudit', { of: 'workspace', limit: 100 })), new RegExp(pseudonym));
    const found = await seen('coordination_get_discoveries');
    assert.match(JSON.stringify(found), new RegExp(`${pseudonym} knows`));
    await seen('coordination_get_status');
    await seen('coordination_get_results');
    const line = await firestore().doc('messages/talk/lines/one').get();
    assert.deepEqual(line.data(), { from: pseudonym, text: 'I am erased person', others: ['Ben'] });
    const another = await seen('coordination_create_task', { description: 'Go on', dependencies: [taskId] });
    assert.equal(z.looseObject({ status: z.string() }).parse(another['task']).status, 'available');
  });

  it("finds an erased person by their pseudonym after a backup has restored the person's data", async () => {
    await firestore().doc(personPath(UID)).set({ role: 'worker', workspaces: {} });
    await firestore().doc(todoPath('from-a-backup')).set({ owner_uid: UID, title: 'Old' });
    const lines = await printed('people', 'erase', '--person', pseudonym, '--yes');
    assert.match(lines, /Deleted: todos 1\./);
    await erase(UID, { isDry: false, now: new Date(Date.now() + 3_700_000) });
    assert.deepEqual(naming(await everything(), UID), []);
    await assert.rejects(printed('people', 'erase', '--person', pseudonym, '--yes'), /with the pseudonym erased-/);
  });

  it('does not erase the last admin, and reports an unknown email address', async () => {
    const env = await ownProject(variables(), `erasure-${randomUUID().slice(0, 8)}`);
    const project = env['GCLOUD_PROJECT'] ?? '';
    const args = ['erase', '--person', 'solo', '--yes', '--project', project];
    await createAdmin(project, 'solo');
    const refused = run('people', args, env);
    assert.equal(refused.status, 1);
    assert.match(
      refused.stderr,
      /^solo is the last admin. Nothing was changed. Make another person admin first: .*\n$/,
    );
    await createAdmin(project, 'second');
    assert.equal(run('people', args, env).status, 0);
    await assert.rejects(printed('people', 'erase', '--person', mail, '--yes'), /No account has the address/);
  });
});
