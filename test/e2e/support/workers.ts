/** Worker processes, which report their claims and completed tasks to the test. */
import { type ChildProcess, spawn } from 'node:child_process';
import { z } from 'zod';
import type { TestAgent } from './agents.ts';
import type { Era } from './clients.ts';

/** Options with which the test starts a worker process. */
export interface WorkerOrders {
  readonly era: Era;
  readonly url: string;
  readonly agent: TestAgent;
  readonly leaseSeconds: number;
  /** Number of tasks that the worker claims. It never completes the last one, and holds it until it is killed. */
  readonly stopAtClaim?: number;
}

export const report = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('claimed'), task: z.string(), epoch: z.number() }),
  z.object({ kind: z.literal('completed'), task: z.string(), epoch: z.number() }),
  /** The worker has claimed this task, and now waits to be killed. */
  z.object({ kind: z.literal('stopped'), task: z.string(), epoch: z.number() }),
]);
export type Report = z.output<typeof report>;

export interface WorkerProcess {
  readonly agent: TestAgent;
  readonly reports: readonly Report[];
  /** Resolves with the exit code, or with the signal that ended the process. */
  readonly ended: Promise<number | NodeJS.Signals>;
  /** Sends SIGKILL, so that the worker can neither finish its task nor shut down. */
  kill(): void;
}

const PROGRAM = new URL('../worker.ts', import.meta.url).pathname;

export function startWorker(orders: WorkerOrders): WorkerProcess {
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', PROGRAM, JSON.stringify(orders)], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const reports: Report[] = [];
  child.on('message', (message) => reports.push(report.parse(message)));
  return { agent: orders.agent, reports, ended: endOf(child), kill: () => void child.kill('SIGKILL') };
}

function endOf(child: ChildProcess): Promise<number | NodeJS.Signals> {
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    // Waits for "close", because messages can arrive after "exit".
    child.once('close', (code, signal) => resolve(signal ?? code ?? -1));
  });
}
