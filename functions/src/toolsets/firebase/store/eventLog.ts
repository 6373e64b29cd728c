/**
 * Event logs in the Realtime Database, under `bus/{log}`:
 *
 *   log/{number}          an entry: its writer, its transitions as JSON, and whether changes before it were lost
 *   states/{number}       the state after that entry, as JSON
 *   checkpoints/{number}  marks that state as stored, with the retained entries as JSON
 *
 * JSON is stored as text, because the database drops nulls and empty objects and rejects keys with dots.
 */
import type { Database, DataSnapshot, Query, Reference } from 'firebase-admin/database';
import { z } from 'zod';
import { Service, UnreadableDocumentError, type UnreadableDocuments } from '../../../kernel/ports.ts';
import { BUS, BusWrites, busPath, changeNode, childrenOf, listenWhenReady } from '../../../kernel/realtime/database.ts';
import { type Checkpoint, type Entry, type EventLog, entrySize, type LoadedLog } from '../rules/ports.ts';
import { type State, transition } from '../rules/transition.ts';

/** Maximum number of attempts to load a log. A checkpoint written during an attempt makes the attempt fail. */
const MAX_LOADS = 10;

/** An entry as stored. Its key contains its number. */
export const storedEntry = z.object({
  writer: z.string(),
  transitions: textOf(z.array(transition)),
  after_loss: z.boolean().default(false),
});

export const storedState = textOf(z.array(z.tuple([z.string(), z.string()])));

export const storedSizes = textOf(z.array(entrySize));

/** Maximum length of an entry's text for which the entry is appended in one update with entries of other logs. */
const MAX_SHARED_LENGTH = 16_384;

/** Event logs in the Realtime Database. Calls wait while the database is unreachable. */
export class DatabaseEventLog
  extends Service<{ readonly database: () => Promise<Database>; readonly unreadable: UnreadableDocuments }>
  implements EventLog
{
  private readonly writes = new BusWrites(this.ports);

  async create(log: string, state: State): Promise<void> {
    const bus = await this.bus(log);
    if (await this.exists(log)) return;
    const text = JSON.stringify([...state]);
    await changeNode(bus.child('states').child(sequenceKey(0)), (current) => (current === null ? text : undefined));
    await bus.child('checkpoints').child(sequenceKey(0)).set('[]');
  }

  async exists(log: string): Promise<boolean> {
    return (await lastOf((await this.bus(log)).child('checkpoints'))) !== undefined;
  }

  async remove(log: string): Promise<void> {
    await (await this.bus(log)).remove();
  }

  async load(log: string): Promise<LoadedLog | undefined> {
    const bus = await this.bus(log);
    await this.writes.connect(); // The first entry does not wait for the connection then.
    for (let attempt = 0; attempt < MAX_LOADS; attempt++) {
      const latest = await lastOf(bus.child('checkpoints'));
      if (latest === undefined) return undefined;
      const sequence = sequenceOf(latest.key);
      const [state, entries] = await Promise.all([
        bus.child('states').child(sequenceKey(sequence)).get(),
        entriesOf(bus, sequence + 1).get(),
      ]);
      const after = this.entriesIn(entries);
      const isContiguous = after.every((entry, index) => entry.sequence === sequence + 1 + index);
      if (!state.exists() || !isContiguous) continue; // a newer checkpoint was stored
      const checkpoint = {
        sequence,
        state: new Map(this.value(state, storedState)),
        kept: this.value(latest, storedSizes),
      };
      return { checkpoint, entries: after };
    }
    throw new Error('The log changed during every attempt to load it.');
  }

  async append(log: string, { sequence, writer, transitions, isAfterLoss }: Entry): Promise<boolean> {
    const record = { writer, transitions: JSON.stringify(transitions) };
    const entry = isAfterLoss ? { ...record, after_loss: true } : record;
    const path = `${log}/log/${sequenceKey(sequence)}`;
    if (await this.writes.write(path, entry, record.transitions.length > MAX_SHARED_LENGTH)) return true;
    // The number is taken, unless the deployed security rules are those of the last release, which refuse all appends.
    const node = (await this.ports.database()).ref(BUS).child(path);
    return !(await node.get()).exists() && changeNode(node, (current) => (current === null ? entry : undefined));
  }

  async checkpoint(log: string, { sequence, state, kept }: Checkpoint): Promise<void> {
    const [text, keptText] = [JSON.stringify([...state]), JSON.stringify(kept)];
    const bus = await this.bus(log);
    const older = await bus.child('checkpoints').orderByKey().endBefore(sequenceKey(sequence)).get();
    const replaced = childrenOf(older).flatMap(({ key }) => [
      [`states/${key}`, null] as const,
      [`checkpoints/${key}`, null] as const,
    ]);
    await bus.update({
      ...Object.fromEntries(replaced),
      [`states/${sequenceKey(sequence)}`]: text,
      [`checkpoints/${sequenceKey(sequence)}`]: keptText,
    });
  }

  async drop(log: string, sequences: readonly number[]): Promise<void> {
    const dropped = Object.fromEntries(sequences.map((sequence) => [sequenceKey(sequence), null]));
    await (await this.bus(log)).child('log').update(dropped);
  }

  async read(log: string, from: number, max: number): Promise<readonly Entry[]> {
    const bus = await this.bus(log);
    return this.entriesIn(await entriesOf(bus, from).limitToFirst(max).get());
  }

  async end(log: string): Promise<number> {
    const bus = await this.bus(log);
    const last = await Promise.all([lastOf(bus.child('log')), lastOf(bus.child('checkpoints'))]);
    return Math.max(0, ...last.flatMap((found) => (found ? [sequenceOf(found.key)] : [])));
  }

  follow(log: string, from: number, appended: (entry: Entry) => void, failed: (error: unknown) => void): () => void {
    const onSnapshot = (snapshot: DataSnapshot): void => {
      // An exception in this listener would terminate the process.
      try {
        appended(this.entryIn(snapshot));
      } catch (error) {
        failed(error);
      }
    };
    const listen = (bus: Reference): (() => void) => {
      const query = entriesOf(bus, from);
      query.on('child_added', onSnapshot, failed);
      return () => query.off('child_added', onSnapshot);
    };
    return listenWhenReady(this.bus(log), listen, failed);
  }

  private entriesIn(list: DataSnapshot): readonly Entry[] {
    return childrenOf(list).map((child) => this.entryIn(child));
  }

  private entryIn(snapshot: DataSnapshot): Entry {
    const { writer, transitions, after_loss } = this.value(snapshot, storedEntry);
    const entry = { sequence: sequenceOf(snapshot.key), writer, transitions };
    return after_loss ? { ...entry, isAfterLoss: true } : entry;
  }

  /** Parses a value. @throws UnreadableDocumentError: no entry can be skipped, because later events depend on it */
  private value<Value>(snapshot: DataSnapshot, schema: z.ZodType<Value>): Value {
    try {
      return schema.parse(snapshot.val());
    } catch (error) {
      const path = decodeURIComponent(new URL(snapshot.ref.toString()).pathname.slice(1));
      this.ports.unreadable.note(path, error);
      throw new UnreadableDocumentError(path);
    }
  }

  private async bus(log: string): Promise<Reference> {
    return (await this.ports.database()).ref(busPath(log));
  }
}

function textOf<Schema extends z.ZodType>(schema: Schema) {
  return z
    .string()
    .transform((text): unknown => JSON.parse(text))
    .pipe(schema);
}

function entriesOf(bus: Reference, from: number): Query {
  return bus.child('log').orderByKey().startAt(sequenceKey(from));
}

async function lastOf(list: Reference): Promise<DataSnapshot | undefined> {
  return childrenOf(await list.orderByKey().limitToLast(1).get())[0];
}

/** Prefix of keys, because the database would treat keys of digits as the indexes of a list. */
const PREFIX = 'e';
const DIGITS = 10;

/** Returns the key of an entry or a checkpoint. Keys sort in the order of the numbers. */
export function sequenceKey(sequence: number): string {
  return PREFIX + String(Math.max(sequence, 0)).padStart(DIGITS, '0');
}

function sequenceOf(key: string | null): number {
  return Number(key?.slice(PREFIX.length));
}
