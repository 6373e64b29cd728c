/** Token endpoint: exchanges codes and refresh tokens. Source: OAuth 2.1, section 3.2; RFC 7009; RFC 9700. */
import type { AccessPorts } from '../../access/rules/ports.ts';
import {
  endingOf,
  type Grant,
  isTokenOf,
  parseToken,
  redemptionOf,
  refreshOf,
  type SignInEnd,
  type Tokens,
} from '../../identity/rules/grant.ts';
import { DEFAULT_WORKSPACE, EVERY_SCOPE, ownRole, type Principal, SCOPES } from '../../identity/rules/principal.ts';
import type { Versioned } from '../../kernel/commit.ts';
import { ignoreStale, retryOnConflict } from '../../kernel/concurrency.ts';
import { Service } from '../../kernel/ports.ts';
import { addressOf } from './authorization.ts';
import { OAuthError } from './oauthError.ts';

export interface IssuedTokens extends Tokens {
  readonly scope: string;
}

type TokenPorts = Pick<
  AccessPorts,
  'grants' | 'store' | 'clock' | 'randomness' | 'hashing' | 'log' | 'roles' | 'idTokens'
>;

type ExchangedKind = 'code' | 'refresh';

/** Invalid codes and tokens all have the same message, so that guesses reveal nothing. */
const INVALID_GRANT_MESSAGE = 'It is unknown, expired, already used, or issued to another client.';

export class TokenService extends Service<TokenPorts> {
  /** Exchanges a code for tokens. `redirectUri` and `resource`, if given, must fit the request. @throws OAuthError */
  redeem(
    code: string,
    asked: {
      readonly clientId: string;
      readonly verifier: string;
      readonly redirectUri: string | undefined;
      readonly resource: string | undefined;
    },
  ): Promise<IssuedTokens> {
    const { store, clock, randomness, hashing } = this.ports;
    return this.exchange('code', code, asked.clientId, async ({ value: grant, version }, secret) => {
      const presented = { secret, verifier: asked.verifier, fresh: randomness.secret(32) };
      const redemption = redemptionOf(hashing, grant, presented, clock.now());
      if (redemption.outcome === 'replayed') await this.endStolen(grant, 'code_replayed');
      if (redemption.outcome !== 'redeemed') throw invalidGrant('code');
      if (asked.redirectUri !== undefined && asked.redirectUri !== grant.code.redirect_uri)
        throw new OAuthError('invalid_grant', 'redirect_uri does not match the authorization request.');
      requireResource(grant, asked.resource);
      await store.commit([{ kind: 'replaceGrant', grant: redemption.grant, version }]);
      this.audit('app_connected', grant);
      return redemption.tokens;
    });
  }

  /** Exchanges a refresh token for tokens. @throws OAuthError */
  refresh(
    token: string,
    asked: { readonly clientId: string; readonly resource: string | undefined },
  ): Promise<IssuedTokens> {
    const { store, clock, hashing } = this.ports;
    return this.exchange('refresh', token, asked.clientId, async ({ value: grant, version }, secret) => {
      const refresh = refreshOf(hashing, grant, secret, clock.now());
      if (refresh.outcome === 'reused') await this.endStolen(grant, 'refresh_token_reused');
      if (refresh.outcome === 'reused' || refresh.outcome === 'refused') throw invalidGrant('refresh');
      requireResource(grant, asked.resource);
      await this.requireOwner(grant);
      if (refresh.outcome === 'rotated') await store.commit([{ kind: 'replaceGrant', grant: refresh.grant, version }]);
      return refresh.tokens;
    });
  }

  /** Exchanges a code or refresh token of a client, again after a conflict. @throws OAuthError */
  private exchange(
    kind: ExchangedKind,
    token: string,
    clientId: string,
    tokensOf: (found: Versioned<Grant>, secret: string) => Promise<Tokens>,
  ): Promise<IssuedTokens> {
    const presented = parseToken(kind, token);
    if (presented === undefined) throw invalidGrant(kind);
    return retryOnConflict(this.ports.randomness, async () => {
      const found = await this.ports.grants.find(presented.grantId);
      if (found?.value.client_id !== clientId) throw invalidGrant(kind);
      const tokens = await tokensOf(found, presented.secret);
      return { ...tokens, scope: found.value.readonly ? SCOPES.read : EVERY_SCOPE };
    });
  }

  /** Ends the grant of a token, unless the grant belongs to another client. @returns whether a grant was ended */
  async revoke(token: string, clientId: string | undefined): Promise<boolean> {
    const kinds = ['refresh', 'access'] as const;
    const kind = kinds.find((one) => parseToken(one, token) !== undefined);
    const presented = kind && parseToken(kind, token);
    if (kind === undefined || presented === undefined) return false;
    const grant = (await this.ports.grants.find(presented.grantId))?.value;
    if (grant === undefined || (clientId !== undefined && grant.client_id !== clientId)) return false;
    if (!isTokenOf(this.ports.hashing, grant, kind, presented.secret)) return false;
    await this.end(grant, 'disconnected');
    this.audit('app_disconnected', grant);
    return true;
  }

  /** Ends the grant if its owner's account is disabled or has no role. @throws OAuthError invalid_grant if ended */
  private async requireOwner(grant: Grant): Promise<void> {
    const { roles, idTokens } = this.ports;
    const [isGood, owner] = await Promise.all([idTokens.isValid(grant.owner_uid), roles.of(grant.owner_uid)]);
    if (isGood && ownRole(personOf(grant.owner_uid, owner)) !== undefined) return;
    await this.end(grant, 'owner_lost_role');
    this.audit('app_lost_its_person', grant);
    throw new OAuthError('invalid_grant', 'The person who signed in no longer has a role in this deployment.');
  }

  private async endStolen(grant: Grant, reason: 'code_replayed' | 'refresh_token_reused'): Promise<void> {
    await this.end(grant, reason);
    this.ports.log.warn(reason, namesOf(grant));
  }

  private async end(grant: Grant, reason: SignInEnd): Promise<void> {
    const { store, clock } = this.ports;
    // A stale commit means that another request has ended the grant already.
    await ignoreStale(store.commit([endingOf(grant, reason, clock.now())]));
  }

  private audit(event: string, grant: Grant): void {
    this.ports.log.info(event, namesOf(grant));
  }
}

/** Fields for the log. The grant's id is omitted, because it is a part of the grant's tokens. */
function namesOf({ owner_uid: owner, agent_id, client_id }: Grant) {
  return { owner, agentId: agent_id, clientId: client_id };
}

/** Returns the principal of a person who calls without an agent. */
export function personOf(uid: string, owner: Principal['owner']): Principal {
  return { uid, kind: 'person', owner_uid: uid, maxRole: 'admin', owner, workspace: DEFAULT_WORKSPACE };
}

/** A client may request a resource below the granted resource. Source: RFC 8707, section 2.2. */
function requireResource(grant: Grant, resource: string | undefined): void {
  if (resource === undefined) return;
  const plain = addressOf(resource);
  const { origin } = new URL(grant.resource);
  if (plain === grant.resource || plain.startsWith(`${grant.resource}/`) || plain === origin) return;
  throw new OAuthError('invalid_target', `The tokens are only valid for ${grant.resource}.`);
}

function invalidGrant(kind: ExchangedKind): OAuthError {
  const what = kind === 'code' ? 'The code' : 'The refresh token';
  return new OAuthError('invalid_grant', `${what} is invalid. ${INVALID_GRANT_MESSAGE}`);
}
