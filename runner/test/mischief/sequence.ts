/** Plays a sequence of mischief against a runner, has the next runner recover, and checks what is left. */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import type { Ending } from '../../src/hub/hub.ts';
import type { Doom } from './doom.ts';
import { KINDS } from './kinds.ts';
import { type Inventory, listing, type Plan } from './plan.ts';
import { BRANCH, copyTemplate, git, recoverAll, runOnce, type Stage } from './stage.ts';

export interface Sequence {
  readonly kinds: readonly string[];
  /** Whether the agent reports success. */
  readonly succeeds: boolean;
  readonly doom: Doom | undefined;
}

const SOURCE = new URL('../../src', import.meta.url).pathname;
const PROCESS = new URL('./runnerProcess.ts', import.meta.url).pathname;

/**
 * @param template a folder of `makeTemplate`
 * @param folder an empty folder
 * @param source the runner's code
 * @returns what is not as it must be, a sentence each
 */
export async function play(
  sequence: Sequence,
  template: string,
  folder: string,
  source = SOURCE,
): Promise<readonly string[]> {
  mkdirSync(folder, { recursive: true });
  const stage = copyTemplate(template, realpathSync(folder));
  const plan = planOf(sequence, stage, template);
  writeFileSync(stage.plan, JSON.stringify(plan));
  const before = listing(plan, `${stage.worktrees}/none`, `${stage.repo}/.git/worktrees`);
  const endings =
    sequence.doom === undefined
      ? await runOnce(source, stage)
      : await runDoomed(source, stage, sequence.doom);
  const recovered = await recoverAll(source, stage);
  await recoverAll(source, stage);
  const last = endings.at(-1) ?? recovered.at(-1);
  if (!existsSync(plan.inventory)) {
    const after = listing(plan, stage.worktrees, `${stage.repo}/.git/worktrees`);
    return differences(before, after);
  }
  const inventory: Inventory = JSON.parse(readFileSync(plan.inventory, 'utf8'));
  return [
    ...check(plan, inventory, last, `${template}/library`),
    ...(sequence.doom === undefined && last === undefined ? ['The task has no ending.'] : []),
  ];
}

function planOf({ kinds, succeeds }: Sequence, stage: Stage, template: string): Plan {
  let written = 0;
  const commands = kinds.flatMap((kind, n) => {
    const file = (path: string): string => {
      written += 1;
      const quoted = `'${path.replaceAll("'", `'\\''`)}'`;
      return `mkdir -p -- "$(dirname -- ${quoted})"; echo 'written ${written} of ${kinds.join(' ')}' > ./${quoted}`;
    };
    return KINDS[kind]?.({ file, n, branch: BRANCH }) ?? [];
  });
  return {
    home: stage.home,
    repo: stage.repo,
    branch: BRANCH,
    commands,
    shell: { OUTER: stage.outer, ELSEWHERE: `${stage.home}/elsewhere`, LIBRARY: `${template}/library` },
    inventory: `${stage.plan}.inventory`,
    known: [stage.repo, `${template}/library`].flatMap((at) => git(at, 'rev-list', '--all').split('\n')),
    succeeds,
  };
}

/** Resolves when the runner has ended, and every program that it had started. */
async function runDoomed(source: string, stage: Stage, doom: Doom): Promise<readonly Ending[]> {
  const args = [
    ...process.execArgv,
    '--disable-warning=ExperimentalWarning',
    PROCESS,
    source,
    JSON.stringify(stage),
    JSON.stringify(doom),
  ];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'] });
  await new Promise((resolve) => child.once('close', resolve));
  return [];
}

function check(
  plan: Plan,
  inventory: Inventory,
  ending: Ending | undefined,
  library: string,
): readonly string[] {
  const { repo } = plan;
  const { folder, gitDir, files, commits, isOurs } = inventory;
  const problems = [...differences(inventory.outside, listing(plan, folder, gitDir))];
  const stays = existsSync(folder) && existsSync(`${folder}/.`);
  const list = (at: string) => git(at, 'rev-list', '--objects', '--no-object-names', '--all').split('\n');
  const reachable = new Set([...list(repo), ...list(library)]);
  for (const [path, names] of Object.entries(files)) {
    if (names.some((name) => reachable.has(name))) continue;
    if (stays && existsSync(Buffer.from(`${Buffer.from(folder).toString('latin1')}/${path}`, 'latin1')))
      continue;
    problems.push(`The file ${JSON.stringify(path)} is lost.`);
  }
  for (const commit of commits)
    if (!reachable.has(commit) && !stays) problems.push(`The commit ${commit} is lost.`);
  if (!isOurs) {
    if (ending?.status === 'completed')
      problems.push('The attempt is completed, though its checkout is another.');
    const still = listing({ ...plan, home: folder, repo: '/nowhere' }, '', '');
    if (Object.keys(files).length > 0 && !stays)
      problems.push("A folder that is no longer the runner's was removed.");
    if (Object.keys(still).length < Object.keys(files).length)
      problems.push("Files of a folder that is no longer the runner's are gone.");
  }
  if (ending?.status === 'completed' && stays && !JSON.stringify(ending.result).includes(folder))
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
