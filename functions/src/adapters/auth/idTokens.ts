/** Firebase ID tokens of people. Source: https://firebase.google.com/docs/auth/admin/verify-id-tokens */
import type { App } from 'firebase-admin/app';
import { z } from 'zod';
import { expired, type IdTokenVerifier, notAccepted } from '../../domain/agents/authentication.ts';
import { type Principal, ROLES } from '../../domain/principal.ts';

/**
 * What Muster puts into an ID token: `role`. A person without it may look but not touch. A token of `kind` agent
 * is one that Muster made for its own clients: it would come in as a person, past the agent's credential.
 */
const claims = z.object({
  uid: z.string(),
  role: z.enum(ROLES).catch('viewer'),
  kind: z.literal('person').optional(),
});

export class FirebaseIdTokenVerifier implements IdTokenVerifier {
  private readonly app: () => App;

  constructor(app: () => App) {
    this.app = app;
  }

  async verify(idToken: string): Promise<Principal> {
    const { getAuth } = await import('firebase-admin/auth');
    try {
      const { uid, role } = claims.parse(await getAuth(this.app()).verifyIdToken(idToken));
      return { uid, kind: 'person', ownerUid: uid, role };
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? error.code : undefined;
      throw code === 'auth/id-token-expired' ? expired(error) : notAccepted(error);
    }
  }
}
