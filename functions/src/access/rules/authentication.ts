/**
 * How a bearer credential becomes a principal: an agent's key, whose secret is compared by its hash, or the ID token of
 * a person. Source: docs/semantics.md#who-may-do-what.
 */
import { MusterError } from '../../kernel/errors.ts';
import { BoundedMap } from '../../kernel/memoCache.ts';
import { Service } from '../../kernel/ports.ts';
import { type Agent, principalOf } from './agent.ts';
import { Attempts } from './attempts.ts';
import { accessBy, type Presented, presentedIn } from './grant.ts';
import type { Invitations } from './invitations.ts';
import type { Limits } from './limits.ts';
import type { AgentLiveness } from './liveness.ts';
import type { AccessPorts, Principal } from './principal.ts';
import type { RateLimit } from './rateLimiter.ts';

/**
 * How long an instance trusts a credential that it has checked: a revoked one stops working everywhere
 * within this time.
 */
const TRUSTED_MILLISECONDS = 5000;

const MAX_TRUSTED = 5000;

const AGENT_CREDENTIAL = /^(mk_[a-z2-7]{20})\.([A-Za-z0-9_-]{20,100})$/;

/**
 * How many credentials from one address an instance looks up that turn out to be none. Each look-up may cost a read of
 * the database, and an attacker who guesses needs many. More at once than an instance serves requests, so that good
 * newcomers alone never meet it.
 */
const ATTEMPTS: RateLimit = { perSecond: 5, burst: 100 };

const TOO_MANY_ATTEMPTS = {
  message: 'Too many credentials from your address were refused.',
  reason: 'TOO_MANY_ATTEMPTS',
  suggestion: 'Look whether yours is right, and call again',
};

export class CredentialAuthenticator extends Service<
  AccessPorts & {
    readonly liveness: Pick<AgentLiveness, 'revive'>;
    readonly invitations: Pick<Invitations, 'takeAtSignIn'>;
  }
> {
  /** Credentials that were good when they were last checked, the longest ago first. */
  private readonly trusted = new BoundedMap<string, { principal: Principal; until: number }>(MAX_TRUSTED);
  private readonly attempts = new Attempts(ATTEMPTS, TOO_MANY_ATTEMPTS);

  /**
   * @param bearer the credential of the `Authorization` header, without `Bearer `
   * @param address whose failures are counted; absent where the credential was good before
   * @throws MusterError UNAUTHORIZED or TOKEN_EXPIRED; RATE_LIMITED where too many from the address were
   */
  authenticate(bearer: string, address?: string): Promise<Principal> {
    return this.look(bearer, address, (trusted) => trusted.until > this.now());
  }

  /** The same of a credential that was good, as it is now: what it was given a moment ago counts at once. */
  authenticateAnew(bearer: string): Promise<Principal> {
    return this.look(bearer, undefined, () => false);
  }

  private async look(
    bearer: string,
    address: string | undefined,
    isGood: (trusted: { readonly until: number }) => boolean,
  ): Promise<Principal> {
    const digest = this.ports.hashing.sha256(bearer);
    const now = this.now();
    const trusted = this.trusted.get(digest);
    if (trusted !== undefined && isGood(trusted)) return trusted.principal;
    // One that was good before is no guess, even where somebody else guesses from the same address.
    const isGuess = trusted === undefined && address !== undefined;
    const forgive = isGuess ? this.attempts.count(address, this.now()) : () => undefined;
    try {
      const principal = await this.check(bearer, now);
      this.trusted.set(digest, { principal, until: now + TRUSTED_MILLISECONDS });
      forgive();
      return principal;
    } catch (error) {
      if (isRefused(error)) this.trusted.delete(digest);
      else forgive();
      throw error;
    }
  }

  private async check(bearer: string, now: number): Promise<Principal> {
    const [, apiKey, secret] = AGENT_CREDENTIAL.exec(bearer) ?? [];
    if (apiKey === undefined || secret === undefined) {
      const presented = presentedIn('access', bearer);
      return presented ? this.checkApp(presented, now) : this.checkPerson(bearer);
    }
    const { agents, hashing } = this.ports;
    const found = await agents.findWithAgent(apiKey);
    const known = hashing.equal(hashing.sha256(secret), found?.credential.secretHash ?? hashing.sha256(''));
    if (found === undefined || !known) throw notAccepted();
    const { agent, credential } = found;
    if (credential.expiresAt.getTime() <= now) throw expiredKey();
    if (credential.grant !== undefined && !(await this.stands(credential.grant, now))) throw notAccepted();
    const grant = credential.grant === undefined ? undefined : { id: credential.grant };
    return this.principalOf(agent, credential, grant);
  }

  /** An app that somebody has signed in from. */
  private async checkApp({ grantId, secret }: Presented, now: number): Promise<Principal> {
    const { agents, grants, hashing } = this.ports;
    const found = await grants.find(grantId);
    if (found === undefined) throw notAccepted();
    const { value: grant } = found;
    const access = accessBy(hashing, grant, secret, new Date(now));
    if (access === 'unknown') throw notAccepted();
    if (access === 'expired') throw expiredAccess();
    const known = await agents.find(grant.agentId);
    if (known === undefined) throw notAccepted();
    return this.principalOf(known.value, grant, { id: grantId, resource: grant.resource });
  }

  /** Whether an app may still call: what it has registered ends with it. */
  private async stands(grantId: string, now: number): Promise<boolean> {
    const grant = await this.ports.grants.find(grantId);
    return grant !== undefined && grant.value.expiresAt.getTime() > now;
  }

  private async principalOf(agent: Agent, limits: Limits, grant: Principal['grant']): Promise<Principal> {
    const owner = await this.ports.roles.of(agent.ownerUid);
    if (agent.status === 'offline') await this.ports.liveness.revive(agent.id);
    return principalOf(agent, owner, limits, grant);
  }

  private async checkPerson(idToken: string): Promise<Principal> {
    const { uid, role, email } = await this.ports.idTokens.verify(idToken);
    if (email !== undefined) await this.ports.invitations.takeAtSignIn(uid, email);
    const owner = await this.ports.roles.of(uid, async () => role);
    const verified = email === undefined ? {} : { email };
    return { uid, kind: 'person', ownerUid: uid, maxRole: 'admin', owner, ...verified };
  }

  private now(): number {
    return this.ports.clock.now().getTime();
  }
}

function isRefused(error: unknown): boolean {
  return error instanceof MusterError && (error.code === 'UNAUTHORIZED' || error.code === 'TOKEN_EXPIRED');
}

export function notAccepted(cause?: unknown): MusterError {
  return new MusterError('UNAUTHORIZED', 'The credential is not valid, or it was withdrawn.', {
    suggestion:
      'Use "<apiKey>.<secret>" of onboarding.registerAgent or of "npm run agents", or a Firebase ID token of this project.',
    cause,
  });
}

function expiredAccess(): MusterError {
  return new MusterError('TOKEN_EXPIRED', 'The access token has expired.', {
    suggestion: 'An access token is good for an hour: the app gets another with its refresh token.',
  });
}

/** Registering again replaces the credential and keeps the agent; who has no other way in asks the operator. */
function expiredKey(): MusterError {
  return new MusterError('TOKEN_EXPIRED', 'The credential has expired.', {
    suggestion:
      'Have whoever registered the agent call onboarding.registerAgent again with the same name, which makes a new one, or have the operator run "npm run agents -- create --name <the same name>".',
  });
}

/**
 * A person's ID token is over.
 * Source: https://firebase.google.com/docs/reference/rest/auth#section-refresh-token
 */
export function expired(cause?: unknown): MusterError {
  return new MusterError('TOKEN_EXPIRED', 'The credential has expired.', {
    suggestion:
      "An ID token is good for an hour: refresh it with its refresh token, as getIdToken() of Firebase's SDKs does, or sign in again.",
    cause,
  });
}
