/** The person's roles, as listed by `access.whoami`. The call also accepts invitations to their address. */
import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { z } from 'zod/mini';
import { callTool } from '../calls/tools.ts';
import { relisten } from '../live/live.ts';
import { workspace } from '../router.ts';
import { renewToken } from '../session/session.ts';

const named = z.object({ workspace: z.string() });

const whoami = z.object({
  workspaces: z.array(z.extend(named, { role: z.string() })),
  administers: z._default(z.array(named), []),
  truncated: z.boolean(),
  accepted: z.array(named),
});

export interface Workspaces {
  /** Workspaces in which the person has a role. */
  readonly own: readonly string[];
  /** Role in each of them. */
  readonly roles: Readonly<Record<string, string>>;
  /** Other workspaces, which an admin administers without seeing their work. */
  readonly administered: readonly string[];
  /** Whether either list is truncated. */
  readonly truncated: boolean;
  /** Workspace whose invitation this call accepted. */
  readonly joined?: string | undefined;
}

/** Undefined until the first call ends; `failed` if no call has succeeded. */
export const memberships = signal<Workspaces | 'failed' | undefined>(undefined);

/** Interval for accepting invitations if the person already has a role and the page is visible. */
const FOCUS_MS = 60_000;

/** Interval for accepting invitations if the person has no role in the current workspace. */
const DENIED_FOCUS_MS = 2000;
let calledAt = 0;
/** Number of the latest call. Responses of earlier ones are ignored. */
let latest = 0;

/** Calls `access.whoami`, and restarts the listeners if the result has changed. */
export async function fetchMemberships(): Promise<void> {
  const number = ++latest;
  calledAt = Date.now();
  const before = memberships.peek();
  const after = await callTool('access.whoami', {}, whoami).then(workspacesIn, () => 'failed' as const);
  if (number !== latest) return;
  // Keeps the previous result, because the databases decide, and the next call may succeed.
  if (after === 'failed' && before !== undefined) return;
  memberships.value = after;
  if (after === 'failed') return;
  const isChange = typeof before === 'object' && listsOf(before) !== listsOf(after);
  if (isChange || after.joined !== undefined) relisten();
}

/** The first call. A person without a role may have got one after the token was created, so the token is renewed. */
async function fetchAtStart(): Promise<void> {
  await fetchMemberships();
  const known = memberships.peek();
  if (typeof known === 'object' && known.own.length === 0) await refetchMemberships();
}

/** Refreshes with a new token, because the person's address may now be verified, or the role may have changed. */
export async function refetchMemberships(): Promise<void> {
  await renewToken().catch(() => undefined);
  await fetchMemberships();
}

/** Refreshes when the page opens for a person, and again when they return to it. */
export function useMemberships(): void {
  useEffect(() => {
    void fetchAtStart();
    const comeBack = () => {
      if (document.visibilityState !== 'visible') return;
      const known = memberships.peek();
      const isIn = typeof known === 'object' && isListed(known, workspace.peek());
      const pause = isIn ? FOCUS_MS : DENIED_FOCUS_MS;
      if (Date.now() - calledAt >= pause) void refetchMemberships();
    };
    addEventListener('focus', comeBack);
    document.addEventListener('visibilitychange', comeBack);
    return () => {
      removeEventListener('focus', comeBack);
      document.removeEventListener('visibilitychange', comeBack);
      latest++;
      memberships.value = undefined;
    };
  }, []);
}

export function isListed({ own, administered }: Workspaces, name: string): boolean {
  return own.includes(name) || administered.includes(name);
}

function workspacesIn({ workspaces, administers, truncated, accepted }: z.output<typeof whoami>): Workspaces {
  const names = (those: readonly z.output<typeof named>[]) => those.map((one) => one.workspace);
  const roles = Object.fromEntries(workspaces.map(({ workspace: name, role }) => [name, role]));
  return { own: names(workspaces), roles, administered: names(administers), truncated, joined: accepted[0]?.workspace };
}

function listsOf({ own, administered, roles }: Workspaces): string {
  return JSON.stringify([own, administered, roles]);
}
