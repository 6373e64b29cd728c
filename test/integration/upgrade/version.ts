/** A running version of Muster. Each function of `OWN_PROCESS` has its own process; the others share one process. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { McpCaller } from '../../../bench/load/client.ts';
import { type FunctionServer, musterFunction, serveFunction } from '../../../bench/servers/functionServer.ts';
import { readRelease, unpackRelease } from '../../../scripts/setup/releases.mjs';
import { manifest } from './manifest.ts';

const PROGRAM = fileURLToPath(new URL('served.ts', import.meta.url));
const started = z.object({ url: z.string(), manifests: z.record(z.string(), manifest) });
const listed = z.object({ result: z.object({ tools: z.array(z.object({ name: z.string() })) }) });

/** The last release, or the version in this clone. */
export type VersionName = 'release' | 'today';

export type Answer = Readonly<Record<string, unknown>>;

/** Maximum number of attempts per call. On a busy machine, a response of the emulator may arrive too late. */
const MAX_CALLS = 5;

/** Functions with a separate process, because they hide the bodies of all requests (functions/src/entry/http.ts). */
const OWN_PROCESS = ['mcp', 'githubWebhook'];

export class Version {
  readonly name: string;
  readonly manifests: z.infer<typeof started>['manifests'];
  private readonly url: string;
  private readonly child: ChildProcess;
  private readonly servers: ReadonlyMap<string, FunctionServer>;
  private readonly folder: string;

  private constructor(
    { name, folder }: { readonly name: string; readonly folder: string },
    child: ChildProcess,
    { url, manifests }: z.infer<typeof started>,
    servers: ReadonlyMap<string, FunctionServer>,
  ) {
    this.name = name;
    this.folder = folder;
    this.child = child;
    this.url = url;
    this.manifests = manifests;
    this.servers = servers;
  }

  static async start(name: VersionName, env: Readonly<Record<string, string>>): Promise<Version> {
    const folder = mkdtempSync(join(tmpdir(), 'muster-version-'));
    if (name === 'release') unpackRelease(readRelease(), folder);
    const source = name === 'today' ? musterFunction.source : folder;
    const logFile = join(folder, 'log');
    const log = openSync(logFile, 'a');
    const args = ['--disable-warning=ExperimentalWarning', PROGRAM, source];
    const child = spawn(process.execPath, args, {
      env: { ...process.env, ...env },
      stdio: ['ignore', log, log, 'ipc'],
    });
    closeSync(log);
    const saying = Promise.race([once(child, 'message'), once(child, 'exit')]);
    const own = OWN_PROCESS.map(async (target) => [target, await serveFunction({ source, target, env })] as const);
    const [[output], ...servers] = await Promise.all([saying, ...own]);
    const parsed = started.safeParse(output);
    if (!parsed.success) throw new Error(`${name} did not start: ${readFileSync(logFile, 'utf8')}`);
    return new Version({ name, folder }, child, parsed.data, new Map(servers));
  }

  urlOf(name: string): string {
    return this.servers.get(name)?.url ?? `${this.url}/${name}`;
  }

  /** Calls a tool, and repeats the call after a connection error. @throws Error if the tool fails */
  async call(credential: string, workspace: string, tool: string, args: object = {}): Promise<Answer> {
    for (let number = 1; ; number++)
      try {
        return await this.caller(credential, workspace).call(tool, args);
      } catch (error) {
        const message = error instanceof Error ? error.message : String(error);
        if (number === MAX_CALLS || !message.includes('CONNECTION_ERROR')) throw new Error(`${this.name}: ${message}`);
      }
  }

  /** Returns the names of the tools that the caller can list. */
  async tools(credential: string): Promise<ReadonlySet<string>> {
    const { text } = await this.caller(credential, 'default').send('tools/list');
    return new Set(listed.parse(JSON.parse(text)).result.tools.map(({ name }) => name));
  }

  async end(): Promise<void> {
    await Promise.all([...this.servers.values()].map((server) => server.kill())); // As in a crash, there is no shutdown.
    if (this.child.exitCode === null && this.child.signalCode === null) {
      const exited = once(this.child, 'exit');
      this.child.kill('SIGKILL');
      await exited;
    }
    rmSync(this.folder, { recursive: true, force: true });
  }

  private caller(credential: string, workspace: string): McpCaller {
    return new McpCaller(`${this.urlOf('mcp')}?workspace=${workspace}`, credential);
  }
}
