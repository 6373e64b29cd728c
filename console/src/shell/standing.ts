/** Where the person has a role, as `access.whoami` lists it. The call also takes the invitations to their address. */
import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { z } from 'zod/mini';
import { callTool } from '../calls/tools.ts';
import { listenAnew } from '../live/live.ts';
import { workspace } from '../router.ts';
import { renewToken } from '../session/session.ts';

const named = z.object({ workspace: z.string() });

const whoami = z.object({
  workspaces: z.array(named),
  administers: z._default(z.array(named), []),
  truncated: z.boolean(),
  accepted: z.array(named),
});

export interface Workspaces {
  /** Those in which the person has a role. */
  readonly own: readonly string[];
  /** Others, which an admin administers without seeing their work. */
  readonly administered: readonly string[];
  /** Whether either list is cut. */
  readonly truncated: boolean;
  /** The workspace that an invitation has let the person into with this call. */
  readonly joined?: string | undefined;
}

/** Undefined until the first call ends; `failed` if no call has succeeded. */
export const standing = signal<Workspaces | 'failed' | undefined>(undefined);

/** Invitations reach a person who has a role already within this time, if they look at the page. */
const FOCUS_MILLISECONDS = 60_000;

/** The same for a person who has no role in the workspace that they look at. */
const DENIED_FOCUS_MILLISECONDS = 2000;

let calledAt = 0;
/** Which call is the latest: the answer of an earlier one is ignored. */
let latest = 0;

/** Calls `access.whoami`, and restarts the listeners if the answer has changed. */
export async function askStanding(): Promise<void> {
  const number = ++latest;
  calledAt = Date.now();
  const before = standing.peek();
  const after = await callTool('access.whoami', {}, whoami).then(workspacesIn, () => 'failed' as const);
  if (number !== latest) return;
  // The former answer stays: the databases decide, and the next call may succeed.
  if (after === 'failed' && before !== undefined) return;
  standing.value = after;
  if (typeof before === 'object' && typeof after === 'object' && listsOf(before) !== listsOf(after))
    listenAnew();
}

/** The same with a new token: the address may have been verified since, or the account has another role. */
export async function askStandingAnew(): Promise<void> {
  await renewToken().catch(() => undefined);
  await askStanding();
}

/** Asks when the page opens for a person, and again when they come back to it. */
export function useStanding(): void {
  useEffect(() => {
    void askStanding();
    const comeBack = () => {
      if (document.visibilityState !== 'visible') return;
      const known = standing.peek();
      const isIn = typeof known === 'object' && isListed(known, workspace.peek());
      const pause = isIn ? FOCUS_MILLISECONDS : DENIED_FOCUS_MILLISECONDS;
      if (Date.now() - calledAt >= pause) void askStandingAnew();
    };
    addEventListener('focus', comeBack);
    document.addEventListener('visibilitychange', comeBack);
    return () => {
      removeEventListener('focus', comeBack);
      document.removeEventListener('visibilitychange', comeBack);
      latest++;
      standing.value = undefined;
    };
  }, []);
}

export function isListed({ own, administered }: Workspaces, name: string): boolean {
  return own.includes(name) || administered.includes(name);
}

function workspacesIn({ workspaces, administers, truncated, accepted }: z.output<typeof whoami>): Workspaces {
  const names = (those: readonly z.output<typeof named>[]) => those.map((one) => one.workspace);
  return {
    own: names(workspaces),
    administered: names(administers),
    truncated,
    joined: accepted[0]?.workspace,
  };
}

function listsOf({ own, administered }: Workspaces): string {
  return JSON.stringify([own, administered]);
}
