/** The uploaded folder runs without the rest of Muster. Each function is called as Google calls it. */
import assert from 'node:assert/strict';
import { readdir, readFile, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { PubSub } from '@google-cloud/pubsub';
import { z } from 'zod';
import { McpCaller } from '../../../bench/load/client.ts';
import { addCallers, newProject, OWNER } from '../../../bench/seed.ts';
import { type FunctionServer, musterFunction, serveFunction } from '../../../bench/servers/functionServer.ts';
import { DEFAULT_WORKSPACE } from '../../../functions/src/identity/rules/principal.ts';
import * as functions from '../../../functions/src/index.ts';
import { mailPath, personPath, WORKSPACE_ACCESS_PATH } from '../../../functions/src/kernel/firestore/paths.ts';
import { personAccessPath, queuedTaskPath, realtimeDatabase } from '../../../functions/src/kernel/realtime/database.ts';
import { root } from '../../../scripts/project.mjs';
import { type LocalSmtpServer, startSmtpServer } from '../../support/smtpServer.ts';
import { type Delivery, documentEvent, messageEvent } from './cloudEvents.ts';
import { type Unpacked, unpackUpload } from './unpacked.ts';

const TOPICS = ['task-events', 'task-updates', 'reminders', 'dead-letters'];

/** Unsigned token. Functions accept it, because Google Cloud verifies signatures before it calls a function. */
const UNSIGNED = `${encoded({ alg: 'none', typ: 'JWT' })}.${encoded({ sub: 'tasks', aud: 'executeRun' })}.`;

/** Maximum size of the code that an instance loads before its first request. Only decrease this number. */
const MAX_LOADED_BYTES = 4_200_000;

const manifest = z.object({
  httpsTrigger: z.object({}).optional(),
  scheduleTrigger: z.object({}).optional(),
  taskQueueTrigger: z.object({}).optional(),
  eventTrigger: z
    .object({
      eventType: z.string(),
      eventFilters: z.object({ topic: z.string() }).partial(),
      eventFilterPathPatterns: z.object({ document: z.string() }).partial().optional(),
    })
    .optional(),
});

const answers = { task: z.object({ id: z.string() }) };

describe('the upload', () => {
  const project = newProject('upload');
  let upload: Unpacked;
  let smtp: LocalSmtpServer;
  const written = new Map<string, string>();
  const called: string[] = [];

  before(async function () {
    this.timeout(120_000);
    upload = await unpackUpload();
    smtp = await startSmtpServer();
  });

  after(async () => {
    await upload.remove();
    await smtp.close();
    await project.firestore.terminate();
  });

  it(`loads at most ${MAX_LOADED_BYTES / 1e6} MB of code before the first request`, async () => {
    const loaded = new Map<string, number>();
    const load = async (file: string): Promise<void> => {
      if (loaded.has(file)) return;
      const text = await readFile(file, 'utf8');
      loaded.set(file, text.length);
      for (const [, to = ''] of text.matchAll(/\b(?:from|import)"(\.[^"]+)"/g)) await load(join(dirname(file), to));
    };
    await load(join(upload.folder, 'lib/index.js'));
    const bytes = [...loaded.values()].reduce((sum, length) => sum + length, 0);
    assert.ok(loaded.size > 1 && bytes <= MAX_LOADED_BYTES, `${bytes} bytes in ${loaded.size} files`);
  });

  const started = async (target: string): Promise<FunctionServer> => {
    const isEvent = manifest.parse(endpointOf(target)).eventTrigger !== undefined;
    const server = await serveFunction({
      ...musterFunction,
      source: upload.folder,
      framework: upload.framework,
      log: upload.log,
      target,
      ...(isEvent && { signature: 'cloudevent' }),
      env: { ...project.env, GITHUB_WEBHOOK_SECRET: 'none', SMTP_URL: smtp.url, MAIL_FROM: 'muster@example.com' },
    });
    called.push(target);
    return server;
  };

  /** Starts the function, calls it once, and returns the status. Asserts that it logs no error. */
  const answered = async (target: string, { headers, body }: Delivery): Promise<number> => {
    const server = await started(target);
    try {
      const { status } = await fetch(server.url, { method: 'POST', headers, body: new Uint8Array(body) });
      return status;
    } finally {
      await server.end();
      const log = await readFile(server.log, 'utf8');
      await rm(server.log);
      const errors = log.split('\n').filter((line) => /"severity":"ERROR"|Cannot find (module|package)/.test(line));
      assert.deepEqual(errors, [], `${target} logged errors`);
    }
  };

  it('contains the bundle, a lockfile, and the functions framework in the tested version', async () => {
    const files = (await readdir(upload.folder)).filter((name) => name !== 'node_modules');
    assert.deepEqual(files.sort(), ['lib', 'package-lock.json', 'package.json']);
    const described = z.object({ version: z.string(), dependencies: z.record(z.string(), z.string()) });
    const read = async (path: string) => described.parse(JSON.parse(await readFile(path, 'utf8')));
    const tested = z.object({ version: z.string() });
    const framework = 'node_modules/@google-cloud/functions-framework/package.json';
    const { version } = tested.parse(JSON.parse(await readFile(join(root, framework), 'utf8')));
    const own = await read(join(upload.folder, 'package.json'));
    assert.deepEqual(own.dependencies, { '@google-cloud/functions-framework': version });
    assert.equal(own.version, (await read(join(root, 'functions/package.json'))).version);
  });

  it('contains a function that serves MCP calls', async () => {
    const [leader] = await addCallers(project, 'leader');
    assert.ok(leader);
    const mcp = await started('mcp');
    try {
      const caller = new McpCaller(mcp.url, leader.credential);
      await caller.call('coordination_init_coordination', { goal: 'Ship it', master_plan: 'One task.' });
      const todo = await caller.call('todo_add_task', { title: 'Look at it', due_date: '2027-01-01T10:00:00Z' });
      const { id } = answers.task.parse(todo['task']);
      written.set('todo', id);
      const draft = { description: 'Pack it.', part_of: { kind: 'todo', id } };
      const task = await caller.call('coordination_create_task', draft);
      written.set('task', answers.task.parse(task['task']).id);
      const question = await caller.call('inbox_ask', { kind: 'approval', question: 'Now?' });
      written.set('request', z.string().parse(question['request_id']));
    } finally {
      await mcp.end();
    }
  });

  it('contains functions that serve webhooks, tasks and schedules', async () => {
    const json = { 'content-type': 'application/json' };
    assert.equal(await answered('githubWebhook', { headers: json, body: Buffer.from('{}') }), 503, 'no secret is set');
    const run = { headers: { ...json, authorization: `Bearer ${UNSIGNED}` } };
    const order = Buffer.from(JSON.stringify({ data: { runId: 'gone', turn: 'first' } }));
    assert.equal(await answered('executeRun', { ...run, body: order }), 204);
    for (const schedule of targets(({ scheduleTrigger }) => scheduleTrigger !== undefined))
      assert.equal(await answered(schedule, { headers: json, body: Buffer.from('{}') }), 200, schedule);
  });

  it('contains functions that process events of documents and messages', async () => {
    const { firestore } = project;
    await firestore.doc(WORKSPACE_ACCESS_PATH).set({ access: { alpha: 'private' } });
    await firestore.doc('budgets/todo:gone').set({ key: 'todo:gone' });
    const mail = { to: ['ada@example.com'], message: { subject: 'Due', text: 'Now' }, created_at: new Date() };
    await firestore.doc(mailPath('mail-1')).set(mail);
    const [event] = (await firestore.collection('events').limit(1).get()).docs;
    const [node] = (await firestore.collection('graph').limit(1).get()).docs;
    const paths: Record<string, string> = {
      tasks: `tasks/${written.get('task')}`,
      todos: `todos/${written.get('todo')}`,
      requests: `requests/${written.get('request')}`,
      people: personPath(OWNER),
      access: WORKSPACE_ACCESS_PATH,
      events: `events/${event?.id}`,
      graph: `graph/${node?.id}`,
      budgets: 'budgets/todo:gone',
      mail: mailPath('mail-1'),
    };
    const pubSub = new PubSub({ projectId: project.id });
    for (const topic of TOPICS) await pubSub.createTopic(topic);
    const [subscription] = await pubSub.topic('task-events').createSubscription('seen');
    const arrived = new Promise<{ data: Buffer; attributes: Record<string, string> }>((resolve) => {
      subscription.once('message', resolve);
    });
    for (const target of targets(
      ({ eventTrigger }) => eventTrigger !== undefined && topicOf(eventTrigger) === undefined,
    )) {
      const { eventTrigger } = manifest.parse(endpointOf(target));
      const filters = Object.values(eventTrigger?.eventFilterPathPatterns ?? {});
      const [collection = ''] = (filters[0] ?? WORKSPACE_ACCESS_PATH).split('/');
      const path = paths[collection];
      assert.ok(path, `${target} follows ${collection}: add a path of it to the test`);
      const delivery = await documentEvent(project.id, String(eventTrigger?.eventType), path);
      assert.equal(await answered(target, delivery), 204, target);
    }
    const database = await realtimeDatabase();
    const queued = await database.ref(queuedTaskPath(DEFAULT_WORKSPACE, String(written.get('task')))).get();
    assert.ok(queued.exists(), 'the task is in the queue of the Realtime Database');
    assert.ok((await database.ref(personAccessPath(OWNER)).get()).exists(), 'the access mirror contains the person');
    const { data, attributes } = await arrived;
    await subscription.close();
    await pubSub.close();
    for (const target of targets(({ eventTrigger }) => topicOf(eventTrigger) !== undefined)) {
      const { eventTrigger } = manifest.parse(endpointOf(target));
      const topic = String(topicOf(eventTrigger));
      if (topic === 'dead-letters') continue; // This function only logs an error, as it should.
      assert.equal(await answered(target, messageEvent(project.id, topic, { data, attributes })), 204, target);
    }
    assert.equal((await firestore.collection('audit').get()).size, 1, 'the event has arrived');
    assert.match(smtp.received.join(), /^Subject: Due$/m);
  });

  it('is tested here with a call of each of its functions', () =>
    assert.deepEqual([...new Set([...called, 'logDeadLetters'])].sort(), Object.keys(functions).sort()));
});

function endpointOf(target: string): unknown {
  const found = Object.entries(functions).find(([name]) => name === target)?.[1];
  return found?.__endpoint;
}

function topicOf(trigger: z.infer<typeof manifest>['eventTrigger']): string | undefined {
  return trigger?.eventFilters.topic;
}

/** Returns the names of the functions whose manifest matches. */
function targets(has: (trigger: z.infer<typeof manifest>) => boolean): string[] {
  return Object.keys(functions).filter((name) => {
    const trigger = manifest.parse(endpointOf(name));
    return (trigger.eventTrigger !== undefined || trigger.scheduleTrigger !== undefined) && has(trigger);
  });
}

function encoded(part: object): string {
  return Buffer.from(JSON.stringify(part)).toString('base64url');
}
