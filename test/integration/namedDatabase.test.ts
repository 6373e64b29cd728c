/** Deployment whose Firestore database is not `(default)`: calls, reads under the rules, and triggers. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { Firestore } from '@google-cloud/firestore';
import { Expression } from 'firebase-functions/params';
import { z } from 'zod';
import { McpCaller } from '../../bench/load/client.ts';
import { addCallers, newProject } from '../../bench/seed.ts';
import { type FunctionServer, musterFunction, serveFunction } from '../../bench/servers/functionServer.ts';
import { DEFAULT_WORKSPACE } from '../../functions/src/identity/rules/principal.ts';
import * as functions from '../../functions/src/index.ts';
import { queuedTaskPath, realtimeDatabase } from '../../functions/src/kernel/realtime/database.ts';
import { root } from '../../scripts/project.mjs';
import { documentEvent } from './upload/cloudEvents.ts';

const DATABASE = 'muster';
const created = z.object({ task: z.object({ id: z.string() }) });
const read = z.object({ data: z.object({ id: z.string() }) });
const follower = z.object({
  __endpoint: z.object({
    eventTrigger: z.object({
      eventFilters: z.object({ namespace: z.string(), database: z.union([z.string(), z.instanceof(Expression)]) }),
    }),
  }),
});

describe('a Firestore database with another name', () => {
  const project = newProject('named');
  const named = new Firestore({ projectId: project.id, databaseId: DATABASE });
  const env = { ...project.env, DATABASE_ID: DATABASE };
  const started: FunctionServer[] = [];
  let leader: McpCaller;
  let taskId = '';

  const start = async (target: string, signature?: 'cloudevent'): Promise<FunctionServer> => {
    const server = await serveFunction({ ...musterFunction, target, env, ...(signature && { signature }) });
    started.push(server);
    return server;
  };

  before(async () => {
    await putRules(project.id);
    const [caller] = await addCallers({ firestore: named }, 'leader');
    assert.ok(caller);
    leader = new McpCaller((await start('mcp')).url, caller.credential);
  });

  after(async () => {
    await Promise.all(started.map((server) => server.end()));
    await Promise.all([named.terminate(), project.firestore.terminate()]);
  });

  it('stores the data of calls, and nothing is written to the database (default)', async () => {
    await leader.call('coordination_init_coordination', { goal: 'Ship it', master_plan: 'One task.' });
    const answer = await leader.call('coordination_create_task', { description: 'Pack it.' });
    taskId = created.parse(answer).task.id;
    assert.ok((await named.doc(`tasks/${taskId}`).get()).exists);
    assert.deepEqual(await project.firestore.listCollections(), []);
  });

  it('is read as the caller, under its security rules', async () => {
    const asked = (path: string) => leader.call('firebase_read', { database: 'firestore', path });
    assert.equal(read.parse(await asked(`tasks/${taskId}`)).data.id, taskId);
    await assert.rejects(asked('credentials/mk_somebody'), /PERMISSION_DENIED/);
  });

  it('causes trigger calls when its documents change', async () => {
    const mirror = await start('mirrorTaskQueue', 'cloudevent');
    const type = 'google.cloud.firestore.document.v1.written';
    const { headers, body } = await documentEvent(project.id, type, `tasks/${taskId}`, DATABASE);
    const { status } = await fetch(mirror.url, { method: 'POST', headers, body: new Uint8Array(body) });
    assert.equal(status, 204);
    const queued = await (await realtimeDatabase()).ref(queuedTaskPath(DEFAULT_WORKSPACE, taskId)).get();
    assert.ok(queued.exists());
  });

  it('is configured in each function that document changes trigger', () => {
    const followers = Object.values(functions).flatMap(
      (one) => follower.safeParse({ __endpoint: one.__endpoint }).data ?? [],
    );
    assert.ok(followers.length > 5);
    for (const { __endpoint } of followers)
      assert.equal(String(__endpoint.eventTrigger.eventFilters.database), 'params.DATABASE_ID');
  });
});

/** Loads the rules into the emulator, which has one set of rules for all databases of a project. */
async function putRules(project: string): Promise<void> {
  const content = await readFile(`${root}/firestore.rules`, 'utf8');
  const url = `http://${process.env['FIRESTORE_EMULATOR_HOST']}/emulator/v1/projects/${project}:securityRules`;
  const response = await fetch(url, {
    method: 'PUT',
    headers: { authorization: 'Bearer owner' },
    body: JSON.stringify({ rules: { files: [{ content }] } }),
  });
  assert.ok(response.ok, await response.text());
}
