/**
 * Repeats the work of triggers that were away for so long that their events were dropped. Once a day the sweep walks
 * through what is stored and calls what the triggers call, which goes by what is there now.
 * Source: docs/guides/operating.md#after-an-outage.
 */

import { type DocumentSnapshot, FieldPath, type Firestore, type Query } from '@google-cloud/firestore';
import { DEFAULT_WORKSPACE } from '../access/rules/principal.ts';
import type { FirestorePeopleQueries } from '../access/store/people.ts';
import { COLLECTIONS } from '../kernel/firestore/paths.ts';
import type { Batch, Position } from '../kernel/paging.ts';
import type { Log, PortOf } from '../kernel/ports.ts';
import { type realtimeDatabase, taskQueuePath } from '../kernel/realtime/database.ts';
import type { SweepState } from '../kernel/sweep.ts';
import { type SweepPart, walk } from '../kernel/sweep.ts';
import type { RunService } from '../toolsets/orchestration/rules/runs/runService.ts';
import { OPEN_RUNS } from '../toolsets/orchestration/store/runs.ts';
import type { SweepRecord } from '../toolsets/system/rules/ports.ts';
import type { Delegation } from '../toolsets/todo/rules/delegation.ts';
import type { Leaving } from './following.ts';

/** The part runs in every fifth minute, and otherwise reads nothing. */
const EVERY_MINUTES = 5;

/** The most that one turn looks at. */
const MOST = 500;

const PAGE = 100;

const DAY_MILLISECONDS = 24 * 3_600_000;

/** Names the walk in its record. */
const WALK = 'repeats';

/** The place at which a walk is over. */
const END = 'end';

interface RepeatPorts {
  readonly database: Firestore;
  readonly realtime: typeof realtimeDatabase;
  readonly people: Pick<FirestorePeopleQueries, 'workspaces'>;
  readonly record: Pick<SweepRecord, 'read' | 'saveBehind'>;
  readonly log: Log;
}

/** The services that triggers call. Each is safe to call twice and late. */
interface Repeated {
  readonly mirrorPerson: (uid: string) => Promise<void>;
  readonly mirrorWorkspaces: () => Promise<void>;
  readonly leaving: Pick<PortOf<Leaving>, 'end'>;
  readonly mirrorQueuedTask: (taskId: string, before?: unknown) => Promise<void>;
  readonly orchestration: { readonly runs: Pick<PortOf<RunService>, 'taskChanged' | 'wholeCancelled'> };
  readonly followGraph: (written: unknown) => Promise<void>;
  readonly followBudget: (written: unknown) => Promise<void>;
  readonly repairTodo: (todoId: string, before: unknown) => Promise<void>;
  readonly delegation: Pick<PortOf<Delegation>, 'taskClosed'>;
}

interface Repeat {
  /** The place after which its source continues. */
  readonly place: string;
  readonly work: () => Promise<unknown>;
}

/** One kind of things to look at, in an order of its own. */
interface Source {
  readonly name: string;
  /** @param after '' at the beginning @returns what follows, and where to continue unless it ends there */
  page(after: string): Promise<{ readonly repeats: readonly Repeat[]; readonly next?: string | undefined }>;
}

/** The part of the sweep that repeats what triggers do. */
export const repeatPart =
  (ports: RepeatPorts) =>
  (repeated: Repeated): SweepPart => {
    const { record, log } = ports;
    const sources = sourcesOf(ports, repeated);

    async function read(from: Position, at: Date): Promise<Batch<Repeat>> {
      const [name = '', after = ''] = splitOnce(from.id);
      const index = Math.max(
        0,
        sources.findIndex((source) => source.name === name),
      );
      const source = sources[index];
      if (source === undefined) return { found: [] };
      const { repeats, next } = await source.page(source.name === name ? after : '');
      const found = repeats.map((repeat) => ({
        item: repeat,
        place: { at, id: `${source.name}/${repeat.place}` },
      }));
      if (next !== undefined) return { found, next: { at, id: `${source.name}/${next}` } };
      const following = sources[index + 1];
      return { found, ...(following && { next: { at, id: `${following.name}/` } }) };
    }

    return {
      name: 'triggers repeated',
      async run(turn) {
        const counts = { looked: 0 };
        if (turn.now.getUTCMinutes() % EVERY_MINUTES !== 0) return { counts, isBehind: false };
        const begin = beginOf((await record.read()).behind[WALK], turn.now);
        if (begin === undefined) return { counts, isBehind: false };
        const { at: since } = begin;
        const bounded = { ...turn, from: begin, isOver: () => turn.isOver() || counts.looked >= MOST };
        const end = await walk(
          bounded,
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
        await record.saveBehind({ [WALK]: { since, ...(from && { from }) } });
        // A walk may take hours where much is stored, and nobody waits for it.
        return { counts, isBehind: false };
      },
    };
  };

/** Returns where the walk is to continue; undefined if the last one is over and began less than a day ago. */
function beginOf(state: SweepState['behind'][string] | undefined, now: Date): Position | undefined {
  const { since, from } = state ?? {};
  if (since === undefined || from === undefined) return { at: now, id: '' };
  if (from.id !== END) return from;
  return now.getTime() - since.getTime() < DAY_MILLISECONDS ? undefined : { at: now, id: '' };
}

function sourcesOf(ports: RepeatPorts, repeated: Repeated): readonly Source[] {
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
      if (typeof whole === 'string') await runs.wholeCancelled(whole);
    }),
    documents('todos', all(COLLECTIONS.todos), async (todoId, todo) => {
      await repairTodo(todoId, undefined);
      const taskId: unknown = todo.get('completed') === false && todo.get('delegated_task_id');
      if (typeof taskId === 'string') await delegation.taskClosed(taskId);
    }),
    documents('budgets', all(COLLECTIONS.budgets), (_, budget) => repeated.followBudget(budget.data())),
  ];
}

function documents(
  name: string,
  query: Query,
  work: (id: string, found: DocumentSnapshot) => Promise<void>,
): Source {
  const ordered = query.orderBy(FieldPath.documentId()).limit(PAGE);
  return {
    name,
    page: async (after) => {
      const { docs } = await (after === '' ? ordered : ordered.startAfter(after)).get();
      const repeats = docs.map((snapshot) => ({
        place: snapshot.id,
        work: () => work(snapshot.id, snapshot),
      }));
      return { repeats, next: docs.length === PAGE ? docs.at(-1)?.id : undefined };
    },
  };
}

/** The tasks that the mirrors of the queues show: they may be claimed by now, or gone. */
function queues({ realtime, people }: RepeatPorts, mirror: Repeated['mirrorQueuedTask']): Source {
  return {
    name: 'queues',
    page: async (after) => {
      const workspaces = [DEFAULT_WORKSPACE, ...Object.keys(await people.workspaces())].sort();
      const [from = '', key = ''] = splitOnce(after);
      const workspace = workspaces.find((name) => name >= from);
      if (workspace === undefined) return { repeats: [] };
      const byKey = (await realtime()).ref(taskQueuePath(workspace)).orderByKey();
      const rest = workspace === from && key !== '' ? byKey.startAfter(key) : byKey;
      const repeats: Repeat[] = [];
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

/** The two sides of the first slash. */
function splitOnce(place: string): readonly [string, string] {
  const at = place.indexOf('/');
  return at < 0 ? [place, ''] : [place.slice(0, at), place.slice(at + 1)];
}
