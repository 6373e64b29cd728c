/** Runs one action on many items, in groups. Between groups, it reports progress and can be stopped. */

export interface RejectedItem<Item> {
  readonly item: Item;
  readonly why: string;
}

export interface BatchOutcome<Item> {
  readonly refused: readonly RejectedItem<Item>[];
  /** Items that were skipped, because the action was stopped or the server is unreachable. */
  readonly left: readonly Item[];
}

interface BatchOptions<Item> {
  readonly size: number;
  /** @returns for each item the error if it was refused, otherwise undefined */
  send(group: readonly Item[]): Promise<readonly (Error | undefined)[]>;
  /** Called with the number of processed items, before each group and at the end. */
  progress(done: number): void;
  isStopped(): boolean;
}

export async function inBatches<Item>(
  items: readonly Item[],
  { size, send, progress, isStopped }: BatchOptions<Item>,
): Promise<BatchOutcome<Item>> {
  const refused: RejectedItem<Item>[] = [];
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
      // The next group would fail for the same reason, so the action stops here.
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
