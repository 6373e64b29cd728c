/** Questions that are open, and those that were open a minute ago, so that an answer can still be seen and changed. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { Request } from '../../live/documents.ts';
import { now } from '../../live/time.ts';

/** Time for which an answered question stays, and for which its answer can be changed. */
export const CHANGEABLE_MS = 60_000;

interface Kept {
  readonly request: Request;
  /** Until when it stays, in milliseconds since 1970. */
  readonly until: number;
}

/** @param open the open questions, newest first @returns oldest first */
export function useRecent(open: readonly Request[]): readonly Request[] {
  const kept = useSignal<readonly Kept[]>([]);
  const ids = open.map(({ id }) => id).join();
  useEffect(() => {
    const at = now.peek();
    const isOpen = new Set(open.map(({ id }) => id));
    kept.value = [
      ...open.map((request) => ({ request, until: Number.POSITIVE_INFINITY })),
      ...kept
        .peek()
        .filter(({ request, until }) => !isOpen.has(request.id) && at < until)
        .map(({ request, until }) => ({ request, until: Math.min(until, at + CHANGEABLE_MS) })),
    ];
  }, [ids]);
  const isOpen = new Set(open.map(({ id }) => id));
  const closed = kept.value.filter(({ request, until }) => !isOpen.has(request.id) && now.value < until);
  return [...open, ...closed.map(({ request }) => request)].sort(
    (one, other) => one.created_at.getTime() - other.created_at.getTime(),
  );
}
