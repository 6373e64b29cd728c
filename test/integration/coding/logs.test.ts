import assert from 'node:assert/strict';
import { firestore } from '../../../functions/src/kernel/firestore/client.ts';
import { taskPath } from '../../../functions/src/kernel/firestore/paths.ts';
import { byteLength, MAX_SHOWN_BYTES } from '../../../functions/src/kernel/json.ts';
import { CodingTeam, entry, fields } from './calls.ts';

describe('the log of a coding task', () => {
  let team: CodingTeam;
  let taskId = '';
  beforeEach(async () => {
    team = await new CodingTeam().begin();
    taskId = await team.order();
    await team.take();
  });

  const page = (args: object = {}) => team.ask('get_task_logs', { taskId, ...args }, team.creator);

  /** Reads the whole log in pages of `limit` lines, and returns the messages. */
  async function messages(limit: number): Promise<unknown[]> {
    const read: unknown[] = [];
    for (let cursor = '0', more = true; more; ) {
      const { entries, ...end } = await page({ cursor, limit });
      assert.ok(Array.isArray(entries) && entries.length <= limit);
      read.push(...entries.map((line) => fields(line)['message']));
      cursor = String(end['cursor']);
      more = end['more'] === true;
    }
    return read;
  }

  it('stores each line once, even if a later call sends its sequence number again', async () => {
    const entries = [0, 1, 2].map((sequence) => entry(sequence));
    assert.deepEqual(
      [await team.log(taskId, 1, entries), await team.log(taskId, 1, entries)].map(({ accepted }) => accepted),
      [3, 0],
    );
    const overlapping = [2, 5, 9].map((sequence) => entry(sequence));
    const { accepted, cursor } = await team.log(taskId, 1, overlapping);
    assert.deepEqual([accepted, cursor], [2, '5']);
    assert.deepEqual(
      await messages(2),
      [0, 1, 2, 5, 9].map((sequence) => `line ${sequence}`),
    );
  });

  it('stores each line once if several identical append_logs calls are concurrent', async () => {
    const entries = Array.from({ length: 20 }, (_, sequence) => entry(sequence));
    const answers = await Promise.all([1, 2, 3, 4].map(() => team.log(taskId, 1, entries)));
    assert.equal(
      answers.reduce((sum, { accepted }) => sum + Number(accepted), 0),
      20,
    );
    assert.deepEqual(
      await messages(100),
      entries.map(({ message }) => message),
    );
  });

  it('continues in the next attempt, although its sequence numbers start at 0 again', async () => {
    await team.log(taskId, 1, [entry(0, 'first'), entry(7, 'second')]);
    const failure = { class: 'crashed', message: 'It crashed' };
    await team.ask('end_task', { taskId, status: 'failed', epoch: 1, failure });
    await team.take();
    await team.log(taskId, 2, [entry(0, 'third')]);
    await team.ask('update_task', { taskId, log: 'Please hurry' }, team.creator);
    await team.log(taskId, 2, [entry(0, 'third'), entry(1, 'fourth')]);
    assert.deepEqual(await messages(10), ['first', 'second', 'third', 'Please hurry', 'fourth']);
    const text = await team.read(`task://${taskId}/logs`);
    assert.match(text, /^2040-01-01T10:01:00\.000Z INFO {2}agent {6}first\n/);
    assert.match(text, new RegExp(`system +\\[${team.creator.agent_id}\\] Please hurry\n`));
  });

  it('stores 1,000 short lines in two documents', async () => {
    for (let start = 0; start < 1000; start += 250) {
      const entries = Array.from({ length: 250 }, (_, index) => entry(start + index));
      await team.log(taskId, 1, entries);
    }
    const chunks = await firestore()
      .collection(`${taskPath(taskId)}/logs`)
      .get();
    assert.equal(chunks.size, 2);
    assert.equal((await messages(300)).length, 1000);
    const { entries, total } = await page({ cursor: '998', limit: 5 });
    assert.deepEqual([Array.isArray(entries) && entries.length, total], [2, 1000]);
    const beyond = await page({ cursor: '5000' });
    assert.deepEqual([beyond['entries'], beyond['cursor'], beyond['more']], [[], '5000', false]);
  });

  it('returns long lines and their data unchanged, across several documents and pages', async () => {
    const long = 'é'.repeat(15_000);
    const entries = Array.from({ length: 8 }, (_, sequence) =>
      entry(sequence, `${sequence}${long}`, { type: 'tool', prefix: 'Edit', data: { rows: [[1], [2]] } }),
    );
    await team.log(taskId, 1, entries);
    const read: unknown[] = [];
    let pages = 0;
    for (let more = true; more; pages += 1) {
      const part = await page({ cursor: String(read.length), limit: 1000 });
      assert.ok(Array.isArray(part['entries']) && byteLength(part) <= MAX_SHOWN_BYTES);
      read.push(...part['entries']);
      more = part['more'] === true;
    }
    assert.ok(pages > 1, 'the log fits on one page, so paging is not tested');
    const found = read.map((line) => fields(line));
    const expected = entries.map(({ sequence, ...line }) => ({ ...line, line: sequence }));
    assert.deepEqual(found, expected);
    assert.ok(
      (
        await firestore()
          .collection(`${taskPath(taskId)}/logs`)
          .get()
      ).size > 1,
    );
  });

  it('rejects lines that are out of order, too large, or sent by a caller without the claim', async () => {
    const append = (entries: readonly object[], epoch = 1) =>
      team.refused('append_logs', { taskId, epoch, entries: JSON.parse(JSON.stringify(entries)) });
    assert.match(await append([entry(1), entry(1)]), /^VALIDATION_ERROR .*entries\.1\.sequence/);
    assert.match(await append([entry(0, 'x', { data: 'x'.repeat(20_000) })]), /entries\.0\.data/);
    assert.match(await append([entry(0, 'x'.repeat(16_001))]), /entries\.0\.message/);
    const many = Array.from({ length: 20 }, (_, sequence) => entry(sequence, 'é'.repeat(15_000)));
    assert.match(await append(many), /^VALIDATION_ERROR .*262144 bytes/);
    assert.match(await append(Array.from({ length: 501 }, (_, index) => entry(index))), /at most 500 entries/);
    assert.equal(fields((await team.log(taskId, 2, [entry(0)]))['stop'])['reason'], 'claim_lost');
    assert.deepEqual((await page())['total'], 0);
    const stranger = team.principal('stranger');
    const theirs = { taskId, epoch: 1, entries: [entry(0)] };
    assert.match(await team.refused('append_logs', theirs, stranger), /^FORBIDDEN/);
  });

  it('can be read by type and day, in one list with the logs of other tasks', async () => {
    const other = await team.order();
    await team.take();
    await team.log(taskId, 1, [entry(0, 'an edit', { type: 'tool' }), entry(1, 'a thought')]);
    await team.log(other, 1, [
      entry(0, 'another edit', { type: 'tool', at: '2040-01-01T09:00:00.000Z' }),
      entry(1, 'of the next day', { type: 'tool', at: '2040-01-02T00:00:00.000Z' }),
    ]);
    const text = await team.read('log://tool/2040-01-01');
    const ids = text.split('\n').map((line) => line.split(' ')[0]);
    assert.deepEqual(ids, [other, taskId, '']);
    assert.match(await team.read('log://tool/2040-01-02'), /of the next day/);
    assert.equal(await team.read('log://git/2040-01-01'), '');
  });

  it('contains output of programs as plain text, so that it cannot imitate other log lines', async () => {
    const forged = 'one\n2040-01-01T00:00:00.000Z ERROR system forged\u001b[2J';
    await team.log(taskId, 1, [entry(0, forged)]);
    const lines = (await team.read(`task://${taskId}/logs`)).split('\n');
    assert.deepEqual(lines.slice(1), ['    2040-01-01T00:00:00.000Z ERROR system forged', '']);
  });
});
