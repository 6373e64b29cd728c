/** If a runner cannot write the state of one task to disk, its other tasks must continue. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, symlinkSync } from 'node:fs';
import type { Ending, LogEntry } from '../src/hub/hub.ts';
import { git, newFolder, newRepository, removeFolder } from './support/folders.ts';
import { checkEnding, checkEntries } from './support/hubChecks.ts';
import { LocalHub, startRunner, taskOf } from './support/localHub.ts';
import { installStandIn } from './support/standIn.ts';
import { until } from './support/waiting.ts';

/** A device that fails every write with ENOSPC. */
const FULL = '/dev/full';

/** Hub that validates calls like the real hub, and records how each task ended. */
class StrictHub extends LocalHub {
  readonly ended = new Map<string, Ending>();

  override async append(task: string, epoch: number, entries: readonly LogEntry[], heard: readonly string[]) {
    checkEntries(entries);
    return super.append(task, epoch, entries, heard);
  }

  override async end(task: string, epoch: number, ending: Ending): Promise<string> {
    checkEnding(ending.failure ? { ...ending, failure: known(ending.failure) } : ending);
    this.ended.set(task, ending);
    return super.end(task, epoch, ending);
  }
}

/** Returns the failure without the field returnAfterSeconds, which the validation of endings rejects. */
function known({ returnAfterSeconds: _, ...failure }: NonNullable<Ending['failure']>) {
  return failure;
}

describe('a runner with two tasks', () => {
  let folder: string;
  let repo: string;
  let attempts: string;
  let output: string[];

  beforeEach(() => {
    folder = newFolder();
    repo = newRepository(`${folder}/repo`);
    attempts = `${repo}/.git/muster/attempts`;
    output = [];
  });
  afterEach(() => removeFolder(folder));

  /** Runs the two tasks concurrently until both have ended. */
  async function runBoth(): Promise<StrictHub> {
    const hub = new StrictHub(taskOf('t1'), taskOf('t2'));
    const shutdown = new AbortController();
    const args = ['--concurrency', '2'];
    const running = startRunner({ folder, repo, hub, args, shutdown: shutdown.signal, output });
    await until(() => hub.ended.size === 2);
    shutdown.abort();
    assert.equal(await running, true, 'the runner exits successfully');
    return hub;
  }

  function isDone(hub: StrictHub, task: string): void {
    assert.equal(hub.ended.get(task)?.status, 'completed', JSON.stringify(hub.ended.get(task)));
    assert.equal(git(repo, 'show', `work/${task}:work.txt`), 'done');
  }

  function fill(task: string, file: string): void {
    mkdirSync(`${attempts}/${task}.1`, { recursive: true });
    symlinkSync(FULL, `${attempts}/${task}.1/${file}`);
  }

  describe('on a full disk', () => {
    beforeEach(function () {
      if (!existsSync(FULL)) this.skip();
      installStandIn(`${folder}/bin`, `fs.writeFileSync('work.txt', 'done'); said('Working.'); result();`);
    });

    it('completes both tasks and reports missing log lines if one log file cannot be written', async () => {
      fill('t1', 'log.jsonl');
      const hub = await runBoth();
      isDone(hub, 't1');
      isDone(hub, 't2');
      const missing = hub.lines.filter((one) => /lines are missing from the log, .*ENOSPC/.test(one));
      assert.equal(missing.length, 1);
      assert.ok(output.some((one) => one === 'The log of t1 cannot be written to disk (ENOSPC).'));
    });

    it('completes both tasks if the report of one task cannot be written', async () => {
      fill('t1', 'ending.json.new');
      const hub = await runBoth();
      isDone(hub, 't1');
      isDone(hub, 't2');
    });

    it('returns a task whose record cannot be written, and completes the other task', async () => {
      fill('t1', 'owner.json.new');
      const hub = await runBoth();
      isDone(hub, 't2');
      const { failure } = hub.ended.get('t1') ?? {};
      assert.equal(failure?.returnAfterSeconds, 60);
      assert.match(failure?.message ?? '', /^The runner cannot record the attempt on disk. ENOSPC/);
    });
  });

  it('completes both tasks if agents print texts that the hub refuses', async () => {
    installStandIn(
      `${folder}/bin`,
      `
        const tool = (content) => print({ type: 'user', message: { content: [{ type: 'tool_result', content }] } });
        tool('a'.repeat(3999) + '\\u{1f680}'.repeat(50));
        tool('half: \\ud83d, NUL: \\0');
        print({ type: 'assistant', message: { content: [
          { type: 'tool_use', name: '__proto__', input: { command: 'b'.repeat(999) + '\\u{1f680}' } },
          { type: 'tool_use', name: '\\ude80', input: { file_path: '/\\ud83d' } },
        ] } });
        process.stdout.write('c'.repeat(14_999) + '\\u{1f680}\\n');
        process.stderr.write('\\xff\\0\\n');
        fs.writeFileSync('work.txt', 'done');
        result('d'.repeat(19_999) + '\\u{1f680} \\ud83d');
      `,
    );
    const hub = await runBoth();
    isDone(hub, 't1');
    isDone(hub, 't2');
    assert.ok(hub.lines.some((one) => /^a{3999}… \(100 more characters\)$/.test(one)));
    assert.ok(hub.lines.includes('half: \ufffd, NUL: '));
    assert.ok(hub.lines.every((one) => one.isWellFormed()));
    assert.ok(!hub.lines.some((one) => one.includes('could not be sent')));
  });
});
