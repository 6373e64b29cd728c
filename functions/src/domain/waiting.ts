/** A call that waits for somebody else takes long without being slow: such time is kept apart from its own. */

/** Notes the time of a wait that is for others to end, and gives what it brings. */
export type Waiting = <Result>(wait: Promise<Result>) => Promise<Result>;

/** How a call may wait. */
export interface Patience {
  /** Makes the signal that the caller has gone away. */
  gone(): AbortSignal;
  readonly waiting: Waiting;
}
