/** Watching as the caller. Source: https://firebase.google.com/docs/database/admin/retrieve-data */
import { expired } from '../../../domain/agents/authentication.ts';
import type { Watch, Watcher } from '../../../domain/data/access.ts';
import type { Caller } from '../../../domain/data/caller.ts';
import { connectionError } from '../../../domain/data/errors.ts';
import { MusterError } from '../../../domain/errors.ts';
import type { Clock } from '../../../domain/ports.ts';
import type { CallerToken, CallerTokens } from '../../auth/callerTokens.ts';
import type { CallerClients, Lease } from './clients.ts';
import { type Listening, listen, type Watched } from './listening.ts';

/** A token lasts an hour. */
const LONGEST_TIMER_MILLISECONDS = 3_600_000;

export interface WatchingDependencies {
  readonly tokens: CallerTokens;
  readonly clients: CallerClients;
  readonly clock: Clock;
  /** How long the first state may take: the SDK itself tries to connect for ever. */
  readonly patienceMilliseconds: number;
}

/**
 * One watch. It lasts no longer than the caller's right to it: when the token ends, another is asked for, which
 * there is for an agent, but not for a person who has not signed in again.
 */
export class CallerWatch implements Watch {
  private readonly dependencies: WatchingDependencies;
  private readonly caller: Caller;
  private readonly watched: Watched;
  private readonly watcher: Watcher;
  private readonly patience: NodeJS.Timeout;
  private renewal: NodeJS.Timeout | undefined;
  private lease: Lease | undefined;
  private listening: Listening | undefined;
  private ended = false;

  constructor(dependencies: WatchingDependencies, caller: Caller, watched: Watched, watcher: Watcher) {
    this.dependencies = dependencies;
    this.caller = caller;
    this.watched = watched;
    this.watcher = watcher;
    const lost = () => this.fail(connectionError('the database sent nothing'));
    this.patience = setTimeout(lost, dependencies.patienceMilliseconds).unref();
    this.begin().catch((error: unknown) => this.fail(error));
  }

  stop(): void {
    if (this.ended) return;
    this.ended = true;
    clearTimeout(this.patience);
    clearTimeout(this.renewal);
    this.listening?.stop();
    this.lease?.release();
  }

  private async begin(): Promise<void> {
    const token = await this.dependencies.tokens.of(this.caller);
    const lease = await this.dependencies.clients.lease(token.claims);
    if (this.ended) return lease.release();
    this.lease = lease;
    this.renewAtTheEndOf(token);
    const listening = listen(lease.database, this.watched, {
      initial: (state) => {
        if (this.ended) return;
        clearTimeout(this.patience);
        this.watcher.initial(state);
      },
      changed: (changes) => {
        if (!this.ended) this.watcher.changed(changes);
      },
      failed: (error) => this.fail(error),
    });
    // What was at hand already came while listening began, and may have ended the watch.
    if (this.ended) listening.stop();
    else this.listening = listening;
  }

  private renewAtTheEndOf({ expiresAt }: CallerToken): void {
    const left = expiresAt.getTime() - this.dependencies.clock.now().getTime();
    const renew = () => this.renew().catch((error: unknown) => this.fail(error));
    this.renewal = setTimeout(renew, Math.min(Math.max(left, 0), LONGEST_TIMER_MILLISECONDS)).unref();
  }

  private async renew(): Promise<void> {
    const token = await this.dependencies.tokens.of(this.caller);
    if (this.ended) return;
    if (token.expiresAt <= this.dependencies.clock.now()) throw expired();
    this.renewAtTheEndOf(token);
  }

  private fail(error: unknown): void {
    if (this.ended) return;
    this.stop();
    this.watcher.failed(error instanceof MusterError ? error : connectionError(error));
  }
}
