/** Counts of deleted and replaced items, by place. */
export class Report {
  private readonly counts = { deleted: new Map<string, number>(), replaced: new Map<string, number>() };

  add(what: 'deleted' | 'replaced', where: string): void {
    this.counts[what].set(where, (this.counts[what].get(where) ?? 0) + 1);
  }

  /** @param isDry whether this was a dry run, which changed nothing */
  sentences(isDry: boolean): readonly string[] {
    const words = isDry
      ? { deleted: 'Would be deleted', replaced: 'Would be replaced in' }
      : { deleted: 'Deleted', replaced: 'Replaced in' };
    return [`${words.deleted}: ${listed(this.counts.deleted)}.`, `${words.replaced}: ${listed(this.counts.replaced)}.`];
  }

  data() {
    return { deleted: Object.fromEntries(this.counts.deleted), replaced: Object.fromEntries(this.counts.replaced) };
  }
}

function listed(counts: ReadonlyMap<string, number>): string {
  const entries = [...counts].sort(([one], [other]) => (one < other ? -1 : 1));
  return entries.length === 0 ? 'nothing' : entries.map(([where, count]) => `${where} ${count}`).join(', ');
}
