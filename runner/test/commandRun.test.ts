/** Command runs: a runner started with --commands runs a task's command on a branch, without a coding agent. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type Arguments, HubConnection } from '../src/hub/connection.ts';
import { type ClaimedTask, type ClaimWishes, Hub, type Standing, type Stop } from '../src/hub/hub.ts';
import { CHECKED, commandTask, commitOn, reportOf, repositoryToCheck, stateOf } from './support/commands.ts';
import { git, newFolder, removeFolder } from './support/folders.ts';
import { LocalHub, startRunner, taskOf } from './support/localHub.ts';
import { until } from './support/waiting.ts';

const PROGRAM = fileURLToPath(new URL('support/commandRunner.ts', import.meta.url));
const TOKEN = `ghp_${'aB3dE5fG7h'.repeat(4).slice(0, 36)}`;

/** Hub that can end the task, and records the tools of each claim. */
class CommandHub extends LocalHub {
  stop: Stop | undefined;
  readonly tools: (readonly string[] | undefined)[] = [];

  override async claim(wishes: ClaimWishes, key: string, signal: AbortSignal): Promise<ClaimedTask | undefined> {
    this.tools.push(wishes.tools);
    return super.claim(wishes, key, signal);
  }

  override async heartbeat(): Promise<Standing> {
    return { messages: [], stop: this.stop };
  }
}

describe('a command run', () => {
  let folder: string;
  let repo: string;

  beforeEach(() => {
    folder = newFolder();
    repo = repositoryToCheck(folder);
  });
  afterEach(() => removeFolder(folder));

  async function run(task: ClaimedTask, args: readonly string[] = ['--commands']) {
    const hub = new CommandHub(task);
    const shutdown = new AbortController().signal;
    const passed = await startRunner({ folder, repo, hub, args: ['--once', ...args], shutdown, output: [] });
    assert.equal(hub.endings.length, 1, 'one report');
    const [ending] = hub.endings;
    return { hub, passed, ending, report: reportOf(ending) };
  }

  it('is completed if the command succeeds on the branch, and changes nothing in the repository', async () => {
    const before = stateOf(repo);
    const { passed, report } = await run(commandTask('t1', 'cat auth.txt && echo x > new.txt && git status --short'));
    assert.equal(passed, true);
    assert.deepEqual([report.acceptance?.exitCode, report.acceptance?.output], [0, 'login\n?? new.txt\n']);
    assert.equal(report.head, git(repo, 'rev-parse', CHECKED));
    assert.deepEqual(report.merge, { into: 'main', base: git(repo, 'rev-parse', 'main'), clean: true, conflicts: [] });
    assert.deepEqual(stateOf(repo), before);
    assert.equal(existsSync(`${folder}/worktrees/t1.1`), false, 'the worktree is removed');
  });

  it('fails with the end of the output if the command fails', async () => {
    const command = 'seq 1 9000; echo "the last line" >&2; exit 3';
    const { passed, ending, report } = await run(commandTask('t1', command));
    assert.equal(passed, false);
    assert.deepEqual([ending?.failure?.class, ending?.failure?.retryable], ['acceptance_failed', undefined]);
    const message = ending?.failure?.message ?? '';
    assert.ok(message.startsWith('Acceptance command failed: seq 1 9000;') && message.endsWith('the last line'));
    assert.ok(message.length > 4000 && message.length <= 5000, `${message.length} characters`);
    assert.deepEqual([report.acceptance?.exitCode, report.head], [3, git(repo, 'rev-parse', CHECKED)]);
  });

  it('fails with the names of the files if the branch does not merge into its base', async () => {
    git(repo, 'commit', '--quiet', '--allow-empty', '-m', 'Other');
    commitOn(repo, 'mine', { 'README.md': '# Mine\n' });
    const { ending, report } = await run(commandTask('t1', 'true'), ['--commands', '--base', 'mine']);
    assert.deepEqual(
      [ending?.failure?.class, ending?.failure?.message],
      ['acceptance_failed', 'It does not merge into mine: README.md'],
    );
    assert.deepEqual([report.acceptance?.exitCode, report.merge?.conflicts], [0, ['README.md']]);
  });

  it('checks the commit that the task names, even if the branch has moved', async () => {
    const commit = git(repo, 'rev-parse', CHECKED);
    commitOn(repo, CHECKED, { 'auth.txt': 'later\n' });
    const { report } = await run(commandTask('t1', 'cat auth.txt', { commit }));
    assert.deepEqual([report.head, report.acceptance?.output], [commit, 'login\n']);
  });

  it('checks a branch that only origin has with --push, and creates no local branch', async () => {
    const origin = `${folder}/origin.git`;
    git(folder, 'clone', '--quiet', '--bare', repo, origin);
    git(repo, 'remote', 'add', 'origin', origin);
    git(repo, 'branch', '--quiet', '-D', CHECKED);
    const before = stateOf(repo);
    const { passed, report } = await run(commandTask('t1', 'cat auth.txt'), ['--commands', '--push']);
    assert.deepEqual([passed, report.acceptance?.output], [true, 'login\n']);
    assert.deepEqual(stateOf(repo), before);
  });

  const OTHER = '0123456789'.repeat(4);
  for (const [what, more, retryable] of [
    ['the branch does not exist', { branch: 'feature/none' }, undefined],
    ['the commit does not exist', { commit: OTHER }, undefined],
    ['the commit is an option', { commit: '--all' }, false],
    ['the commit is a ref', { commit: 'main' }, false],
    ['the branch is an option', { branch: '--upload-pack=touch ran' }, false],
    ['the branch is a short option', { branch: '-f' }, false],
    ['the branch is HEAD', { branch: 'HEAD' }, false],
    ['the branch is a revision', { branch: 'main^{tree}' }, false],
    ['the branch is a range', { branch: 'main..feature/auth' }, false],
    ['the branch is a pair of refs', { branch: 'main:refs/heads/x' }, false],
    ['the branch is a path', { branch: '../../x' }, false],
    ['the branch is the full name of another ref', { branch: 'refs/tags/v1' }, undefined],
  ] as const)
    it(`runs nothing and brings no verdict if ${what}`, async () => {
      const before = stateOf(repo);
      const { ending, report } = await run(commandTask('t1', `touch '${folder}/ran'`, more));
      const { failure } = ending ?? {};
      assert.deepEqual([failure?.class, failure?.retryable], ['crashed', retryable], failure?.message);
      assert.deepEqual([report.acceptance, report.merge, report.head], [undefined, undefined, undefined]);
      assert.equal(existsSync(`${folder}/ran`), false);
      assert.deepEqual(stateOf(repo), before);
    });

  it('brings no verdict if origin does not respond, and can be retried', async () => {
    git(repo, 'remote', 'add', 'origin', `${folder}/no`);
    const { ending, report } = await run(commandTask('t1', 'true'), ['--commands', '--push']);
    assert.deepEqual([ending?.failure?.class, ending?.failure?.retryable], ['crashed', undefined]);
    assert.equal(report.acceptance, undefined);
  });

  it('stops its command if the task is ended, and brings no verdict', async () => {
    const pidFile = `${folder}/pid`;
    const hub = new CommandHub(commandTask('t1', `echo $$ > '${pidFile}'; sleep 600; echo passed`));
    const shutdown = new AbortController().signal;
    const running = startRunner({ folder, repo, hub, args: ['--once', '--commands'], shutdown, output: [] });
    await until(() => existsSync(pidFile) && readFileSync(pidFile, 'utf8').endsWith('\n'));
    hub.stop = { reason: 'ended', message: 'Ada ended the task.' };
    assert.equal(await running, false);
    const [ending] = hub.endings;
    assert.deepEqual([ending?.failure?.class, ending?.failure?.message], ['cancelled', 'Ada ended the task.']);
    assert.equal(reportOf(ending).acceptance?.exitCode, undefined);
    const pid = Number(readFileSync(pidFile, 'utf8'));
    assert.throws(() => process.kill(pid, 0), { code: 'ESRCH' });
    assert.equal(existsSync(`${folder}/worktrees/t1.1`), false);
  });

  it('is released for another runner if the runner is stopped', async () => {
    const hub = new CommandHub(commandTask('t1', `touch '${folder}/started'; sleep 600`));
    const shutdown = new AbortController();
    const args = ['--commands'];
    const running = startRunner({ folder, repo, hub, args, shutdown: shutdown.signal, output: [] });
    await until(() => existsSync(`${folder}/started`));
    shutdown.abort();
    await running;
    assert.deepEqual(
      hub.endings.map(({ failure }) => failure?.class),
      ['runner_lost'],
    );
  });

  it('removes secrets from the output of the command, in the report and in the log', async () => {
    const { hub, ending, report } = await run(commandTask('t1', `echo "token: ${TOKEN}"; exit 1`));
    assert.match(report.acceptance?.output ?? '', /^token: \[redacted\]$/m);
    assert.ok(hub.lines.some((line) => line === 'token: [redacted]'));
    for (const text of [JSON.stringify(ending), hub.lines.join()]) assert.ok(!text.includes(TOKEN.slice(4, 20)));
  });

  it('runs nothing if the runner was started without --commands', async () => {
    const { hub, ending } = await run(commandTask('t1', `touch '${folder}/ran'`), []);
    assert.deepEqual([ending?.status, ending?.failure?.returnAfterSeconds], ['failed', 30]);
    assert.equal(existsSync(`${folder}/ran`), false);
    assert.deepEqual(hub.tools, [['CLAUDECODE']]);
  });

  it('is claimed by declared capabilities, together with coding tasks', async () => {
    const { hub, passed } = await run(taskOf('t1'));
    assert.equal(passed, true);
    assert.deepEqual(hub.tools, [undefined]);
  });

  describe('of a killed runner', () => {
    let child: ChildProcess | undefined;
    afterEach(() => void child?.kill('SIGKILL'));

    /** Starts a runner in a process, and kills it when the file exists. */
    async function killedAt(file: string, command: string, ...more: readonly string[]): Promise<void> {
      const args = ['--disable-warning=ExperimentalWarning', PROGRAM, folder, command, ...more];
      child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'] });
      const ended = new Promise((resolve) => child?.once('close', resolve));
      await until(() => existsSync(`${folder}/${file}`));
      child.kill('SIGKILL');
      await ended;
    }

    /** Starts the next runner, which can claim the tasks, until the hub has the number of reports. */
    async function next(count: number, ...tasks: ClaimedTask[]): Promise<LocalHub> {
      const hub = new LocalHub(...tasks);
      const shutdown = new AbortController();
      const args = ['--commands'];
      const running = startRunner({ folder, repo, hub, args, shutdown: shutdown.signal, output: [] });
      await until(() => hub.endings.length >= count);
      shutdown.abort();
      await running;
      return hub;
    }

    it('is reported once as lost, its worktree is removed, and its next attempt brings the verdict', async () => {
      const before = stateOf(repo);
      await killedAt('started', `echo x > new.txt; touch '${folder}/started'; sleep 600`);
      const again = commandTask('t1', 'cat auth.txt', { epoch: 2, attempt: 2 });
      const hub = await next(2, again);
      const outcomes = hub.endings.map((ending) => reportOf(ending).acceptance?.exitCode ?? ending.failure?.class);
      assert.deepEqual(new Set(outcomes), new Set(['runner_lost', 0]));
      assert.equal(outcomes.length, 2);
      assert.deepEqual(stateOf(repo), before);
      assert.equal(existsSync(`${folder}/worktrees/t1.1`), false);
    });

    it('is reported once with its verdict if the command had ended', async () => {
      await killedAt('hangs', `echo ran >> '${folder}/runs'`, 'hangs');
      const hub = await next(2, commandTask('t2', 'true'));
      const verdicts = hub.endings.map((ending) => [ending.status, reportOf(ending).acceptance?.exitCode]);
      assert.deepEqual(verdicts, [
        ['completed', 0],
        ['completed', 0],
      ]);
      assert.equal((await next(1, commandTask('t3', 'true'))).endings.length, 1, 'nothing is sent again');
      assert.equal(readFileSync(`${folder}/runs`, 'utf8'), 'ran\n', 'the command ran once');
    });
  });
});

describe('the registration of a runner', () => {
  /** Connection that records the arguments of its calls. */
  class Recording extends HubConnection {
    readonly calls: Arguments[] = [];

    override async call<Shape extends Parameters<HubConnection['call']>[2]>(_: string, args: Arguments, shape: Shape) {
      this.calls.push(args);
      return shape.parse({ result: { agentId: 'a', workspace: 'w' } });
    }
  }

  it('names commands only if the runner was started with --commands, as older hubs refuse it', async () => {
    const connection = new Recording('http://127.0.0.1:9/mcp', 'mk_a.b');
    const hub = new Hub(connection);
    for (const commands of [false, true]) await hub.register([], { serves: 'owner', commands });
    assert.deepEqual(connection.calls, [
      { programs: [], serves: 'owner' },
      { programs: [], serves: 'owner', commands: true },
    ]);
  });
});
