/** The MCP Inspector's command line, with a new home folder. */
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

/** The Inspector's names for protocol revisions: "legacy" for the revisions of 2025, and "modern" for 2026-07-28. */
export const INSPECTOR_ERAS = ['legacy', 'modern'] as const;
export type InspectorEra = (typeof INSPECTOR_ERAS)[number];

/** Timeout that is sufficient on a busy machine. The Inspector's own default is 15 seconds. */
const CONNECT_TIMEOUT_MS = 120_000;
const printedResult = z.object({ result: z.looseObject({}) });
const printedError = z.object({ error: z.object({ code: z.string(), message: z.string() }) });

export interface Inspection {
  /** Exit code: 0 for success, 1 for an error of the server, and 5 for an error of a tool. */
  readonly code: number | null;
  /** The result that the server returned, even if it is the error of a tool. */
  readonly result: Readonly<Record<string, unknown>> | undefined;
  readonly error: { readonly code: string; readonly message: string } | undefined;
}

export class Inspector {
  private readonly home = mkdtempSync(`${tmpdir()}/muster-inspector-`);
  private readonly server: readonly string[];

  constructor(url: string, token: string, era: InspectorEra) {
    if (!existsSync(PROGRAM)) throw new Error('The MCP Inspector is not installed: "npm test -- e2e" installs it.');
    const patience = ['--connect-timeout', String(CONNECT_TIMEOUT_MS)];
    // With the last option, the Inspector opens no browser if the server rejects the credential.
    const credential = ['--header', `Authorization: Bearer ${token}`, '--stored-auth-only'];
    this.server = ['--transport', 'http', '--server-url', url, '--protocol-era', era, ...patience, ...credential];
  }

  /** @param options command line options, such as `--uri` or `--tool-name` */
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

/** Returns the last line of the text, which is the error. Warnings can precede it. */
function lastLine(text: string): string {
  return text.trimEnd().split('\n').at(-1) ?? '';
}
