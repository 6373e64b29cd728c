/** Programs in their own terminal, as a person would use them. */
import assert from 'node:assert/strict';
import { z } from 'zod';

/** Part of Gemini CLI. */
const NODE_PTY = new URL('../../clients/node_modules/@lydell/node-pty/index.js', import.meta.url).href;

const PATIENCE_MS = 120_000;

/** Wide enough that no address is wrapped. */
const COLUMNS = 4000;

interface Started {
  onData(told: (text: string) => void): unknown;
  onExit(told: (end: { readonly exitCode: number }) => void): unknown;
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
  /** Waits until the output contains the text. */
  shows(wanted: RegExp): Promise<RegExpExecArray>;
  type(text: string): void;
  /** Waits for its end and returns all its output. @param code expected exit code */
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
      const timer = setTimeout(() => reject(new Error(`${what} has not come:\n${shown}`)), PATIENCE_MS);
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
      assert.equal(await until('its end', () => exitCode), code, shown);
      return shown;
    },
    kill: () => child.kill('SIGKILL'),
  };
}
