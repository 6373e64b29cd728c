/** Runs one action on many items in groups, so that it can report progress and be stopped. */

export interface Refused<Item> {
  readonly item: Item;
  readonly why: string;
}

export interface Outcome<Item> {
  readonly refused: readonly Refused<Item>[];
  /** Things that nothing was done about, because the action was stopped or the server is out of reach. */
  readonly left: readonly Item[];
}

interface Course<Item> {
  /** The size of a group. */
  readonly size: number;
  /** @returns for each item of a group, why it was refused */
  send(group: readonly Item[]): Promise<readonly (Error | undefined)[]>;
  /** Called with the number of items that are settled, before each group and at the end. */
  progress(done: number): void;
  isStopped(): boolean;
}

export async function inGroups<Item>(
  items: readonly Item[],
  { size, send, progress, isStopped }: Course<Item>,
): Promise<Outcome<Item>> {
  const refused: Refused<Item>[] = [];
  let done = 0;
  progress(done);
  while (done < items.length && !isStopped()) {
    const group = items.slice(done, done + size);
    try {
      for (const [index, error] of (await send(group)).entries()) {
        const item = group[index];
        if (error !== undefined && item !== undefined) refused.push({ item, why: error.message });
      }
      done += group.length;
    } catch (error) {
      // The next group would wait for the same answer in vain.
      const why = error instanceof Error ? error.message : String(error);
      refused.push(...group.map((item) => ({ item, why })));
      done += group.length;
      break;
    } finally {
      progress(done);
    }
  }
  return { refused, left: items.slice(done) };
}
