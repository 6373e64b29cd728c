/**
 * Serves a function with the functions framework in a separate process, as Cloud Run does. The functions emulator
 * would start a process for each concurrent request.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../scripts/emulators/ports.mjs';
import { devDirectory } from '../../scripts/project.mjs';
import { connects } from '../load/client.ts';

export interface FunctionSource {
  /** Path of a package's folder, or of a module. */
  readonly source: string;
  /** Path of the functions framework; by default, the one that is installed in this repository. */
  readonly framework?: string;
  readonly target: string;
  /** Kind of function; by default, an HTTP function. */
  readonly signature?: 'cloudevent';
  readonly env?: Readonly<Record<string, string>>;
  /** Options of Node, for example to preload a module. */
  readonly nodeOptions?: readonly string[];
  /** Path of the log file; by default, a file that all processes of the function share. */
  readonly log?: string;
  /** Called with each message that the process sends with `process.send`. */
  readonly onMessage?: (message: unknown) => void;
}

export interface FunctionServer {
  readonly url: string;
  readonly log: string;
  /** Returns the CPU seconds used so far. Other load affects them less than the elapsed time. Works only on Linux. */
  cpuSeconds(): number;
  /** Returns the resident memory of the process. Works only on Linux. */
  residentKibibytes(): number;
  /** Returns the highest resident memory of the process so far. Works only on Linux. */
  peakKibibytes(): number;
  exited(): boolean;
  /** Sends a message to the process, which needs `onMessage`. */
  send(message: string): void;
  /** Sends SIGTERM, then SIGKILL if the process still runs after three seconds, and waits for the exit. */
  end(): Promise<void>;
  /** Sends SIGKILL, so that the process cannot finish its work, and waits for the exit. */
  kill(): Promise<void>;
}

export const musterFunction: FunctionSource = {
  source: fileURLToPath(new URL('../../functions/dist', import.meta.url)),
  target: 'mcp',
};

const framework = createRequire(import.meta.url)
  .resolve('@google-cloud/functions-framework')
  .replace(/index\.js$/, 'main.js');

/** Time limit for a start, long enough for a cold start on a busy machine. */
const START_SECONDS = 120;

/** Starts the function and waits until it accepts connections. */
export async function serveFunction(source: FunctionSource): Promise<FunctionServer> {
  const server = await startFunction(source);
  const deadline = performance.now() + START_SECONDS * 1000;
  while (!(await connects(server.url))) {
    if (performance.now() > deadline || server.exited()) {
      await server.end();
      throw new Error(`${source.target} of ${source.source} did not start: see ${logFile(source)}`);
    }
    await delay(5);
  }
  return server;
}

/** Starts the process without waiting for it to listen. */
export async function startFunction(source: FunctionSource): Promise<FunctionServer> {
  const port = await freePort();
  const log = openSync(logFile(source), 'a');
  const args = [
    ...(source.nodeOptions ?? []),
    source.framework ?? framework,
    `--source=${source.source}`,
    `--target=${source.target}`,
  ];
  const child = spawn(process.execPath, args, {
    env: {
      ...process.env,
      NODE_ENV: 'production',
      FUNCTION_TARGET: source.target,
      FUNCTION_SIGNATURE_TYPE: source.signature ?? 'http',
      ...source.env,
      PORT: String(port),
    },
    stdio: ['ignore', log, log, ...(source.onMessage === undefined ? [] : (['ipc'] as const))],
  });
  if (source.onMessage !== undefined) child.on('message', source.onMessage);
  await once(child, 'spawn');
  closeSync(log);
  return {
    url: `http://127.0.0.1:${port}/`,
    log: logFile(source),
    cpuSeconds: () => cpuSecondsOf(child.pid),
    residentKibibytes: () => kibibytesOf(child.pid, 'VmRSS'),
    peakKibibytes: () => kibibytesOf(child.pid, 'VmHWM'),
    end: () => end(child),
    kill: () => kill(child),
    exited: () => hasExited(child),
    send: (message) => void child.send(message),
  };
}

/** Linux counts CPU time in ticks of 10 ms. Source: proc_pid_stat(5), fields 14 and 15. */
function cpuSecondsOf(pid: number | undefined): number {
  const file = `/proc/${pid}/stat`;
  if (!existsSync(file)) return Number.NaN;
  const fields = readFileSync(file, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

/** Source: proc_pid_status(5). */
function kibibytesOf(pid: number | undefined, field: 'VmRSS' | 'VmHWM'): number {
  const file = `/proc/${pid}/status`;
  if (!existsSync(file)) return Number.NaN;
  return Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(readFileSync(file, 'utf8'))?.[1]);
}

function logFile({ target, log = `${devDirectory}/bench-${target}.log` }: FunctionSource): string {
  return log;
}

function hasExited(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

async function kill(child: ChildProcess): Promise<void> {
  if (hasExited(child)) return;
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}

async function end(child: ChildProcess): Promise<void> {
  if (hasExited(child)) return;
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  const patience = setTimeout(() => child.kill('SIGKILL'), 3000);
  await exited;
  clearTimeout(patience);
}
