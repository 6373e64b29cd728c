/** Creates a user's home folder with repositories, and starts runners in it. */
import { execFileSync } from 'node:child_process';
import { appendFileSync, chmodSync, cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter } from 'node:path';
import { bundlePrograms } from '../../../scripts/setup/bundle.mjs';
import { claude } from '../../src/agents/claude.ts';
import type { Ending } from '../../src/hub/hub.ts';
import { LocalHub, quickClock, taskOf } from '../support/localHub.ts';
import { until } from '../support/waiting.ts';

export interface RunnerFixture {
  /** The home folder, which is a repository. It contains the repository `outer` (with the checkout and worktrees). */
  readonly home: string;
  readonly outer: string;
  readonly repo: string;
  readonly worktrees: string;
  readonly bin: string;
  readonly plan: string;
}

export const TASK = 'mischief';
export const BRANCH = `work/${TASK}`;
const AGENT_ID = 'agent-1';
const HUB = 'http://127.0.0.1:9/mcp';

/** @param folder an empty folder */
export function fixtureIn(folder: string): RunnerFixture {
  const home = `${folder}/home`;
  const outer = `${home}/outer`;
  return {
    home,
    outer,
    repo: `${outer}/repo`,
    worktrees: `${outer}/worktrees`,
    bin: `${folder}/bin`,
    plan: `${folder}/plan.json`,
  };
}

/**
 * Creates the home folders that sequences copy. One of them has a submodule in its checkout. Also bundles the
 * programs of a sequence, because Node would need half a second of processor time to load their sources.
 */
export async function makeTemplates(folder: string): Promise<void> {
  const file = (path: string) => new URL(path, import.meta.url).pathname;
  const programs = [
    { in: file('./agent.ts'), out: 'agent' },
    { in: file('./runnerProcess.ts'), out: 'runnerProcess' },
    { in: file('../../src/process/watchdog.js'), out: 'process/watchdog' },
  ];
  await bundlePrograms(programs, `${folder}/programs`);
  makeTemplate(`${folder}/plain`, false, `${folder}/programs/agent.js`);
  makeTemplate(`${folder}/submodule`, true, `${folder}/programs/agent.js`);
}

function makeTemplate(folder: string, withSubmodule: boolean, agent: string): void {
  const { home, outer, repo, bin } = fixtureIn(folder);
  const library = `${folder}/library`;
  for (const [at, name] of [
    [home, 'home'],
    [outer, 'outer'],
    [library, 'library'],
  ] as const) {
    repository(at);
    writeFileSync(`${at}/tracked.txt`, `${name}\n`);
    git(at, 'add', 'tracked.txt');
    git(at, 'commit', '--quiet', '-m', name);
    writeFileSync(`${at}/tracked.txt`, 'changed without a commit\n');
    writeFileSync(`${at}/untracked.txt`, 'untracked\n');
  }
  git(library, 'checkout', '--quiet', '.');
  repository(repo);
  for (const path of ['tracked.txt', 'src/main.txt', 'src/other.txt', 'docs/a.txt']) {
    mkdirSync(`${repo}/${path}`.replace(/\/[^/]+$/, ''), { recursive: true });
    writeFileSync(`${repo}/${path}`, `${path}\n`);
  }
  writeFileSync(`${repo}/.gitignore`, 'ignored/\n');
  git(repo, 'add', '.');
  git(repo, 'commit', '--quiet', '-m', 'One');
  if (withSubmodule) git(repo, 'submodule', '--quiet', 'add', library, 'lib');
  git(repo, 'commit', '--quiet', '--allow-empty', '-m', 'Two');
  writeFileSync(`${repo}/tracked.txt`, 'mine\n');
  git(repo, 'add', 'tracked.txt');
  writeFileSync(`${repo}/mine.txt`, 'mine\n');
  mkdirSync(`${home}/elsewhere`);
  writeFileSync(`${home}/elsewhere/notes.txt`, 'notes\n');
  const known = [repo, library].map((at) => git(at, 'rev-list', '--all'));
  writeFileSync(`${folder}/known`, known.join('\n'));
  mkdirSync(bin);
  writeFileSync(`${bin}/claude`, `#!${process.execPath}\nimport(${JSON.stringify(agent)});\n`);
  chmodSync(`${bin}/claude`, 0o755);
}

/** Replaces the user's git configuration. Returns a function that restores it. */
export function isolateGit(folder: string): () => void {
  const former = process.env['GIT_CONFIG_GLOBAL'];
  const settings =
    '[user]\nname = Ada\nemail = ada@example.com\n[protocol "file"]\nallow = always\n[maintenance]\nauto = false\n';
  writeFileSync(`${folder}/gitconfig`, settings);
  process.env['GIT_CONFIG_GLOBAL'] = `${folder}/gitconfig`;
  return () => {
    if (former === undefined) delete process.env['GIT_CONFIG_GLOBAL'];
    else process.env['GIT_CONFIG_GLOBAL'] = former;
  };
}

export function copyTemplate(template: string, folder: string): RunnerFixture {
  for (const name of ['home', 'bin', 'library'])
    cpSync(`${template}/${name}`, `${folder}/${name}`, {
      recursive: true,
      verbatimSymlinks: true,
      preserveTimestamps: true,
    });
  return fixtureIn(folder);
}

function repository(at: string): void {
  mkdirSync(at, { recursive: true });
  git(at, 'init', '--quiet', '--template=', '--initial-branch=main');
}

export function git(folder: string, ...args: readonly string[]): string {
  return execFileSync('git', ['-C', folder, ...args], { encoding: 'utf8', stdio: 'pipe', maxBuffer: 2 ** 28 }).trim();
}

/** Hub that stores endings on disk, so that they survive the end of the runner's process. */
class LastingHub extends LocalHub {
  private readonly file: string;

  constructor(file: string, ...tasks: ConstructorParameters<typeof LocalHub>) {
    super(...tasks);
    this.file = file;
  }

  override async end(task: string, epoch: number, ending: Ending): Promise<string> {
    appendFileSync(this.file, `${JSON.stringify(ending)}\n`);
    return super.end(task, epoch, ending);
  }
}

const endingsFile = ({ plan }: RunnerFixture): string => `${plan}.endings`;

/** Returns the endings that the runners of the fixture have reported. */
export function endingsOf(fixture: RunnerFixture): readonly Ending[] {
  const file = endingsFile(fixture);
  if (!existsSync(file)) return [];
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line): Ending => JSON.parse(line));
}

/** Starts a runner that does the task. */
export async function runOnce(code: Code, fixture: RunnerFixture): Promise<void> {
  const hub = new LastingHub(endingsFile(fixture), taskOf(TASK));
  const settings = code.parseSettings(['--repo', fixture.repo, '--url', HUB, '--once'], { MUSTER_TOKEN: 'mk_a.b' });
  if (settings === undefined) throw new Error('The settings only ask for help.');
  const env = {
    ...process.env,
    HOME: fixture.home,
    PATH: `${fixture.bin}${delimiter}${process.env['PATH']}`,
    MISCHIEF_PLAN: fixture.plan,
  };
  await new code.Runner({
    settings,
    repository: await code.openRepository(fixture.repo),
    hub,
    agentId: AGENT_ID,
    installed: [{ agent: claude, name: 'claude', version: '9.9.9' }],
    worktrees: fixture.worktrees,
    redactor: code.createRedactor([], {}),
    env,
    shutdown: new AbortController().signal,
    say: () => undefined,
    clock: quickClock(),
  }).run();
}

/** Starts a runner that recovers the work of runners that were killed. */
export async function recoverAll(code: Code, fixture: RunnerFixture): Promise<void> {
  const hub = new LastingHub(endingsFile(fixture));
  const repository = await code.openRepository(fixture.repo);
  const attempts = `${repository.stateFolder}/attempts`;
  const options = {
    repository,
    hub,
    hubUrl: HUB,
    agentId: AGENT_ID,
    attempts,
    heartbeatMs: 1000,
    say: () => undefined,
  };
  const outboxes = await code.recover(options);
  await until(() => hub.endings.length === outboxes.length);
}

export type Code = Awaited<ReturnType<typeof codeOf>>;

/** @param source folder of the runner's code, which can be a changed copy */
export async function codeOf(source: string) {
  const { Runner }: typeof import('../../src/runner.ts') = await import(`${source}/runner.ts`);
  const { recover }: typeof import('../../src/recovery.ts') = await import(`${source}/recovery.ts`);
  const { parseSettings }: typeof import('../../src/arguments.ts') = await import(`${source}/arguments.ts`);
  const { openRepository }: typeof import('../../src/git/repository.ts') = await import(`${source}/git/repository.ts`);
  const { createRedactor }: typeof import('../../src/redaction.ts') = await import(`${source}/redaction.ts`);
  return { Runner, recover, parseSettings, openRepository, createRedactor };
}
