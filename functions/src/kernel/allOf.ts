/** Works on all things of a query, some at a time. */

/** Each has commits of its own, and mostly waits for them. */
const AT_ONCE = 10;

interface Identified {
  readonly id: string;
}

/**
 * Works on each thing that is wanted, page by page. One that fails does not keep the others from their turn.
 * @param read returns the page after an id; an empty one is the end
 * @param work returns whether it changed anything
 * @returns how many things were changed
 * @throws the first error of `work`, after all have had their turn
 */
export async function allOf<Item extends Identified>(
  read: (after?: string) => Promise<readonly Item[]>,
  isWanted: (item: Item) => boolean,
  work: (item: Item) => Promise<boolean>,
): Promise<number> {
  let changed = 0;
  const errors: unknown[] = [];
  for (let page = await read(); page.length > 0; page = await read(page.at(-1)?.id)) {
    const wanted = page.filter(isWanted);
    for (let first = 0; first < wanted.length; first += AT_ONCE) {
      for (const outcome of await Promise.allSettled(wanted.slice(first, first + AT_ONCE).map(work))) {
        if (outcome.status === 'rejected') errors.push(outcome.reason);
        else if (outcome.value) changed++;
      }
    }
  }
  if (errors.length > 0) throw errors[0];
  return changed;
}
