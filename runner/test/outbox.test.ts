import assert from 'node:assert/strict';
import { appendFileSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { inRuns } from '../../test/support/properties.ts';
import { HubRefusal, HubUnreachable } from '../src/hub/connection.ts';
import type { Beat, Ending, LogEntry, Stop } from '../src/hub/hub.ts';
import { Journal } from '../src/outbox/journal.ts';
import { Outbox, type OutboxOptions } from '../src/outbox/outbox.ts';
import { newFolder, removeFolder } from './support/folders.ts';
import { COMPLETED, logLine as line } from './support/reports.ts';
import { until } from './support/waiting.ts';

/** Hub that stores each log entry once, like `append_logs`. Requests and responses can be lost. */
class UnsteadyHub {
  readonly kept: LogEntry[] = [];
  readonly calls: string[] = [];
  ended: Ending | undefined;
  stop: Stop | undefined;
  refuses = false;
  /** Fate of each call: the request can be lost, or its response can be lost. */
  private readonly weather: ('fine' | 'request lost' | 'answer lost')[];

  constructor(weather: ('fine' | 'request lost' | 'answer lost')[] = []) {
    this.weather = weather;
  }

  append = (_task: string, _epoch: number, entries: readonly LogEntry[]) =>
    this.answer('append', () => {
      const last = this.kept.at(-1)?.sequence ?? -1;
      this.kept.push(...entries.filter(({ sequence }) => sequence > last));
      return this.stop;
    });

  heartbeat = (_task: string, _epoch: number, { state }: Beat) =>
    this.answer(`heartbeat ${state}`, () => ({ stop: this.stop, messages: [] }));

  end = (_task: string, _epoch: number, ending: Ending) =>
    this.answer('end', () => {
      const outcome = this.ended ? 'repeated' : 'ended';
      this.ended = ending;
      return outcome;
    });

  private async answer<T>(call: string, arrive: () => T): Promise<T> {
    this.calls.push(call);
    if (this.refuses) throw new HubRefusal(call, 'CONFLICT', 'The claim is not yours.');
    const weather = this.weather.shift() ?? 'fine';
    if (weather === 'request lost') throw new HubUnreachable('no route');
    const result = arrive();
    if (weather === 'answer lost') throw new HubUnreachable('connection reset');
    return result;
  }
}

describe('an outbox', () => {
  let folder: string;
  let journal: Journal;

  beforeEach(() => {
    folder = newFolder();
    journal = new Journal(`${folder}/log.jsonl`);
  });
  afterEach(() => removeFolder(folder));

  function open(hub: UnsteadyHub, options: Partial<OutboxOptions> = {}): Outbox {
    const standard = { taskId: 'task-1', epoch: 1, journal, heartbeatMs: 60_000, say: () => undefined };
    return new Outbox({ hub, ...standard, ...options });
  }

  it("sends each log line once and in order, and then the task's report", async () => {
    const hub = new UnsteadyHub();
    const outbox = open(hub);
    for (let n = 0; n < 1200; n++) outbox.append(line(`line ${n}`));
    assert.deepEqual(await outbox.finish(COMPLETED), { delivered: true, outcome: 'ended' });
    const rows = hub.kept.map(({ sequence, message }) => [sequence, message]);
    const expected = Array.from({ length: 1200 }, (_, n) => [n, `line ${n}`]);
    assert.deepEqual(rows, expected);
    assert.deepEqual(hub.ended, COMPLETED);
    assert.ok(hub.calls.length <= 4, 'a call sends many lines');
  });

  it('sends at most 256 KiB of log lines in one call', async () => {
    const hub = new UnsteadyHub();
    const outbox = open(hub);
    const sizes: number[] = [];
    const { append } = hub;
    hub.append = (task, epoch, entries) => {
      sizes.push(JSON.stringify(entries).length);
      return append(task, epoch, entries);
    };
    for (let n = 0; n < 40; n++) outbox.append(line('ä"\\'.repeat(5000)));
    await outbox.finish(COMPLETED);
    assert.equal(hub.kept.length, 40);
    assert.ok(Math.max(...sizes) <= 256 * 1024);
  });

  it('loses and duplicates no log line if requests and responses are lost', async () => {
    const weather = fc.constantFrom('fine' as const, 'request lost' as const, 'answer lost' as const);
    await inRuns(6).forAllAsync(
      fc.array(weather, { maxLength: 2 }),
      fc.array(fc.string(), { maxLength: 20 }),
      async (how, texts) => {
        const file = `${folder}/${Math.random()}.jsonl`;
        const hub = new UnsteadyHub(how);
        const own = new Journal(file);
        const outbox = open(hub, { journal: own });
        for (const text of texts) outbox.append(line(text));
        const { delivered } = await outbox.finish(COMPLETED);
        own.close();
        assert.ok(delivered);
        const messages = hub.kept.map(({ message }) => message);
        assert.deepEqual(messages, texts);
        assert.deepEqual(hub.ended, COMPLETED);
      },
    );
  });

  it("sends heartbeats, and stops the attempt if the hub's response requires this", async () => {
    const hub = new UnsteadyHub();
    const outbox = open(hub, { heartbeatMs: 20 });
    await until(() => hub.calls.filter((call) => call === 'heartbeat undefined').length >= 2);
    hub.stop = { reason: 'ended', message: 'The task was ended.' };
    await until(() => outbox.stopped.aborted);
    assert.deepEqual(outbox.stopReason, hub.stop);
    assert.equal((await outbox.finish(COMPLETED)).delivered, true, 'the report is still sent');
  });

  it('sends a new state of the task immediately, with a heartbeat', async () => {
    const hub = new UnsteadyHub();
    const outbox = open(hub);
    outbox.moveTo('waiting');
    await until(() => hub.calls.includes('heartbeat waiting'));
    await outbox.finish(COMPLETED);
  });

  it('sends no report for a task that another runner has claimed', async () => {
    const hub = new UnsteadyHub();
    hub.stop = { reason: 'claim_lost', message: 'Another has it.' };
    const outbox = open(hub);
    outbox.append(line('late'));
    assert.deepEqual(await outbox.finish(COMPLETED), { delivered: false });
    assert.equal(hub.ended, undefined);
  });

  it('stops the attempt if the hub refuses a call', async () => {
    const hub = new UnsteadyHub();
    hub.refuses = true;
    const outbox = open(hub);
    outbox.append(line('mine'));
    await until(() => outbox.stopped.aborted);
    assert.equal(outbox.stopReason?.reason, 'claim_lost');
  });

  it('leaves unsent log lines in the journal, from which the next outbox sends them', async () => {
    const away = new UnsteadyHub(Array.from({ length: 1000 }, () => 'request lost' as const));
    const outbox = open(away);
    outbox.append(line('first'));
    outbox.append(line('second'));
    await until(() => away.calls.length > 0);
    outbox.abandon();
    assert.deepEqual(await outbox.finish(COMPLETED), { delivered: false });
    journal.close();
    appendFileSync(`${folder}/log.jsonl`, '{"sequence":2,"at":"20'); // The runner crashed while it wrote a line.
    journal = new Journal(`${folder}/log.jsonl`);
    const hub = new UnsteadyHub();
    const next = open(hub);
    next.append(line('third'));
    await next.finish(COMPLETED);
    const rows = hub.kept.map(({ sequence, message }) => [sequence, message]);
    assert.deepEqual(rows, [
      [0, 'first'],
      [1, 'second'],
      [2, 'third'],
    ]);
    assert.equal(readFileSync(`${folder}/log.jsonl`, 'utf8').trim().split('\n').length, 3);
  });
});
