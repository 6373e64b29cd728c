/** Whether people's accounts are still good. Source: https://firebase.google.com/docs/auth/admin/manage-sessions */

import type { App } from 'firebase-admin/app';
import { MusterError } from '../../kernel/errors.ts';
import type { Clock } from '../../kernel/ports.ts';
import { inTime } from '../../kernel/waiting.ts';
import { notAccepted } from '../rules/authentication.ts';

/**
 * How long an instance believes what it was told of an account. A credential that was checked is trusted for 5
 * seconds more, so that whoever is shut out is out within a minute.
 */
const BELIEVED_MILLISECONDS = 50_000;

const MAX_BELIEVED = 5000;

const PATIENCE_MILLISECONDS = 5000;

interface Standing {
  readonly isDisabled: boolean;
  /** Tokens of sign-ins before it are revoked; milliseconds of the epoch. */
  readonly validSince: number;
}

export class Accounts {
  private readonly app: () => App;
  private readonly clock: Clock;
  private readonly believed = new Map<string, { standing: Promise<Standing>; until: number }>();

  constructor(app: () => App, clock: Clock) {
    this.app = app;
    this.clock = clock;
  }

  /**
   * @param signedInAt in milliseconds of the epoch
   * @throws MusterError UNAUTHORIZED where the account is gone or disabled, or its tokens were revoked since then;
   *   FIREBASE_ERROR where that is not known
   */
  async requireGood(uid: string, signedInAt: number): Promise<void> {
    const { isDisabled, validSince } = await this.standingOf(uid);
    if (isDisabled || signedInAt < validSince) throw notAccepted();
  }

  /** Calls at the same time share one question. One that was not answered is asked again. */
  private standingOf(uid: string): Promise<Standing> {
    const now = this.clock.now().getTime();
    const known = this.believed.get(uid);
    if (known !== undefined && known.until > now) return known.standing;
    this.believed.delete(uid);
    const oldest = this.believed.keys().next().value;
    if (this.believed.size >= MAX_BELIEVED && oldest !== undefined) this.believed.delete(oldest);
    const standing = inTime(this.ask(uid), PATIENCE_MILLISECONDS, 'Firebase Auth').catch((error: unknown) => {
      if (this.believed.get(uid)?.standing === standing) this.believed.delete(uid);
      throw error instanceof MusterError ? error : notKnown(error);
    });
    this.believed.set(uid, { standing, until: now + BELIEVED_MILLISECONDS });
    return standing;
  }

  private async ask(uid: string): Promise<Standing> {
    const { getAuth } = await import('firebase-admin/auth');
    const { users } = await getAuth(this.app()).getUsers([{ uid }]);
    const [user] = users;
    if (user === undefined) throw notAccepted();
    const { disabled: isDisabled, tokensValidAfterTime } = user;
    return { isDisabled, validSince: tokensValidAfterTime ? Date.parse(tokensValidAfterTime) : 0 };
  }
}

function notKnown(cause: unknown): MusterError {
  return new MusterError('FIREBASE_ERROR', 'Firebase Auth does not say whether the account is still good.', {
    suggestion: 'Call again in a moment.',
    cause,
  });
}
