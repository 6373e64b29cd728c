/** Loads data from tools for screens without listeners: when the screen is shown, and again after a change. */
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { Live } from '../live/states.ts';
import { type KnownResponse, pagesOf, responseFor } from './responses.ts';
import { ToolError } from './tools.ts';

export interface ResponseState<Value> {
  readonly live: Live<Value>;
  /** Loads the data again. The previous data is shown until the new data arrives. */
  refetch(): void;
}

/** Least time between two requests of the same data, so that a busy workspace does not use up the person's calls. */
const PAUSE_MS = 3000;
/** Time after which a request is repeated that was refused because of too many calls. */
const LIMITED_MS = 15_000;

/**
 * @param key identifies the request; when the key changes, the previous data is hidden
 * @param version when the version changes, the same request is sent again, after a pause
 * @param wanted number of pages; when the person wants more, they are loaded at once
 */
export function useResponse<Value>(
  key: string,
  ask: () => Promise<Value>,
  version = '',
  wanted = 1,
): ResponseState<Value> {
  const known = useSignal<KnownResponse<Value> | undefined>(undefined);
  const turn = useSignal(0);
  const { value } = turn;
  const last = useRef({ what: '', at: 0 });
  const number = useRef({ sent: 0, shown: 0 });
  useEffect(() => {
    let isOver = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const what = JSON.stringify([key, value, wanted]);
    const load = () => {
      last.current = { what, at: Date.now() };
      const own = ++number.current.sent;
      // A response to an earlier version is shown until the next one arrives.
      const settle = (live: Live<Value>) => {
        if (own < number.current.shown) return;
        number.current.shown = own;
        known.value = { key, live };
      };
      ask().then(
        (answer) => settle({ state: 'live', value: answer }),
        (error: unknown) => {
          const isLimited = error instanceof ToolError && error.code === 'RATE_LIMITED';
          if (!isLimited) settle(failedState(error));
          else if (!isOver) timer = setTimeout(load, LIMITED_MS);
        },
      );
    };
    const pause = last.current.what === what ? last.current.at + PAUSE_MS - Date.now() : 0;
    if (pause > 0) timer = setTimeout(load, pause);
    else load();
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
    // `ask` is a new function in each render, but sends the same request.
  }, [key, version, value, wanted]);
  return {
    live: responseFor(key, known.value),
    refetch() {
      turn.value++;
    },
  };
}

export interface Pages<Page> extends ResponseState<readonly Page[]> {
  readonly more: (() => void) | undefined;
}

/**
 * Loads the list of a tool, page by page. Each step doubles the number of pages, so that few steps reach the end.
 * @param first number of pages that are loaded at first
 */
export function usePages<Page>(
  key: string,
  ask: (cursor: string | undefined) => Promise<Page>,
  cursorOf: (page: Page) => string | undefined,
  { version = '', first = 1 }: { readonly version?: string; readonly first?: number } = {},
): Pages<Page> {
  const wanted = useSignal({ key, pages: first });
  const pages = wanted.value.key === key ? wanted.value.pages : first;
  /** Pages that the next request need not load again. */
  const known = useRef<readonly Page[]>([]);
  const load = () => {
    const begun = known.current;
    known.current = [];
    return pagesOf(pages, ask, cursorOf, begun);
  };
  const { live, refetch } = useResponse(key, load, version, pages);
  const loaded = 'value' in live ? live.value : [];
  const last = loaded.at(-1);
  const more = () => {
    if (loaded.length < pages) return;
    known.current = loaded;
    wanted.value = { key, pages: 2 * pages };
  };
  return { live, refetch, more: last !== undefined && cursorOf(last) !== undefined ? more : undefined };
}

function failedState(error: unknown): Live<never> {
  if (error instanceof ToolError && error.code === 'FORBIDDEN') return { state: 'denied' };
  return { state: 'failed', why: error instanceof Error ? error.message : String(error) };
}
