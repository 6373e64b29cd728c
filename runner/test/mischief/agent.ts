/**
 * An agent that runs a list of commands in its worktree. Then it records the files, the commits and the state of
 * folders outside the worktree, all of which the runner must preserve.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, lstatSync, readdirSync, readFileSync, readlinkSync, realpathSync, writeFileSync } from 'node:fs';
import { type Inventory, listing, makeReadable, type Plan, repair } from './plan.ts';

if (process.argv.includes('--version')) {
  console.log('9.9.9 (mischief)');
  process.exit(0);
}

const plan: Plan = JSON.parse(readFileSync(process.env['MISCHIEF_PLAN'] ?? '', 'utf8'));
process.once('uncaughtExceptionMonitor', (error) => writeFileSync(plan.fault, String(error.stack)));
const folder = process.cwd();
const [gitDir = '', common = ''] = git(
  'rev-parse',
  '--absolute-git-dir',
  '--path-format=absolute',
  '--git-common-dir',
).split('\n');
const link = readFileSync(`${folder}/.git`, 'utf8');
const environment = { GITDIR: gitDir, COMMON: common, ...plan.shell };
execFileSync('/bin/sh', ['-c', `set +e\n${plan.commands.join('\n')}\ntrue`], {
  env: { ...process.env, ...environment },
  stdio: 'ignore',
});
const restore = repair(plan);
const isOurs = isStillOurs();
const restoreModes = makeReadable(Buffer.from(existsSync(folder) ? realpathSync(folder) : folder));
const files = filesIn(Buffer.from(folder).toString('latin1'), '');
const commits = [...new Set([...commitsOf(gitDir, common), ...nestedCommits(folder)])];
restoreModes();
restore?.();
const inventory: Inventory = { folder, isOurs, files, commits, gitDir, outside: listing(plan, folder, gitDir) };
writeFileSync(plan.inventory, JSON.stringify(inventory));
if (plan.succeeds)
  console.log(
    JSON.stringify({
      type: 'result',
      subtype: 'success',
      is_error: false,
      result: 'Done.',
      num_turns: 2,
      usage: { input_tokens: 20, output_tokens: 10 },
    }),
  );
else process.exitCode = 3;

function git(...args: readonly string[]): string {
  return execFileSync('git', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
}

/** Returns whether the folder is still the runner's worktree. The check does not use the runner's code. */
function isStillOurs(): boolean {
  try {
    if (!lstatSync(folder).isDirectory() || !lstatSync(`${folder}/.git`).isFile()) return false;
    if (readFileSync(`${folder}/.git`, 'utf8') !== link || !lstatSync(gitDir).isDirectory()) return false;
    if (readFileSync(`${gitDir}/gitdir`, 'utf8').trim() !== `${folder}/.git`) return false;
    const paths = ['--path-format=absolute', '--show-toplevel', '--git-common-dir'];
    return git('-C', folder, 'rev-parse', ...paths) === `${folder}\n${common}`;
  } catch {
    return false;
  }
}

/** Returns git object names of each file's content, by path. Paths are bytes, because they need not be UTF-8. */
function filesIn(root: string, path: string): Record<string, readonly string[]> {
  const real = Buffer.from(path === '' ? root : `${root}/${path}`, 'latin1');
  const stat = lstatSync(real, { throwIfNoEntry: false });
  if (stat === undefined || (path === '' && !stat.isDirectory())) return {};
  if (stat.isSymbolicLink()) return { [path]: [objectName(readlinkSync(real, 'buffer'))] };
  if (stat.isFile()) return { [path]: namesOf(readFileSync(real)) };
  if (!stat.isDirectory()) return {};
  const inner = readdirSync(real, 'latin1').map((name) => (path === '' ? name : `${path}/${name}`));
  const counted = inner.filter((name) => !/(^|\/)\.git$/.test(name) && name !== 'ignored');
  return Object.assign({}, ...counted.map((name) => filesIn(root, name)));
}

/** Returns the object names of the content itself, and of the content with LF line endings as git may store it. */
function namesOf(content: Buffer): readonly string[] {
  const text = content.toString('latin1');
  const name = objectName(content);
  return text.includes('\r\n') ? [name, objectName(Buffer.from(text.replaceAll('\r\n', '\n'), 'latin1'))] : [name];
}

function objectName(content: Buffer): string {
  return createHash('sha1').update(`blob ${content.length}\0`).update(content).digest('hex');
}

function commitsOf(dir: string, commonDir: string): readonly string[] {
  try {
    const env = { ...process.env, GIT_DIR: dir, GIT_COMMON_DIR: commonDir };
    const names = existsSync(`${dir}/logs/HEAD`)
      ? readFileSync(`${dir}/logs/HEAD`, 'utf8')
          .split('\n')
          .flatMap((line) => line.split(' ')[1] ?? [])
          .filter((name) => !/^0*$/.test(name))
      : [];
    const refs = execFileSync('git', ['rev-list', '--ignore-missing', '--all', ...new Set(names)], {
      encoding: 'utf8',
      env,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    return refs.split('\n').filter((name) => name !== '' && !plan.known.includes(name));
  } catch {
    return [];
  }
}

function nestedCommits(root: string): readonly string[] {
  if (!existsSync(root)) return [];
  const all = execFileSync('find', ['-H', root, '-mindepth', '2', '-name', '.git'], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  return all
    .split('\n')
    .filter((path) => path !== '' && !path.includes('/ignored/'))
    .flatMap((path) => {
      try {
        const at = path.slice(0, -'/.git'.length);
        const dir = execFileSync('git', ['-C', at, 'rev-parse', '--absolute-git-dir'], {
          encoding: 'utf8',
          stdio: ['ignore', 'pipe', 'ignore'],
        }).trim();
        const isInside = dir.startsWith(`${root}/`) || dir.startsWith(`${gitDir}/`);
        return isInside ? commitsOf(dir, dir) : [];
      } catch {
        return [];
      }
    });
}
