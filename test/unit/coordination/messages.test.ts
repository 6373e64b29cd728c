import assert from 'node:assert/strict';
import fc from 'fast-check';
import { StaleWriteError, type Versioned } from '../../../functions/src/kernel/commit.ts';
import { retryOnConflict } from '../../../functions/src/kernel/concurrency.ts';
import { systemRandomness } from '../../../functions/src/kernel/platform.ts';
import type { Mailbox, Message } from '../../../functions/src/toolsets/coordination/rules/mailbox.ts';
import { AgentMessages } from '../../../functions/src/toolsets/coordination/rules/messages.ts';
import type { CoordinationChange } from '../../../functions/src/toolsets/coordination/rules/ports.ts';
import { START, sampleAgent, sampleTask, versionOf } from '../../support/builders.ts';
import { portsOf } from '../../support/ports.ts';
import { agentOf } from '../../support/principals.ts';
import { inRuns } from '../../support/properties.ts';

const TASKS = ['task-a', 'task-b'] as const;
const sender = agentOf('lead', 'person', 'leader');

/** A mailbox in memory whose commits fail if the mailbox has changed since it was read. */
class MemoryHub {
  readonly sent: Message[] = [];
  readonly read: string[] = [];
  readonly heard = new Set<string>();
  private mailbox: Versioned<Mailbox> | undefined;
  private commits = 0;
  private readonly pauses: readonly number[];
  private calls = 0;
  readonly messages = new AgentMessages(
    portsOf<ConstructorParameters<typeof AgentMessages>[0]>({
      agents: { find: async () => versionOf(sampleAgent({ id: 'runner', workspace: 'alpha' })) },
      mailboxes: { find: async () => this.after(this.mailbox) },
      tasks: { find: async (id) => versionOf(sampleTask({ id })), findAll: async () => [] },
      store: { commit: (changes) => this.commit(changes) },
      clock: { now: () => START },
      randomness: systemRandomness,
    }),
  );

  /** @param pauses number of turns of the event loop before each read and each commit */
  constructor(pauses: readonly number[]) {
    this.pauses = pauses;
  }

  async send(taskId: string | undefined): Promise<void> {
    const letter = { workspace: 'alpha', agentId: 'runner', text: 'Look', taskId };
    await this.messages.send(sender, letter, () => undefined);
  }

  receive(taskId: string, receivedUntil: string | undefined, heard: readonly string[]): Promise<readonly Message[]> {
    const agent = { id: 'runner', has_messages: true, readsMessages: true };
    return retryOnConflict(systemRandomness, async () => {
      const { unread, changes } = await this.messages.receive(agent, {
        workspace: 'alpha',
        taskId,
        receivedUntil,
        heard,
      });
      await this.commit(changes);
      return unread;
    });
  }

  private async commit(changes: readonly CoordinationChange[]): Promise<void> {
    await this.after(undefined);
    for (const change of changes) {
      if (change.kind !== 'replaceMailbox') continue;
      if (change.version !== this.mailbox?.version) throw new StaleWriteError();
      this.commits += 1;
      this.mailbox = versionOf(change.mailbox, String(this.commits));
      if (change.sent) this.sent.push(change.sent);
      const read = (change.read ?? []).map(({ id }) => id);
      assert.ok(
        read.every((id) => this.heard.has(id)),
        'a message that no coding agent heard is confirmed',
      );
      this.read.push(...read);
    }
  }

  private async after<Value>(value: Value): Promise<Value> {
    const turns = this.pauses[this.calls++ % this.pauses.length] ?? 0;
    for (let turn = 0; turn < turns; turn++) await null;
    return value;
  }
}

/** An attempt at a task, as a runner conducts it: each call states what it has received and what was heard. */
class Attempt {
  readonly received: string[] = [];
  private readonly open = new Set<string>();
  readonly taskId: string;

  constructor(taskId: string) {
    this.taskId = taskId;
  }

  /** @param hears number of the latest received messages that the coding agent hears before the call */
  async call(hub: MemoryHub, isLost: boolean, hears: number): Promise<number> {
    const heard = hears > 0 ? [...this.open].slice(-hears) : [];
    for (const id of heard) hub.heard.add(id);
    const confirmed = new Set(hub.read);
    const unread = await hub.receive(this.taskId, this.received.at(-1), heard);
    for (const { id, task_id } of unread) {
      assert.ok(task_id === undefined || task_id === this.taskId, 'a message about another task');
      assert.ok(!confirmed.has(id), 'a message that was confirmed');
    }
    if (isLost) return unread.length;
    for (const id of heard) this.open.delete(id);
    for (const { id } of unread) this.open.add(id);
    this.received.push(...unread.map(({ id }) => id));
    return unread.length + this.open.size;
  }
}

const step = fc.record({
  kind: fc.constantFrom('send', 'send', 'call', 'call', 'call', 'kill'),
  about: fc.constantFrom(...TASKS, undefined),
  isLost: fc.boolean(),
  hears: fc.nat(2),
});
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

/** A runner with an attempt at each task. Attempts call the hub concurrently; each makes one call at a time. */
class Runner {
  readonly attempts = TASKS.map((taskId) => new Attempt(taskId));
  private readonly calling = new Set<Attempt>();
  private readonly hub: MemoryHub;

  constructor(hub: MemoryHub) {
    this.hub = hub;
  }

  working(taskId: string): Attempt {
    return this.attempts.findLast((one) => one.taskId === taskId) ?? assert.fail();
  }

  async take({ kind, about, isLost, hears }: Step): Promise<void> {
    const { hub } = this;
    const attempt = this.working(about ?? TASKS[0]);
    if (kind === 'send') return hub.sent.length - hub.read.length < 10 ? hub.send(about) : undefined;
    if (this.calling.has(attempt)) return;
    if (kind === 'kill') return void this.attempts.push(new Attempt(attempt.taskId));
    this.calling.add(attempt);
    await attempt.call(hub, isLost, hears);
    this.calling.delete(attempt);
  }

  async finish(): Promise<void> {
    for (const taskId of TASKS) while ((await this.working(taskId).call(this.hub, false, Infinity)) > 0);
  }
}

describe('messages to the coding agents of a runner', () => {
  it('are not lost or received twice by an attempt, if responses are lost or runners killed', async () => {
    const course = fc.array(fc.array(step, { minLength: 1, maxLength: 4 }), { maxLength: 12 });
    await inRuns(200).forAllAsync(course, fc.array(fc.nat(6), { minLength: 3 }), async (rounds, pauses) => {
      const hub = new MemoryHub(pauses);
      const runner = new Runner(hub);
      for (const round of rounds) await Promise.all(round.map((one) => runner.take(one)));
      await runner.finish();
      const ids = hub.sent.map(({ id }) => id);
      assert.deepEqual(hub.read.toSorted(), ids.toSorted());
      for (const { received } of runner.attempts) assert.equal(new Set(received).size, received.length);
      const hasReceived = ({ id, task_id }: Message) =>
        runner.attempts.some(({ taskId, received }) => (task_id ?? taskId) === taskId && received.includes(id));
      assert.ok(hub.sent.every(hasReceived));
    });
  });

  it('are neither returned to a caller that may not read them, nor confirmed by it', async () => {
    const hub = new MemoryHub([0]);
    await hub.send('task-a');
    const other = { id: 'runner', has_messages: true, readsMessages: false };
    const receipt = { workspace: 'alpha', taskId: 'task-a' };
    assert.deepEqual(await hub.messages.receive(other, receipt), { unread: [], changes: [] });
    await assert.rejects(hub.messages.receive(other, { ...receipt, heard: ['message-000000001'] }), /cannot read/);
  });
});
