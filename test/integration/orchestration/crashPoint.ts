/** Crash points within a step, and ways to stop an instance at one of them. */
import { spawn } from 'node:child_process';
import type { Change } from '../../../functions/src/composition/changes.ts';
import type { Composition } from '../../../functions/src/composition/compose.ts';
import type { Store } from '../../../functions/src/kernel/commit.ts';

export const BOUNDARIES = [
  'before the call is recorded',
  'before the request',
  'before the answer is recorded',
  'after the step is recorded',
] as const;

export type Boundary = (typeof BOUNDARIES)[number];

export interface CrashPoint {
  readonly runId: string;
  readonly modelsUrl: string;
  readonly step: string;
  readonly at: Boundary;
}

/** Returns the crash point before or after a commit, if there is one. */
function boundaryOf(when: 'before' | 'after', changes: readonly Change[], step: string): Boundary | undefined {
  const kinds = changes.flatMap((change) => (stepOf(change) === step ? change.kind : []));
  const kind = `${when} ${kinds.at(when === 'before' ? 0 : -1)}`;
  const boundaries: Readonly<Record<string, Boundary>> = {
    'before startCall': 'before the call is recorded',
    'after startCall': 'before the request',
    'before completeCall': 'before the answer is recorded',
    'after recordStep': 'after the step is recorded',
  };
  return boundaries[kind];
}

function stepOf(change: Change): string | undefined {
  if (change.kind === 'startCall' || change.kind === 'completeCall') return change.entry.step;
  return change.kind === 'recordStep' ? change.step.id : undefined;
}

/** Changes a store so that it calls `end` at the crash point, and commits nothing afterwards. */
export function crashing(store: Store<Change>, { step, at }: CrashPoint, end: () => void): void {
  const commit = store.commit.bind(store);
  let isDead = false;
  const dieAt = async (when: 'before' | 'after', changes: readonly Change[]): Promise<void> => {
    if (boundaryOf(when, changes, step) === at) {
      isDead = true;
      end();
    }
    if (isDead) await forEver;
  };
  store.commit = async (changes, settled) => {
    await dieAt('before', changes);
    await commit(changes, settled);
    await dieAt('after', changes);
  };
}

const forEver = new Promise<never>(() => undefined);

/**
 * Executes a run in an instance in this process. At the crash point, the database of the instance stops responding.
 * At this moment, this function returns, and abandons the instance with its pending calls.
 */
export async function abandon(crashPoint: CrashPoint, instance: Composition): Promise<void> {
  const abandoned = new Promise<void>((resolve) => crashing(instance.kernel.store, crashPoint, resolve));
  const over = instance.services.runExecution.deliver({ runId: crashPoint.runId }).then(() => {
    throw new Error(`The instance did not stop ${crashPoint.at}.`);
  });
  await Promise.race([abandoned, over]);
}

const PROGRAM = new URL('crashProgram.ts', import.meta.url).pathname;

/** Executes a run in a separate process that is killed at the crash point. Returns the signal that killed it. */
export function execute(crashPoint: CrashPoint): Promise<NodeJS.Signals | null> {
  const child = spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', PROGRAM, JSON.stringify(crashPoint)],
    { stdio: ['ignore', 'ignore', 'inherit'] },
  );
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (_code, signal) => resolve(signal));
  });
}
