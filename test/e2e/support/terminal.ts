/** Runs programs in a terminal, as a person would. */
import assert from 'node:assert/strict';
import { z } from 'zod';

/** Package that provides terminals. It is installed as a dependency of Gemini CLI. */
const NODE_PTY = new URL('../../clients/node_modules/@lydell/node-pty/index.js', import.meta.url).href;
const PATIENCE_MS = 120_000;

/** Number of columns at which no URL is wrapped. */
const COLUMNS = 4000;

interface Started {
  onData(reported: (text: string) => void): unknown;
  onExit(reported: (end: { readonly exitCode: number }) => void): unknown;
  write(text: string): void;
  kill(signal?: string): void;
}

type Spawn = (
  program: string,
  args: readonly string[],
  options: { readonly cols: number; readonly cwd: string; readonly env: NodeJS.ProcessEnv },
) => Started;

const nodePty = z.object({ spawn: z.custom<Spawn>((value) => typeof value === 'function') });

export interface Terminal {
  /** Waits until the output matches, and returns the match. */
  shows(wanted: RegExp): Promise<RegExpExecArray>;
  type(text: string): void;
  /** Waits for the end of the program, and returns the whole output. @param code expected exit code */
  ended(code?: number): Promise<string>;
  kill(): void;
}

export async function startTerminal(
  program: string,
  args: readonly string[],
  { cwd, env }: { readonly cwd: string; readonly env: NodeJS.ProcessEnv },
): Promise<Terminal> {
  const { spawn } = nodePty.parse(await import(NODE_PTY));
  const child = spawn(program, args, { cols: COLUMNS, cwd, env: { ...env, TERM: 'xterm-256color' } });
  let shown = '';
  let exitCode: number | undefined;
  let look = (): void => undefined;
  child.onData((text) => {
    shown += text;
    look();
  });
  child.onExit((end) => {
    exitCode = end.exitCode;
    look();
  });
  const until = <Found>(what: string, find: () => Found | undefined): Promise<Found> =>
    new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`Timeout before ${what}. Output:\n${shown}`)), PATIENCE_MS);
      look = () => {
        const found = find();
        if (found === undefined) return;
        clearTimeout(timer);
        look = () => undefined;
        resolve(found);
      };
      look();
    });
  return {
    shows: (wanted) => until(String(wanted), () => wanted.exec(shown) ?? undefined),
    type: (text) => child.write(text),
    ended: async (code = 0) => {
      assert.equal(await until('the end of the program', () => exitCode), code, shown);
      return shown;
    },
    kill: () => child.kill('SIGKILL'),
  };
}
