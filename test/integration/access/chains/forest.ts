/** Creates chains of people, sign-ins, credentials, terminals and invitations with the real services. */
import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import { getFirestore } from 'firebase-admin/firestore';
import { z } from 'zod';
import { Addresses } from '../../../../functions/src/access/rules/addresses.ts';
import type { Composition } from '../../../../functions/src/composition/compose.ts';
import type { WantedLimits } from '../../../../functions/src/identity/rules/lineage.ts';
import type { Principal } from '../../../../functions/src/identity/rules/principal.ts';
import type { JsonObject } from '../../../../functions/src/kernel/json.ts';
import { firebaseApp, realtimeDatabase } from '../../../../functions/src/kernel/realtime/database.ts';
import { OpenStreams } from '../../../../functions/src/mcp/http/streams.ts';
import { eventually } from '../../../e2e/support/waiting.ts';
import { mayRead } from '../../../e2e/tenancy/direct.ts';
import { type RunningEndpoint, serveEndpoint } from '../../../support/mcp-endpoint.ts';
import { signIn } from '../../../support/signIn.ts';
import { silent, unkeyed } from '../../coordination/team.ts';
import { bearerOf, ConnectionsFixture } from '../connectionsFixture.ts';
import { both, type Choice, type Link, may, rightsOf, weakest } from './model.ts';

/** Maximum age of a credential in the cache of an instance. */
const TRUSTED_SECONDS = 5;

const reply = z.union([
  z.object({ result: z.unknown() }),
  z.object({ error: z.object({ message: z.string(), data: z.object({ reason: z.string() }).partial().optional() }) }),
]);

/** The right that a terminal must have to act at all. */
const ACTS = { toolset: 'coordination', min: 'worker', writes: true } as const;

/** An open event stream, and the text that the stream has sent so far. */
interface Followed {
  readonly link: Link;
  /** Rights of the link when the stream was opened. If they change, the stream ends and must be reopened. */
  readonly rights: Choice | undefined;
  readonly output: () => string;
  readonly close: () => void;
}

export class Forest {
  readonly links: Link[] = [];
  private readonly fixture = new ConnectionsFixture();
  private readonly elsewhere = `else-${this.fixture.workspace}`;
  /** Credentials of apps and agents, and ID tokens of people. */
  private readonly bearers = new Map<Link, string>();
  private readonly agentIds = new Map<Link, string>();
  private instance: Composition | undefined;
  private endpoint: RunningEndpoint | undefined;
  private streams: readonly Followed[] = [];

  /** Creates the workspaces and an endpoint. The endpoint's instance detects changes only by reading the database. */
  async begin(): Promise<void> {
    const { store } = this.fixture.app.kernel;
    for (const workspace of [this.here, this.elsewhere])
      await store.commit([
        { kind: 'createWorkspace', name: workspace, workspace: { repositories: [] } },
        { kind: 'nameWorkspace', workspace, access: 'open' },
      ]);
    await this.fixture.app.services.mirrorWorkspaces();
    const message = { text: 'before' };
    await (await realtimeDatabase()).ref(`${this.place}/first`).set(message);
    await getFirestore(firebaseApp()).doc(`${this.place}/first`).set(message);
    const instance = this.fixture.anotherInstance();
    this.instance = instance;
    this.endpoint = await serveEndpoint({
      ...instance.calls,
      streams: { lifetimeMs: 60_000, keepAliveMs: 15_000 },
      openStreams: new OpenStreams(),
      allowedOrigins: [],
      addresses: new Addresses({ publicUrl: 'https://muster.example', functionUrl: undefined }),
      mountPath: undefined,
      trustedProxies: 0,
      version: '0.0.0',
      log: silent,
    });
  }

  async end(): Promise<void> {
    for (const { close } of this.streams) close();
    await this.endpoint?.close();
  }

  private get here(): string {
    return this.fixture.workspace;
  }

  private get place(): string {
    return `messages/${this.here}/letters`;
  }

  async person(name: string, own: Choice): Promise<void> {
    const uid = await this.fixture.arrive(name, own.role);
    const link = this.add(name, 'person', undefined, {
      ...own,
      toolsets: undefined,
      readonly: false,
      heldTo: undefined,
    });
    await this.fixture.app.services.mirrorPerson(uid);
    this.bearers.set(link, await signIn(uid));
  }

  /** Signs a person in from an app. `before` is an earlier sign-in from the same app, which had other choices. */
  async app(name: string, from: Link, wanted: Choice, before?: Link): Promise<void> {
    const own = { ...wanted, role: weakest([wanted.role, from.own.role]) };
    const { role, toolsets: chosen, readonly } = own;
    const workspace = own.heldTo && this.heldTo(own.heldTo);
    const decision = { role, readonly, workspace, ...(chosen && { toolsets: chosen }) };
    const { accessToken } = await this.fixture.connect(from.name, name, decision);
    if (before !== undefined) {
      before.own = own;
      return;
    }
    const link = this.add(name, 'app', from, own);
    this.bearers.set(link, accessToken);
    this.agentIds.set(link, String((await this.fixture.signIn(accessToken)).agent_id));
  }

  /** Registers an agent, unless the caller may not register agents. */
  async key(name: string, from: Link, wanted: Choice): Promise<void> {
    const rights = rightsOf(from);
    if (rights === undefined) return;
    const own = both(rights, { ...wanted, heldTo: rights.heldTo ?? wanted.heldTo });
    if (own === undefined) return;
    const registered = await this.fixture.register(await this.principalOf(from), name, own.role, this.limitsOf(own));
    const link = this.add(name, 'key', from, own);
    this.bearers.set(link, bearerOf(registered));
    this.agentIds.set(link, registered.agent.id);
  }

  /** Renews the credential of an agent with restrictions. The agent itself makes the call. */
  async renew(link: Link, wanted: Choice): Promise<void> {
    const rights = rightsOf(link);
    if (rights === undefined) return;
    const heldTo = rights.heldTo ?? wanted.heldTo;
    const { role } = link.own;
    const own = both({ ...rights, role }, { ...wanted, role, heldTo });
    if (own === undefined) return;
    const principal = await this.principalOf(link);
    const registered = await this.fixture.register(principal, link.name, undefined, this.limitsOf(own));
    link.own = own;
    this.bearers.set(link, bearerOf(registered));
  }

  /** Registers a terminal. It has no credential, and uses the credential of the agent that registered it. */
  async terminal(name: string, from: Link): Promise<void> {
    if (!may(from, ACTS)) return;
    const agentId = this.fixture.agentId(name);
    const request = { agentId, role: 'worker' as const, workspace: this.here };
    const { services } = this.fixture.app;
    await services.membership.join(await this.principalOf(from), request, unkeyed);
    this.agentIds.set(this.add(name, 'terminal', from, from.own), agentId);
  }

  /** Stores an invitation directly in the database, because this test does not check who may send one. */
  async invitation(name: string, from: Link): Promise<void> {
    const { owner_uid: ownerUid, lineage } = await this.principalOf(from);
    await this.fixture.arrive(name);
    const createdAt = this.fixture.now;
    const invitation = {
      id: this.fixture.id(name),
      workspace: this.here,
      email: this.fixture.email(name),
      role: 'viewer' as const,
      invited_by: ownerUid,
      created_at: createdAt,
      expires_at: new Date(createdAt.getTime() + 86_400_000),
      ...(lineage && { lineage }),
    };
    await this.fixture.app.kernel.store.commit([{ kind: 'invite', invitation }]);
    this.add(name, 'invitation', from, from.own);
  }

  async setRole(link: Link, role: Choice['role'] | 'none'): Promise<void> {
    const uid = this.fixture.id(link.name);
    await this.fixture.app.kernel.store.commit([{ kind: 'setPerson', uid, role }]);
    await this.fixture.app.services.mirrorPerson(uid);
    if (role === 'none') link.isRevoked = true;
    else link.own = { ...link.own, role };
  }

  /** Revokes a link. From the response, returns the names of the agents below the link. */
  async revoke(link: Link): Promise<readonly string[] | undefined> {
    if (link.kind === 'person') {
      await this.setRole(link, 'none');
      return undefined;
    }
    const agentId = this.agentIds.get(link) ?? assert.fail(`${link.name} is not an agent`);
    const ended = await this.fixture.app.services.revocation.revoke(agentId);
    link.isRevoked = true;
    return ended.agents.map(({ name }) => name);
  }

  /** Advances the clock by the maximum age of a cached credential. */
  pass(): void {
    this.fixture.pass(TRUSTED_SECONDS);
  }

  /** Uses each credential, so that the instance caches it, and opens a stream for each link that may have one. */
  async open(): Promise<void> {
    await this.compare('before');
    const able = this.credentials().filter((link) => may(link, { toolset: 'firebase', min: 'viewer', writes: true }));
    this.streams = await Promise.all(able.map((link) => this.follow(link)));
  }

  /** Asserts that each link's identity and its access to tools and both databases match the model. */
  async compare(when: string): Promise<void> {
    await Promise.all([
      ...this.credentials().map((link) => this.compareCredential(link, when)),
      ...this.of('person').map((link) => this.comparePerson(link, when)),
    ]);
  }

  /** Writes a message, and asserts that the streams that receive it match the model. */
  async compareStreams(): Promise<void> {
    await (await realtimeDatabase()).ref(`${this.place}/second`).set({ text: 'after' });
    const isHeard = ({ link, rights }: Followed) => isDeepStrictEqual(rightsOf(link), rights);
    await eventually('all permitted streams receive the message', async () => {
      const missing = this.streams.filter((one) => isHeard(one) && !one.output().includes('after'));
      return missing.length === 0 || undefined;
    });
    const isOut = ({ link }: Followed) => !may(link, { toolset: 'firebase', min: 'viewer', writes: false });
    const reported = this.streams.filter((one) => isOut(one) && one.output().includes('after'));
    const names = reported.map(({ link }) => link.name);
    assert.deepEqual(names, [], 'streams of revoked links receive nothing');
  }

  /** Signs in the invited people, and asserts that exactly the valid invitations make them members. */
  async compareInvitations(): Promise<void> {
    for (const link of this.of('invitation')) {
      const { services } = this.fixture.anotherInstance();
      const accept = services.access.inviting.accept(await this.fixture.person(link.name), this.here, unkeyed);
      await accept.catch(() => undefined);
      const isIn = (await this.fixture.roleOf(link.name, this.here)) !== undefined;
      assert.equal(isIn, this.isOpen(link), `${link.name} is a member`);
    }
  }

  /** Whether an invitation is valid, which means that its sender could still send it. */
  private isOpen({ from }: Link): boolean {
    const rights = from && rightsOf(from);
    const administers = rights?.toolsets?.includes('access') ?? true;
    return rights?.role === 'leader' && rights.heldTo !== 'elsewhere' && !rights.readonly && administers;
  }

  private personOf(link: Link | undefined): Link | undefined {
    return link?.from === undefined ? link : this.personOf(link.from);
  }

  private async compareCredential(link: Link, when: string): Promise<void> {
    const about = `${link.name} ${when}`;
    const rights = rightsOf(link);
    // If a person has no role, the person's credentials remain valid but give no rights.
    const isKnown = rights !== undefined || this.isOnlyItsPersons(link);
    const principal = await this.authenticated(link);
    assert.equal(principal !== undefined, isKnown, `${about} is ${isKnown ? 'valid' : 'revoked'}`);
    if (principal !== undefined && rights !== undefined) {
      const { maxRole, owner, toolsets: opened, held_to: heldTo, readonly = false } = principal;
      const role = weakest([maxRole, owner.role].flatMap((one) => (one && one !== 'admin' ? one : [])));
      assert.deepEqual(
        { role, toolsets: opened && [...opened].sort(), heldTo, readonly },
        {
          role: rights.role,
          toolsets: rights.toolsets && [...rights.toolsets].sort(),
          heldTo: rights.heldTo && this.heldTo(rights.heldTo),
          readonly: rights.readonly,
        },
        `rights of ${about}`,
      );
    }
    const reads = may(link, { toolset: 'firebase', min: 'viewer', writes: false });
    const writes = may(link, { toolset: 'firebase', min: 'worker', writes: true });
    for (const database of ['firestore', 'realtime']) {
      const path = `${this.place}/first`;
      assert.equal(await this.isLet(link, 'firebase.read', { database, path }), reads, `${about} reads ${database}`);
      const own = { database, path: `${this.place}/of-${link.name}`, operation: 'set', data: { text: when } };
      assert.equal(await this.isLet(link, 'firebase.write', own), writes, `${about} writes ${database}`);
    }
    for (const terminal of this.of('terminal').filter(({ from }) => from === link)) {
      const args = { agent_id: this.agentIds.get(terminal) ?? '', role: 'worker' };
      const acts = await this.isLet(link, 'coordination.register_agent', args);
      assert.equal(acts, may(link, ACTS), `${about} acts as ${terminal.name}`);
    }
  }

  private isOnlyItsPersons(link: Link): boolean {
    const person = this.personOf(link);
    if (person === undefined || !person.isRevoked) return false;
    person.isRevoked = false;
    const rights = rightsOf(link);
    person.isRevoked = true;
    return rights !== undefined;
  }

  /** Asserts that the access of a person to both databases, with an ID token and without tools, matches the model. */
  private async comparePerson(link: Link, when: string): Promise<void> {
    const token = this.bearers.get(link) ?? assert.fail('no person has signed in');
    for (const database of ['firestore', 'realtime'] as const)
      assert.equal(
        await mayRead(token, database, `${this.place}/first`),
        rightsOf(link) !== undefined,
        `${link.name} ${when} reads ${database}`,
      );
  }

  private async authenticated(link: Link): Promise<Principal | undefined> {
    assert.ok(this.instance);
    return this.instance.services.authenticator.authenticate(this.bearerOf(link)).catch(() => undefined);
  }

  private async isLet(link: Link, method: string, params: JsonObject): Promise<boolean> {
    const response = await fetch(this.url('/rpc', {}), {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${this.bearerOf(link)}` },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    });
    const parsed = reply.parse(await response.json());
    if (!('error' in parsed)) return true;
    const { message, data } = parsed.error;
    const output = `${method} by ${link.name}: ${message}`;
    assert.match(data?.reason ?? message, REFUSED, output);
    return false;
  }

  private async follow(link: Link): Promise<Followed> {
    const subscriptionId = `of-${this.fixture.id(link.name)}`;
    const watched = { subscriptionId, database: 'realtime', path: this.place, eventType: 'child_added' };
    assert.ok(await this.isLet(link, 'firebase.subscribe', watched), `${link.name} subscribes`);
    const ending = new AbortController();
    const headers = { authorization: `Bearer ${this.bearerOf(link)}`, accept: 'text/event-stream' };
    const response = await fetch(this.url('/events', { subscriptionId }), { headers, signal: ending.signal });
    assert.equal(response.status, 200);
    let output = '';
    const read = async () => {
      assert.ok(response.body);
      for await (const text of response.body.pipeThrough(new TextDecoderStream())) output += text;
    };
    void read().catch(() => undefined);
    return { link, rights: rightsOf(link), output: () => output, close: () => ending.abort() };
  }

  private url(path: string, query: Readonly<Record<string, string>>): string {
    assert.ok(this.endpoint);
    return `${this.endpoint.url}/mcp${path}?${new URLSearchParams({ workspace: this.here, ...query })}`;
  }

  private async principalOf(link: Link): Promise<Principal> {
    return link.kind === 'person' ? this.fixture.person(link.name) : this.fixture.signIn(this.bearerOf(link));
  }

  private bearerOf(link: Link): string {
    return this.bearers.get(link) ?? assert.fail(`${link.name} has no credential`);
  }

  private limitsOf({ toolsets: only, heldTo, readonly }: Choice): WantedLimits {
    return { ...(only && { toolsets: only }), ...(heldTo && { held_to: this.heldTo(heldTo) }), readonly };
  }

  private heldTo(held: NonNullable<Choice['heldTo']>): string {
    return held === 'here' ? this.here : this.elsewhere;
  }

  private credentials(): readonly Link[] {
    return [...this.of('app'), ...this.of('key')];
  }

  private of(kind: Link['kind']): readonly Link[] {
    return this.links.filter((link) => link.kind === kind);
  }

  private add(name: string, kind: Link['kind'], from: Link | undefined, own: Choice): Link {
    const link: Link = { name, kind, from, own, isRevoked: false };
    this.links.push(link);
    return link;
  }
}

/** Pattern of errors by which the permission check, the authentication or a database denies access. */
const REFUSED =
  /^(NO_ROLE|ROLE_TOO_WEAK|READ_ONLY|PERMISSION_DENIED|TOOLSET_NOT_ALLOWED|Your credential does not include|Invalid or revoked credential)/;
