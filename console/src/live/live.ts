/**
 * Listeners that all views share. Each source has one listener, which serves all views of the source. It stops soon
 * after the last of these views is closed, or while the page is hidden.
 */
import { computed, type ReadonlySignal, type Signal, signal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { type Live, nextState } from './states.ts';

export interface Listener<Value> {
  /** @param isFresh whether the server has confirmed the value */
  next(value: Value, isFresh: boolean): void;
  denied(): void;
  failed(why: string): void;
}

export interface Source<Value> {
  /** Sources with equal keys share one listener. */
  readonly key: string;
  /** @returns a function that stops listening */
  open(listener: Listener<Value>): () => void;
}

interface Entry {
  readonly live: Signal<Live<unknown>>;
  readonly source: Source<unknown>;
  users: number;
  stop: (() => void) | undefined;
  ending: ReturnType<typeof setTimeout> | undefined;
}

/** Time for which an unused listener continues, so that returning to a screen does not reload its data. */
const LINGER_MS = 5000;

/** Time for which the page must be hidden before it stops listening. */
const HIDDEN_MS = 60_000;
const entries = new Map<string, Entry>();
let isHidden = false;

function opened(entry: Entry): void {
  const { live, source } = entry;
  if (entry.stop !== undefined || isHidden) return;
  entry.stop = source.open({
    next(value, isFresh) {
      live.value = nextState(live.peek(), value, isFresh, new Date());
    },
    denied() {
      live.value = { state: 'denied' };
    },
    failed(why) {
      live.value = { state: 'failed', why };
    },
  });
}

function closed(entry: Entry): void {
  entry.stop?.();
  entry.stop = undefined;
}

function entryOf(source: Source<unknown>): Entry {
  const known = entries.get(source.key);
  if (known !== undefined) return known;
  const entry: Entry = {
    live: signal<Live<unknown>>({ state: 'loading' }),
    source,
    users: 0,
    stop: undefined,
    ending: undefined,
  };
  entries.set(source.key, entry);
  return entry;
}

/** Listens to a source until the returned function is called. */
export function use(source: Source<unknown>): () => void {
  const entry = entryOf(source);
  clearTimeout(entry.ending);
  entry.users++;
  opened(entry);
  return () => {
    entry.users--;
    if (entry.users > 0) return;
    entry.ending = setTimeout(() => {
      closed(entry);
      if (entries.get(source.key) === entry) entries.delete(source.key);
    }, LINGER_MS);
  };
}

/** Returns the current value of a source to which another view listens; undefined if no view listens. */
export function heard<Value>(source: Source<Value>): Live<Value> | undefined {
  // The key determines the source and so the type of its values.
  return entries.get(source.key)?.live.value as Live<Value> | undefined;
}

const NOTHING: ReadonlySignal<Live<never>> = signal<Live<never>>({ state: 'loading' });

/** Returns the current value of a source. If the source is undefined (its query is unknown), the state is loading. */
export function useLive<Value>(source: Source<Value> | undefined): Live<Value> {
  const key = source?.key;
  useEffect(() => (source === undefined ? undefined : use(source)), [key]);
  const live = useMemo(() => (source === undefined ? NOTHING : entryOf(source).live), [key]);
  // The key determines the source and so the type of its values.
  return live.value as Live<Value>;
}

/** Returns the current values of several sources, in their order. */
export function useAllLive<Value>(sources: readonly Source<Value>[]): readonly Live<Value>[] {
  const key = sources.map((source) => source.key).join('\n');
  useEffect(() => {
    const stops = sources.map(use);
    return () => {
      for (const stop of stops) stop();
    };
  }, [key]);
  return useMemo(() => computed(() => sources.map(liveOf<Value>)), [key]).value;
}

/** Returns the current value of a source that has a listener. It is a signal, so a computation depends on it. */
function liveOf<Value>(source: Source<Value>): Live<Value> {
  // The key determines the source and so the type of its values.
  return entryOf(source).live.value as Live<Value>;
}

/** Restarts all listeners, for example because the person's rights have changed. */
export function relisten(): void {
  for (const entry of entries.values()) {
    closed(entry);
    if (entry.users > 0) opened(entry);
  }
}

/** Clears all values, so that the next person does not see them. */
export function clearAll(): void {
  for (const entry of entries.values()) {
    clearTimeout(entry.ending);
    closed(entry);
  }
  entries.clear();
}

function rest(): void {
  isHidden = true;
  for (const entry of entries.values()) closed(entry);
}

function wake(): void {
  if (!isHidden) return;
  isHidden = false;
  for (const entry of entries.values()) if (entry.users > 0) opened(entry);
}

/**
 * Listens only while the page is visible. A browser restores a page unchanged only if it has no open connections.
 * Source: https://web.dev/articles/bfcache#close-open-connections-before-the-user-navigates-away
 */
export function followVisibility(): void {
  let hiding: ReturnType<typeof setTimeout> | undefined;
  addEventListener('pagehide', rest);
  addEventListener('pageshow', wake);
  document.addEventListener('visibilitychange', () => {
    clearTimeout(hiding);
    if (document.visibilityState === 'hidden') {
      hiding = setTimeout(rest, HIDDEN_MS);
      return;
    }
    wake();
  });
}
