/** What the handler of a tool knows of the call that it answers. */
import type { Caller } from '../domain/data/caller.ts';
import type { Operation } from '../domain/idempotency/operation.ts';
import type { JsonObject } from '../domain/json.ts';
import type { Principal } from '../domain/principal.ts';
import type { Services } from '../domain/services.ts';
import type { Patience } from '../domain/waiting.ts';
import type { Punctuality } from './deadline.ts';
import type { Directory } from './directory.ts';
import type { Progress } from './progress.ts';

/** What a handler is given besides its arguments. Made once per call. */
export interface CallContext extends Patience, Punctuality {
  readonly principal: Principal;
  /** The principal together with what it came with, for what runs under the security rules. */
  readonly caller: Caller;
  /** The coordination workspace: the URL's, else the agent's own, else `default`. */
  readonly workspace: string;
  /** Names the call in logs and in "internal error" answers. */
  readonly requestId: string;
  /** Carries the call's idempotency key into the commit that settles it. */
  readonly operation: Operation;
  readonly services: Services;
  /**
   * Sends a notification on the call's own stream, before its answer. Only for a tool that says `notifies`. A
   * client that takes no stream does not get it, so nothing may be told by notifications alone.
   */
  notify(notification: Notification): void;
  /** Says how far the call has come, in growing numbers, to who asks. Only for a tool that says `notifies`. */
  progress(progress: Progress): void;
  /** What this deployment can do. */
  readonly directory: Directory;
  /** Where this deployment answers, without a trailing slash: `https://…cloudfunctions.net/mcp`. */
  readonly baseUrl: string;
}

/** A JSON-RPC notification. */
export interface Notification {
  readonly method: string;
  readonly params: JsonObject;
}
