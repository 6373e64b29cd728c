/** No output of an attempt may contain secrets: log, summary, failure and output of the acceptance command. */
import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { PassThrough } from 'node:stream';
import type { LogEntry } from '../../src/hub/hub.ts';
import { readLines } from '../../src/process/lines.ts';
import { createRedactor } from '../../src/redaction.ts';
import { runAcceptance } from '../../src/task/acceptance.ts';
import { runAgent } from '../../src/task/agentRun.ts';
import { TaskLog } from '../../src/task/log.ts';
import { LONG_MS, markOf, optionsFor } from '../support/agentRuns.ts';
import { newFolder, removeFolder } from '../support/folders.ts';
import { installStandIn } from '../support/standIn.ts';

const SECRET = `ghs_123456_eyJ${'a1B2c3D4'.repeat(4)}.eyJ${'a1B2c3D4'.repeat(8)}.${'a1B2c3D4'.repeat(5)}`;
const KEY = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
}).privateKey.trim();

describe("redaction of an attempt's output", () => {
  let folder: string;
  let entries: Omit<LogEntry, 'sequence'>[];
  let log: TaskLog;

  beforeEach(() => {
    folder = newFolder();
    entries = [];
    log = new TaskLog(createRedactor([], {}), (entry) => entries.push(entry));
  });
  afterEach(() => removeFolder(folder));

  const accept = (command: string) =>
    runAcceptance({
      command,
      folder,
      env: { PATH: process.env['PATH'] },
      mark: markOf(folder),
      log,
      patienceMs: LONG_MS,
      signal: new AbortController().signal,
    });

  const run = (body: string) => {
    installStandIn(`${folder}/bin`, body);
    return runAgent(optionsFor(folder, log));
  };

  const isClean = (text: string): void => {
    for (let at = 0; at + 16 <= SECRET.length; at += 8)
      assert.ok(!text.includes(SECRET.slice(at, at + 16)), text.slice(0, 300));
    for (const line of KEY.split('\n').slice(1, -1)) assert.ok(!text.includes(line), line);
  };

  it('keeps a test result that is printed after the marker of a key', async () => {
    const { output } = await accept(
      `echo 'ok 1 - rejects "-----BEGIN PRIVATE KEY-----"'; echo 'not ok 2 - login fails'; exit 1`,
    );
    assert.equal(output, 'ok 1 - rejects "-----BEGIN PRIVATE KEY-----"\nnot ok 2 - login fails\n');
  });

  it('keeps text on standard error that is printed between the lines of a key', async () => {
    const line = KEY.split('\n')[1] ?? '';
    const { output } = await accept(
      `echo '-----BEGIN PRIVATE KEY-----'; echo '${line}'; echo 'not ok 2 - login fails' >&2; echo '-----END PRIVATE KEY-----'`,
    );
    assert.ok(output.includes('not ok 2 - login fails\n'), output);
    isClean(output);
  });

  it('removes a secret at the place where the output of an acceptance command is cut', async () => {
    for (const length of [15_900, 15_950, 16_000]) {
      const { output } = await accept(`printf '%s ' 'token=${SECRET}'; head -c ${length} /dev/zero | tr '\\0' x`);
      isClean(output);
    }
    isClean(JSON.stringify(entries));
  });

  it('removes a secret that follows a color code or a carriage return', async () => {
    const { output } = await accept(`printf 'progress\\r%s done\\033[32m%s\\033[0m\\n' '${SECRET}' '${SECRET}'`);
    isClean(output);
    isClean(JSON.stringify(entries));
    assert.ok(output.includes('progress'), output);
  });

  it('removes a secret at the place where a failure, a summary or a log entry is cut', async () => {
    for (const length of [3_900, 3_990]) {
      const { failure, transcript } = await run(
        `process.stderr.write('${'x'.repeat(length)} ${SECRET}\\n'); process.exit(1);`,
      );
      assert.ok(failure);
      isClean(failure.message);
      isClean(transcript.work().summary);
    }
    const { transcript } = await run(`said('x'.repeat(14990) + ' ${SECRET}'); result();`);
    isClean(transcript.work().summary);
    isClean(JSON.stringify(entries));
  });

  it("removes a private key from tool results, from the agent's text and from its output", async () => {
    const { transcript } = await run(`
      said(${JSON.stringify(`The key is\n${KEY}\nand that is all.`)});
      print({ type: 'user', message: { content: [{ type: 'tool_result', content: ${JSON.stringify(`1\t${KEY.replaceAll('\n', '\n2\t')}`)} }] } });
      console.log(${JSON.stringify(KEY)});
      console.log('the last line');
      result();
    `);
    isClean(transcript.work().summary);
    isClean(entries.map(({ message }) => message).join('\n'));
    assert.ok(entries.some(({ message }) => message.endsWith('and that is all.')));
    assert.ok(entries.some(({ message }) => message === 'the last line'));
  });

  it('removes the start of a secret that remains at the end of a cut line', async () => {
    const stream = new PassThrough();
    const lines: string[] = [];
    readLines(stream, (line) => lines.push(line));
    const max = 8 * 1024 * 1024;
    for (const before of [max - 20, max - 100]) {
      stream.write(`${'x'.repeat(before - 6)} last ${SECRET} more\n`);
      stream.write(`${'x'.repeat(before - 6)} last ${SECRET}\n`);
    }
    stream.end();
    await new Promise((resolve) => stream.once('close', resolve));
    assert.equal(lines.length, 4);
    for (const line of lines) {
      assert.ok(!line.slice(-300).includes('ghs_'), line.slice(-300));
      assert.ok(line.endsWith(' last '), line.slice(-30));
    }
  });
});
