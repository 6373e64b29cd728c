/** Consent of a person to the access of an app. Source: docs/decisions/0032-signing-in.md. */
import type { Invitations } from '../../access/rules/invitations.ts';
import type { AccessPorts } from '../../access/rules/ports.ts';
import { knownWorkspaces, ownRole, personsRoleIn, TOOLSETS } from '../../identity/rules/principal.ts';
import { hasRole, ROLES, weakerOf } from '../../identity/rules/role.ts';
import type { Store, Versioned } from '../../kernel/commit.ts';
import { retryOnConflict } from '../../kernel/concurrency.ts';
import { MusterError } from '../../kernel/errors.ts';
import { Service } from '../../kernel/ports.ts';
import type { Apps } from './apps.ts';
import { type Authorization, type AuthorizationRequest, DECISION_TTL_MS, redirectToClient } from './authorization.ts';
import { type Decision, type Offer, SignInError } from './choices.ts';
import { type Client, type Clients, type SignInChange, type SignInQueries, shownName } from './clients.ts';
import { OAuthError } from './oauthError.ts';
import { personOf } from './tokens.ts';

interface ConsentPorts extends AccessPorts {
  readonly store: Store<SignInChange>;
  readonly signIns: SignInQueries;
  readonly invitations: Pick<Invitations, 'accept'>;
  readonly clients: Pick<Clients, 'extendUsed'>;
  readonly apps: Pick<Apps, 'connect' | 'availableName'>;
}

/** Maximum age of a sign-in with Firebase at the time of consent, in seconds. */
const SIGNED_IN_SECONDS = 10 * 60;
const ID_LETTERS = 20;

export class Consent extends Service<ConsentPorts> {
  /** Starts a sign-in. @param browser secret of the browser in which all further steps must happen */
  async begin(
    client: Client,
    asked: AuthorizationRequest,
    { redirectUri, issuer }: { readonly redirectUri: string; readonly issuer: string },
    browser: string,
  ) {
    const { store, clock, randomness, hashing } = this.ports;
    const authorization: Authorization = {
      ...asked,
      id: randomness.letters(ID_LETTERS),
      browser_hash: hashing.sha256(browser),
      client_id: client.id,
      client_name: client.name,
      ...(client.host !== undefined && { client_host: client.host }),
      redirect_uri: redirectUri,
      issuer,
      expires_at: new Date(clock.now().getTime() + DECISION_TTL_MS),
    };
    await store.commit([{ kind: 'startAuthorization', authorization }]);
    return authorization;
  }

  /** @throws Hindered if the sign-in is unknown, has expired, or was started in another browser */
  async find(id: string, browser: string | undefined): Promise<Versioned<Authorization>> {
    const { signIns, clock, hashing } = this.ports;
    const found = await signIns.authorization(id);
    if (found === undefined || found.value.expires_at <= clock.now()) throw new SignInError('expired');
    if (!hashing.equal(found.value.browser_hash, hashing.sha256(browser ?? ''))) throw new SignInError('other_browser');
    return found;
  }

  /**
   * Stores who has signed in, accepts the person's pending invitations, and returns what the person may choose.
   * @param toolsetsAt returns the toolsets of the URL for which tokens are requested
   * @throws Hindered; MusterError FIREBASE_ERROR
   */
  async identify(
    id: string,
    browser: string | undefined,
    idToken: string,
    toolsetsAt: (resource: string) => readonly string[],
  ): Promise<Offer> {
    const { idTokens, roles, randomness, hashing, store } = this.ports;
    await this.find(id, browser);
    const { uid, role, email } = await idTokens.verifyRecent(idToken, SIGNED_IN_SECONDS).catch(signInAgain);
    if (email !== undefined) await this.ports.invitations.accept(uid, email, undefined, () => undefined);
    const owner = await roles.of(uid, async () => role);
    const own = ownRole(personOf(uid, owner));
    const profile = (await idTokens.profiles([uid])).get(uid) ?? {};
    if (own === undefined) throw new SignInError('no_role');
    const approval = randomness.secret(32);
    const authorization = await retryOnConflict(randomness, async () => {
      const { value, version } = await this.find(id, browser);
      const person = { uid, approval_hash: hashing.sha256(approval) };
      await store.commit([{ kind: 'replaceAuthorization', authorization: { ...value, person }, version }]);
      return value;
    });
    const address = profile.email ?? email;
    const name = profile.name ?? address?.split('@', 1)[0] ?? 'you';
    const shown = shownName(name);
    const there = toolsetsAt(authorization.resource);
    const toolsets = TOOLSETS.filter((one) => there.includes(one));
    const wished = `${authorization.client_name} (${shown.split(' ', 1)[0]})`;
    const agentName = await this.ports.apps.availableName(uid, shownName(wished), authorization);
    return {
      approval,
      person: { name: shown, ...(address !== undefined && { email: address }) },
      agentName,
      role: weakerOf(own, 'worker'),
      roles: ROLES.filter((one) => hasRole(own, one)),
      workspaces: knownWorkspaces(owner).flatMap(([one]) => (personsRoleIn(owner, one) ? [one] : [])),
      toolsets,
      proposed: proposedOf(toolsets),
      readonly: { value: authorization.is_readonly, fixed: authorization.is_readonly },
    };
  }

  /** Grants the app the chosen access, and returns the redirect URL with a code. @throws Hindered */
  async allow(
    { id, browser, approval }: { readonly id: string; readonly browser: string | undefined; readonly approval: string },
    decision: Decision,
    toolsetsAt: (resource: string) => readonly string[],
  ): Promise<string> {
    const { hashing, apps, clients, roles, randomness } = this.ports;
    return retryOnConflict(randomness, async () => {
      const { value: authorization, version } = await this.find(id, browser);
      const { person } = authorization;
      if (person === undefined || !hashing.equal(person.approval_hash, hashing.sha256(approval)))
        throw new SignInError('expired');
      const owner = await roles.of(person.uid);
      const there = toolsetsAt(authorization.resource);
      const toolsets = there.filter((one) => decision.toolsets.includes(one));
      if (toolsets.length === 0) throw new SignInError('invalid');
      await clients.extendUsed(authorization.client_id);
      const code = await apps.connect(
        { ...authorization, person },
        {
          ...decision,
          agentName: shownName(decision.agentName),
          readonly: decision.readonly || authorization.is_readonly,
          // A person who chooses all toolsets also allows toolsets of later releases.
          toolsets: toolsets.length === TOOLSETS.length ? undefined : toolsets,
        },
        owner,
        { kind: 'endAuthorization', id, version },
      );
      return redirectToClient(authorization, { code });
    });
  }

  /** Ends the sign-in, and returns the redirect URL with the error `access_denied`. */
  async cancel(id: string, browser: string | undefined): Promise<string> {
    const { store, randomness } = this.ports;
    return retryOnConflict(randomness, async () => {
      const { value: authorization, version } = await this.find(id, browser);
      await store.commit([{ kind: 'endAuthorization', id, version }]);
      return redirectToClient(authorization, { error: new OAuthError('access_denied', 'The person denied access.') });
    });
  }
}

/** Returns the toolsets that the form selects initially: all but `access`, unless a client requests only `access`. */
export function proposedOf(toolsets: readonly string[]): readonly string[] {
  const harmless = toolsets.filter((one) => one !== 'access');
  return harmless.length === 0 ? toolsets : harmless;
}

function signInAgain(error: unknown): never {
  const isCredentialError = error instanceof MusterError && ['UNAUTHORIZED', 'TOKEN_EXPIRED'].includes(error.code);
  throw isCredentialError ? new SignInError('sign_in_again') : error;
}
