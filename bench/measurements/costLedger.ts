/** Who takes part in what is measured, and where its costs are booked. */
import type { McpCaller } from '../load/client.ts';
import type { RunQueue } from '../servers/runQueue.ts';
import type { Bill } from '../wire/bill.ts';

export interface Cast {
  /** The function's own. */
  readonly url: string;
  readonly leader: McpCaller;
  readonly worker: McpCaller;
  /** The owner of both, in person. */
  readonly owner: McpCaller;
  /** Somebody who is invited into a workspace. */
  readonly invited: McpCaller;
  /** Their ID token. */
  readonly invitedToken: string;
  readonly workerId: string;
  readonly runQueue: RunQueue;
}

/** Makes a call and books its cost. `situation` tells what the figures hold for, where that matters. */
export interface Ledger {
  call(by: McpCaller, tool: string, args: object, situation?: string): Promise<Record<string, unknown>>;
  /** @param template what to book it under, where the URI is one of a family */
  read(by: McpCaller, uri: string, situation?: string, template?: string): Promise<void>;
  /** Books all that is done meanwhile, be it the check of a credential. */
  whole(what: string, situation: string, deed: () => Promise<unknown>): Promise<Bill>;
  /** Notes what is wrong with the costs. */
  fault(what: string): void;
}
