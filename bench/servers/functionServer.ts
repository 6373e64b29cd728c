/**
 * A function under the functions framework in a separate process, as Cloud Run starts it. The functions emulator would
 * start a process for each concurrent request.
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
  /** Folder of a package, or a module. */
  readonly source: string;
  /** Framework to run it with; by default this repository's. */
  readonly framework?: string;
  readonly target: string;
  /** Signature; by default HTTP. */
  readonly signature?: 'cloudevent';
  readonly env?: Readonly<Record<string, string>>;
  /** For profiles, limits and preloaded modules. */
  readonly nodeOptions?: readonly string[];
  /** Log file; by default one that all processes of that function share. */
  readonly log?: string;
  /** Receives messages that the process sends with `process.send`. */
  readonly hears?: (message: unknown) => void;
}

export interface FunctionServer {
  readonly url: string;
  /** Log file. */
  readonly log: string;
  /** CPU seconds used so far, which other load affects less than time; only on Linux. */
  cpuSeconds(): number;
  /** Resident memory of the process; only on Linux. */
  residentKibibytes(): number;
  /** Peak resident memory; only on Linux. */
  peakKibibytes(): number;
  /** Returns whether the process has ended. */
  exited(): boolean;
  /** Ends the process and waits for its exit. */
  end(): Promise<void>;
  /** Sends SIGKILL and waits for the exit: the process cannot finish its work. */
  kill(): Promise<void>;
}

/** Muster's built endpoint. */
export const musterFunction: FunctionSource = {
  source: fileURLToPath(new URL('../../functions/dist', import.meta.url)),
  target: 'mcp',
};

/** Path of the command `functions-framework`. */
const framework = createRequire(import.meta.url)
  .resolve('@google-cloud/functions-framework')
  .replace(/index\.js$/, 'main.js');

/** Long enough for a cold start on a busy machine. */
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
    stdio: ['ignore', log, log, ...(source.hears === undefined ? [] : (['ipc'] as const))],
  });
  if (source.hears !== undefined) child.on('message', source.hears);
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
  };
}

/** Linux counts in ticks of 10 ms. Source: proc_pid_stat(5), fields 14 and 15. */
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
