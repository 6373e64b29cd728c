/**
 * One function under the functions framework in a process of its own, as Cloud Run starts it. The functions
 * emulator would start a process for each concurrent request.
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
  /** A folder with a package, or a module. */
  readonly source: string;
  /** What its folder is to run it with. Absent: the framework of this repository. */
  readonly framework?: string;
  readonly target: string;
  /** How it is called. Absent: by requests. */
  readonly signature?: 'cloudevent';
  readonly env?: Readonly<Record<string, string>>;
  /** For profiles, limits and what is to be loaded before the function. */
  readonly nodeOptions?: readonly string[];
  /** The file in which it prints. Absent: one that all processes of that function share. */
  readonly log?: string;
  /** Hears what the process says by `process.send`, which it can only where somebody listens. */
  readonly hears?: (message: unknown) => void;
}

export interface FunctionServer {
  readonly url: string;
  /** The file with what it has printed. */
  readonly log: string;
  /** The processor seconds that the process has used so far, which other load disturbs less; only Linux tells. */
  cpuSeconds(): number;
  /** The process's resident memory; only Linux tells. */
  residentKibibytes(): number;
  /** The most that it ever was; only Linux tells. */
  peakKibibytes(): number;
  /** Whether the process has ended, however it did. */
  exited(): boolean;
  /** Ends the process and waits until it has gone. */
  end(): Promise<void>;
  /** SIGKILL: the process can neither finish nor say goodbye. Resolves when it has gone. */
  kill(): Promise<void>;
}

/** Muster's endpoint, as it is built. */
export const musterFunction: FunctionSource = {
  source: fileURLToPath(new URL('../../functions/dist', import.meta.url)),
  target: 'mcp',
};

/** Its command, not its module: what `functions-framework` starts. */
const framework = createRequire(import.meta.url)
  .resolve('@google-cloud/functions-framework')
  .replace(/index\.js$/, 'main.js');

/** Long enough for a cold start on a machine that is busy with something else. */
const START_SECONDS = 120;

/** Starts the function and waits until it takes connections. */
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

/** Starts the process, and returns as soon as it runs. */
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

/** Linux counts it in ticks of 10 ms. Source: proc_pid_stat(5), fields 14 and 15. */
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
