/** Runs a task with a mischievous agent, recovers its work with later runners, and checks what is left. */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, lstatSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Ending } from '../../src/hub/hub.ts';
import type { CrashPoint } from './crashPoint.ts';
import {
  BRANCH,
  type Code,
  codeOf,
  copyTemplate,
  endingsOf,
  git,
  type RunnerFixture,
  recoverAll,
  runOnce,
} from './fixture.ts';
import { KINDS, NEEDING_SUBMODULE } from './kinds.ts';
import { type Inventory, listing, type Plan, repair } from './plan.ts';

export interface Sequence {
  readonly kinds: readonly string[];
  readonly succeeds: boolean;
  readonly crashPoint: CrashPoint | undefined;
}

/** A crash point that is never reached. */
export const NEVER: CrashPoint = { at: Number.MAX_SAFE_INTEGER, when: 'before' };
const SOURCE = new URL('../../src', import.meta.url).pathname;

/**
 * @param templates folder that `makeTemplates` has filled
 * @param folder an empty folder
 * @param source folder of the runner's code
 * @returns one sentence for each violated rule
 */
export async function play(
  sequence: Sequence,
  templates: string,
  folder: string,
  source = SOURCE,
): Promise<readonly string[]> {
  mkdirSync(folder, { recursive: true });
  const needsSubmodule = sequence.kinds.some((kind) => NEEDING_SUBMODULE.includes(kind));
  const template = `${templates}/${needsSubmodule ? 'submodule' : 'plain'}`;
  const fixture = copyTemplate(template, realpathSync(folder));
  const plan = planOf(sequence, fixture, template);
  writeFileSync(fixture.plan, JSON.stringify(plan));
  const registrations = `${fixture.repo}/.git/worktrees`;
  const before = listing(plan, fixture.worktrees, registrations);
  await run(sequence, { code: await codeOf(source), program: `${templates}/programs/runnerProcess.js` }, fixture, plan);
  if (existsSync(plan.fault)) return [`The agent of this test has a fault: ${readFileSync(plan.fault, 'utf8')}`];
  // If the runner was killed before the agent recorded its inventory, the files must be unchanged.
  if (!existsSync(plan.inventory)) return differences(before, listing(plan, fixture.worktrees, registrations));
  const inventory: Inventory = JSON.parse(readFileSync(plan.inventory, 'utf8'));
  return [
    ...differences(inventory.outside, listing(plan, inventory.folder, inventory.gitDir)),
    ...lost(plan, inventory, `${template}/library`),
    ...dishonest(inventory, endingsOf(fixture)),
  ];
}

interface Runners {
  readonly code: Code;
  /** Path of the bundled `runnerProcess`, with the unchanged code. */
  readonly program: string;
}

/** Runs the task. If the runner is killed, two more runners recover the task. */
async function run(
  { crashPoint }: Sequence,
  { code, program }: Runners,
  fixture: RunnerFixture,
  plan: Plan,
): Promise<void> {
  if (crashPoint === undefined) return runOnce(code, fixture);
  await runDoomed(program, fixture, crashPoint);
  const restore = repair(plan);
  if (restore !== undefined) {
    restore();
    await assert.rejects(recoverAll(code, fixture), /Expected git repo version|does not point to a commit/);
    repair(plan);
  }
  await recoverAll(code, fixture);
  await recoverAll(code, fixture);
  restore?.();
}

function planOf({ kinds, succeeds }: Sequence, fixture: RunnerFixture, template: string): Plan {
  let written = 0;
  const commands = kinds.flatMap((kind, n) => {
    const file = (path: string): string => {
      written += 1;
      const quote = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;
      const folder = path.includes('/') ? `mkdir -p -- ${quote(dirname(path))}; ` : '';
      return `${folder}echo 'written ${written} of ${kinds.join(' ')}' > ./${quote(path)}`;
    };
    return KINDS[kind]?.({ file, n, branch: BRANCH }) ?? [];
  });
  return {
    home: fixture.home,
    repo: fixture.repo,
    branch: BRANCH,
    commands,
    shell: { OUTER: fixture.outer, ELSEWHERE: `${fixture.home}/elsewhere`, LIBRARY: `${template}/library` },
    inventory: `${fixture.plan}.inventory`,
    fault: `${fixture.plan}.fault`,
    known: readFileSync(`${template}/known`, 'utf8').split('\n'),
    succeeds,
  };
}

/** Program with arguments that removes root's right to read and write every file. */
const WITHOUT_RIGHTS = [
  'setpriv',
  '--bounding-set=-dac_override,-dac_read_search',
  '--inh-caps=-dac_override,-dac_read_search',
];

const wrapper: readonly string[] =
  process.getuid?.() === 0 && spawnSync('setpriv', [...WITHOUT_RIGHTS.slice(1), 'true']).status === 0
    ? WITHOUT_RIGHTS
    : [];

/** Starts a runner that is killed at the crash point, and waits for its end. */
async function runDoomed(bundle: string, fixture: RunnerFixture, crashPoint: CrashPoint): Promise<void> {
  const args = [
    '--max-semi-space-size=64', // A large heap avoids garbage collection while the code is loaded.
    bundle,
    JSON.stringify(fixture),
    JSON.stringify(crashPoint),
  ];
  const [program = '', ...rest] = [...wrapper, process.execPath, ...args];
  const child = spawn(program, rest, { stdio: ['ignore', 'ignore', 'inherit'] });
  await new Promise((resolve) => child.once('close', resolve));
}

const stays = ({ folder }: Inventory): boolean => existsSync(`${folder}/.`);
const isThere = (path: Buffer): boolean => lstatSync(path, { throwIfNoEntry: false }) !== undefined;

/** Returns the files and commits that git can no longer reach and that are not in a kept worktree. */
function lost(plan: Plan, inventory: Inventory, library: string): readonly string[] {
  repair(plan);
  // If the agent changed the common directory, HEAD of the worktree can be a commit of another repository.
  const options = ['--objects', '--no-object-names', '--ignore-missing', '--all'];
  const list = (at: string) => git(at, 'rev-list', ...options).split('\n');
  const reachable = new Set([...list(plan.repo), ...list(library)]);
  const root = Buffer.from(inventory.folder).toString('latin1');
  const isLost = ([path, names]: readonly [string, readonly string[]]): boolean =>
    !names.some((name) => reachable.has(name)) && !isThere(Buffer.from(`${root}/${path}`, 'latin1'));
  const files = Object.entries(inventory.files).filter(isLost);
  const commits = stays(inventory) ? [] : inventory.commits.filter((commit) => !reachable.has(commit));
  return [
    ...files.map(([path]) => `The file ${JSON.stringify(path)} is lost.`),
    ...commits.map((commit) => `The commit ${commit} is lost.`),
  ];
}

/** Returns a problem for each false report, and for the removal of a folder that is no longer the runner's. */
function dishonest(inventory: Inventory, endings: readonly Ending[]): readonly string[] {
  const isCompleted = endings.some(({ status }) => status === 'completed');
  const problems: string[] = [];
  if (endings.length === 0) problems.push('The task has no ending.');
  if (!inventory.isOurs && isCompleted) problems.push('The attempt is completed, though its checkout is another.');
  if (!inventory.isOurs && Object.keys(inventory.files).length > 0 && !stays(inventory))
    problems.push("A folder that is no longer the runner's was removed.");
  if (stays(inventory) && !JSON.stringify(endings).includes(inventory.folder))
    problems.push('The worktree stays, and the report does not name it.');
  return problems;
}

function differences(
  before: Readonly<Record<string, string>>,
  after: Readonly<Record<string, string>>,
): readonly string[] {
  const paths = Object.keys({ ...before, ...after });
  return paths
    .filter((path) => before[path] !== after[path])
    .map((path) => `${path} was ${before[path] ?? 'absent'} and is ${after[path] ?? 'absent'}.`);
}
