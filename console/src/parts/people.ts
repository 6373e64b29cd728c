/** Names of the members of the workspace, by uid. They are loaded once, when the first name is needed. */
import { signal } from '@preact/signals';
import { z } from 'zod/mini';
import { pagesOf } from '../calls/responses.ts';
import { callTool } from '../calls/tools.ts';
import { workspace } from '../router.ts';

const members = z.object({
  members: z.array(
    z.object({ uid: z.string(), name: z.exactOptional(z.string()), email: z.exactOptional(z.string()) }),
  ),
  next_cursor: z.exactOptional(z.string()),
});

/** Pages of 100 members. Names beyond them are shown as ids. */
const MAX_PAGES = 3;

const names = signal<{ readonly of: string; readonly byUid: ReadonlyMap<string, string> }>({
  of: '',
  byUid: new Map(),
});

/** Returns the name of a member; undefined if it is not known that the id is that of a member. */
export function nameOfPerson(id: string): string | undefined {
  const here = workspace.value;
  if (names.value.of !== here) void load(here);
  return names.value.of === here ? names.value.byUid.get(id) : undefined;
}

let loading = '';

async function load(here: string): Promise<void> {
  if (loading === here) return;
  loading = here;
  const ask = (cursor: string | undefined) =>
    callTool('access.list_members', { limit: 100, ...(cursor !== undefined && { cursor }) }, members);
  // Without the names, the page shows ids.
  const pages = await pagesOf(MAX_PAGES, ask, (page) => page.next_cursor).catch(() => []);
  const byUid = new Map(
    pages.flatMap((page) => page.members).map(({ uid, name, email }) => [uid, name ?? email ?? uid]),
  );
  names.value = { of: here, byUid };
}

/** Returns the members that are known so far, for the search. */
export function knownPeople(): readonly { readonly uid: string; readonly name: string }[] {
  nameOfPerson('');
  return [...names.value.byUid].map(([uid, name]) => ({ uid, name }));
}
