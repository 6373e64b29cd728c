/** A call that waits for somebody else takes long without being slow: such time is kept apart from its own. */

/** Notes the time of a wait that is for others to end, and gives what it brings. */
export type Waiting = <Result>(wait: Promise<Result>) => Promise<Result>;

/** How a call may wait. */
export interface Patience {
  /** A signal for when the caller has gone away. Make it only to wait for something. */
  gone(): AbortSignal;
  /** To await what is for others to bring: an event, a free task, the end of a run. */
  readonly waiting: Waiting;
}
