/** Runs git in its own session, so that no program started by git has a terminal to prompt at. */
import { spawn } from 'node:child_process';

const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;
const TIMEOUT_MS = 10 * 60_000;

/** Thrown if git fails. The message is the text of git's standard error. */
export class ExecutionError extends Error {
  /** Undefined if a signal ended git. */
  readonly exitCode: number | undefined;
  readonly output: string;

  constructor(message: string, exitCode: number | undefined, output: string) {
    super(message);
    this.exitCode = exitCode;
    this.output = output;
  }
}

/**
 * Runs git and returns its standard output, decoded as UTF-8, without the line break at the end.
 * @throws ExecutionError if git fails, prints too much or times out
 */
export function execute(args: readonly string[], env: NodeJS.ProcessEnv, input = ''): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn('git', args, { env, stdio: ['pipe', 'pipe', 'pipe'], detached: true });
    const output: Buffer[] = [];
    const complaints: Buffer[] = [];
    let size = 0;
    let stopped = '';
    const stop = (reason: string): void => {
      stopped ||= reason;
      endGroup(child.pid);
    };
    const timer = setTimeout(() => stop(`timed out after ${TIMEOUT_MS / 60_000} minutes`), TIMEOUT_MS);
    for (const [stream, chunks] of [
      [child.stdout, output],
      [child.stderr, complaints],
    ] as const)
      stream.on('data', (chunk: Buffer) => {
        size += chunk.length;
        if (size > MAX_OUTPUT_BYTES) stop('printed more than 64 MiB');
        else chunks.push(chunk);
      });
    child.stdin.on('error', () => undefined); // Git can exit without reading all of its input.
    child.stdin.end(input);
    child.once('error', (error) => {
      clearTimeout(timer);
      const missing = 'code' in error && error.code === 'ENOENT';
      reject(missing ? new Error('git is not installed', { cause: error }) : error);
    });
    child.once('close', (code, signal) => {
      clearTimeout(timer);
      const errorOutput = Buffer.concat(complaints).toString('utf8').trim();
      const printed = Buffer.concat(output).toString('utf8').replace(/\n$/, '');
      const message = stopped || errorOutput || `exit code ${code ?? signal ?? 'unknown'}`;
      if (code === 0 && stopped === '') resolve(printed);
      else reject(new ExecutionError(message, code ?? undefined, printed));
    });
  });
}

function endGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // The process group has already ended.
  }
}
