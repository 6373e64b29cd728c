/** Callers of the cost measurement, and its ledger. */
import type { McpCaller } from '../load/client.ts';
import type { RunQueue } from '../servers/runQueue.ts';
import type { Bill } from '../wire/bill.ts';

export interface Cast {
  /** The function's URL. */
  readonly url: string;
  readonly leader: McpCaller;
  readonly worker: McpCaller;
  /** The owner of both agents, in person. */
  readonly owner: McpCaller;
  /** A person who is invited to a workspace. */
  readonly invited: McpCaller;
  /** ID token of `invited`. */
  readonly invitedToken: string;
  readonly workerId: string;
  readonly runQueue: RunQueue;
}

/** Makes a call and records its cost. `situation` describes when the figures apply, if that matters. */
export interface Ledger {
  call(by: McpCaller, tool: string, args: object, situation?: string): Promise<Record<string, unknown>>;
  /** @param template name in the table if the URI is one of a family */
  read(by: McpCaller, uri: string, situation?: string, template?: string): Promise<void>;
  /** Records the cost of everything in `deed`, including checks of credentials. */
  whole(what: string, situation: string, deed: () => Promise<unknown>): Promise<Bill>;
  /** Records a fault in the costs. */
  fault(what: string): void;
}
