/** Reads event logs for the owners of subscriptions, and keeps the paths watched while owners read. */
import type { Caller } from '../../../identity/rules/principal.ts';
import type { TrackWait } from '../../../kernel/concurrency.ts';
import { type PortOf, Service } from '../../../kernel/ports.ts';
import { LEASE_RENEWAL_MS } from './eventLog.ts';
import {
  type EventPage,
  type KnownSubscriptions,
  LogFollower,
  PageBuilder,
  type ReadFrom,
  type Reading,
  readingOf,
} from './page.ts';
import type { Entry, FirebasePorts } from './ports.ts';
import { SharedWatch, type WatchReader } from './sharedWatch.ts';
import { type EventPosition, invalidCursor, positionAt, type Subscription, startOf } from './subscription.ts';

const MAX_ENTRIES_READ = 10;

/** Maximum time in milliseconds that a poll with waitMs 0 waits for changes made while the path was not watched. */
const CATCH_UP_MS = 5000;

export type EventReader = PortOf<LogReader>;

export class LogReader extends Service<FirebasePorts & { readonly known: KnownSubscriptions }> {
  /** Watches of this instance by log: those with readers, and those that had readers a short time ago. */
  private readonly watches = new Map<string, SharedWatch>();
  /** Renews all leases at the same time, so that the renewals share one write. */
  private renewing: NodeJS.Timeout | undefined;

  /**
   * Returns the events after the cursor, or waits for the first event.
   * @param waitMs maximum waiting time in milliseconds; if no event occurs, `events` is empty
   * @param disconnected ends the wait early
   * @param from `waiting` is called with the promise that is awaited, so that this time does not count as call time
   * @throws MusterError NOT_FOUND if the caller has no such subscription
   */
  async poll(
    caller: Caller,
    { waiting = (wait) => wait, ...from }: ReadFrom & { readonly waiting?: TrackWait },
    waitMs: number,
    disconnected?: AbortSignal,
  ): Promise<Reading> {
    const subscription = await this.ports.known.opened(caller, from.subscriptionId);
    const page = await this.read(startingAt(subscription, from.cursor));
    if (hasEvents(page) || disconnected?.aborted) return readingOf(page);
    const { follower, caughtUp, leave } = this.join(caller, subscription, page.position, disconnected);
    let timer = setTimeout(() => {
      void caughtUp.then(follower.end);
      timer = setTimeout(follower.end, Math.max(0, CATCH_UP_MS - waitMs)).unref();
    }, waitMs).unref();
    try {
      const next = newPages(follower, subscription, page.position).next();
      // With waitMs 0, waiting for changes that were missed counts as call time.
      const { value: news } = await (waitMs === 0 ? next : waiting(next));
      // Read the log itself, because an entry that another connection here has appended may not be reported yet.
      return readingOf(news ?? (await this.read(new PageBuilder(subscription, page.position))));
    } finally {
      clearTimeout(timer);
      // The response is more urgent.
      setImmediate(leave);
    }
  }

  /** Yields the events after the cursor, then new ones until `disconnected` aborts. Never yields an empty reading. */
  async *follow(caller: Caller, from: ReadFrom, disconnected: AbortSignal): AsyncIterable<Reading> {
    const subscription = await this.ports.known.opened(caller, from.subscriptionId);
    let page = await this.read(startingAt(subscription, from.cursor));
    while (hasEvents(page) && !disconnected.aborted) {
      yield readingOf(page);
      page = await this.read(new PageBuilder(subscription, page.position));
    }
    const { follower, leave } = this.join(caller, subscription, page.position, disconnected);
    try {
      for await (const news of newPages(follower, subscription, page.position)) yield readingOf(news);
    } finally {
      leave();
    }
  }

  /** Keeps the subscription's path watched until `leave` is called. */
  private join(caller: Caller, subscription: Subscription, { log, sequence }: EventPosition, end?: AbortSignal) {
    const watch = this.watchOf(subscription);
    const follower = new LogFollower(this.ports.events, log, sequence, (entry) => watch.seen(entry));
    const reader: WatchReader = { caller, failed: follower.fail };
    end?.addEventListener('abort', follower.end);
    if (end?.aborted) follower.end();
    const caughtUp = watch.join(reader);
    const leave = (): void => {
      follower.close();
      watch.leave(reader);
    };
    return { follower, caughtUp, leave };
  }

  private watchOf(subscription: Subscription): SharedWatch {
    const { log } = subscription;
    const known = this.watches.get(log);
    if (known !== undefined) return known;
    const made: SharedWatch = new SharedWatch({
      ...this.ports,
      subscription,
      ended: () => {
        if (this.watches.get(log) === made) this.watches.delete(log);
      },
    });
    this.watches.set(log, made);
    this.renewing ??= setInterval(() => {
      for (const watch of this.watches.values()) watch.reconcile();
    }, LEASE_RENEWAL_MS).unref();
    return made;
  }

  /** Reads the log until the page contains an event or the log ends. */
  private async read(builder: PageBuilder): Promise<EventPage> {
    for (;;) {
      const { log, sequence } = builder.page().position;
      // Also reads the entry before the cursor. If that entry is missing, the cursor may be invalid.
      const found = await this.ports.events.read(log, sequence - 1, MAX_ENTRIES_READ);
      const entries = found.length > 0 ? found : await this.readAtEnd(builder);
      for (const entry of entries) {
        builder.add(entry);
        this.watches.get(log)?.seen(entry);
      }
      const page = builder.page();
      if (hasEvents(page) || entries.length < MAX_ENTRIES_READ) return page;
    }
  }

  /** Called if no entry was found: the entry was deleted, or appended a moment ago, or does not exist yet. */
  private async readAtEnd(builder: PageBuilder): Promise<readonly Entry[]> {
    const { events } = this.ports;
    const { log, sequence } = builder.page().position;
    const end = await events.end(log);
    if (sequence - 1 > end) throw invalidCursor();
    if (sequence > end) return [];
    const entries = await events.read(log, sequence, MAX_ENTRIES_READ);
    if (entries.length === 0) builder.skipTo(end + 1);
    return entries;
  }
}

function startingAt(subscription: Subscription, cursor: string | undefined): PageBuilder {
  const beginning = startOf(subscription.log);
  if (cursor === undefined) return new PageBuilder(subscription, beginning);
  const position = positionAt(cursor);
  if (position.log === subscription.log) return new PageBuilder(subscription, position);
  // The cursor belongs to an earlier subscription with the same id, whose log no longer exists.
  return new PageBuilder(subscription, beginning, true);
}

/** Yields pages of new entries that contain events, until the follower's wait is ended. */
async function* newPages(
  follower: LogFollower,
  subscription: Subscription,
  from: EventPosition,
): AsyncGenerator<EventPage, undefined> {
  let position = from;
  for (;;) {
    const entries = await follower.next();
    if (entries.length === 0) return;
    for (let isFull = true; isFull; ) {
      const builder = new PageBuilder(subscription, position);
      for (const entry of entries) builder.add(entry);
      const page = builder.page();
      position = page.position;
      isFull = builder.isFull;
      if (hasEvents(page)) yield page;
    }
  }
}

function hasEvents({ events, overflow }: EventPage): boolean {
  return events.length > 0 || overflow;
}
