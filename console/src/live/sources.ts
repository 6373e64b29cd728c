/** Makes sources from queries, and validates the data of the databases before a screen uses it. */
import { computed, signal } from '@preact/signals';
import type { z } from 'zod/mini';
import { common } from '../../text/common.ts';
import type { ReceivedDocument } from './firestore.ts';
import type { Listener, Source } from './live.ts';
import type { DocumentQuery, DocumentsQuery, NodeQuery } from './query.ts';
import type { Rows } from './states.ts';

/** Whether the Realtime Database is connected, and the lead of its clock over the page's, in milliseconds. */
export const isConnected = signal(true);
export const clockOffset = signal(0);

/** When the connection was lost, in milliseconds since 1970; undefined while there is one. */
export const lostAt = signal<number | undefined>(undefined);

/** Time after which a lost connection counts as offline: then nothing can be changed. */
const OFFLINE_AFTER_MS = 30_000;
const isLongLost = signal(false);

export const connectionState = computed(() =>
  lostAt.value === undefined ? 'live' : isLongLost.value ? 'offline' : 'reconnecting',
);

/** Whether nothing can be changed. Buttons that call tools are disabled then. */
export const isOffline = computed(() => connectionState.value === 'offline');

/** Interval between counts of a partly loaded list. */
const COUNT_INTERVAL_MS = 30_000;

/** @param max maximum number of returned rows; `isCut` is set if the query finds more rows than that */
export function documents<Schema extends z.ZodMiniType>(
  asked: DocumentsQuery,
  schema: Schema,
  max = asked.limit,
): Source<Rows<z.output<Schema>>> {
  return {
    key: JSON.stringify([asked, max]),
    open: (listener) =>
      later(listener, async () => {
        const { watchDocuments } = await import('./firestore.ts');
        return watchDocuments(asked, {
          next: (received, isFresh) => listener.next(read(received, schema, max), isFresh),
          error: (error) => fail(listener, error),
        });
      }),
  };
}

/** Source of the number of documents without the limit. The server counts at the start and every 30 seconds. */
export function count(asked: DocumentsQuery): Source<number> {
  return {
    key: `count ${JSON.stringify({ ...asked, limit: undefined })}`,
    open: (listener) =>
      later(listener, async () => {
        const { countDocuments } = await import('./firestore.ts');
        let isOver = false;
        const ask = () =>
          countDocuments(asked).then(
            (number) => isOver || listener.next(number, true),
            (error) => isOver || fail(listener, error),
          );
        void ask();
        const timer = setInterval(ask, COUNT_INTERVAL_MS);
        return () => {
          isOver = true;
          clearInterval(timer);
        };
      }),
  };
}

/** Reads documents once. */
export async function readOnce<Schema extends z.ZodMiniType>(
  asked: DocumentsQuery,
  schema: Schema,
): Promise<Rows<z.output<Schema>>> {
  const { readDocuments } = await import('./firestore.ts');
  return read(await readDocuments(asked), schema);
}

/** Writes a document as the signed-in person. The security rules must allow it. */
export async function setDocument(asked: DocumentQuery, data: Readonly<Record<string, unknown>>): Promise<void> {
  const { writeDocument } = await import('./firestore.ts');
  await writeDocument(asked, data);
}

/** Source of one document; its value is undefined if the document does not exist. */
export function document<Schema extends z.ZodMiniType>(
  asked: DocumentQuery,
  schema: Schema,
): Source<z.output<Schema> | undefined> {
  return {
    key: JSON.stringify(asked),
    open: (listener) =>
      later(listener, async () => {
        const { watchDocument } = await import('./firestore.ts');
        return watchDocument(asked, {
          next: (received, isFresh) => {
            const [row] = received === undefined ? [] : read([received], schema).rows;
            if (received !== undefined && row === undefined) listener.failed(common.formatUnknown);
            else listener.next(row, isFresh);
          },
          error: (error) => fail(listener, error),
        });
      }),
  };
}

/** Source of one node; its value is undefined if the node does not exist. */
export function node<Schema extends z.ZodMiniType>(
  asked: NodeQuery,
  schema: Schema,
): Source<z.output<Schema> | undefined> {
  return {
    key: JSON.stringify(asked),
    open: (listener) =>
      later(listener, async () => {
        const { watchNode } = await realtime();
        return watchNode(asked, {
          next: (value) => {
            const { data, success } = schema.safeParse(value ?? undefined);
            if (value === null) listener.next(undefined, isConnected.peek());
            else if (success) listener.next(data, isConnected.peek());
            else listener.failed(common.formatUnknown);
          },
          error: (error) => fail(listener, error),
        });
      }),
  };
}

/** Loads after the module of Firestore, which the first view needs, so as not to share the network with it. */
async function realtime(): Promise<typeof import('./realtime.ts')> {
  await import('./firestore.ts');
  return import('./realtime.ts');
}

let losing: ReturnType<typeof setTimeout> | undefined;

function connected(isNow: boolean): void {
  isConnected.value = isNow;
  clearTimeout(losing);
  isLongLost.value = false;
  lostAt.value = isNow ? undefined : (lostAt.peek() ?? Date.now());
  if (!isNow) losing = setTimeout(() => (isLongLost.value = true), OFFLINE_AFTER_MS);
}

/** Updates the state of the connection while the page is open. */
export async function followConnection(): Promise<void> {
  const { watchNode } = await realtime();
  const error = () => undefined;
  watchNode({ node: '.info/connected' }, { next: (value) => connected(value === true), error });
  watchNode({ node: '.info/serverTimeOffset' }, { next: (value) => (clockOffset.value = Number(value) || 0), error });
}

function read<Schema extends z.ZodMiniType>(
  received: readonly ReceivedDocument[],
  schema: Schema,
  max = received.length,
): Rows<z.output<Schema>> {
  const rows: z.output<Schema>[] = [];
  const within = received.slice(0, max);
  for (const { id, data } of within) {
    const parsed = schema.safeParse(typeof data === 'object' && data !== null ? { id, ...data } : data);
    if (parsed.success) rows.push(parsed.data);
    else console.warn(`${id} cannot be read`, parsed.error.issues);
  }
  return { rows, unreadable: within.length - rows.length, isTruncated: received.length > max };
}

/** Opens a source after its module is loaded, unless the source is stopped before. */
function later(listener: Listener<never>, open: () => Promise<() => void>): () => void {
  let stop: (() => void) | 'stopped' | undefined;
  open().then(
    (opened) => {
      if (stop === 'stopped') opened();
      else stop = opened;
    },
    (error: unknown) => listener.failed(error instanceof Error ? error.message : String(error)),
  );
  return () => {
    if (typeof stop === 'function') stop();
    stop = 'stopped';
  };
}

function fail(listener: Listener<never>, error: Error & { readonly code?: string }): void {
  if (/permission.denied/i.test(`${error.code} ${error.message}`)) listener.denied();
  else listener.failed(error.message);
}
