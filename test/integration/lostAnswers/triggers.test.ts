/** What Firebase calls by itself, with the answer of each of its commits lost: triggers, consumers and schedules. */
import assert from 'node:assert/strict';
import { createHmac, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { getAuth } from 'firebase-admin/auth';
import type { Composition } from '../../../functions/src/app.ts';
import { nodeKey } from '../../../functions/src/graph/rules/node.ts';
import { graphPath, preferencesPath, todoPath } from '../../../functions/src/kernel/firestore/paths.ts';
import { firebaseApp } from '../../../functions/src/kernel/platform.ts';
import { Deliveries } from '../../../functions/src/toolsets/github/rules/deliveries.ts';
import { messageOf, type Topic } from '../../../functions/src/toolsets/todo/rules/outbox.ts';
import { GitHubWebhook } from '../../../functions/src/vendors/octokit/webhook.ts';
import { accountOf } from '../../support/lossyFirestore/account.ts';
import { type Lane, Lanes } from '../../support/lossyFirestore/lanes.ts';
import { type Outcome, tryLosses } from '../../support/lossyFirestore/losses.ts';
import type { Loss } from '../../support/lossyFirestore/proxy.ts';
import { answer } from '../coordination/calls.ts';
import { silent, unkeyed } from '../coordination/team.ts';
import { makeTopics } from '../spine/pubsub.ts';
import { recount } from './recount.ts';
import { Scene, Vendors } from './scene.ts';

type Deed = (app: Composition) => Promise<unknown>;

/** Prepares, and gives what is then done by an instance; also what it is about, where its commits do not name the scene. */
type Occasion = (scene: Scene) => Promise<Deed | { readonly deed: Deed; readonly about: string }>;

const DAY = 86_400_000;

const SECRET = 'a secret';

/** Before all that other tests have left to be done. */
const LONG_AGO = new Date('1980-01-01T00:00:00.000Z');

/** By the function and what is special about it. `tools.test.ts` and `runs.test.ts` have the others. */
const occasions: Readonly<Record<string, Readonly<Record<string, Occasion>>>> = {
  repairTodo: {
    'an edited to-do': async (scene) => {
      const id = await todo(scene);
      await edit(scene, id, { title: 'Water the roses', due_date: inDays(scene, 3) });
      return (app) => app.services.repairTodo(id, undefined);
    },
    'a completed occurrence': async (scene) => {
      const draft = { title: 'Standup', frequency: 'DAILY', anchor: inDays(scene, 1) } as const;
      const begun = await scene.app.services.recurringTasks.create(scene.leader.ownerUid, draft, unkeyed);
      await edit(scene, begun.first.id, { completed: true });
      return (app) => app.services.repairTodo(begun.first.id, undefined);
    },
  },
  mirrorTaskQueue: {
    'a new task': async (scene) => {
      const { id } = await scene.createOne();
      return (app) => app.services.mirrorQueuedTask(id);
    },
  },
  mirrorPerson: {
    'a new member': async (scene) => {
      const uid = `member-${randomUUID()}`;
      const { workspace, now: addedAt } = scene;
      const member = { uid, workspace, role: 'worker', addedBy: 'ada', addedAt } as const;
      await scene.app.ports.store.commit([{ kind: 'setMember', member }]);
      return (app) => app.services.mirrorPerson(uid);
    },
  },
  mirrorWorkspaces: {
    'a new workspace': async (scene) => {
      await scene.app.ports.store.commit([
        { kind: 'nameWorkspace', workspace: scene.workspace, access: 'private' },
      ]);
      return (app) => app.services.mirrorWorkspaces();
    },
  },
  resumeRun: {
    'a closed task of a run': async (scene) => {
      const { id, agent } = await taskOfRun(scene);
      await scene.claim(agent);
      await scene.complete(agent, id);
      return (app) => app.services.orchestration.runs.taskChanged(id);
    },
    'an open task of a run that has ended': async (scene) => {
      const { id } = await taskOfRun(scene);
      return (app) => app.services.orchestration.runs.taskChanged(id);
    },
  },
  followGraph: {
    'a task whose parts are done': async (scene) => {
      const id = await taskOfParts(scene);
      const node = await scene.database.doc(graphPath(nodeKey({ kind: 'task', id }))).get();
      return (app) => app.services.followGraph(node.data());
    },
  },
  relayEvent: {
    'an event': async (scene) => {
      const { id } = await event(scene, 'updated');
      return (app) => app.services.relayEvent(id);
    },
  },
  auditEvents: { 'an event': (scene) => consumed(scene, 'task-events', 'updated') },
  mirrorTaskUpdates: { 'an event': (scene) => consumed(scene, 'task-updates', 'updated') },
  notifyOfReminders: {
    'a reminder': async (scene) => {
      const uid = scene.leader.ownerUid;
      await getAuth(firebaseApp()).createUser({ uid, email: `${uid}@muster.example`, emailVerified: true });
      await scene.database.doc(preferencesPath(uid)).set({ email: true });
      return consumed(scene, 'reminders', 'reminder');
    },
  },
  githubWebhook: {
    'a merged pull request': async (scene) => {
      const { number, id } = await pullRequest(scene);
      const pull_request = { number, merged: true, merge_commit_sha: 'c'.repeat(40) };
      return deliver('pull_request', { action: 'closed', repository: { id }, pull_request });
    },
    'a failed check': async (scene) => {
      const { number, id } = await pullRequest(scene);
      const workflow_run = {
        id: 4000000001,
        name: 'ci',
        run_attempt: 1,
        conclusion: 'failure',
        head_sha: 'c'.repeat(40),
        html_url: 'https://github.com/sartor-ai/claude-network/actions/runs/4000000001',
        pull_requests: [{ number }],
      };
      return deliver('workflow_run', { action: 'completed', repository: { id }, workflow_run });
    },
  },
  sweep: {
    'a lapsed lease': async (scene) => {
      const { agent_id } = await scene.holder();
      scene.pass(7200);
      await scene.neverSeen(agent_id);
      return (app) => scene.sweep(app);
    },
    'a silent runner': async (scene) => {
      await scene.begin();
      await scene.order();
      await scene.take({ leaseSeconds: 60 });
      scene.pass(7200);
      await scene.neverSeen(scene.runner.agentId ?? '');
      return (app) => scene.sweep(app);
    },
    'the end of a backoff': async (scene) => {
      const { agent_id, task_id } = await scene.holder();
      await scene.fail(agent_id, task_id, true);
      scene.pass(7200);
      return (app) => scene.sweep(app);
    },
    'a coding task that nobody claims': async (scene) => {
      await scene.order({ config: { queueSeconds: 60 } });
      scene.pass(7200);
      return (app) => scene.sweep(app);
    },
    'an agent that is gone': async (scene) => {
      const agent = await scene.join('ann');
      await scene.app.ports.presence.touch(agent);
      scene.pass(7200);
      return (app) => scene.sweep(app);
    },
  },
  sendReminders: {
    'a reminder that is due': async (scene) => {
      scene.now = LONG_AGO;
      await todo(scene);
      scene.pass(24 * 3600);
      return (app) => app.services.sendReminders();
    },
    'a reminder of what is done': async (scene) => {
      scene.now = LONG_AGO;
      const about = await todo(scene);
      await edit(scene, about, { completed: true });
      scene.pass(24 * 3600);
      return { deed: (app) => app.services.sendReminders(), about };
    },
  },
};

/** They write to the Realtime Database, publish or dispatch: no commit of Firestore's is theirs to lose. */
const WITHOUT_COMMITS = [
  'mirrorPerson, of a new member',
  'mirrorTaskQueue, of a new task',
  'mirrorWorkspaces, of a new workspace',
  'mirrorTaskUpdates, of an event',
  'relayEvent, of an event',
  'resumeRun, of a closed task of a run',
];

/** It writes to the log alone. */
const WRITING_NOTHING = ['logDeadLetters'];

/** `test/integration/inbox/approvals.test.ts` has the calls that were approved. */
const ELSEWHERE = ['mcp', 'executeRun', 'makeApprovedCall'];

describe('a lost answer to the function', function () {
  this.timeout('2m');
  const vendors = new Vendors();
  /** One after the other: a schedule does what is due, whoever has prepared it. */
  let lanes: Lanes;
  before(async () => {
    if (process.env['PUBSUB_EMULATOR_HOST']) await makeTopics();
    await vendors.start();
    lanes = await Lanes.open(1, 'demo-lost-triggers');
  });
  after(async () => {
    await lanes.close();
    await vendors.stop();
  });

  it('is tested below, whichever function it is', () => {
    const index = readFileSync(new URL('../../../functions/src/index.ts', import.meta.url), 'utf8');
    const functions = [...index.matchAll(/^export \{([^}]+)\}/gm)].flatMap(
      ([, names = '']) => names.match(/\w+/g) ?? [],
    );
    const tested = [...Object.keys(occasions), ...WRITING_NOTHING, ...ELSEWHERE];
    assert.deepEqual(new Set(tested), new Set(functions));
  });

  for (const [name, own] of Object.entries(occasions)) {
    for (const [when, occasion] of Object.entries(own)) {
      const title = `${name}, of ${when}`;
      it(title, async () => {
        const all = Number.POSITIVE_INFINITY;
        const { problems, losses } = await tryLosses(lanes, all, (lane, loss) =>
          perform(occasion, lane, loss),
        );
        assert.equal(losses > 0, !WITHOUT_COMMITS.includes(title), `${losses} commits were lost`);
        if (problems.length > 0) assert.fail(problems.join('\n'));
      });
    }
  }

  async function perform(occasion: Occasion, lane: Lane, loss?: Loss): Promise<Outcome> {
    const scene = new Scene(vendors, lane.direct);
    const prepared = await occasion(scene);
    const { deed, about } =
      typeof prepared === 'function' ? { deed: prepared, about: scene.workspace } : prepared;
    const app = scene.through(lane);
    // What other tests have left is done too; it is of no concern here.
    lane.proxy.begin(loss, (request) => request.includes(about));
    await untilTaken(() => deed(app));
    const { applied, sent, lost } = lane.proxy.seen;
    const account = accountOf(
      { answer: undefined, written: applied },
      { place: scene.workspace, now: scene.now, chance: new Set(['repository_id']) },
    );
    return { problems: await recount(scene, lane.direct), account, commits: sent, lost };
  }
});

/** Firebase delivers again what has thrown. */
async function untilTaken(deliver: () => Promise<unknown>): Promise<void> {
  try {
    await deliver();
  } catch {
    await deliver();
  }
}

const inDays = (scene: Scene, days: number) => new Date(scene.now.getTime() + days * DAY);

async function todo(scene: Scene): Promise<string> {
  const draft = { title: `Water the plants of ${scene.workspace}`, dueDate: inDays(scene, 1) };
  return (await scene.app.services.todos.add(scene.leader.ownerUid, draft, unkeyed)).id;
}

/** Past the tools, as its owner may. */
async function edit(scene: Scene, id: string, fields: object): Promise<void> {
  await scene.database.doc(todoPath(id)).update({ ...fields });
}

/** A task that a run has ended without, and somebody who could do it. */
async function taskOfRun(scene: Scene): Promise<{ readonly id: string; readonly agent: string }> {
  const runId = await scene.pendingRun();
  await answer(scene, 'orchestration_cancel_run', { runId });
  const id = `${runId}-only-1`;
  await scene.create({ id });
  return { id, agent: await scene.join('ann') };
}

/** A task that waits for its parts, which are done. */
async function taskOfParts(scene: Scene): Promise<string> {
  const { principal, agent_id, task_id } = await scene.holder();
  await scene.allow(agent_id, 2);
  await answer(scene, 'coordination_create_task', {
    description: 'A part',
    part_of: { kind: 'task', id: task_id },
  });
  const part = await scene.claimBeside(agent_id, [task_id]);
  const report = { agent_id, task_id, output: 'Mine is done.', when_parts_done: true };
  await answer(scene, 'coordination_complete_task', report, principal);
  await scene.complete(agent_id, String(part));
  return task_id;
}

async function event(scene: Scene, type: 'updated' | 'reminder') {
  const happened = {
    id: randomUUID(),
    type,
    taskId: `${scene.workspace}-task`,
    userId: scene.leader.ownerUid,
    timestamp: scene.now,
    before: { title: 'Old' },
    after: type === 'reminder' ? { task_title: 'Water the plants' } : { title: 'New' },
    changes: ['title'],
  };
  await scene.app.ports.store.commit([{ kind: 'recordEvent', event: happened }]);
  return happened;
}

async function consumed(scene: Scene, topic: Topic, type: 'updated' | 'reminder') {
  const text = JSON.stringify(messageOf(await event(scene, type)));
  return (app: Composition) => app.services.consumers[topic].receive({ id: randomUUID(), text });
}

/** Of a task that somebody holds. */
async function pullRequest(scene: Scene): Promise<{ readonly number: number; readonly id: number }> {
  const { principal, task_id } = await scene.holder();
  const { owner, name: repo, id } = scene.vendors.repository(`repo-${scene.workspace}`);
  const wanted = { owner, repo, title: 'End retries', head: 'fix/retries', base: 'main', task_id };
  const { number } = await answer(scene, 'github_createPR', wanted, principal);
  return { number: Number(number), id };
}

function deliver(name: string, payload: object) {
  const body = JSON.stringify(payload);
  const signature = `sha256=${createHmac('sha256', SECRET).update(body).digest('hex')}`;
  const headers = { 'x-github-event': name, 'x-hub-signature-256': signature };
  return async (app: Composition): Promise<void> => {
    const ports = { ...app.ports, log: silent };
    const webhook = new GitHubWebhook({ secret: () => SECRET, deliveries: new Deliveries(ports) });
    const { status } = await webhook.receive({
      method: 'POST',
      headers,
      body: async () => Buffer.from(body),
    });
    assert.equal(status, 202);
  };
}
