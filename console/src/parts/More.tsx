/** End of a list that is not loaded completely: number of loaded rows, and a button that loads more. */
import type { Paged } from '../live/states.ts';

interface MoreProps {
  /** Name of the listed items, in the plural: `tasks`. */
  readonly what: string;
  readonly more: (() => void) | undefined;
  /** Number of loaded items, and the total, if known. */
  readonly loaded?: number;
  readonly count?: number | undefined;
}

export function More({ what, more, loaded, count }: MoreProps) {
  if (more === undefined) return null;
  return (
    <p class="acts">
      {loaded !== undefined && count !== undefined && <span class="soft">{`${loaded} of ${count}.`}</span>}
      <button type="button" class="plain" onClick={more}>{`Show more ${what}`}</button>
    </p>
  );
}

export function MoreOf({ what, of: { live, count, more } }: { readonly what: string; readonly of: Paged<unknown> }) {
  const loaded = 'value' in live ? live.value.rows.length : 0;
  return <More what={what} more={more} loaded={loaded} count={count} />;
}

/** Returns the number for a list's heading: the count, or the number of loaded rows with a plus sign. */
export function headOf({ live, count }: Paged<unknown>): number | string | undefined {
  if (!('value' in live)) return undefined;
  return count ?? `${live.value.rows.length}+`;
}
