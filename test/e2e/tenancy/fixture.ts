/**
 * A real endpoint with two owners, Ann and Bea, who each have a private workspace, and an open workspace. Agents have
 * each role, and Ann's workspace has items that strangers must not discover.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { z } from 'zod';
import { type Agent, DEFAULT_CONFIGURATION, NO_METRICS } from '../../../functions/src/agents/rules/agent.ts';
import { type Composition, compose } from '../../../functions/src/composition/compose.ts';
import type { Role } from '../../../functions/src/identity/rules/role.ts';
import { type JsonObject, jsonObject } from '../../../functions/src/kernel/json.ts';
import { systemClock } from '../../../functions/src/kernel/platform.ts';
import {
  ACCESS_WORKSPACES,
  personAccessPath,
  realtimeDatabase,
} from '../../../functions/src/kernel/realtime/database.ts';
import { silent } from '../../integration/coordination/team.ts';
import { agentsAt } from '../../integration/orchestration/fixture.ts';
import { externalServicesOf } from '../../support/externalServices.ts';
import { seedClaudeNetwork } from '../../support/github/seed.ts';
import { LocalGitHub } from '../../support/github/server.ts';
import { endpointSettings, type RunningEndpoint, serveEndpoint } from '../../support/mcp-endpoint.ts';
import { LocalModels } from '../../support/models/server.ts';
import { signIn } from '../../support/signIn.ts';
import { eventually } from '../support/waiting.ts';

/** Names of the callers. Cas is a member of Ann's workspace. The last caller has no role. */
export const CALLERS = [
  'ann the viewer',
  'ann the worker',
  'ann the leader',
  'ann herself',
  'bea the leader',
  'bea herself',
  'cas the worker',
  'cas himself',
  'nobody',
] as const;
export type CallerName = (typeof CALLERS)[number];

export type Outcome =
  | { readonly result: JsonObject; readonly error?: undefined }
  | { readonly error: { readonly message: string; readonly reason: string }; readonly result?: undefined };

const reply = z.union([
  z.object({ result: jsonObject }),
  z.object({
    error: z.object({ message: z.string(), data: z.object({ reason: z.string().optional() }).loose().optional() }),
  }),
]);

export class TenancyFixture {
  /** Suffix of all names of this fixture, which makes them unique. */
  readonly mark = `${randomUUID().slice(0, 5)}x`;
  /** A word that all texts of Ann's items contain. */
  readonly secret = `heron${randomUUID().slice(0, 8)}`;
  readonly alpha = `alpha-${this.mark}`;
  readonly beta = `beta-${this.mark}`;
  readonly open = `open-${this.mark}`;
  /** A private workspace without items. Callers without a role must get equal responses for it and for `alpha`. */
  readonly empty = `empty-${this.mark}`;
  /** A workspace name that does not exist. */
  readonly nowhere = `nowhe-${this.mark}`;
  /** A name that no item has. */
  readonly thing = `thing-${this.mark}`;
  readonly ann = `ann-${this.mark}`;
  readonly bea = `bea-${this.mark}`;
  /** The id of Cas, who is a member of Ann's workspace and of no other workspace. */
  readonly cas = `cas-${this.mark}`;
  readonly gitHub = new LocalGitHub();
  readonly models = new LocalModels();
  readonly app: Composition;
  private readonly credentials = new Map<CallerName, string>();
  private endpoint: RunningEndpoint | undefined;

  constructor() {
    this.app = compose(
      externalServicesOf({
        clock: systemClock,
        gitHub: () => this.gitHub.asApp,
        hosted: () => agentsAt(this.models.url),
        budget: { tokens: 1_000_000, cost_usd: 10 },
        // Runs can be started, but are never executed.
        dispatch: { dispatch: async () => undefined },
      }),
    );
  }

  async begin(): Promise<void> {
    seedClaudeNetwork(this.gitHub.world);
    await Promise.all([this.gitHub.start(), this.models.start()]);
    const { kernel } = this.app;
    const member = { added_by: 'operator', added_at: new Date() };
    await kernel.store.commit([
      { kind: 'setPerson', uid: this.ann, role: 'worker' },
      { kind: 'setPerson', uid: this.bea, role: 'worker' },
      { kind: 'nameWorkspace', workspace: this.alpha, access: 'private' },
      { kind: 'nameWorkspace', workspace: this.beta, access: 'private' },
      { kind: 'nameWorkspace', workspace: this.empty, access: 'private' },
      { kind: 'nameWorkspace', workspace: this.open, access: 'open' },
    ]);
    await kernel.store.commit([
      { kind: 'setMember', member: { ...member, uid: this.ann, workspace: this.alpha, role: 'leader' } },
      { kind: 'setMember', member: { ...member, uid: this.cas, workspace: this.alpha, role: 'worker' } },
      { kind: 'setMember', member: { ...member, uid: this.bea, workspace: this.beta, role: 'leader' } },
    ]);
    for (const role of ['viewer', 'worker', 'leader'] as const)
      this.credentials.set(
        `ann the ${role}`,
        await this.agent(this.ann, `ann-${role}`, role, { workspace: this.alpha }),
      );
    await this.mirrored();
    this.credentials.set(
      'bea the leader',
      await this.agent(this.bea, 'bea-leader', 'leader', { workspace: this.beta }),
    );
    this.credentials.set(
      'cas the worker',
      await this.agent(this.cas, 'cas-worker', 'worker', { workspace: this.alpha }),
    );
    this.credentials.set('ann herself', await signIn(this.ann));
    this.credentials.set('cas himself', await signIn(this.cas));
    this.credentials.set('bea herself', await signIn(this.bea));
    this.credentials.set('nobody', await signIn(`nobody-${this.mark}`));
    this.endpoint = await serveEndpoint({ ...this.app.calls, ...endpointSettings(), log: silent });
  }

  /** Waits until the Realtime Database has the roles of all callers, which its security rules read. */
  private async mirrored(): Promise<void> {
    const database = await realtimeDatabase();
    const paths = [this.ann, this.bea, this.cas].map(personAccessPath);
    await eventually('access is mirrored', async () => {
      const found = await Promise.all(
        [...paths, `${ACCESS_WORKSPACES}/${this.open}`].map((path) => database.ref(path).get()),
      );
      return found.every((one) => one.exists()) || undefined;
    });
  }

  async end(): Promise<void> {
    await this.endpoint?.close();
    await Promise.all([this.gitHub.stop(), this.models.stop()]);
  }

  /** Returns the id of Ann's agent with the role. */
  agentId(role: 'viewer' | 'worker' | 'leader'): string {
    return this.idOf(`ann-${role}`);
  }

  /** Returns an agent id that has the form of ids that registration generates. */
  idOf(name: string): string {
    return `${name}-${this.app.kernel.hashing.sha256(name + this.mark).slice(0, 8)}`;
  }

  credential(caller: CallerName): string {
    const credential = this.credentials.get(caller);
    assert.ok(credential, `${caller} has no credential`);
    return credential;
  }

  /** Replaces the credential with which the caller makes calls. */
  as(caller: CallerName, credential: string): void {
    this.credentials.set(caller, credential);
  }

  url(path: string, query: Readonly<Record<string, string>>): string {
    assert.ok(this.endpoint);
    return `${this.endpoint.url}/mcp${path}?${new URLSearchParams(query)}`;
  }

  /** Calls a tool through `/mcp/rpc`. */
  async call(caller: CallerName, workspace: string, method: string, params: JsonObject): Promise<Outcome> {
    const answered = await this.post(caller, '/rpc', workspace, { jsonrpc: '2.0', id: 1, method, params });
    const parsed = reply.parse(answered);
    if ('result' in parsed) return { result: parsed.result };
    const { message, data } = parsed.error;
    return { error: { message: `${message} ${JSON.stringify(data ?? {})}`, reason: data?.reason ?? '' } };
  }

  /** Calls a tool through `/mcp/rpc`, and returns its result. */
  async result(caller: CallerName, workspace: string, tool: string, args: JsonObject): Promise<JsonObject> {
    const { result, error } = await this.call(caller, workspace, tool, args);
    assert.ok(result, `${tool} by ${caller}: ${error?.message}`);
    return result;
  }

  /** Returns whether access.explain answers that the caller has the access in question, by default in `alpha`. */
  async isExplained(caller: CallerName, question: JsonObject, workspace = this.alpha): Promise<boolean> {
    const result = await this.result(caller, workspace, 'access.explain', question);
    assert.equal(typeof result['allowed'], 'boolean', JSON.stringify(result));
    return result['allowed'] === true;
  }

  /** Calls an MCP method, and returns the result or error as text. */
  async mcp(caller: CallerName, workspace: string, method: string, params: JsonObject): Promise<string> {
    return JSON.stringify(await this.post(caller, '', workspace, { jsonrpc: '2.0', id: 1, method, params }));
  }

  /** Returns whether a client of revision 2026-07-28 may listen to the resource. */
  async mayListen(caller: CallerName, workspace: string, uri: string): Promise<boolean> {
    const versionNegotiation = { mode: { pin: '2026-07-28' as const } };
    const client = new Client({ name: 'tenancy', version: '1.0.0' }, { versionNegotiation });
    const requestInit = { headers: { Authorization: `Bearer ${this.credential(caller)}` } };
    const url = new URL(this.url('', { workspace }));
    await client.connect(new StreamableHTTPClientTransport(url, { requestInit }));
    try {
      const { honoredFilter } = await client.listen({ resourceSubscriptions: [uri] });
      return honoredFilter.resourceSubscriptions?.includes(uri) ?? false;
    } finally {
      await client.close();
    }
  }

  /** Tries to open a subscription's event stream. Returns the error, or an empty text if the stream was opened. */
  async events(caller: CallerName, workspace: string, subscriptionId: string): Promise<string> {
    const headers = { authorization: `Bearer ${this.credential(caller)}`, accept: 'text/event-stream' };
    const response = await fetch(this.url('/events', { workspace, subscriptionId }), { headers });
    if (response.status !== 200) return response.text();
    await response.body?.cancel();
    return '';
  }

  private async post(caller: CallerName, path: string, workspace: string, body: object): Promise<unknown> {
    const response = await fetch(this.url(path, { workspace }), {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': '2025-11-25',
        authorization: `Bearer ${this.credential(caller)}`,
      },
      body: JSON.stringify(body),
    });
    const text = await response.text();
    const framed = /^data: (\{.*)$/m.exec(text)?.[1];
    return JSON.parse(framed ?? text);
  }

  /** Creates an agent, and returns its credential, which can be restricted to one workspace. */
  async agent(
    ownerUid: string,
    name: string,
    role: Role,
    { workspace, held_to }: { readonly workspace: string; readonly held_to?: string },
  ): Promise<string> {
    const { store, randomness, hashing } = this.app.kernel;
    const now = new Date();
    const agent: Agent = {
      ...NO_METRICS,
      id: this.idOf(name),
      name,
      type: 'developer',
      version: '1.0.0',
      capability_details: [{ name: `${name} can ${ownerUid === this.ann ? this.secret : 'sing'}`, category: 'own' }],
      configuration: { ...DEFAULT_CONFIGURATION, max_concurrent_tasks: 50 },
      owner_uid: ownerUid,
      role,
      workspace,
      status: 'active',
      registered_at: now,
      last_seen: now,
    };
    const secret = randomness.secret(32);
    const credential = {
      api_key: `mk_${randomness.letters(20)}`,
      agent_id: agent.id,
      secret_hash: hashing.sha256(secret),
      created_at: now,
      expires_at: new Date(now.getTime() + 3_600_000),
      ancestors: [],
      ...(held_to !== undefined && { held_to }),
    };
    await store.commit([
      { kind: 'createAgent', agent },
      { kind: 'issueCredential', credential },
    ]);
    return `${credential.api_key}.${secret}`;
  }
}
