import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { appendFileSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Journal } from '../src/outbox/journal.ts';
import { Outbox } from '../src/outbox/outbox.ts';
import { newFolder, removeFolder } from './support/folders.ts';
import { COMPLETED, logLine as line } from './support/reports.ts';

const MODULE = fileURLToPath(new URL('../src/outbox/journal.ts', import.meta.url));

/** A device that fails every write with ENOSPC. */
const FULL = '/dev/full';

function messagesOf(journal: Journal): string[] {
  const messages: string[] = [];
  for (let batch = journal.batch(); batch !== undefined; batch = journal.batch()) {
    messages.push(...batch.entries.map(({ sequence, message }) => `${sequence} ${message}`));
    journal.settle(batch);
  }
  return messages;
}

describe('a journal', () => {
  let folder: string;
  let path: string;

  beforeEach(() => {
    folder = newFolder();
    path = `${folder}/log.jsonl`;
  });
  afterEach(() => removeFolder(folder));

  it('drops log lines on a full disk, and reports their number at the end', function () {
    if (!existsSync(FULL)) this.skip();
    symlinkSync(FULL, path);
    const journal = new Journal(path);
    for (let n = 0; n < 3; n++) assert.equal(journal.append(line(`line ${n}`)), false);
    assert.equal(journal.batch(), undefined, 'the number is reported only after the last line');
    journal.complete();
    const missing = '3 lines are missing from the log, because the runner could not write to disk (ENOSPC).';
    assert.deepEqual(messagesOf(journal), [`0 ${missing}`]);
    journal.close();
  });

  for (const [what, prepare] of [
    ['is in a folder that does not exist', () => `${folder}/gone/log.jsonl`],
    [
      'is a folder',
      () => {
        mkdirSync(path);
        return path;
      },
    ],
  ] as const)
    it(`drops log lines, and reports their number, if its file ${what}`, () => {
      const journal = new Journal(prepare());
      assert.equal(journal.append(line('lost')), false);
      journal.complete();
      assert.match(messagesOf(journal).join(), /^0 1 line is missing from the log, .*\(E(NOENT|ISDIR)\)\.$/);
      journal.close();
    });

  it('keeps all log lines in its open file if the folder is removed', () => {
    const journal = new Journal(path);
    journal.append(line('before'));
    removeFolder(folder);
    journal.append(line('after'));
    assert.deepEqual(messagesOf(journal), ['0 before', '1 after']);
    journal.close();
  });

  it('continues after a partly written line when the disk has space again', function () {
    if (process.platform !== 'linux') this.skip();
    // A file size limit of 8 KiB simulates a full disk.
    const script = `
      import { execFileSync } from 'node:child_process';
      import { Journal } from ${JSON.stringify(MODULE)};
      const line = (message) => ({ at: '2026-11-22T10:00:00Z', level: 'info', type: 'output', message });
      const journal = new Journal(${JSON.stringify(path)});
      const kept = [];
      for (let n = 0; n < 20; n++) if (journal.append(line('x'.repeat(1000) + n))) kept.push(n);
      execFileSync('prlimit', ['--pid', String(process.pid), '--fsize=unlimited']);
      journal.append(line('after'));
      const batch = journal.batch();
      console.log(JSON.stringify({ kept, messages: batch.entries.map(({ message }) => message.replace(/x+/, '')) }));
    `;
    const command = `ulimit -S -f 8; exec "$0" --input-type=module --disable-warning=ExperimentalWarning -e "$1"`;
    const output = execFileSync('/bin/bash', ['-c', command, process.execPath, script], { encoding: 'utf8' });
    const { kept, messages } = JSON.parse(output);
    assert.ok(kept.length > 0 && kept.length < 19, `${kept.length} of 20 lines fit`);
    const gap = `${20 - kept.length} lines are missing from the log, because the runner could not write to disk (EFBIG).`;
    assert.deepEqual(messages, [...kept.map(String), gap, 'after']);
    const lines = readFileSync(path, 'utf8').trim().split('\n');
    const found = lines.map((one) => JSON.parse(one).sequence);
    const expected = lines.map((_, n) => n);
    assert.deepEqual(found, expected);
  });

  it('skips damaged lines of its file, and reports their number', () => {
    const journal = new Journal(path);
    journal.append(line('first'));
    appendFileSync(path, '\0\0\0 {"half\n{"sequence":"x"}\n');
    journal.close();
    const next = new Journal(path);
    next.append(line('last'));
    next.complete();
    const missing = '2 lines are missing from the log, because the runner could not write to disk.';
    assert.deepEqual(messagesOf(next), ['0 first', '3 last', `4 ${missing}`]);
    next.close();
  });

  it('skips a line that exceeds the size of a batch, and reports it as missing', () => {
    writeFileSync(path, `${JSON.stringify({ sequence: 0, ...line('x'.repeat(300_000)) })}\n`);
    const journal = new Journal(path);
    journal.complete();
    assert.match(messagesOf(journal).join(), /^1 1 line is missing/);
    journal.close();
  });

  it('writes nothing after it is closed, even if another file gets its file descriptor', () => {
    const journal = new Journal(path);
    journal.close();
    const other = new Journal(`${folder}/other.jsonl`);
    assert.equal(journal.append(line('late')), false);
    assert.equal(readFileSync(`${folder}/other.jsonl`, 'utf8'), '');
    other.close();
    journal.close();
  });

  it("loses log lines on a full disk, but the task's report is still sent", async function () {
    if (!existsSync(FULL)) this.skip();
    symlinkSync(FULL, path);
    const sent: string[] = [];
    const text: string[] = [];
    const outbox = new Outbox({
      hub: {
        append: async (_task, _epoch, entries) => {
          sent.push(...entries.map(({ message }) => message));
          return undefined;
        },
        heartbeat: async () => ({ messages: [] }),
        end: async () => 'ended',
      },
      taskId: 'task-1',
      epoch: 1,
      journal: new Journal(path),
      heartbeatMs: 60_000,
      say: (message) => void text.push(message),
    });
    outbox.append(line('one'));
    outbox.append(line('two'));
    assert.deepEqual(await outbox.finish(COMPLETED), { delivered: true, outcome: 'ended' });
    assert.deepEqual(sent, ['2 lines are missing from the log, because the runner could not write to disk (ENOSPC).']);
    assert.deepEqual(text, ['The log of task-1 cannot be written to disk (ENOSPC).']);
  });
});
