/** A project in which the last release and the current version share the databases and the local vendors. */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { Firestore, Timestamp } from '@google-cloud/firestore';
import { z } from 'zod';
import { systemHashing } from '../../../functions/src/kernel/platform.ts';
import { root } from '../../../scripts/project.mjs';
import { readRelease } from '../../../scripts/setup/releases.mjs';
import { ownProject, putRules } from '../../../scripts/tests/ownProject.mjs';
import { asRead, storedVersions } from '../../stored/documents.ts';
import { variables } from '../../support/environment.ts';
import { seedClaudeNetwork } from '../../support/github/seed.ts';
import { LocalGitHub } from '../../support/github/server.ts';
import { LocalModels } from '../../support/models/server.ts';
import { Deliveries } from './deliveries.ts';
import { type Answer, Version, type VersionName } from './version.ts';

/** User id of the person who owns all agents. */
const OWNER = 'owner';

const WEBHOOK_SECRET = 'a secret of webhooks';
const parameters = z.record(z.string(), z.string());
const registered = z.object({ agentId: z.string(), credentials: z.object({ apiKey: z.string(), secret: z.string() }) });

export interface Agent {
  readonly id: string;
  readonly credential: string;
}

export class UpgradeFixture {
  readonly firestore: Firestore;
  readonly deliveries: Deliveries;
  readonly models: LocalModels;
  readonly gitHub: LocalGitHub;
  /** The first agent. The fixture stores it directly in the database, as the operator's script does. */
  readonly lead: Agent = { id: 'lead', credential: `mk_${'lead'.padEnd(20, 'a')}.${'a'.repeat(43)}` };
  /** The owner of all agents, with an ID token as the credential. */
  readonly person: Agent;
  readonly env: Readonly<Record<string, string>>;
  private readonly folder = mkdtempSync(join(tmpdir(), 'muster-upgrade-'));
  private readonly versions: Version[] = [];

  private constructor(
    env: Readonly<Record<string, string>>,
    deliveries: Deliveries,
    models: LocalModels,
    gitHub: LocalGitHub,
  ) {
    this.firestore = new Firestore({ projectId: env['GCLOUD_PROJECT'] ?? '' });
    this.deliveries = deliveries;
    this.models = models;
    this.gitHub = gitHub;
    this.person = { id: OWNER, credential: unsignedIdToken(env['GCLOUD_PROJECT'] ?? '') };
    const { id, privateKey } = gitHub.world.app;
    this.env = {
      ...parameters.parse(parseEnv(readFileSync(`${root}/functions/.env`, 'utf8'))),
      ...env,
      FUNCTIONS_EMULATOR: 'true',
      NODE_ENV: 'production',
      MUSTER_CLOCK_FILE: join(this.folder, 'clock'),
      CLOUD_TASKS_EMULATOR_HOST: deliveries.cloudTasksHost,
      ANTHROPIC_BASE_URL: models.url,
      ANTHROPIC_API_KEY: 'local-anthropic-key',
      GEMINI_BASE_URL: models.url,
      GEMINI_API_KEY: 'local-gemini-key',
      // The last release has no models.json. In a deployment, its own functions/.env sets these parameters.
      CLAUDE_MODEL: 'claude-sonnet-5-5',
      CLAUDE_INPUT_PRICE: '2',
      CLAUDE_OUTPUT_PRICE: '10',
      GEMINI_MODEL: 'gemini-3.8-flash',
      GEMINI_INPUT_PRICE: '0.75',
      GEMINI_OUTPUT_PRICE: '3.75',
      GITHUB_API_URL: gitHub.url,
      GITHUB_APP_ID: id,
      GITHUB_APP_PRIVATE_KEY: privateKey,
      GITHUB_REPOSITORIES: 'sartor-ai/*',
      GITHUB_WEBHOOK_SECRET: WEBHOOK_SECRET,
      RATE_LIMIT_PER_SECOND: '100000',
      RATE_LIMIT_BURST: '500000',
    };
  }

  static async open(): Promise<UpgradeFixture> {
    const own: Record<string, string> = await ownProject(variables(), `upgrade-${randomUUID().slice(0, 8)}`);
    const [models, gitHub] = [new LocalModels(), new LocalGitHub()];
    seedClaudeNetwork(gitHub.world);
    await Promise.all([models.start(), gitHub.start()]);
    const fixture = new UpgradeFixture(own, await Deliveries.open(own['GCLOUD_PROJECT'] ?? ''), models, gitHub);
    await fixture.writeLead();
    return fixture;
  }

  get project(): string {
    return this.env['GCLOUD_PROJECT'] ?? '';
  }

  async start(name: VersionName): Promise<Version> {
    // Names in the format of Cloud Run revisions.
    const revision = { K_SERVICE: 'mcp', K_REVISION: `mcp-${String(this.versions.length + 1).padStart(5, '0')}-abc` };
    const version = await Version.start(name, { ...this.env, ...revision });
    this.versions.push(version);
    return version;
  }

  /** Deploys the security rules of a version. Call this before starting it: `firebase deploy` has this order. */
  async deployRules(name: VersionName): Promise<void> {
    const read = (file: string) => readFileSync(`${root}/${file}`, 'utf8');
    const todays = () => ({ firestore: read('firestore.rules'), database: read('database.rules.json') });
    await putRules({ ...this.env }, name === 'today' ? todays() : readRelease().rules);
  }

  /** Sets by how much the clock of both versions is ahead of the machine's clock. */
  moveTime(milliseconds: number): void {
    writeFileSync(this.env['MUSTER_CLOCK_FILE'] ?? '', String(milliseconds));
  }

  async close(): Promise<void> {
    await Promise.all(this.versions.map((version) => version.end()));
    await Promise.all([this.deliveries.close(), this.models.stop(), this.gitHub.stop(), this.firestore.terminate()]);
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** Stores the first agent in the format in which `npm run agents -- create` of the release stores it. */
  private async writeLead(): Promise<void> {
    const [apiKey = '', secret = ''] = this.lead.credential.split('.');
    await this.firestore
      .doc('agents/lead')
      .set({
        ...stored('agents', 'plain'),
        id: 'lead',
        name: 'lead',
        owner_uid: OWNER,
        role: 'leader',
        workspace: 'default',
      });
    await this.firestore
      .doc(`credentials/${apiKey}`)
      .set({
        ...stored('credentials', 'mk_plain'),
        api_key: apiKey,
        agent_id: 'lead',
        secret_hash: systemHashing.sha256(secret),
        expires_at: Timestamp.fromMillis(Date.now() + 90 * 24 * 3_600_000),
      });
    await this.firestore.doc(`people/${OWNER}`).set({ role: 'leader' }, { merge: true });
    await this.createAccount();
  }

  /** Creates the owner's account for this project in the Auth emulator, which all projects share. */
  private async createAccount(): Promise<void> {
    const auth = `http://${this.env['FIREBASE_AUTH_EMULATOR_HOST']}/identitytoolkit.googleapis.com/v1`;
    const response = await fetch(`${auth}/projects/${this.project}/accounts`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: 'Bearer owner' },
      body: JSON.stringify({ localId: OWNER, email: 'owner@example.com', emailVerified: true }),
    });
    if (!response.ok) throw new Error(`The Auth emulator returned status ${response.status}.`);
  }
}

/** Returns a sample document of the collection in the oldest stored version. */
function stored(collection: string, id: string): object {
  return Object(asRead(storedVersions('firestore', collection)[0]?.documents[id]));
}

/** Registers an agent by a call to the given version. */
export async function register(version: Version, by: Agent, name: string, workspace: string): Promise<Agent> {
  const answer = await version.call(by.credential, workspace, 'onboarding_registerAgent', {
    agentInfo: { name, type: 'developer', version: '1.0.0' },
    capabilities: [{ name: 'typescript', category: 'languages' }],
    configuration: { maxConcurrentTasks: 50 },
    workspace,
  });
  return agentIn(answer);
}

export function agentIn(answer: Answer): Agent {
  const { agentId, credentials } = registered.parse(answer);
  return { id: agentId, credential: `${credentials.apiKey}.${credentials.secret}` };
}

/**
 * Returns an unsigned ID token, because the Auth emulator issues tokens only for its own project. Source:
 * https://firebase.google.com/docs/emulator-suite/connect_auth#id_tokens
 */
function unsignedIdToken(project: string): string {
  const now = Math.floor(Date.now() / 1000);
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const claims = {
    iss: `https://securetoken.google.com/${project}`,
    aud: project,
    sub: OWNER,
    user_id: OWNER,
    auth_time: now,
    iat: now,
    exp: now + 3600,
    email: 'owner@example.com',
    email_verified: true,
    firebase: { identities: {}, sign_in_provider: 'password' },
  };
  return `${part({ alg: 'none', typ: 'JWT' })}.${part(claims)}.`;
}
