/**
 * Rewrites the search words that earlier releases stored. One walk over to-dos and skills runs when this release is
 * deployed, and another an hour later, because the previous release may still write during the first one.
 */
import { FieldPath, type Firestore } from '@google-cloud/firestore';
import { skillFromDocument, skillIndex } from '../access/store/agents.ts';
import { COLLECTIONS } from '../kernel/firestore/paths.ts';
import { canonicalJson } from '../kernel/json.ts';
import type { Batch, Position } from '../kernel/paging.ts';
import type { Log, PortOf } from '../kernel/ports.ts';
import { type SweepPart, walk } from '../kernel/sweep.ts';
import type { FirestoreSweepRecord } from '../toolsets/system/store/metrics.ts';

/** Names the form of the words in the record. Another form needs another name, and is then written everywhere. */
const FORM = 'words 2';

const COLLECTIONS_WITH_WORDS: readonly string[] = [COLLECTIONS.todos, COLLECTIONS.skills];

const BATCH = 100;

/** How long after the beginning of the first walk the second one begins. */
const PAUSE_MILLISECONDS = 3_600_000;

/** The place at which a walk is over. */
const END = 'end';

interface SearchWordPorts {
  readonly database: Firestore;
  readonly record: Pick<PortOf<FirestoreSweepRecord>, 'read' | 'saveBehind'>;
  readonly log: Log;
  readonly repairTodo: (id: string) => Promise<void>;
}

/** The part of the sweep that rewrites search words. When all are rewritten, a turn reads one document. */
export function searchWordsPart({ database, record, log, repairTodo }: SearchWordPorts): SweepPart {
  async function read(from: Position | undefined, at: Date): Promise<Batch<string>> {
    const [name = COLLECTIONS_WITH_WORDS[0] ?? '', id = ''] = from?.id.split('/') ?? [];
    const ordered = database.collection(name).orderBy(FieldPath.documentId()).select().limit(BATCH);
    const { docs } = await (id === '' ? ordered : ordered.startAfter(id)).get();
    const found = docs.map(({ ref: { path } }) => ({ item: path, place: { at, id: path } }));
    if (docs.length === BATCH) return { found, next: found.at(-1)?.place };
    const following = COLLECTIONS_WITH_WORDS[COLLECTIONS_WITH_WORDS.indexOf(name) + 1];
    return { found, ...(following !== undefined && { next: { at, id: `${following}/` } }) };
  }

  async function rewrite(path: string): Promise<void> {
    const [name, id = ''] = path.split('/');
    try {
      await (name === COLLECTIONS.todos ? repairTodo(id) : rewriteSkill(database, path));
    } catch (error) {
      log.error('search_words_not_rewritten', { path, error });
    }
  }

  return {
    name: 'search words',
    async run(turn) {
      const counts = { looked: 0 };
      const state = (await record.read()).behind[FORM];
      const since = state?.since ?? turn.now;
      const isOver = state?.from?.id === END;
      if (isOver) {
        const isLast = state.from.at.getTime() >= since.getTime() + PAUSE_MILLISECONDS;
        const isEarly = turn.now.getTime() < since.getTime() + PAUSE_MILLISECONDS;
        if (isLast || isEarly) return { counts, isBehind: false };
      }
      const from = isOver ? undefined : state?.from;
      const at = from?.at ?? turn.now;
      const end = await walk(
        { ...turn, from },
        (after) => read(after, at),
        async (path) => {
          counts.looked++;
          await rewrite(path);
        },
      );
      const place = end.isBehind ? end.stoppedAt : { at, id: END };
      await record.saveBehind({ [FORM]: { since, ...(place && { from: place }) } });
      return { counts, isBehind: false };
    },
  };
}

async function rewriteSkill(database: Firestore, path: string): Promise<void> {
  const snapshot = await database.doc(path).get();
  const data = snapshot.data();
  if (data === undefined || snapshot.updateTime === undefined) return;
  const index = skillIndex(skillFromDocument(data));
  const stored = Object.fromEntries(Object.keys(index).map((field) => [field, data[field]]));
  if (canonicalJson(stored) === canonicalJson(index)) return;
  await snapshot.ref.update(index, { lastUpdateTime: snapshot.updateTime });
}
