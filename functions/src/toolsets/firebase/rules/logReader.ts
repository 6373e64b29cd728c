/** Reads subscriptions' logs for their owners, and has them watched meanwhile. */
import type { Caller } from '../../../identity/rules/principal.ts';
import type { PortOf } from '../../../kernel/ports.ts';
import { cancellableAbort, cancellableDelay, type Waiting } from '../../../kernel/waiting.ts';
import {
  type KnownSubscriptions,
  LogFollower,
  type Page,
  PageBuilder,
  type ReadFrom,
  type Reading,
  readingOf,
} from './page.ts';
import type { Entry, FirebasePorts } from './ports.ts';
import { SharedWatch, type WatchReader } from './sharedWatch.ts';
import { beginningOf, invalidCursor, type Position, positionAt, type Subscription } from './subscription.ts';

/** Entries that are read at once. */
const ENTRIES_READ = 10;

/** A poll that does not wait still learns of what happened while nobody watched, if that takes no longer. */
const CATCH_UP_MILLISECONDS = 5000;

/** Reads a subscription's log, for whoever answers callers: tools, `/mcp/events`, `subscriptions/listen`. */
export type EventReader = PortOf<LogReader>;

export class LogReader {
  private readonly ports: FirebasePorts;
  private readonly known: KnownSubscriptions;
  /** What this instance has readers of, or had a moment ago: by log. */
  private readonly watches = new Map<string, SharedWatch>();

  constructor(ports: FirebasePorts, known: KnownSubscriptions) {
    this.ports = ports;
    this.known = known;
  }

  /**
   * The events after the cursor. Where there is none, waits for the first.
   * @param waitMs at most this long; then `events` is empty
   * @param gone ends the waiting early
   * @param from `waiting` is told of the waiting
   * @throws MusterError NOT_FOUND where the caller has no such subscription
   */
  async poll(
    caller: Caller,
    { waiting = (wait) => wait, ...from }: ReadFrom & { readonly waiting?: Waiting },
    waitMs: number,
    gone?: AbortSignal,
  ): Promise<Reading> {
    const subscription = await this.known.opened(caller, from.subscriptionId);
    const page = await this.read(startingAt(subscription, from.cursor));
    if (hasNews(page) || gone?.aborted) return readingOf(page);
    const { follower, caughtUp, leave } = this.join(caller, subscription, page.position);
    const waited = cancellableDelay(waitMs);
    const caughtUpLate = cancellableDelay(CATCH_UP_MILLISECONDS);
    const abort = cancellableAbort(gone);
    const caught = Promise.race([caughtUp, caughtUpLate.promise]);
    const enough = Promise.race([abort.promise, Promise.all([waited.promise, caught])]);
    try {
      const next = nextNews(follower, new PageBuilder(subscription, page.position), enough);
      // Who does not wait for others still catches up, which is our own time.
      const news = await (waitMs === 0 ? next : waiting(next));
      // What another connection of this instance has just logged may be on its way to this one.
      return readingOf(news ?? (await this.read(new PageBuilder(subscription, page.position))));
    } finally {
      for (const wait of [waited, caughtUpLate, abort]) wait.forget();
      leave();
    }
  }

  /** The events after the cursor, and then each as it comes, until `gone`. Never yields an empty reading. */
  async *follow(caller: Caller, from: ReadFrom, gone: AbortSignal): AsyncIterable<Reading> {
    const subscription = await this.known.opened(caller, from.subscriptionId);
    let page = await this.read(startingAt(subscription, from.cursor));
    while (hasNews(page) && !gone.aborted) {
      yield readingOf(page);
      page = await this.read(new PageBuilder(subscription, page.position));
    }
    const { follower, leave } = this.join(caller, subscription, page.position);
    const abort = cancellableAbort(gone);
    try {
      while (!gone.aborted) {
        const entries = await follower.next(abort.promise);
        for (const news of pagesOf(subscription, page.position, entries)) {
          page = news;
          if (hasNews(news)) yield readingOf(news);
        }
      }
    } finally {
      abort.forget();
      leave();
    }
  }

  /** Has the subscription watched until `leave`. */
  private join(caller: Caller, subscription: Subscription, { log, sequence }: Position) {
    const watch = this.watchOf(subscription);
    const follower = new LogFollower(this.ports.events, log, sequence, (entry) => watch.seen(entry));
    const reader: WatchReader = { caller, failed: (error) => follower.fail(error) };
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
    const made: SharedWatch = new SharedWatch(this.ports, this.known, subscription, () => {
      if (this.watches.get(log) === made) this.watches.delete(log);
    });
    this.watches.set(log, made);
    return made;
  }

  /** What the log has for a page, as far as it goes. */
  private async read(builder: PageBuilder): Promise<Page> {
    for (;;) {
      const { log, sequence } = builder.page().position;
      // With the entry before: where there is not even that, the cursor may never have been ours.
      const found = await this.ports.events.read(log, sequence - 1, ENTRIES_READ);
      const entries = found.length > 0 ? found : await this.readAtEnd(builder);
      for (const entry of entries) {
        builder.add(entry);
        this.watches.get(log)?.seen(entry);
      }
      const page = builder.page();
      if (hasNews(page) || entries.length < ENTRIES_READ) return page;
    }
  }

  /** Where nothing was found: it was dropped, or has come meanwhile, or is yet to come. */
  private async readAtEnd(builder: PageBuilder): Promise<readonly Entry[]> {
    const { events } = this.ports;
    const { log, sequence } = builder.page().position;
    const end = await events.end(log);
    if (sequence - 1 > end) throw invalidCursor();
    if (sequence > end) return [];
    const entries = await events.read(log, sequence, ENTRIES_READ);
    if (entries.length === 0) builder.skipTo(end + 1);
    return entries;
  }
}

function startingAt(subscription: Subscription, cursor: string | undefined): PageBuilder {
  const beginning = beginningOf(subscription.log);
  if (cursor === undefined) return new PageBuilder(subscription, beginning);
  const position = positionAt(cursor);
  if (position.log === subscription.log) return new PageBuilder(subscription, position);
  // Of a subscription of the same id that is gone, with all that it had.
  return new PageBuilder(subscription, beginning, true);
}

/** The first page with something in it; undefined where the waiting ended before. */
async function nextNews(
  follower: LogFollower,
  builder: PageBuilder,
  enough: Promise<unknown>,
): Promise<Page | undefined> {
  for (;;) {
    const entries = await follower.next(enough);
    if (entries.length === 0) return undefined;
    for (const entry of entries) builder.add(entry);
    const page = builder.page();
    if (hasNews(page)) return page;
  }
}

/** Entries may be more than fits into one page. */
function* pagesOf(subscription: Subscription, from: Position, entries: readonly Entry[]): Iterable<Page> {
  let position = from;
  for (;;) {
    const builder = new PageBuilder(subscription, position);
    for (const entry of entries) builder.add(entry);
    const page = builder.page();
    position = page.position;
    yield page;
    if (!builder.isFull) return;
  }
}

function hasNews({ events, overflow }: Page): boolean {
  return events.length > 0 || overflow;
}
