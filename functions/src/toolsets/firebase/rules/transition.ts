/** Transitions of a watched path, child by child, and which of them are events of a subscription. */
import { z } from 'zod';
import type { Caller } from '../../../identity/rules/principal.ts';
import { withTimeoutError } from '../../../kernel/concurrency.ts';
import { connectionError } from '../../../kernel/errors.ts';
import { canonicalJson, type JsonValue, jsonValue } from '../../../kernel/json.ts';
import type { Change, DatabaseAccesses, DataPath } from './databaseAccess.ts';
import { type DataEvent, type EventType, MAX_CHILDREN, shapeOf } from './subscription.ts';

/** Canonical JSON by child key; a single value has the key ''. If only additions are events, the texts are empty. */
export type State = ReadonlyMap<string, string>;

/** An observed change of one key, with only the data that the subscription's events and state need. */
export const transition = z.object({
  kind: z.enum(['added', 'changed', 'removed']),
  key: z.string(),
  /** Current data; for a removal, the last data. */
  data: jsonValue.exactOptional(),
  previousData: jsonValue.exactOptional(),
  /** Milliseconds since the Unix epoch. */
  at: z.number(),
});
export type Transition = Readonly<z.output<typeof transition>>;

/** Maximum size in bytes of current and previous data together. If they are larger, the previous data is omitted. */
const MAX_WITH_PREVIOUS = 262_144;

const EVENT_KINDS: Readonly<Record<Exclude<EventType, 'value'>, Transition['kind']>> = {
  child_added: 'added',
  document_added: 'added',
  child_changed: 'changed',
  document_modified: 'changed',
  child_removed: 'removed',
  document_deleted: 'removed',
};

export function isEvent(eventType: EventType, { kind }: Transition): boolean {
  return eventType === 'value' || EVENT_KINDS[eventType] === kind;
}

/** Returns the text that the state contains for a child's data, depending on the event type. */
export function storedData(eventType: EventType, data: JsonValue): string {
  return eventType !== 'value' && EVENT_KINDS[eventType] === 'added' ? '' : canonicalJson(data);
}

export function stateOf(eventType: EventType, data: ReadonlyMap<string, JsonValue>): Map<string, string> {
  if (eventType === 'value') return new Map([['', canonicalJson(data.get('') ?? null)]]);
  return new Map([...data].map(([key, value]) => [key, storedData(eventType, value)]));
}

/** Returns the transition from the known state to the changed data; undefined if nothing has changed. */
export function transitionOf(
  eventType: EventType,
  state: State,
  { key, data }: Change,
  at: number,
): Transition | undefined {
  const known = state.get(key);
  if (eventType === 'value') return changed(eventType, known ?? 'null', { key, data: data ?? null, at });
  if (data !== undefined)
    return known === undefined ? { kind: 'added', key, data, at } : changed(eventType, known, { key, data, at });
  if (known === undefined) return undefined;
  return { kind: 'removed', key, ...(EVENT_KINDS[eventType] === 'removed' && { data: parsed(known) }), at };
}

function changed(
  eventType: EventType,
  known: string,
  { key, data, at }: { readonly key: string; readonly data: JsonValue; readonly at: number },
): Transition | undefined {
  const now = storedData(eventType, data);
  if (now === known) return undefined;
  const plain: Transition = { kind: 'changed', key, data, at };
  const shown = isEvent(eventType, plain) && now.length + known.length <= MAX_WITH_PREVIOUS;
  return shown ? { ...plain, previousData: parsed(known) } : plain;
}

function parsed(text: string): JsonValue {
  return JSON.parse(text);
}

export function apply(eventType: EventType, state: Map<string, string>, transition: Transition): void {
  const { kind, key, data } = transition;
  if (kind === 'removed') state.delete(key);
  else state.set(key, storedData(eventType, data ?? null));
}

/** Returns the transitions from the known state to the data, which happened while the path was not watched. */
export function differences(
  eventType: EventType,
  state: State,
  data: ReadonlyMap<string, JsonValue>,
  at: number,
): readonly Transition[] {
  const there = eventType === 'value' ? new Map([['', data.get('') ?? null]]) : data;
  const removed = [...state.keys()].filter((key) => !there.has(key)).map((key) => ({ key, data: undefined }));
  const here = [...there].map(([key, value]) => ({ key, data: value }));
  return [...here, ...removed].flatMap((change) => transitionOf(eventType, state, change, at) ?? []);
}

/** Returns the transition as an event for the subscriber. */
export function eventOf(subscriptionId: string, eventType: EventType, transition: Transition): DataEvent {
  const { kind, key, data = null, previousData, at } = transition;
  const before = kind === 'removed' ? data : previousData;
  return {
    subscriptionId,
    eventType,
    data,
    ...(before !== undefined && { previousData: before }),
    ...(eventType !== 'value' && { key }),
    timestamp: new Date(at),
  };
}

const SNAPSHOT_TIMEOUT_MS = 15_000;

/** Data by child key. A single value has the empty key. */
export type Snapshot = ReadonlyMap<string, JsonValue>;

/** Reads a path once, as a single value or by children. @throws MusterError as rules/dataErrors.ts creates them */
export async function readSnapshot(
  databases: DatabaseAccesses,
  caller: Caller,
  path: DataPath,
  eventType: EventType,
): Promise<Snapshot> {
  const { promise: initial, resolve, reject } = Promise.withResolvers<Snapshot>();
  const watched = { shape: shapeOf(eventType), maxItems: MAX_CHILDREN };
  const watcher = { initial: resolve, changed: () => undefined, failed: reject };
  const watch = databases[path.database].watch(caller, path, watched, watcher);
  const late = () => connectionError(new Error('The path was not read in time.'));
  return withTimeoutError(SNAPSHOT_TIMEOUT_MS, initial, late).finally(() => watch.stop());
}
