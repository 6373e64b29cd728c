import type { App } from 'firebase-admin/app';
import type { People } from '../../domain/notifications/ports.ts';

/** Firebase Auth's users. */
export class FirebasePeople implements People {
  private readonly app: () => App;

  constructor(app: () => App) {
    this.app = app;
  }

  async verifiedEmail(uid: string): Promise<string | undefined> {
    const { getAuth } = await import('firebase-admin/auth');
    const { users } = await getAuth(this.app()).getUsers([{ uid }]); // other than getUser, it does not throw
    return users.find(({ emailVerified }) => emailVerified)?.email;
  }
}
