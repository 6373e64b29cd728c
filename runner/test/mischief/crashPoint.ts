/** Counts the git commands and file changes of this process as steps, and kills the process at a given step. */
import childProcess from 'node:child_process';
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

export interface CrashPoint {
  /** Number of the step at which the process is killed. */
  readonly at: number;
  /** Whether the process is killed before the step, when the program of the step has started, or after the step. */
  readonly when: 'before' | 'within' | 'after';
}

/** Functions of `fs` that change files. */
const CHANGING = ['copyFileSync', 'mkdirSync', 'renameSync', 'writeFileSync'] as const;

const die = (): never => {
  process.kill(process.pid, 'SIGKILL');
  throw new Error('This process has been killed.');
};

export function prepareCrash({ at, when }: CrashPoint): void {
  let step = 0;
  const isDue = (): boolean => {
    step += 1;
    return step === at;
  };
  const spawn = childProcess.spawn;
  const doomed = (program: string, args: readonly string[], options: childProcess.SpawnOptions) => {
    const due = program === 'git' && isDue();
    if (due && when === 'before') die();
    const child = spawn(program, args, options);
    if (due && when === 'within') child.once('spawn', die);
    if (due && when === 'after') child.once('exit', die);
    return child;
  };
  Object.assign(childProcess, { spawn: doomed });
  for (const name of CHANGING) {
    const real: unknown = fs[name];
    if (typeof real !== 'function') continue;
    Reflect.set(fs, name, (...args: unknown[]): unknown => {
      const due = isDue();
      if (due && when !== 'after') die();
      const result: unknown = Reflect.apply(real, fs, args);
      if (due) die();
      return result;
    });
  }
  const remove = fs.rmSync;
  Reflect.set(fs, 'rmSync', (path: fs.PathLike, options?: fs.RmOptions): void => {
    if (!isDue()) {
      remove(path, options);
      return;
    }
    if (when === 'within') removeHalf(String(path), remove);
    if (when === 'after') remove(path, options);
    die();
  });
  syncBuiltinESMExports();
}

function removeHalf(path: string, remove: typeof fs.rmSync): void {
  if (fs.lstatSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) return;
  const entries = fs.readdirSync(path);
  for (const entry of entries.slice(0, Math.ceil(entries.length / 2)))
    remove(`${path}/${entry}`, { recursive: true, force: true });
}
