/** Callers in the cost measurement, and the ledger that records the cost of their calls. */
import type { McpCaller } from '../load/client.ts';
import type { RunQueue } from '../servers/runQueue.ts';
import type { Bill } from '../wire/bill.ts';

export interface Cast {
  readonly url: string;
  readonly leader: McpCaller;
  readonly worker: McpCaller;
  /** Signed-in person who owns both agents. */
  readonly owner: McpCaller;
  readonly invited: McpCaller;
  /** ID token of `invited`. */
  readonly invitedToken: string;
  readonly workerId: string;
  readonly runQueue: RunQueue;
}

/** Makes calls and records the cost of each. `situation` states on which condition the cost depends, if on any. */
export interface Ledger {
  call(by: McpCaller, tool: string, args: object, situation?: string): Promise<Record<string, unknown>>;
  /** @param template URI template that the table shows instead of the URI */
  read(by: McpCaller, uri: string, situation?: string, template?: string): Promise<void>;
  /** Runs `deed` and records the cost of all its calls, including the checks of credentials. */
  whole(what: string, situation: string, deed: () => Promise<unknown>): Promise<Bill>;
  fault(what: string): void;
}
