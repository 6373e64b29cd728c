/** Runs the acceptance command, whose exit code decides whether the work is accepted. */
import { startProgram } from '../process/program.ts';
import { createKeyBlockRedactor } from '../redaction/keyBlocks.ts';
import { cutStart } from '../text.ts';
import type { TaskLog } from './log.ts';
import { SilenceWatch } from './silenceWatch.ts';

const KEPT_CHARACTERS = 16_000;

export interface AcceptanceOptions {
  readonly command: string;
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
  readonly mark: string;
  readonly log: TaskLog;
  /** Maximum duration of the command, in milliseconds. */
  readonly patienceMs: number;
  readonly signal: AbortSignal;
}

export interface Acceptance {
  readonly command: string;
  /** Absent if a signal ended the command. */
  readonly exitCode?: number;
  /** Last part of the command's output. */
  readonly output: string;
}

export function hasPassed({ exitCode }: Acceptance): boolean {
  return exitCode === 0;
}

/** Runs the acceptance command. When the promise resolves, none of the command's processes is running. */
export async function runAcceptance(options: AcceptanceOptions): Promise<Acceptance> {
  const { command, folder, env, mark, log, patienceMs, signal } = options;
  let output = '';
  const withoutKeys = { stdout: createKeyBlockRedactor(), stderr: createKeyBlockRedactor() };
  log.add('acceptance', command, { prefix: 'acceptance' });
  const program = startProgram({
    program: '/bin/sh',
    args: ['-c', command],
    cwd: folder,
    env,
    mark,
    onOutput: (line, stream) => {
      const safe = withoutKeys[stream](line);
      if (safe === undefined) return;
      output += `${log.redact(safe)}\n`;
      // This cut may split a character. Only the final cut avoids that, because avoiding it is slow.
      if (output.length > 2 * KEPT_CHARACTERS) output = output.slice(-KEPT_CHARACTERS - 1000);
      log.print('acceptance', safe, { level: 'debug' });
    },
  });
  program.closeInput();
  const watch = new SilenceWatch(patienceMs);
  const exit = await Promise.race([program.exited, watch.silent, aborted(signal)]).finally(async () => {
    watch.stop();
    await program.end();
  });
  const exitCode = exit ? (exit.code ?? undefined) : undefined;
  const how = exitCode === undefined ? `stopped after at most ${patienceMs / 1000} s` : `exit code ${exitCode}`;
  log.add('acceptance', how, { prefix: 'acceptance', level: exitCode === 0 ? 'info' : 'error' });
  return { command, ...(exitCode !== undefined && { exitCode }), output: cutStart(output, KEPT_CHARACTERS) };
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
