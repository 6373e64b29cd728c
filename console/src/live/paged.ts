/** Lists of any length, loaded page by page. If a list is not loaded completely, the server counts its rows. */
import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import type { z } from 'zod/mini';
import { type Source, useLive } from './live.ts';
import { pagedOf } from './paging.ts';
import type { DocumentsQuery } from './query.ts';
import { count, documents } from './sources.ts';
import type { Live, Paged, Rows } from './states.ts';

/**
 * @param asked query of the list; undefined until it is known
 * @param counted number of matching documents, if counters exist for it; otherwise the server counts
 */
export function usePaged<Schema extends z.ZodMiniType>(
  asked: DocumentsQuery | undefined,
  schema: Schema,
  counted: { readonly known: number | undefined } | undefined = undefined,
): Paged<z.output<Schema>> {
  const key = JSON.stringify(asked) ?? '';
  const growth = useSignal({ key, times: 1 });
  const times = growth.value.key === key ? growth.value.times : 1;
  const max = (asked?.limit ?? 0) * times;
  const { live, max: shown } = useKept(key, max, useLive(asked && pageOf(asked, schema, max)));
  const isTruncated = 'value' in live && live.value.isTruncated;
  const total = useLive(isTruncated && counted === undefined ? asked && count(asked) : undefined);
  return pagedOf(live, counted === undefined ? ('value' in total ? total.value : undefined) : counted.known, {
    // Each step loads all rows again. By doubling, all steps together load less than twice the rows of the last step.
    more: () => {
      if (shown === max) growth.value = { key, times: times * 2 };
    },
  });
}

/** Returns the source of a list's first rows. One document more is read, which shows whether the list continues. */
export function pageOf<Schema extends z.ZodMiniType>(
  asked: DocumentsQuery,
  schema: Schema,
  max: number = asked.limit,
): Source<Rows<z.output<Schema>>> {
  return documents({ ...asked, limit: max + 1 }, schema, max);
}

/** Keeps the shown rows until the server returns the larger page, because the cache has only a part of that page. */
function useKept<Value>(key: string, max: number, live: Live<Value>) {
  const shown = useRef({ key, max, live });
  const isGrown = shown.current.key === key && shown.current.max !== max;
  const isWaiting = live.state === 'loading' || live.state === 'stale';
  if (!isGrown || !isWaiting) shown.current = { key, max, live };
  return shown.current;
}
