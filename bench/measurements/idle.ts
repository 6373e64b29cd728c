/** Memory and number of processes of an idle `npm start`. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { root } from '../../scripts/project.mjs';
import type { Measurement } from '../measurement.ts';

/** Time after the start in which the first schedules run and idle processes of functions end. */
const SETTLING_MS = 240_000;
const READY = 'Muster is ready';

export async function measureIdle(): Promise<Measurement> {
  // Without the addresses of the emulators of the benchmarks.
  const { PATH, HOME, HTTPS_PROXY, JAVA_TOOL_OPTIONS } = process.env;
  const child = spawn(process.execPath, [`${root}/scripts/start.mjs`], {
    cwd: root,
    env: { PATH, HOME, HTTPS_PROXY, JAVA_TOOL_OPTIONS },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const ended = once(child, 'exit');
  let printed = '';
  const ready = new Promise<void>((resolve) => {
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      printed += text;
      if (printed.includes(READY)) resolve();
    });
  });
  await Promise.race([ready, ended.then(() => Promise.reject(new Error(`npm start ended: ${printed}`)))]);
  await delay(SETTLING_MS);
  const kibibytes = sharesOf(child.pid ?? 0);
  child.kill('SIGINT');
  await ended;
  const what = 'MB of memory (proportional set size)';
  return {
    name: 'idle',
    title: `npm start, ${SETTLING_MS / 60_000} minutes after it is ready`,
    figures: { [what]: (kibibytes.reduce((sum, one) => sum + one, 0) * 1024) / 1e6, processes: kibibytes.length },
    figureTargets: { [what]: { kind: 'at most', value: 700 } },
  };
}

/** Returns the KiB of the process and of each of its descendants. Memory shared by n processes counts as one nth. */
function sharesOf(pid: number): number[] {
  const lines = execFileSync('ps', ['-eo', 'pid=,ppid=,pss='], { encoding: 'utf8' }).trim().split('\n');
  const processes = new Map<number, { readonly parent: number; readonly kibibytes: number }>();
  for (const [one = 0, parent = 0, kibibytes = 0] of lines.map((line) => line.trim().split(/ +/).map(Number)))
    processes.set(one, { parent, kibibytes });
  const isBelow = (one: number | undefined): boolean =>
    one !== undefined && (one === pid || isBelow(processes.get(one)?.parent));
  return [...processes].filter(([one]) => isBelow(one)).map(([, { kibibytes }]) => kibibytes);
}
