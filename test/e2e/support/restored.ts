/** A new deployment that is restored from a backup, with separate emulators and the built functions. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { type FunctionServer, musterFunction, serveFunction } from '../../../bench/servers/functionServer.ts';
import { eventually } from './waiting.ts';

const metadata = z.looseObject({ firestore: z.unknown(), auth: z.unknown() });

/** A deployment's backup, which contains Firestore and the accounts, but not the Realtime Database. */
export class Backup {
  readonly folder = join(mkdtempSync(`${tmpdir()}/muster-backup-`), 'export');

  /** Exports the emulators' data, as `firebase emulators:export` does, without the Realtime Database. */
  async make(): Promise<void> {
    const hub = process.env['FIREBASE_EMULATOR_HUB'];
    const response = await fetch(`http://${hub}/_admin/export`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ path: this.folder, initiatedBy: 'emulators:export' }),
    });
    assert.equal(response.status, 200, await response.text());
    const file = join(this.folder, 'firebase-export-metadata.json');
    const { database: _, ...rest } = metadata.parse(JSON.parse(readFileSync(file, 'utf8')));
    writeFileSync(file, JSON.stringify(rest));
    rmSync(join(this.folder, 'database_export'), { recursive: true, force: true });
  }

  remove(): void {
    rmSync(join(this.folder, '..'), { recursive: true, force: true });
  }
}

const environment = z.record(z.string(), z.string());
const PROGRAM = fileURLToPath(new URL('../../../scripts/emulators.mjs', import.meta.url));

/** Timeout for the start of the emulators, two of which run in Java. */
const START_MS = 180_000;

export class RestoredDeployment {
  /** Environment variables with which functions connect to the deployment's databases. */
  readonly env: Readonly<Record<string, string>>;
  private readonly emulators: ChildProcess;
  private readonly servers: FunctionServer[] = [];

  private constructor(emulators: ChildProcess, env: Readonly<Record<string, string>>) {
    this.emulators = emulators;
    this.env = env;
  }

  static async from({ folder }: Backup): Promise<RestoredDeployment> {
    const file = join(folder, '..', 'env.json');
    const args = [PROGRAM, '--without-functions', '--ports-file', file, '--import', relative('.', folder)];
    // The restored deployment needs no Pub/Sub, because it publishes no event.
    const quick = { ...process.env, MUSTER_WITHOUT_PUBSUB: '1' };
    const emulators = spawn(process.execPath, args, { env: quick, stdio: ['ignore', 'ignore', 'inherit'] });
    const env = await eventually(
      'the emulators are running',
      async () => {
        assert.equal(emulators.exitCode, null, 'the emulators have ended');
        return existsSync(file) ? environment.parse(JSON.parse(readFileSync(file, 'utf8'))) : undefined;
      },
      START_MS,
    );
    return new RestoredDeployment(emulators, env);
  }

  /** Starts the built function with this name, and returns its URL. */
  async serve(target: 'mcp' | 'sweep'): Promise<string> {
    const env = { ...this.env, FUNCTIONS_EMULATOR: 'true', PUBSUB_EMULATOR_HOST: '' };
    const server = await serveFunction({ ...musterFunction, target, env });
    this.servers.push(server);
    return server.url;
  }

  /** Sets by how much the functions' clock differs from the real time. */
  moveTime(milliseconds: number): void {
    writeFileSync(this.env['MUSTER_CLOCK_FILE'] ?? assert.fail('there is no clock'), String(milliseconds));
  }

  /** Returns the value at a path of the Realtime Database. */
  async node(path: string): Promise<unknown> {
    const url = new URL(this.env['DATABASE_URL'] ?? '');
    url.pathname = `/${path}.json`;
    const response = await fetch(url, { headers: { authorization: 'Bearer owner' } });
    assert.equal(response.status, 200);
    return response.json();
  }

  async end(): Promise<void> {
    await Promise.all(this.servers.map((server) => server.end()));
    if (this.emulators.exitCode !== null) return;
    const ended = once(this.emulators, 'exit');
    this.emulators.kill('SIGINT');
    await ended;
  }
}
