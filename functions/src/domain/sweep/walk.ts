import type { Batch, Position } from '../readers.ts';
import type { Swept, Turn } from './part.ts';

/**
 * Takes one after the other, from where the last turn stopped, until there are no more or the turn is over. It
 * never goes back, so that what cannot be cleared up does not keep the walk from the rest.
 * @param work must not reject
 */
export async function walk<Item>(
  turn: Turn,
  read: (after: Position | undefined) => Promise<Batch<Item>>,
  work: (item: Item) => Promise<void>,
): Promise<Pick<Swept, 'isBehind' | 'stoppedAt'>> {
  let stoppedAt = turn.from;
  for (;;) {
    const { found, next } = await read(stoppedAt);
    for (const { item, place } of found) {
      if (turn.isOver()) return { isBehind: true, stoppedAt };
      await work(item);
      stoppedAt = place;
    }
    if (next === undefined) return { isBehind: false };
    stoppedAt = next;
    if (turn.isOver()) return { isBehind: true, stoppedAt };
  }
}
