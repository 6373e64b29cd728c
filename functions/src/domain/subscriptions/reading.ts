/** Reading a subscription's log, for whoever answers callers: tools, `/mcp/events`, `subscriptions/listen`. */
import type { Caller } from '../data/caller.ts';
import type { Waiting } from '../waiting.ts';
import type { LoggedEvent } from './event.ts';
import type { Subscription } from './subscription.ts';

export interface ReadFrom {
  readonly subscriptionId: string;
  /** Goes on after this one; without it, from the subscription's beginning. */
  readonly cursor?: string | undefined;
}

export interface Reading {
  /** In order; at most a page of them. */
  readonly events: readonly LoggedEvent[];
  /** Where to go on. */
  readonly cursor: string;
  /**
   * Events between the cursor asked for and these were dropped, since the log keeps 1,000 for 24 hours; or they may
   * never have come into it.
   */
  readonly overflow: boolean;
}

export interface EventReader {
  /**
   * The events after the cursor. Where there is none, waits for the first.
   * @param waitMs at most this long; then `events` is empty
   * @param gone ends the waiting early
   * @param waiting is told of the waiting
   * @throws MusterError NOT_FOUND where the caller has no such subscription
   */
  poll(
    caller: Caller,
    from: ReadFrom,
    waitMs: number,
    gone?: AbortSignal,
    waiting?: Waiting,
  ): Promise<Reading>;
  /** The events after the cursor, and then each as it comes, until `gone`. Never yields an empty reading. */
  follow(caller: Caller, from: ReadFrom, gone: AbortSignal): AsyncIterable<Reading>;
}

/** Subscriptions as the log's readers ask for them. */
export interface KnownSubscriptions {
  /** @throws MusterError NOT_FOUND where the caller has no such subscription */
  opened(caller: Caller, subscriptionId: string): Promise<Subscription>;
  /** Whether the subscription is still there. */
  isOpen(subscription: Subscription): Promise<boolean>;
}
