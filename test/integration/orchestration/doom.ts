/** Where an instance can die within a step, and how a test has one die there. */
import { spawn } from 'node:child_process';
import type { Change } from '../../../functions/src/kernel/commit.ts';

export const BOUNDARIES = [
  'before the call is noted',
  'before the request',
  'before the answer is noted',
  'before the step is recorded',
  'after the step is recorded',
] as const;

export type Boundary = (typeof BOUNDARIES)[number];

export interface Doom {
  readonly runId: string;
  readonly modelsUrl: string;
  readonly step: string;
  readonly at: Boundary;
}

/** The boundary before or after a commit, where there is one. */
export function boundaryOf(
  when: 'before' | 'after',
  changes: readonly Change[],
  step: string,
): Boundary | undefined {
  const [found] = changes.flatMap((change) => (stepOf(change) === step ? change.kind : []));
  const kind = `${when} ${found}`;
  const boundaries: Readonly<Record<string, Boundary>> = {
    'before startCall': 'before the call is noted',
    'after startCall': 'before the request',
    'before settleCall': 'before the answer is noted',
    'after settleCall': 'before the step is recorded',
    'after recordStep': 'after the step is recorded',
  };
  return boundaries[kind];
}

function stepOf(change: Change): string | undefined {
  if (change.kind === 'startCall' || change.kind === 'settleCall') return change.entry.step;
  return change.kind === 'recordStep' ? change.step.id : undefined;
}

const PROGRAM = new URL('doomed.ts', import.meta.url).pathname;

/** Resolves with the signal that ended the instance. */
export function execute(doom: Doom): Promise<NodeJS.Signals | null> {
  const child = spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', PROGRAM, JSON.stringify(doom)],
    {
      stdio: ['ignore', 'ignore', 'inherit'],
    },
  );
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (_code, signal) => resolve(signal));
  });
}
