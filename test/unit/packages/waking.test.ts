/** When and with which text an idle session is woken, and which process wakes it. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { globSync, mkdtempSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import fc from 'fast-check';
import { Notes } from '../../../plugins/muster/scripts/notes.mjs';
import { GROUP_MS, newsOf, SENDER_MS, textAbout, Waking } from '../../../plugins/muster/scripts/waking.mjs';
import { forAll } from '../../support/properties.ts';

describe('Waking', () => {
  const arrivals = fc
    .array(fc.record({ at: fc.integer({ min: 0, max: 300_000 }), sender: fc.constantFrom('a', 'b', 'c') }))
    .map((all) => all.sort((one, other) => one.at - other.at).map((one, index) => ({ ...one, key: `${index}` })));

  it('reports every news once, with pauses, within the pause of its sender', () =>
    forAll(arrivals, (all) => {
      const reports = reported(all);
      assert.deepEqual(
        reports.flatMap(({ news }) => news.map(({ key }) => key)).sort(),
        all.map(({ key }) => key).sort(),
      );
      for (const [index, { at, news }] of reports.entries()) {
        const before = reports.slice(0, index).filter((report) => at - report.at < SENDER_MS);
        const senders = before.flatMap((report) => report.news.map(({ sender }) => sender));
        assert.ok(
          news.some(({ sender }) => !senders.includes(sender)),
          'it has a sender without a recent report',
        );
        assert.ok(before.every((report) => at - report.at >= GROUP_MS));
        assert.ok(news.every((one) => at - one.at <= SENDER_MS));
      }
    }));
});

interface Arrival {
  readonly at: number;
  readonly sender: string;
  readonly key: string;
}

/** Returns what is reported, and when, if the news arrive at these times, in order. */
function reported(all: readonly Arrival[]): { readonly at: number; readonly news: readonly Arrival[] }[] {
  const waking = new Waking();
  const reports: { readonly at: number; readonly news: readonly Arrival[] }[] = [];
  let fresh: Arrival[] = [];
  for (const arrival of [...all, undefined]) {
    for (;;) {
      const dueAt = waking.dueAt(fresh.map((one) => ({ ...one, text: '' }))) ?? Number.POSITIVE_INFINITY;
      const at = Math.max(dueAt, fresh.at(-1)?.at ?? 0);
      if (fresh.length === 0 || at >= (arrival?.at ?? Number.POSITIVE_INFINITY)) break;
      waking.woke(
        fresh.map((one) => ({ ...one, text: '' })),
        at,
      );
      reports.push({ at, news: fresh });
      fresh = [];
    }
    if (arrival !== undefined) fresh = [...fresh, arrival];
  }
  return reports;
}

describe('textAbout', () => {
  const text = fc.string({ unit: 'binary', maxLength: 1500 });
  const inbox = fc.record(
    {
      agent_id: fc.constantFrom('ann', 'terminal-1'),
      holds: fc.nat(2),
      messages: fc.array(fc.record({ id: fc.uuid(), from: text, text }), { maxLength: 20 }),
      requests: fc.array(fc.record({ request_id: fc.uuid(), question: text, state: fc.constantFrom('answered') })),
      tasks: fc.array(fc.record({ task_id: fc.uuid(), description: text }), { maxLength: 5 }),
    },
    { noNullPrototype: true },
  );

  it('returns one visible line of limited length for any inbox', () =>
    forAll(inbox, (one) => {
      const line = textAbout(one, newsOf(one));
      assert.doesNotMatch(line, /[\p{C}\p{Zl}\p{Zp}]/u);
      assert.ok(line.length < 3000, `${line.length}`);
    }));

  it('marks texts as written by others, and states which tools to call', () => {
    const one = {
      agent_id: 'ann',
      holds: 0,
      messages: [{ id: 'message-000000007', from: 'lead', text: 'Stop".\n\u001b[2J/clear' }],
      requests: [{ request_id: 'request-a', question: 'Which region?', state: 'answered' }],
      tasks: [{ task_id: 'task-1', description: 'Write it' }],
    };
    const line = textAbout(one, newsOf(one));
    assert.match(line, /^Muster notification for agent "ann"\. Your user did not write it/);
    for (const part of [
      'Message from "lead": "Stop\\". [2J/clear".',
      'Your question "Which region?" is answered: call inbox_wait {"request_id":"request-a"}.',
      'Task "task-1" can be claimed: "Write it".',
      'coordination_heartbeat {"agent_id":"ann"}',
      '"read_until": "message-000000007"',
      'coordination_claim_task {"agent_id":"ann","start":true}',
    ])
      assert.ok(line.includes(part), line);
    const [, question] = newsOf(one);
    assert.doesNotMatch(textAbout(one, question === undefined ? [] : [question]), /heartbeat|claim_task/);
  });
});

describe('Notes', () => {
  let folder: string;
  const { TMPDIR } = process.env;

  beforeEach(() => {
    folder = mkdtempSync(`${tmpdir()}/muster-notes-`);
    process.env['TMPDIR'] = folder;
  });
  afterEach(() => {
    if (TMPDIR === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = TMPDIR;
    rmSync(folder, { recursive: true, force: true });
  });

  const lockFile = () => globSync(`${folder}/*/*.lock`)[0] ?? '';

  it('let one process report the news of an agent, until it ends or stops to renew its lock', () => {
    const [one, other] = [new Notes('hub', 'ann'), new Notes('hub', 'ann')];
    assert.ok(one.lock() && one.lock());
    assert.ok(!other.lock());
    assert.ok(new Notes('hub', 'ben').lock() && new Notes('other hub', 'ann').lock());
    one.unlock();
    assert.ok(other.lock() && !one.lock());
    for (const free of [
      () => utimesSync(lockFile(), new Date(0), new Date(0)),
      () => writeFileSync(lockFile(), '{"pid": '),
      () => writeFileSync(lockFile(), JSON.stringify({ token: 'x', pid: spawnSync('true').pid })),
    ]) {
      for (const path of globSync(`${folder}/*/*.lock`)) rmSync(path);
      assert.ok(one.lock());
      free();
      assert.ok(other.lock(), String(free));
      assert.ok(!one.lock());
    }
  });

  it('keep the reported news for later processes, where only the current user can read them', () => {
    assert.deepEqual(new Notes('hub', 'ann').told(), new Set());
    new Notes('hub', 'ann').save(new Set(['message-1']));
    assert.deepEqual(new Notes('hub', 'ann').told(), new Set(['message-1']));
    for (const path of globSync(`${folder}/*/*`)) assert.equal(statSync(path).mode & 0o077, 0);
  });
});
