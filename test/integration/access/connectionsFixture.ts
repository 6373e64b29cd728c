/** People who sign in from apps and who register agents with credentials. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { Registered } from '../../../functions/src/agents/rules/registration.ts';
import { challengeOf } from '../../../functions/src/identity/rules/grant.ts';
import type { WantedLimits } from '../../../functions/src/identity/rules/lineage.ts';
import type { Principal } from '../../../functions/src/identity/rules/principal.ts';
import type { Role } from '../../../functions/src/identity/rules/role.ts';
import { Apps } from '../../../functions/src/signin/rules/apps.ts';
import type { Decision } from '../../../functions/src/signin/rules/choices.ts';
import { UNKEYED } from '../data/callers.ts';
import { AccessFixture } from './fixture.ts';

const VERIFIER = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';
const CALLBACK = 'http://localhost:3118/callback';

export class ConnectionsFixture extends AccessFixture {
  register(as: Principal, name: string, role: Role | undefined, limits: WantedLimits = {}): Promise<Registered> {
    const draft = {
      name,
      type: 'developer' as const,
      version: '1.0.0',
      capability_details: [],
      configuration: { max_concurrent_tasks: 1, timeout: 1000, retry_policy: { max_retries: 0, backoff_ms: 0 } },
      role,
      limits,
    };
    return this.app.services.registration.register(
      { principal: as, workspace: 'default' },
      draft,
      UNKEYED,
      () => undefined,
    );
  }

  /** Registers an agent as the caller, and returns the agent's credential as `<apiKey>.<secret>`. */
  async keyOf(as: Principal, name: string, role?: Role, limits: WantedLimits = {}): Promise<string> {
    return bearerOf(await this.register(as, name, role, limits));
  }

  /** Signs a person in from an app with the given choices, and returns the app's tokens. */
  async connect(
    name: string,
    agentName: string,
    chosen: Partial<Decision> = {},
    resource = 'https://muster.example/mcp',
  ) {
    const { services, kernel, signIn, access } = this.app;
    const uid = this.id(name);
    const authorization = {
      id: randomUUID(),
      browser_hash: 'none',
      client_id: 'https://client.example/client.json',
      client_name: 'Claude Code',
      client_host: 'client.example',
      redirect_uri: CALLBACK,
      challenge: challengeOf(kernel.hashing, VERIFIER),
      is_readonly: false,
      resource,
      issuer: 'https://muster.example',
      person: { uid, approval_hash: 'none' },
      expires_at: this.now,
    };
    const { id, client_id: clientId } = authorization;
    await kernel.store.commit([{ kind: 'startAuthorization', authorization }]);
    const version = (await signIn.ports.signIns.authorization(id))?.version ?? assert.fail('no authorization stored');
    const apps = new Apps({ ...signIn.ports, registration: services.registration });
    const decision = { agentName, role: 'worker' as const, workspace: undefined, readonly: false, ...chosen };
    const owner = await access.ports.roles.of(uid);
    const ended = { kind: 'endAuthorization', id, version } as const;
    const limited = { toolsets: undefined, ...decision };
    const code = await apps.connect(authorization, limited, owner, ended);
    return services.signIn.tokens.redeem(code, {
      clientId,
      verifier: VERIFIER,
      redirectUri: CALLBACK,
      resource: undefined,
    });
  }

  /** Authenticates with a credential at an instance that has not cached the credential. */
  signIn(credential: string): Promise<Principal> {
    return this.anotherInstance().services.authenticator.authenticate(credential);
  }
}

export function bearerOf({ credential, secret }: Registered): string {
  return `${credential.api_key}.${secret}`;
}
