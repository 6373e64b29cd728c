/** One instance's watch of one subscription: from the log's state on, as one caller, into the log. */
import type { Watch } from '../data/access.ts';
import type { Caller } from '../data/caller.ts';
import { parsePath } from '../data/path.ts';
import type { FirebasePorts } from '../data/ports.ts';
import type { Entry } from './log.ts';
import { Recorder, type RecorderEnd } from './recorder.ts';
import type { Replayed } from './replay.ts';
import { MAX_CHILDREN, type Subscription, shapeOf } from './subscription.ts';

export class RecordedWatch {
  readonly caller: Caller;
  private readonly recorder: Recorder;
  private readonly watch: Watch;

  constructor(
    ports: FirebasePorts,
    subscription: Subscription,
    writer: string,
    caller: Caller,
    log: Replayed,
    end: RecorderEnd,
  ) {
    const { database, path, eventType } = subscription;
    this.caller = caller;
    this.recorder = new Recorder(ports, { log: subscription.log, eventType, writer }, log, end);
    this.watch = ports.databases[database].watch(
      caller,
      parsePath(database, path),
      shapeOf(eventType),
      MAX_CHILDREN,
      {
        initial: (state) => this.recorder.begin(state),
        changed: (changes) => this.recorder.changed(changes),
        // May come before the constructor has returned, and then nobody knows this watch yet.
        failed: (error) => queueMicrotask(() => end.failed(error)),
      },
    );
  }

  /** Resolves as soon as all that was missed is in the log, or the watch has ended. */
  caughtUp(): Promise<void> {
    return this.recorder.caughtUp();
  }

  seen(entry: Entry): void {
    this.recorder.seen(entry);
  }

  stop(): void {
    this.watch.stop();
    this.recorder.stop();
  }
}
