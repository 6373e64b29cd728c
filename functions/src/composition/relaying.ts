/**
 * Relays events whose trigger was away. Firestore tries a trigger for a day; the sweep relays what has not arrived of the
 * last seven. Consumers know events by their ids. Source: docs/decisions/0018-event-spine.md.
 */
import type { DocumentSnapshot, Firestore, Query } from '@google-cloud/firestore';
import { auditPath, COLLECTIONS } from '../kernel/firestore/paths.ts';
import type { Log } from '../kernel/ports.ts';
import type { SweepPart, SweepTurn } from '../kernel/sweep.ts';

const HOUR_MILLISECONDS = 3_600_000;
const DAYS = 7;

/** Younger events are still on their way. */
const UNDER_WAY_MILLISECONDS = 15 * 60_000;

/** The part begins at this minute of each hour. */
const MINUTE = 30;

const PAGE = 200;

/** Relays one event. */
type Relay = (eventId: string) => Promise<void>;

/**
 * A part that relays the events of the last days that have not arrived in `audit`. It compares counts, and reads events
 * only of the hours in which some are missing.
 */
export const relayPart =
  (database: Firestore, log: Log) =>
  (relay: Relay): SweepPart => ({
    name: 'events relayed',
    run: async (turn) => {
      const isDue = turn.from !== undefined || turn.now.getUTCMinutes() === MINUTE;
      const counts = { relayed: 0 };
      if (!isDue) return { counts, isBehind: false };
      const counted: Relay = async (id) => {
        await relay(id);
        counts.relayed++;
      };
      const at = await relayAll(database, log, turn, counted);
      if (at === undefined) return { counts, isBehind: false };
      return { counts, isBehind: true, stoppedAt: { at, id: COLLECTIONS.events } };
    },
  });

/** @returns where it has stopped, if it has not come to the end */
async function relayAll(
  database: Firestore,
  log: Log,
  turn: SweepTurn,
  relay: Relay,
): Promise<Date | undefined> {
  const end = turn.now.getTime() - UNDER_WAY_MILLISECONDS;
  let begin = turn.from?.at.getTime() ?? end - DAYS * 24 * HOUR_MILLISECONDS;
  if (await isWhole(database, begin, end)) return undefined;
  for (; begin < end; begin += HOUR_MILLISECONDS) {
    if (turn.isOver()) return new Date(begin);
    const hour = { begin, to: Math.min(begin + HOUR_MILLISECONDS, end) };
    if (await isWhole(database, hour.begin, hour.to)) continue;
    const stopped = await relayMissing({ database, log }, turn, hour, relay);
    if (stopped !== undefined) return stopped;
  }
  return undefined;
}

/** Whether as many events have arrived as there are. */
async function isWhole(database: Firestore, begin: number, to: number): Promise<boolean> {
  const [events, arrived] = await Promise.all(
    [COLLECTIONS.events, COLLECTIONS.audit].map(async (collection) => {
      const { count } = (await between(database, collection, begin, to).count().get()).data();
      return count;
    }),
  );
  return events === arrived;
}

function between(database: Firestore, collection: string, begin: number, to: number): Query {
  return database
    .collection(collection)
    .where('timestamp', '>=', new Date(begin))
    .where('timestamp', '<', new Date(to))
    .orderBy('timestamp');
}

/** @returns where it has stopped, if it has not come to the end */
async function relayMissing(
  { database, log }: { readonly database: Firestore; readonly log: Log },
  turn: SweepTurn,
  { begin, to }: { readonly begin: number; readonly to: number },
  relay: Relay,
): Promise<Date | undefined> {
  const events = between(database, COLLECTIONS.events, begin, to).limit(PAGE).select('timestamp');
  for (let page = await events.get(); !page.empty; page = await events.startAfter(page.docs.at(-1)).get()) {
    const arrivals = await database.getAll(...page.docs.map(({ id }) => database.doc(auditPath(id))));
    for (const [place, event] of page.docs.entries()) {
      if (arrivals[place]?.exists) continue;
      if (turn.isOver()) return timeOf(event);
      try {
        await relay(event.id);
      } catch (error) {
        // The next hour tries it again: one event must not hold up those after it.
        log.error('event_not_relayed', { eventId: event.id, error });
      }
    }
  }
  return undefined;
}

function timeOf(event: DocumentSnapshot): Date {
  return event.get('timestamp').toDate();
}
