/**
 * Repeats the work of triggers, because events can be lost in an outage. Once per day, the sweep goes through the
 * stored documents and calls the services that the triggers call. These services use the current state. Source:
 * docs/guides/operations.md#after-an-outage.
 */
import { type DocumentSnapshot, FieldPath, type Firestore, type Query } from '@google-cloud/firestore';
import { DEFAULT_WORKSPACE } from '../identity/rules/principal.ts';
import type { FirestorePeopleQueries } from '../identity/store/people.ts';
import { COLLECTIONS, eventReceiptPath } from '../kernel/firestore/paths.ts';
import type { SweepBatch, TimeCursor } from '../kernel/paging.ts';
import { DAY_MS, HOUR_MS, type Log, type PortOf } from '../kernel/ports.ts';
import { type realtimeDatabase, taskQueuePath } from '../kernel/realtime/database.ts';
import { type SweepContext, type SweepJob, type SweepState, sweepPages } from '../kernel/sweep.ts';
import type { RunService } from '../toolsets/orchestration/rules/runs/runService.ts';
import { OPEN_RUNS } from '../toolsets/orchestration/store/runs.ts';
import type { SweepRecord } from '../toolsets/system/rules/ports.ts';
import type { Delegation } from '../toolsets/todo/rules/delegation.ts';
import type { LostAccessTriggers } from './triggerHandlers.ts';

/** Interval of the job in minutes. Between the daily walks through the documents, the job reads no documents. */
const INTERVAL_MINUTES = 5;
const MAX_DOCUMENTS = 500;
const PAGE = 100;

/** Name under which the sweep's record stores the position in the documents. */
const POSITION_KEY = 'repeats';

/** Stored position after the last document was handled. */
const END = 'end';

interface ReconciliationPorts {
  readonly database: Firestore;
  readonly realtime: typeof realtimeDatabase;
  readonly people: Pick<FirestorePeopleQueries, 'workspaces'>;
  readonly record: Pick<SweepRecord, 'read' | 'saveBehind'>;
  readonly log: Log;
}

/** Services that triggers call. Each service may be called repeatedly and late. */
interface ReconciledHandlers {
  readonly mirrorPerson: (uid: string) => Promise<void>;
  readonly mirrorWorkspaces: () => Promise<void>;
  readonly leaving: Pick<PortOf<LostAccessTriggers>, 'end'>;
  readonly mirrorQueuedTask: (taskId: string, before?: unknown) => Promise<void>;
  readonly orchestration: { readonly runs: Pick<PortOf<RunService>, 'taskChanged' | 'cancelTree'> };
  readonly followGraph: (written: unknown) => Promise<void>;
  readonly followBudget: (written: unknown) => Promise<void>;
  readonly repairTodo: (todoId: string, before: unknown) => Promise<void>;
  readonly delegation: Pick<PortOf<Delegation>, 'taskClosed'>;
}

interface ReconciliationStep {
  readonly place: string;
  readonly work: () => Promise<unknown>;
}

/** Documents of one kind, in a fixed order. */
interface Source {
  readonly name: string;
  /** @param after position; '' at first. @returns the next documents, and the next position unless none is left */
  page(after: string): Promise<{ readonly repeats: readonly ReconciliationStep[]; readonly next?: string | undefined }>;
}

/** Returns the sweep's job that repeats the work of triggers. */
export const reconciliationJob =
  (ports: ReconciliationPorts) =>
  (repeated: ReconciledHandlers): SweepJob => {
    const { record, log } = ports;
    const sources = sourcesOf(ports, repeated);

    async function read(from: TimeCursor, at: Date): Promise<SweepBatch<ReconciliationStep>> {
      const [name = '', after = ''] = splitFirst(from.id);
      const index = Math.max(
        0,
        sources.findIndex((source) => source.name === name),
      );
      const source = sources[index];
      if (source === undefined) return { found: [] };
      const { repeats, next } = await source.page(source.name === name ? after : '');
      const found = repeats.map((repeat) => ({ item: repeat, place: { at, id: `${source.name}/${repeat.place}` } }));
      if (next !== undefined) return { found, next: { at, id: `${source.name}/${next}` } };
      const following = sources[index + 1];
      return { found, ...(following && { next: { at, id: `${following.name}/` } }) };
    }

    return {
      name: 'triggers repeated',
      async run(turn) {
        const counts = { looked: 0 };
        if (turn.now.getUTCMinutes() % INTERVAL_MINUTES !== 0) return { counts, isBehind: false };
        const begin = startOf((await record.read()).behind[POSITION_KEY], turn.now);
        if (begin === undefined) return { counts, isBehind: false };
        const { at: since } = begin;
        const end = await sweepPages(
          { ...turn, from: begin, isOver: () => turn.isOver() || counts.looked >= MAX_DOCUMENTS },
          (after) => read(after ?? begin, since),
          async ({ place, work }) => {
            counts.looked++;
            try {
              await work();
            } catch (error) {
              log.error('work_not_repeated', { place, error });
            }
          },
        );
        const from = end.isBehind ? end.stoppedAt : { at: since, id: END };
        await record.saveBehind({ [POSITION_KEY]: { since, ...(from && { from }) } });
        // The job is never reported as behind, because it normally takes many turns, and no other work waits for it.
        return { counts, isBehind: false };
      },
    };
  };

/** Returns the position to continue from; undefined if the last pass is complete and started less than a day ago. */
function startOf(state: SweepState['behind'][string] | undefined, now: Date): TimeCursor | undefined {
  const { since, from } = state ?? {};
  if (since === undefined || from === undefined) return { at: now, id: '' };
  if (from.id !== END) return from;
  return now.getTime() - since.getTime() < DAY_MS ? undefined : { at: now, id: '' };
}

function sourcesOf(ports: ReconciliationPorts, repeated: ReconciledHandlers): readonly Source[] {
  const { database } = ports;
  const { mirrorPerson, mirrorWorkspaces, leaving, mirrorQueuedTask, repairTodo, delegation } = repeated;
  const { runs } = repeated.orchestration;
  const all = (name: string) => database.collection(name);
  return [
    documents('access', all(COLLECTIONS.access), mirrorWorkspaces),
    documents('people', all(COLLECTIONS.people), async (uid) => {
      await mirrorPerson(uid);
      await leaving.end(uid);
    }),
    documents('tasks', all(COLLECTIONS.tasks).where('status', '==', 'available'), async (taskId) => {
      await runs.taskChanged(taskId);
      await mirrorQueuedTask(taskId);
    }),
    queues(ports, mirrorQueuedTask),
    documents('graph', all(COLLECTIONS.graph).where('status', '==', 'waiting'), (_, node) =>
      repeated.followGraph(node.data()),
    ),
    documents('runs', all(COLLECTIONS.runs).where('status', 'in', OPEN_RUNS), async (_, run) => {
      const whole: unknown = run.get('part_of.id');
      if (typeof whole === 'string') await runs.cancelTree(whole);
    }),
    documents('todos', all(COLLECTIONS.todos), async (todoId, todo) => {
      await repairTodo(todoId, undefined);
      const taskId: unknown = todo.get('completed') === false && todo.get('delegated_task_id');
      if (typeof taskId === 'string') await delegation.taskClosed(taskId);
    }),
    documents('budgets', all(COLLECTIONS.budgets), (_, budget) => repeated.followBudget(budget.data())),
  ];
}

function documents(name: string, query: Query, work: (id: string, found: DocumentSnapshot) => Promise<void>): Source {
  const ordered = query.orderBy(FieldPath.documentId()).limit(PAGE);
  return {
    name,
    page: async (after) => {
      const { docs } = await (after === '' ? ordered : ordered.startAfter(after)).get();
      const repeats = docs.map((snapshot) => ({ place: snapshot.id, work: () => work(snapshot.id, snapshot) }));
      return { repeats, next: docs.length === PAGE ? docs.at(-1)?.id : undefined };
    },
  };
}

/** Returns the tasks in the mirrors of the queues. Some may have been claimed or deleted in the meantime. */
function queues({ realtime, people }: ReconciliationPorts, mirror: ReconciledHandlers['mirrorQueuedTask']): Source {
  return {
    name: 'queues',
    page: async (after) => {
      const workspaces = [DEFAULT_WORKSPACE, ...Object.keys(await people.workspaces())].sort();
      const [from = '', key = ''] = splitFirst(after);
      const workspace = workspaces.find((name) => name >= from);
      if (workspace === undefined) return { repeats: [] };
      const byKey = (await realtime()).ref(taskQueuePath(workspace)).orderByKey();
      const rest = workspace === from && key !== '' ? byKey.startAfter(key) : byKey;
      const repeats: ReconciliationStep[] = [];
      (await rest.limitToFirst(PAGE).get()).forEach((child) => {
        const taskId = child.key ?? '';
        repeats.push({ place: `${workspace}/${taskId}`, work: () => mirror(taskId, { workspace }) });
      });
      const following = workspaces.find((name) => name > workspace);
      const next = repeats.length === PAGE ? repeats.at(-1)?.place : following && `${following}/`;
      return { repeats, next };
    },
  };
}

function splitFirst(place: string): readonly [string, string] {
  const at = place.indexOf('/');
  return at < 0 ? [place, ''] : [place.slice(0, at), place.slice(at + 1)];
}

/**
 * Relays events whose trigger failed. Firestore retries a trigger for a day. Then the sweep relays events of the last
 * seven days that have no receipt. Consumers ignore known event ids. Source: docs/decisions/0018-event-spine.md.
 */

const RELAY_DAYS = 7;

/** Events that are more recent than this may still be on their way, in milliseconds. */
const IN_FLIGHT_MS = 15 * 60_000;

/** Minute of each hour at which the job starts. */
const MINUTE = 30;
const CONCURRENT_EVENTS = 200;

type Relay = (eventId: string) => Promise<void>;

/** Returns the job that relays events without a receipt in `audit`. It reads only the hours that lack receipts. */
export const relayJob =
  (database: Firestore, log: Log) =>
  (relay: Relay): SweepJob => ({
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

/** @returns the time at which the job was interrupted; undefined if it finished */
async function relayAll(database: Firestore, log: Log, turn: SweepContext, relay: Relay): Promise<Date | undefined> {
  const end = turn.now.getTime() - IN_FLIGHT_MS;
  let begin = turn.from?.at.getTime() ?? end - RELAY_DAYS * 24 * HOUR_MS;
  if (await isComplete(database, begin, end)) return undefined;
  for (; begin < end; begin += HOUR_MS) {
    if (turn.isOver()) return new Date(begin);
    const hour = { begin, to: Math.min(begin + HOUR_MS, end) };
    if (await isComplete(database, hour.begin, hour.to)) continue;
    const stopped = await relayMissing({ database, log }, turn, hour, relay);
    if (stopped !== undefined) return stopped;
  }
  return undefined;
}

/** Returns whether there are as many receipts as events. */
async function isComplete(database: Firestore, begin: number, to: number): Promise<boolean> {
  const [events, arrived] = await Promise.all(
    [COLLECTIONS.events, COLLECTIONS.audit].map(async (collection) => {
      return (await between(database, collection, begin, to).count().get()).data().count;
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

/** @returns the time at which the job was interrupted; undefined if it finished */
async function relayMissing(
  { database, log }: { readonly database: Firestore; readonly log: Log },
  turn: SweepContext,
  { begin, to }: { readonly begin: number; readonly to: number },
  relay: Relay,
): Promise<Date | undefined> {
  const events = between(database, COLLECTIONS.events, begin, to).limit(CONCURRENT_EVENTS).select('timestamp');
  for (let page = await events.get(); !page.empty; page = await events.startAfter(page.docs.at(-1)).get()) {
    const arrivals = await database.getAll(...page.docs.map(({ id }) => database.doc(eventReceiptPath(id))));
    for (const [place, event] of page.docs.entries()) {
      if (arrivals[place]?.exists) continue;
      if (turn.isOver()) return event.get('timestamp').toDate();
      try {
        await relay(event.id);
      } catch (error) {
        // The event is retried in the next hour, so that it does not block later events.
        log.error('event_not_relayed', { eventId: event.id, error });
      }
    }
  }
  return undefined;
}
