/**
 * How much there may be below `messages` and `shared`, where anybody may write what they like. The security rules bound
 * the length of texts and the depth for everybody; they cannot count, so that the number of children is bounded here,
 * for writes through firebase.write. Source: docs/data-model.md#realtime-database.
 */
import type { JsonValue } from '../../../kernel/json.ts';
import { BoundedMap } from '../../../kernel/memoCache.ts';
import type { Clock } from '../../../kernel/ports.ts';
import { FREE_FORM, FREE_FORM_ROOTS } from '../../../kernel/realtime/database.ts';
import type { DataPath, WriteRequest } from '../rules/databaseAccess.ts';
import { invalidDataType, sizeLimitExceeded } from '../rules/dataErrors.ts';
import { entriesOf } from './order.ts';
import type { CallerRest } from './rest.ts';
import { isNothing } from './writable.ts';

/** A list of more cannot be watched, and hardly be read. */
export const MOST_CHILDREN = 10_000;

/** Stands for a number that the database fills in. */
const SERVER_VALUE = '.sv';

/** A list is looked at this often by an instance for a caller. Others may add to it meanwhile. */
const REMEMBERED_MILLISECONDS = 60_000;

const MAX_REMEMBERED = 2000;

interface Counted {
  /** At least what there was, with what the caller has added since. */
  count: number;
  readonly at: number;
}

export class ChildBounds {
  private readonly clock: Clock;
  /** By caller, who learns nothing of what others may read. */
  private readonly counted = new BoundedMap<string, Counted>(MAX_REMEMBERED);

  constructor(clock: Clock) {
    this.clock = clock;
  }

  /** @throws MusterError SIZE_LIMIT_EXCEEDED where the write would add to a list that is full, or makes too large a one */
  async check(rest: CallerRest, { segments }: DataPath, request: WriteRequest): Promise<void> {
    const { operation, data } = request;
    const isFreeForm = FREE_FORM_ROOTS.includes(segments[0] ?? '');
    if (!isFreeForm || operation === 'delete' || isNothing(data)) return;
    checkShape(segments.length + (operation === 'push' ? 1 : 0), data, 'data');
    const list = operation === 'set' ? segments.slice(0, -1) : segments;
    // The roots are listed to nobody.
    if (list.length === 1) return;
    await this.requireRoom(rest, list.join('/'), namedBy(segments, request));
  }

  /** @param named the children that are written, some of which may be there; undefined for a new one */
  private async requireRoom(
    rest: CallerRest,
    list: string,
    named: readonly string[] | undefined,
  ): Promise<void> {
    const at = this.clock.now().getTime();
    const key = `${rest.caller.principal.uid} ${list}`;
    const known = this.counted.get(key);
    const added = named?.length ?? 1;
    if (known && at - known.at < REMEMBERED_MILLISECONDS && known.count + added <= MOST_CHILDREN) {
      known.count += added;
      return;
    }
    // Who may not see the list may not write there either, and is told so by the write.
    const keys = await this.keysAt(rest, list).catch(() => undefined);
    if (keys === undefined) return;
    const more = named === undefined ? 1 : named.filter((each) => !keys.has(each)).length;
    if (more > 0 && keys.size + more > MOST_CHILDREN) throw full('path', `"${list}"`);
    this.counted.set(key, { count: keys.size + more, at });
  }

  private async keysAt(rest: CallerRest, path: string): Promise<ReadonlySet<string>> {
    return new Set(keysOf((await rest.read({ path, parameters: { shallow: 'true' } })).data));
  }
}

/** The children that a write names; undefined where it makes a new one. */
function namedBy(
  segments: readonly string[],
  { operation, data, repetition }: WriteRequest,
): readonly string[] | undefined {
  if (operation === 'set') return segments.slice(-1);
  if (operation === 'update') return keysOf(data);
  return repetition && [repetition.id];
}

function keysOf(data: JsonValue): readonly string[] {
  if (typeof data !== 'object' || data === null) return [];
  return entriesOf(data).flatMap(([key, child]) => (isNothing(child) ? [] : [key]));
}

/** What the rules would refuse without a reason, and a list in the data itself. */
function checkShape(level: number, data: JsonValue, field: string): void {
  if (isNothing(data)) return;
  if (typeof data === 'string' && data.length > FREE_FORM.characters)
    throw sizeLimitExceeded(field, `A text may have ${FREE_FORM.characters} characters.`, 'Split it.');
  if (level > FREE_FORM.levels) {
    throw invalidDataType(
      field,
      `Below messages and shared there are ${FREE_FORM.levels} levels; this is deeper.`,
    );
  }
  if (typeof data !== 'object' || data === null) return;
  const entries = entriesOf(data).filter(([key]) => key !== SERVER_VALUE);
  if (entries.length > MOST_CHILDREN) throw full(field, 'It');
  for (const [key, child] of entries) checkShape(level + 1, child, `${field}.${key}`);
}

function full(field: string, list: string) {
  return sizeLimitExceeded(
    field,
    `${list} would have more than ${MOST_CHILDREN} children.`,
    'Remove old ones, or write into another list: one for each day, or for each conversation.',
  );
}
