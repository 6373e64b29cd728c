/** Sweep over accounts, whose changes Firebase Auth does not report. Source: docs/security.md#credentials. */
import { type AccountState, isSuspended, type PeopleChanges, type Person } from '../../identity/rules/people.ts';
import type { KnownAccount } from '../../identity/rules/ports.ts';
import { ignoreStale } from '../../kernel/concurrency.ts';
import { Service } from '../../kernel/ports.ts';
import { type SweepContext, type SweepJob, type SweepReport, sweepCounting } from '../../kernel/sweep.ts';
import type { AccessPorts } from './ports.ts';

/** Maximum number of accounts in one request to Firebase Auth. */
const PAGE = 100;

/**
 * Returns the change that stores a person's account state; undefined if it is unchanged, or no account ever existed.
 * @param now seconds since 1970
 */
export function accountChange(
  uid: string,
  { account: before, valid_since }: Pick<Person, 'account' | 'valid_since'>,
  found: KnownAccount | undefined,
  now: number,
): PeopleChanges['limitAccount'] | undefined {
  if (found === undefined && before === undefined) return undefined;
  const account = stateOf(found);
  // If nothing was revoked, `validSince` is the time at which the account was created.
  const revoked = found !== undefined && found.validSince > (valid_since ?? found.createdAt) ? found.validSince : 0;
  const shut = isSuspended(account) && !isSuspended(before) ? now : 0;
  const since = Math.max(revoked, shut);
  if (account === before && since === 0) return undefined;
  return {
    uid,
    ...(account !== before && { account }),
    ...(since > (valid_since ?? 0) && { validSince: since }),
    isNews: since > 0 || isSuspended(account) !== isSuspended(before),
  };
}

function stateOf(found: KnownAccount | undefined): AccountState {
  if (found === undefined) return 'deleted';
  return found.isDisabled ? 'disabled' : 'good';
}

export class AccountSweep extends Service<Pick<AccessPorts, 'people' | 'idTokens' | 'store' | 'clock' | 'log'>> {
  readonly sweepJob: SweepJob = { name: 'accounts', run: (turn) => this.sweep(turn) };

  private sweep(turn: SweepContext): Promise<SweepReport> {
    const { people, idTokens, store, clock, log } = this.ports;
    return sweepCounting(
      turn,
      'changed',
      async (after) => {
        const page = await people.after(after?.id, PAGE);
        const states = page.length === 0 ? undefined : await idTokens.states(page.map(({ uid }) => uid));
        const now = Math.floor(clock.now().getTime() / 1000);
        const found = page.flatMap(({ uid, person }) => {
          const change = person && states && accountChange(uid, person, states.get(uid), now);
          return change === undefined ? [] : [{ item: change, place: cursorOf(uid) }];
        });
        const last = page.length === PAGE ? page.at(-1) : undefined;
        return { found, next: last && cursorOf(last.uid) };
      },
      (change) =>
        ignoreStale(store.commit([{ kind: 'limitAccount', ...change }])).catch((error: unknown) => {
          log.error('account_not_followed', { uid: change.uid, error });
          return false;
        }),
    );
  }
}

/** Returns the cursor after a person. People are ordered only by uid, so the time in the cursor has no meaning. */
function cursorOf(id: string) {
  return { at: new Date(0), id };
}
