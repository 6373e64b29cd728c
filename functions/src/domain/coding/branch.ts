const MAX_SLUG_LENGTH = 40;

/** The branch of a task that names none: `task/<id8>-<slug>`. Source: docs/semantics.md#coding. */
export function usualBranch(taskId: string, description: string): string {
  const id = taskId.replace(/^task-|-\d+$/g, '').slice(-8);
  const slug = description
    .normalize('NFKD')
    .toLowerCase()
    .replace(/\p{M}/gu, '')
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, MAX_SLUG_LENGTH)
    .replace(/^-+|-+$/g, '');
  return slug === '' ? `task/${id}` : `task/${id}-${slug}`;
}
