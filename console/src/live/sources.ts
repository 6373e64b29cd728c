/** Makes sources of queries: what the databases hold is looked at here before any screen believes it. */
import { signal } from '@preact/signals';
import type { z } from 'zod/mini';
import type { Heard } from './firestore.ts';
import type { Listener, Source } from './live.ts';
import type { DocumentQuery, DocumentsQuery, NodeQuery } from './query.ts';
import type { Rows } from './states.ts';

/** Whether the Realtime Database is connected, and how far its clock is ahead of the page's, in milliseconds. */
export const isConnected = signal(true);
export const clockOffset = signal(0);

/** The interval at which a partly loaded list is counted again. */
const COUNT_MILLISECONDS = 30_000;

/** @param most the rows to return: with a higher limit, `isCut` reports whether there are others */
export function documents<Schema extends z.ZodMiniType>(
  asked: DocumentsQuery,
  schema: Schema,
  most = asked.limit,
): Source<Rows<z.output<Schema>>> {
  return {
    key: JSON.stringify([asked, most]),
    open: (listener) =>
      later(listener, async () => {
        const { hearDocuments } = await import('./firestore.ts');
        return hearDocuments(asked, {
          next: (heard, isFresh) => listener.next(read(heard, schema, most), isFresh),
          error: (error) => fail(listener, error),
        });
      }),
  };
}

/** The number of matching documents without the limit. The server counts on opening and every 30 seconds. */
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
        const timer = setInterval(ask, COUNT_MILLISECONDS);
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

/** Writes a document as the person, where the security rules let its owner. */
export async function setDocument(
  asked: DocumentQuery,
  data: Readonly<Record<string, unknown>>,
): Promise<void> {
  const { writeDocument } = await import('./firestore.ts');
  await writeDocument(asked, data);
}

/** Undefined where there is none. */
export function document<Schema extends z.ZodMiniType>(
  asked: DocumentQuery,
  schema: Schema,
): Source<z.output<Schema> | undefined> {
  return {
    key: JSON.stringify(asked),
    open: (listener) =>
      later(listener, async () => {
        const { hearDocument } = await import('./firestore.ts');
        return hearDocument(asked, {
          next: (heard, isFresh) => {
            const [row] = heard === undefined ? [] : read([heard], schema).rows;
            if (heard !== undefined && row === undefined) listener.failed('What is stored cannot be read.');
            else listener.next(row, isFresh);
          },
          error: (error) => fail(listener, error),
        });
      }),
  };
}

/** Undefined where there is nothing. */
export function node<Schema extends z.ZodMiniType>(
  asked: NodeQuery,
  schema: Schema,
): Source<z.output<Schema> | undefined> {
  return {
    key: JSON.stringify(asked),
    open: (listener) =>
      later(listener, async () => {
        const { hearNode } = await import('./realtime.ts');
        return hearNode(asked, {
          next: (value) => {
            const { data, success } = schema.safeParse(value ?? undefined);
            if (value === null) listener.next(undefined, isConnected.peek());
            else if (success) listener.next(data, isConnected.peek());
            else listener.failed('What is stored cannot be read.');
          },
          error: (error) => fail(listener, error),
        });
      }),
  };
}

/** Follows whether the Realtime Database is connected, for as long as the page is open. */
export async function followConnection(): Promise<void> {
  const { hearNode } = await import('./realtime.ts');
  const error = () => undefined;
  hearNode({ node: '.info/connected' }, { next: (value) => (isConnected.value = value === true), error });
  hearNode(
    { node: '.info/serverTimeOffset' },
    { next: (value) => (clockOffset.value = Number(value) || 0), error },
  );
}

function read<Schema extends z.ZodMiniType>(
  heard: readonly Heard[],
  schema: Schema,
  most = heard.length,
): Rows<z.output<Schema>> {
  const rows: z.output<Schema>[] = [];
  const within = heard.slice(0, most);
  for (const { id, data } of within) {
    const parsed = schema.safeParse(typeof data === 'object' && data !== null ? { id, ...data } : data);
    if (parsed.success) rows.push(parsed.data);
    else console.warn(`${id} cannot be read`, parsed.error.issues);
  }
  return { rows, unreadable: within.length - rows.length, isCut: heard.length > most };
}

/** Opens what has to be loaded first, unless it is stopped before that. */
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
