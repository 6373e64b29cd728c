/** Whether people's accounts are still good. Source: https://firebase.google.com/docs/auth/admin/manage-sessions */

import type { App } from 'firebase-admin/app';
import { MusterError } from '../../kernel/errors.ts';
import { BoundedMap } from '../../kernel/memoCache.ts';
import type { Clock } from '../../kernel/ports.ts';
import { inTime } from '../../kernel/waiting.ts';
import { notAccepted } from '../rules/principal.ts';

/**
 * How long an instance believes what it was told of an account. A credential that was checked is trusted for 5
 * seconds more, so that whoever is shut out is out within a minute.
 */
const BELIEVED_MILLISECONDS = 50_000;

const MAX_BELIEVED = 5000;

const TIMEOUT_MILLISECONDS = 5000;

interface Account {
  readonly isDisabled: boolean;
  /** Tokens of sign-ins before it are revoked; milliseconds of the epoch. */
  readonly validSince: number;
}

export class Accounts {
  private readonly app: () => App;
  private readonly clock: Clock;
  private readonly believed = new BoundedMap<string, { account: Promise<Account>; until: number }>(
    MAX_BELIEVED,
  );

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
    const { isDisabled, validSince } = await this.accountOf(uid);
    if (isDisabled || signedInAt < validSince) throw notAccepted();
  }

  /** Calls at the same time share one question. One that was not answered is asked again. */
  private accountOf(uid: string): Promise<Account> {
    const now = this.clock.now().getTime();
    const known = this.believed.get(uid);
    if (known !== undefined && known.until > now) return known.account;
    const account = inTime(this.ask(uid), TIMEOUT_MILLISECONDS, 'Firebase Auth').catch((error: unknown) => {
      if (this.believed.get(uid)?.account === account) this.believed.delete(uid);
      throw error instanceof MusterError ? error : notKnown(error);
    });
    this.believed.set(uid, { account, until: now + BELIEVED_MILLISECONDS });
    return account;
  }

  private async ask(uid: string): Promise<Account> {
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
