/** The command that decides whether the work is good. */
import { setTimeout as delay } from 'node:timers/promises';
import { startProgram } from '../process/program.ts';
import { redactKeyBlocks } from '../redaction.ts';
import type { TaskLog } from './log.ts';

const KEPT_CHARACTERS = 16_000;

export interface AcceptanceOptions {
  readonly command: string;
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
  readonly mark: string;
  readonly log: TaskLog;
  /** How long it may take, in milliseconds. */
  readonly patienceMs: number;
  readonly signal: AbortSignal;
}

export interface Acceptance {
  readonly command: string;
  /** Absent where a signal ended it. */
  readonly exitCode?: number;
  /** The end of what it printed. */
  readonly output: string;
}

export function hasPassed({ exitCode }: Acceptance): boolean {
  return exitCode === 0;
}

/** No process of it is left when this resolves. */
export async function runAcceptance(options: AcceptanceOptions): Promise<Acceptance> {
  const { command, folder, env, mark, log, patienceMs, signal } = options;
  let output = '';
  const withoutKeys = redactKeyBlocks();
  log.add('acceptance', command, { prefix: 'acceptance' });
  const program = startProgram({
    program: '/bin/sh',
    args: ['-c', command],
    cwd: folder,
    env,
    mark,
    input: '',
    onOutput: (line) => {
      const safe = withoutKeys(line);
      if (safe === undefined) return;
      output = `${output}${log.redact(safe)}\n`.slice(-KEPT_CHARACTERS);
      log.print('acceptance', safe, { level: 'debug' });
    },
  });
  const patience = AbortSignal.any([signal, AbortSignal.timeout(patienceMs)]);
  const givenUp = delay(2 ** 31 - 1, undefined, { signal: patience, ref: false }).catch(() => undefined);
  const exit = await Promise.race([program.exited, givenUp]);
  await program.end();
  const exitCode = exit?.code ?? undefined;
  const how =
    exitCode === undefined ? `stopped after at most ${patienceMs / 1000} s` : `exit code ${exitCode}`;
  log.add('acceptance', how, { prefix: 'acceptance', level: exitCode === 0 ? 'info' : 'error' });
  return { command, ...(exitCode !== undefined && { exitCode }), output };
}
