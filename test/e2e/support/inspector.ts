/** The MCP Inspector's command line with its own home directory. */
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';

const PROGRAM = fileURLToPath(
  new URL(
    '../../clients/node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js',
    import.meta.url,
  ),
);

/** The Inspector's names for the revisions: modern is 2026-07-28, legacy are those of 2025. */
export const INSPECTOR_ERAS = ['legacy', 'modern'] as const;
export type InspectorEra = (typeof INSPECTOR_ERAS)[number];

/** Timeout for a call on a busy machine; the Inspector's own is 15 s. */
const CONNECT_TIMEOUT_MS = 120_000;

const printedResult = z.object({ result: z.looseObject({}) });
const printedError = z.object({ error: z.object({ code: z.string(), message: z.string() }) });

export interface Inspection {
  /** 0, or 1 for an error of the server, or 5 for a tool error. */
  readonly code: number | null;
  /** The server's result, also for a tool error. */
  readonly result: Readonly<Record<string, unknown>> | undefined;
  /** The Inspector's error. */
  readonly error: { readonly code: string; readonly message: string } | undefined;
}

export class Inspector {
  private readonly home = mkdtempSync(`${tmpdir()}/muster-inspector-`);
  private readonly server: readonly string[];

  constructor(url: string, token: string, era: InspectorEra) {
    if (!existsSync(PROGRAM)) throw new Error('The MCP Inspector is not installed: "npm test -- e2e" installs it.');
    const patience = ['--connect-timeout', String(CONNECT_TIMEOUT_MS)];
    // Otherwise it would open a browser if a credential is refused.
    const credential = ['--header', `Authorization: Bearer ${token}`, '--stored-auth-only'];
    this.server = ['--transport', 'http', '--server-url', url, '--protocol-era', era, ...patience, ...credential];
  }

  /** @param options command line options: `--uri`, `--tool-name` */
  async run(method: string, ...options: readonly string[]): Promise<Inspection> {
    const format = ['--format', 'json', '--quiet'];
    const args = [PROGRAM, '--cli', ...this.server, ...format, '--method', method, ...options];
    const child = spawn(process.execPath, args, {
      cwd: this.home,
      env: { PATH: process.env['PATH'], HOME: this.home },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const closed = new Promise<number | null>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', resolve);
    });
    const [printed, complaints, code] = await Promise.all([text(child.stdout), text(child.stderr), closed]);
    return {
      code,
      result: printed === '' ? undefined : printedResult.parse(JSON.parse(printed)).result,
      error: code === 0 ? undefined : printedError.parse(JSON.parse(lastLine(complaints))).error,
    };
  }

  close(): void {
    rmSync(this.home, { recursive: true, force: true });
  }
}

/** Warnings may precede it. */
function lastLine(text: string): string {
  return text.trimEnd().split('\n').at(-1) ?? '';
}
