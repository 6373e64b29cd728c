/**
 * How a bearer credential becomes a principal: an agent's key, whose secret is compared by its hash, or the ID token of
 * a person. Source: docs/semantics.md#who-may-do-what.
 */
import { MusterError } from '../../kernel/errors.ts';
import { Service } from '../../kernel/ports.ts';
import { type Agent, principalOf } from './agent.ts';
import { Attempts } from './attempts.ts';
import { accessBy, type Presented, presentedIn } from './grant.ts';
import type { Invitations } from './invitations.ts';
import type { Limits } from './limits.ts';
import type { AgentLiveness } from './liveness.ts';
import type { AccessPorts, Principal } from './principal.ts';
import type { RateLimit } from './rateLimiter.ts';
import { type Checked, TrustedCredentials } from './trust.ts';

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
  private readonly trusted = new TrustedCredentials(this.ports);
  private readonly attempts = new Attempts(ATTEMPTS, TOO_MANY_ATTEMPTS);

  /**
   * @param bearer the credential of the `Authorization` header, without `Bearer `
   * @param address whose failures are counted; absent where the credential was good before
   * @throws MusterError UNAUTHORIZED or TOKEN_EXPIRED; RATE_LIMITED where too many from the address were
   */
  async authenticate(bearer: string, address?: string): Promise<Principal> {
    const digest = this.ports.hashing.sha256(bearer);
    return (await this.trusted.find(digest)) ?? this.look(bearer, digest, address);
  }

  /** The same of a credential that was good, as it is now: what it was given a moment ago counts at once. */
  authenticateAnew(bearer: string): Promise<Principal> {
    return this.look(bearer, this.ports.hashing.sha256(bearer), undefined);
  }

  private async look(bearer: string, digest: string, address: string | undefined): Promise<Principal> {
    // One that was good before is no guess, even where somebody else guesses from the same address.
    const isGuess = !this.trusted.knows(digest) && address !== undefined;
    const forgive = isGuess ? this.attempts.count(address, this.now()) : () => undefined;
    const begun = this.trusted.begin();
    try {
      const checked = await this.check(bearer, begun.at);
      this.trusted.keep(digest, checked, begun);
      forgive();
      return checked.principal;
    } catch (error) {
      if (isRefused(error)) this.trusted.forget(digest);
      else forgive();
      throw error;
    }
  }

  private async check(bearer: string, now: number): Promise<Checked> {
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
    const { expiresAt: endsAt, grant: grantId } = credential;
    if (grantId === undefined) return this.checked(agent, credential, { endsAt, key: apiKey });
    const grantEndsAt = await this.endOf(grantId, now);
    if (grantEndsAt === undefined) throw notAccepted();
    const ends = { endsAt: earlier(endsAt, grantEndsAt), key: apiKey };
    return this.checked(agent, credential, ends, { id: grantId });
  }

  /** An app that somebody has signed in from. */
  private async checkApp({ grantId, secret }: Presented, now: number): Promise<Checked> {
    const { agents, grants, hashing } = this.ports;
    const found = await grants.find(grantId);
    if (found === undefined) throw notAccepted();
    const { value: grant } = found;
    const access = accessBy(hashing, grant, secret, new Date(now));
    if (access === 'unknown') throw notAccepted();
    if (access === 'expired') throw expiredAccess();
    const known = await agents.find(grant.agentId);
    if (known === undefined) throw notAccepted();
    // Whichever of its tokens this is, it is good until the first of them ends.
    const ends = grant.accessTokens.map(({ expiresAt }) => expiresAt).filter((end) => end.getTime() > now);
    const endsAt = ends.reduce(earlier, grant.expiresAt);
    return this.checked(known.value, grant, { endsAt }, { id: grantId, resource: grant.resource });
  }

  /** When an app ends, where it may still call: what it has registered ends with it. */
  private async endOf(grantId: string, now: number): Promise<Date | undefined> {
    const grant = await this.ports.grants.find(grantId);
    return grant !== undefined && grant.value.expiresAt.getTime() > now ? grant.value.expiresAt : undefined;
  }

  private async checked(
    agent: Agent,
    limits: Limits,
    { endsAt, key }: { readonly endsAt: Date; readonly key?: string },
    grant?: Principal['grant'],
  ): Promise<Checked> {
    const { isClaimed, ...owner } = await this.ports.roles.of(agent.ownerUid);
    if (agent.status === 'offline') await this.ports.liveness.revive(agent.id);
    return {
      principal: principalOf(agent, owner, limits, grant),
      subjects: [
        `agent:${agent.id}`,
        `person:${agent.ownerUid}`,
        ...(key === undefined ? [] : [`key:${key}` as const]),
        ...(grant === undefined ? [] : [`grant:${grant.id}` as const]),
      ],
      // Of a change of the account itself nobody hears.
      ...(!isClaimed && { endsAt }),
    };
  }

  private async checkPerson(idToken: string): Promise<Checked> {
    const { uid, role, email } = await this.ports.idTokens.verify(idToken);
    if (email !== undefined) await this.ports.invitations.takeAtSignIn(uid, email);
    const { isClaimed: _, ...owner } = await this.ports.roles.of(uid, async () => role);
    const verified = email === undefined ? {} : { email };
    return {
      principal: { uid, kind: 'person', ownerUid: uid, maxRole: 'admin', owner, ...verified },
      subjects: [],
    };
  }

  private now(): number {
    return this.ports.clock.now().getTime();
  }
}

function earlier(one: Date, other: Date): Date {
  return one < other ? one : other;
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
