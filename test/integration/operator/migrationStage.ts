/** A project of its own, as version 0.1.0 has left it. */
import { randomUUID } from 'node:crypto';
import { Firestore, Timestamp } from '@google-cloud/firestore';
import { deleteApp, initializeApp } from 'firebase-admin/app';
import { getAuth } from 'firebase-admin/auth';
import { compose } from '../../../functions/src/app.ts';
import { systemClock, systemHashing } from '../../../functions/src/kernel/platform.ts';
import { ownProject } from '../../../scripts/tests/ownProject.mjs';
import { asRead, storedVersions } from '../../stored/documents.ts';
import { run } from './commands.ts';

/** A document of a release, as the files of what is stored have it. */
function stored(collection: string, version: number, id: string): Record<string, unknown> {
  const file = storedVersions('firestore', collection).find((one) => one.version === version);
  return { ...Object(asRead(file?.documents[id])) };
}

const SECRET = 'a'.repeat(43);

/** @param name 20 letters */
function bearerOf(name: string): string {
  return `mk_${name}.${SECRET}`;
}

export class MigrationStage {
  readonly database: Firestore;
  readonly env: Readonly<Record<string, string>>;

  private constructor(env: Readonly<Record<string, string>>) {
    this.env = env;
    this.database = new Firestore({ projectId: env['GCLOUD_PROJECT'] ?? '' });
  }

  static async open(): Promise<MigrationStage> {
    const env = Object.fromEntries(Object.entries(process.env).map(([name, value]) => [name, value ?? '']));
    return new MigrationStage(await ownProject(env, `migration-${randomUUID().slice(0, 8)}`));
  }

  /** The services of this version over what there is. */
  app() {
    return compose({ clock: systemClock, database: this.database });
  }

  async account(uid: string, claims: object, isDisabled = false): Promise<void> {
    const app = initializeApp({ projectId: this.env['GCLOUD_PROJECT'] ?? '' }, uid);
    await getAuth(app).createUser({ uid, disabled: isDisabled });
    await getAuth(app).setCustomUserClaims(uid, claims);
    await deleteApp(app);
  }

  async write(path: string, data: object): Promise<void> {
    await this.database.doc(path).set(data);
  }

  /** @param version of the release that stored it */
  async agent(id: string, fields: object, version = 3): Promise<void> {
    const agent = stored('agents', version, 'plain');
    await this.write(`agents/${id}`, { ...agent, id, name: id, ...fields });
  }

  /** @returns what the agent calls with */
  async credential(agentId: string): Promise<string> {
    const bearer = bearerOf(agentId.padEnd(20, 'a'));
    const [api_key = ''] = bearer.split('.');
    const secret_hash = systemHashing.sha256(SECRET);
    const expires_at = Timestamp.fromMillis(Date.now() + 3_600_000);
    const fields = { api_key, agent_id: agentId, secret_hash, expires_at };
    await this.write(`credentials/${api_key}`, { ...stored('credentials', 1, 'mk_plain'), ...fields });
    return bearer;
  }

  async session(workspace: string): Promise<void> {
    const session = `session-${workspace}`;
    await this.write(`workspaces/${workspace}`, { session });
    const fields = { id: session, workspace, capability_keys: [''] };
    const path = `workspaces/${workspace}/sessions/${session}`;
    await this.write(path, { ...stored('workspaces.sessions', 1, 'session-1'), ...fields });
    await this.write(`${path}/counters/0`, stored('workspaces.sessions.counters', 3, '0'));
  }

  async task(id: string, workspace: string, created_by: string): Promise<void> {
    const fields = { id, workspace, session: `session-${workspace}`, created_by };
    await this.write(`tasks/${id}`, { ...stored('tasks', 4, 'plain'), ...fields });
    await this.write(`tasks/${id}/logs/00000000`, stored('tasks.logs', 3, '00000000'));
    await this.write(`tasks/${id}/logs/check-1`, stored('tasks.logs', 3, 'check-1'));
    await this.write(`tasks/${id}/results/2-0`, stored('tasks.results', 1, '2-0'));
    await this.put(`tasks/queue/${id}`, { id, workspace, priority: 'normal' });
  }

  async put(path: string, value: unknown): Promise<void> {
    await this.realtime(path, { method: 'PUT', body: JSON.stringify(value) });
  }

  get(path: string): Promise<unknown> {
    return this.realtime(path, {});
  }

  private async realtime(path: string, request: RequestInit): Promise<unknown> {
    const url = new URL(this.env['DATABASE_URL'] ?? '');
    url.pathname = `/${path}.json`;
    const response = await fetch(url, { ...request, headers: { authorization: 'Bearer owner' } });
    if (!response.ok) throw new Error(`${path}: ${response.status}`);
    return response.json();
  }

  /** Runs the migration as a shell does. */
  migrate() {
    return run('migrate', ['--project', this.env['GCLOUD_PROJECT'] ?? ''], this.env);
  }

  /** All that both databases hold, as text. */
  async everything(): Promise<string> {
    const documents: Record<string, unknown> = {};
    const open = await this.database.listCollections();
    for (let collection = open.pop(); collection !== undefined; collection = open.pop())
      for (const document of await collection.listDocuments()) {
        documents[document.path] = (await document.get()).data();
        open.push(...(await document.listCollections()));
      }
    return JSON.stringify([documents, await this.get('')], null, 1);
  }

  async close(): Promise<void> {
    await this.database.terminate();
  }
}
