/** Firebase ID tokens of people. Source: https://firebase.google.com/docs/auth/admin/verify-id-tokens */
import type { App } from 'firebase-admin/app';
import { z } from 'zod';
import { expired, notAccepted } from '../../domain/agents/authentication.ts';
import type { IdTokenVerifier } from '../../domain/agents/ports.ts';
import type { Clock } from '../../domain/ports.ts';
import { type Principal, ROLES } from '../../domain/principal.ts';
import { Accounts } from './accounts.ts';

/**
 * What Muster puts into an ID token: `role`. A person without it may look but not touch. A token of `kind` agent
 * is one that Muster made for its own clients: it would come in as a person, past the agent's credential.
 */
const claims = z.object({
  uid: z.string(),
  auth_time: z.number(),
  role: z.enum(ROLES).catch('viewer'),
  kind: z.literal('person').optional(),
});

export class FirebaseIdTokenVerifier implements IdTokenVerifier {
  private readonly app: () => App;
  private readonly accounts: Accounts;

  constructor(app: () => App, clock: Clock) {
    this.app = app;
    this.accounts = new Accounts(app, clock);
  }

  /** A signature is good for an hour, whatever becomes of the account; so its account is looked at too. */
  async verify(idToken: string): Promise<Principal> {
    const { uid, auth_time: signedInAt, role } = await this.claimsOf(idToken);
    await this.accounts.requireGood(uid, signedInAt * 1000);
    return { uid, kind: 'person', ownerUid: uid, role };
  }

  private async claimsOf(idToken: string): Promise<z.output<typeof claims>> {
    const { getAuth } = await import('firebase-admin/auth');
    try {
      return claims.parse(await getAuth(this.app()).verifyIdToken(idToken));
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? error.code : undefined;
      throw code === 'auth/id-token-expired' ? expired(error) : notAccepted(error);
    }
  }
}
