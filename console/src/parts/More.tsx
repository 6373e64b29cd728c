/** End of a list that is not loaded completely: number of loaded rows, and a button that loads more. */
import { common } from '../../text/common.ts';
import { fill, number, plural } from '../../ui/format.ts';
import { Icon } from '../../ui/Icon.tsx';
import type { Paged } from '../live/states.ts';

interface MoreProps {
  /** Name of the listed items, in the plural: `tasks`. */
  readonly what?: string;
  /** Label of the button, by default with the name of the items. */
  readonly label?: string;
  readonly more: (() => void) | undefined;
  /** Number of loaded items, and the total, if known. */
  readonly loaded?: number;
  readonly count?: number | undefined;
}

export function More({ what = '', label = fill(common.showMore, { what }), more, loaded, count }: MoreProps) {
  if (more === undefined) return null;
  return (
    <p class="more acts">
      <button type="button" class="b quiet small" onClick={more}>
        <Icon of="down" small />
        {label}
      </button>
      {loaded !== undefined && count !== undefined && (
        <span class="faint">{fill(common.loadedOf, { loaded: number(loaded), count: number(count) })}</span>
      )}
    </p>
  );
}

/** The end of a list from the database, with the number of documents that could not be read. */
export function MoreOf({ what, of: { live, count, more } }: { readonly what: string; readonly of: Paged<unknown> }) {
  const { rows, unreadable } = 'value' in live ? live.value : { rows: [], unreadable: 0 };
  return (
    <>
      {unreadable > 0 && (
        <p class="hint" role="status">
          {plural(unreadable, common.unreadable)}
        </p>
      )}
      <More what={what} more={more} loaded={rows.length} count={count} />
    </>
  );
}

/** Returns the number for a list's heading: the count, or the number of loaded rows with a plus sign. */
export function headOf({ live, count }: Paged<unknown>): string | undefined {
  if (!('value' in live)) return undefined;
  return count === undefined ? `${number(live.value.rows.length)}+` : number(count);
}
