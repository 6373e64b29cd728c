/**
 * Authentication: converts credentials, access tokens and ID tokens to principals. It runs for each call, and again
 * after a wait for approval. Source: docs/semantics.md#permissions; docs/decisions/0033-asking-people.md.
 */
import { type Agent, principalOf } from '../../agents/rules/agent.ts';
import type { AgentLiveness } from '../../agents/rules/liveness.ts';
import { invalidCredential, type Limits, type Link, type LinkSubject } from '../../identity/rules/credential.ts';
import { accessTokenStatus, type PresentedToken, parseToken } from '../../identity/rules/grant.ts';
import {
  accessOfGrant,
  ancestorsOf,
  commonLimits,
  type GrantedAccess,
  grantLink,
  keyLink,
  lineageOf,
  resolveLineage,
} from '../../identity/rules/lineage.ts';
import type { Principal } from '../../identity/rules/principal.ts';
import { MusterError } from '../../kernel/errors.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { BoundedMap } from '../../kernel/memoCache.ts';
import { Service } from '../../kernel/ports.ts';
import { Attempts } from '../../limits/rules/attempts.ts';
import type { RateLimit } from '../../limits/rules/rateLimiter.ts';
import { CACHE_TTL_MS, type CheckedCredential, CredentialCache } from './credentialCache.ts';
import type { Invitations } from './invitations.ts';
import { permissionError, type RequiredPermission, requirePermission } from './permissionCheck.ts';
import type { AccessPorts } from './ports.ts';

const AGENT_CREDENTIAL = /^(mk_[a-z2-7]{20})\.([A-Za-z0-9_-]{20,100})$/;

/**
 * Limit of invalid credentials from one address at one instance, because each lookup may cost a database read. Above
 * the limit, lookups wait in a queue, so that an attacker causes little cost and a valid credential from the same
 * address still works. `burst` is larger than the number of requests that an instance serves at the same time.
 */
const ATTEMPTS: RateLimit = { perSecond: 5, burst: 100 };

const TOO_MANY_ATTEMPTS = {
  message: 'Too many invalid credentials from your IP address.',
  reason: 'TOO_MANY_ATTEMPTS',
  suggestion: 'Check your credential, then retry',
};

/** Maximum number of refused credentials that an instance caches. They expire like valid credentials. */
const MAX_REJECTED_CACHED = 1000;

interface OwnCredential {
  readonly opens: GrantedAccess;
  readonly link: Link;
  readonly ancestors: readonly LinkSubject[];
}

/** A credential whose secret has been checked. */
interface Presentation extends OwnCredential {
  /** Public part of an agent's credential. */
  readonly key?: string;
  readonly grant: Principal['grant'];
}

export class CredentialAuthenticator extends Service<
  AccessPorts & {
    readonly liveness: Pick<AgentLiveness, 'markOnline'>;
    readonly invitations: Pick<Invitations, 'acceptAtSignIn'>;
  }
> {
  private readonly cache = new CredentialCache(this.ports);
  private readonly attempts = new Attempts(ATTEMPTS, TOO_MANY_ATTEMPTS);
  /** Time at which each credential was refused, by digest of the credential. */
  private readonly rejected = new BoundedMap<string, number>(MAX_REJECTED_CACHED);

  /**
   * Returns the principal of a credential. A fresh cache entry saves the lookup.
   * @param bearer the header `Authorization` without `Bearer `
   * @param address address of the client, against which a failure counts; absent if the credential was valid before
   * @throws MusterError UNAUTHORIZED or TOKEN_EXPIRED; RATE_LIMITED if the address sent too many invalid credentials
   */
  async authenticate(bearer: string, address?: string): Promise<Principal> {
    const digest = this.ports.hashing.sha256(bearer);
    return (await this.cache.find(digest)) ?? this.lookUpOnce(bearer, digest, address);
  }

  /** Like `authenticate`, but without the cache, so that roles granted a moment ago count. */
  reauthenticate(bearer: string): Promise<Principal> {
    return this.lookUpOnce(bearer, this.ports.hashing.sha256(bearer), undefined);
  }

  private async lookUpOnce(bearer: string, digest: string, address: string | undefined): Promise<Principal> {
    // The limit of the address does not apply to a credential that was valid before, because it was not guessed.
    if (this.cache.has(digest) || address === undefined) return this.lookUp(bearer, digest);
    const now = this.now();
    const { rejection, check, forgive } = this.attempts.attempt(address, now);
    const refusedAt = this.rejected.get(digest) ?? Number.NEGATIVE_INFINITY;
    if (rejection !== undefined && now - refusedAt < CACHE_TTL_MS) throw rejection;
    try {
      const principal = await check(() => this.lookUp(bearer, digest));
      forgive();
      return principal;
    } catch (error) {
      if (!isRefused(error)) forgive();
      // An app gets TOKEN_EXPIRED even above the limit, because this error makes the app refresh its token.
      if (!isInvalidCredential(error)) throw error;
      this.rejected.set(digest, this.now());
      throw rejection ?? error;
    }
  }

  private async lookUp(bearer: string, digest: string): Promise<Principal> {
    const lookup = this.cache.begin();
    try {
      const checked = await this.check(bearer, lookup.at);
      this.cache.put(digest, checked, lookup);
      return checked.principal;
    } catch (error) {
      if (isRefused(error)) this.cache.evict(digest);
      throw error;
    }
  }

  private async check(bearer: string, now: number): Promise<CheckedCredential> {
    const [, apiKey, secret] = AGENT_CREDENTIAL.exec(bearer) ?? [];
    if (apiKey === undefined || secret === undefined) {
      const presented = parseToken('access', bearer);
      return presented ? this.checkApp(presented, now) : this.checkPerson(bearer);
    }
    const { agents, hashing } = this.ports;
    const found = await agents.findWithAgent(apiKey);
    const known = hashing.equal(hashing.sha256(secret), found?.credential.secret_hash ?? hashing.sha256(''));
    if (found === undefined || !known) throw invalidCredential();
    const { agent, credential } = found;
    if (credential.expires_at.getTime() <= now) throw expiredKey();
    const { grant } = credential;
    return this.checked(agent, {
      opens: accessOfGrant(credential, agent.role),
      ancestors: ancestorsOf(credential),
      link: keyLink(credential),
      key: apiKey,
      grant: grant === undefined ? undefined : { id: grant },
    });
  }

  private async checkApp({ grantId, secret }: PresentedToken, now: number): Promise<CheckedCredential> {
    const { agents, grants, hashing } = this.ports;
    const found = await grants.find(grantId);
    if (found === undefined) throw invalidCredential();
    const { value: grant } = found;
    const access = accessTokenStatus(hashing, grant, secret, new Date(now));
    if (access === 'unknown') throw invalidCredential();
    if (access === 'expired') throw expiredAccess();
    const known = await agents.find(grant.agent_id);
    if (known === undefined) throw invalidCredential();
    // The cache entry is valid for all access tokens of the grant, so it expires as soon as one of them does.
    const ends = grant.access_tokens.map(({ expires_at }) => expires_at).filter((end) => end.getTime() > now);
    const endsAt = ends.reduce((first, end) => (end < first ? end : first), grant.expires_at);
    return this.checked(known.value, {
      opens: { ...accessOfGrant(grant, known.value.role), endsAt },
      ancestors: [],
      link: grantLink(grant),
      grant: { id: grantId, resource: grant.resource },
    });
  }

  /** @throws MusterError UNAUTHORIZED if a credential of the chain was revoked or the owner's account is disabled */
  private async checked(
    agent: Agent,
    { opens: own, ancestors, link, key, grant }: Presentation,
  ): Promise<CheckedCredential> {
    const [opened, { isClaimed, isOut, validSince: _, ...owner }] = await Promise.all([
      resolveLineage(this.ports, own, ancestors, this.ports.clock.now()),
      this.ports.roles.of(agent.owner_uid),
    ]);
    if (opened === undefined || isOut) throw invalidCredential();
    if (agent.status === 'offline') await this.ports.liveness.markOnline(agent.id);
    const lineage = lineageOf(opened, link);
    return {
      principal: principalOf(agent, owner, opened.opens, { grant, lineage }),
      // The cached entry is evicted if any credential or agent of the chain changes.
      subjects: [
        `person:${agent.owner_uid}`,
        ...(key === undefined ? [] : [`key:${key}` as const]),
        ...lineage.flatMap(({ subject, agent_id }) => [subject, `agent:${agent_id}` as const]),
      ],
      // Firebase Auth does not announce account changes, so a role from a token's claim is trusted only briefly.
      ...(!isClaimed && { endsAt: opened.opens.endsAt }),
    };
  }

  private async checkPerson(idToken: string): Promise<CheckedCredential> {
    const { uid, role, email, signedInAt } = await this.ports.idTokens.verify(idToken);
    if (email !== undefined) await this.ports.invitations.acceptAtSignIn(uid, email);
    const { isClaimed: _, validSince = 0, ...owner } = await this.ports.roles.of(uid, async () => role);
    if (signedInAt < validSince) throw invalidCredential();
    const verified = email === undefined ? {} : { email };
    return { principal: { uid, kind: 'person', owner_uid: uid, maxRole: 'admin', owner, ...verified }, subjects: [] };
  }

  private now(): number {
    return this.ports.clock.now().getTime();
  }
}

function isRefused(error: unknown): boolean {
  return isInvalidCredential(error) || (error instanceof MusterError && error.code === 'TOKEN_EXPIRED');
}

function isInvalidCredential(error: unknown): boolean {
  return error instanceof MusterError && error.code === 'UNAUTHORIZED';
}

function expiredAccess(): MusterError {
  return new MusterError('TOKEN_EXPIRED', 'The access token has expired.', {
    suggestion: 'Access tokens last one hour. Get a new one with the refresh token.',
  });
}

/** Returns the error for an expired credential. A new registration replaces the credential and keeps the agent. */
function expiredKey(): MusterError {
  return new MusterError('TOKEN_EXPIRED', 'The credential has expired.', {
    suggestion:
      'Ask the person or agent that registered it to call onboarding.registerAgent with the same name, or the operator to run "npm run agents -- create --name <name>".',
  });
}

/** Caller of a call that waits for approval, as stored: its identity and the limits of its credential. */
export interface StoredCaller {
  readonly uid: string;
  readonly agentId?: string | undefined;
  readonly ownerUid: string;
  readonly limits: Limits;
  /** Id of the grant of a connected app; absent for other callers. */
  readonly grant?: string | undefined;
  /** Credential chain of the call; absent if a person made the call. */
  readonly lineage?: readonly Link[] | undefined;
}

/** A call that a person, or an agent in a person's place, has approved. */
export interface ApprovedCall {
  /** Id of the approval request. Under this id, the call runs at most once. */
  readonly id: string;
  readonly caller: StoredCaller;
  readonly workspace: string;
  /** Full name of the tool, such as `coordination.create_task`. */
  readonly tool: string;
  readonly input: JsonObject;
  /** Uid of the person who approved the call; undefined if an agent approved it in a person's place. */
  readonly approvedBy?: string | undefined;
  /** Limits that the call loosens, as shown to the person; set only if loosening them required the approval. */
  readonly shown?: readonly string[] | undefined;
}

type CurrentPrincipalPorts = Pick<AccessPorts, 'agents' | 'grants' | 'roles' | 'idTokens' | 'clock'>;

/**
 * Returns the current principal of a stored caller, with the limits of its credential at the time of the call.
 * @throws MusterError FORBIDDEN if the credential no longer allows the call
 */
export async function currentPrincipal(
  ports: CurrentPrincipalPorts,
  caller: StoredCaller,
  workspace: string,
  need: RequiredPermission,
): Promise<Principal> {
  const principals =
    caller.agentId === undefined ? await asPerson(ports, caller) : await asAgent(ports, caller, caller.agentId);
  const able = principals.find((one) => permissionError(one, workspace, need) === undefined) ?? principals[0];
  if (able === undefined) throw revokedError();
  requirePermission(able, workspace, need);
  const limits = commonLimits(caller.limits, able);
  if (limits === undefined) throw revokedError();
  const principal: Principal = { ...able, ...limits };
  requirePermission(principal, workspace, need);
  return principal;
}

async function asPerson(
  { idTokens, roles }: CurrentPrincipalPorts,
  { uid }: StoredCaller,
): Promise<readonly Principal[]> {
  if (!(await idTokens.isValid(uid))) return [];
  return [{ uid, kind: 'person', owner_uid: uid, maxRole: 'admin', owner: await roles.of(uid) }];
}

/** Returns an agent's principals for the credential of its call; an empty list if the credential is invalid. */
async function asAgent(
  ports: CurrentPrincipalPorts,
  { ownerUid, grant: id, lineage }: StoredCaller,
  agentId: string,
): Promise<readonly Principal[]> {
  const { agents, grants, roles, clock } = ports;
  const [known, credentials, grant] = await Promise.all([
    agents.find(agentId),
    agents.credentials(agentId),
    id === undefined ? undefined : grants.find(id),
  ]);
  if (known === undefined || known.value.owner_uid !== ownerUid) return [];
  const agent = known.value;
  const own: readonly OwnCredential[] = [
    ...(grant?.value.agent_id === agentId
      ? [{ opens: accessOfGrant(grant.value, agent.role), link: grantLink(grant.value), ancestors: [] }]
      : []),
    ...credentials
      .filter((one) => one.grant === id)
      .map((one) => ({ opens: accessOfGrant(one, agent.role), link: keyLink(one), ancestors: ancestorsOf(one) })),
  ];
  const now = clock.now();
  const remembered = lineage?.at(-1)?.subject;
  const good = own.filter(({ opens, link }) => opens.endsAt > now && link.subject === remembered);
  const owner = await roles.of(ownerUid);
  const of = id === undefined ? undefined : { id };
  const principals = await Promise.all(
    good.map(async ({ opens, link, ancestors }) => {
      const opened = await resolveLineage(ports, opens, ancestors, now);
      if (opened === undefined) return [];
      return principalOf(agent, owner, opened.opens, { grant: of, lineage: lineageOf(opened, link) });
    }),
  );
  return principals.flat();
}

function revokedError(): MusterError {
  return new MusterError('FORBIDDEN', 'The requester has lost access since making this request.', {
    reason: 'RIGHTS_GONE',
    suggestion: 'The agent, credential or account of the requester was removed. Retry with a valid credential.',
  });
}
