/** Runs a program and its child processes in a dedicated process group. */
import { spawn } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { endProcesses, MARK_VARIABLE } from './identity.ts';
import { readLines } from './lines.ts';

/** Time to wait for output after every visible process has ended, in milliseconds. */
const OUTPUT_DRAIN_MS = 2000;

export interface ProgramOptions {
  readonly program: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  /** Mark that identifies the program's processes. */
  readonly mark: string;
  readonly onOutput: (line: string, stream: 'stdout' | 'stderr') => void;
}

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface Program {
  /**
   * Resolves when the program itself has ended; its child processes may still run. Rejects if the program could not
   * be started or `onOutput` has thrown.
   */
  readonly exited: Promise<Exit>;
  /** Writes a line to the program's standard input. */
  send(line: string): void;
  /** Closes the program's standard input. */
  closeInput(): void;
  /**
   * Ends the remaining processes. When the last output has been read, resolves to whether all are known to have
   * ended. Rejects with the error of `onOutput`.
   */
  end(): Promise<boolean>;
}

export function startProgram(options: ProgramOptions): Program {
  const { program, args, cwd, env, mark, onOutput } = options;
  const child = spawn(program, args, {
    cwd,
    env: { ...env, [MARK_VARIABLE]: mark },
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: true,
  });
  let problem: { readonly error: unknown } | undefined;
  const exited = new Promise<Exit>((resolve, reject) => {
    child.on('error', reject);
    child.once('exit', (code, signal) => resolve({ code, signal }));
    // An uncaught error in a stream's handler would end the runner, and with it every other task.
    const read = (stream: 'stdout' | 'stderr') => (line: string) => {
      if (problem !== undefined) return;
      try {
        onOutput(line, stream);
      } catch (error) {
        problem = { error };
        reject(error);
      }
    };
    // The streams are missing if no file descriptor is free. In that case, an 'error' event follows.
    if (child.stdout) readLines(child.stdout, read('stdout'));
    if (child.stderr) readLines(child.stderr, read('stderr'));
  });
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
  exited.catch(() => undefined); // Callers that wait for `exited` get the error.
  child.stdin?.on('error', () => undefined); // The program may end without reading all of its input.
  const end = async (): Promise<boolean> => {
    const areGone = await endProcesses(mark, child.pid);
    // A process that the system does not list may keep the pipes open forever.
    const patience = new AbortController();
    await Promise.race([closed, delay(OUTPUT_DRAIN_MS, undefined, { signal: patience.signal }).catch(() => undefined)]);
    patience.abort();
    child.stdout?.destroy();
    child.stderr?.destroy();
    if (problem !== undefined) throw problem.error;
    return areGone;
  };
  return {
    exited,
    send: (line) => void child.stdin?.write(`${line}\n`),
    closeInput: () => void child.stdin?.end(),
    end,
  };
}
