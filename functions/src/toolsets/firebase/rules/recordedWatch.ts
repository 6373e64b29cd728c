/** One instance's watch of one subscription: from the log's state on, as one caller, into the log. */
import type { Caller } from '../../../access/rules/principal.ts';
import { parsePath, type Watch } from './databaseAccess.ts';
import type { Replayed } from './page.ts';
import type { EventLog, FirebasePorts } from './ports.ts';
import { Recorder, type RecorderEnd } from './recorder.ts';
import { MAX_CHILDREN, type Subscription, shapeOf } from './subscription.ts';
import type { State } from './transition.ts';

export class RecordedWatch {
  readonly caller: Caller;
  readonly recorder: Recorder;
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

  stop(): void {
    this.watch.stop();
    this.recorder.stop();
  }
}

/**
 * Makes a log after its subscription, since the instance that made that one died in between. Nobody knows what
 * happened meanwhile, so the log begins by saying so. The entry that tells of the loss comes before the state: who has
 * read it finds everything that happens after. Where somebody dies in between, the next one adds another.
 * @param state as it was before this was called
 * @returns the number of the first entry that tells of something after the state
 */
export async function beginLate(
  events: EventLog,
  log: string,
  state: State,
  writer: string,
): Promise<number> {
  const sequence = (await events.end(log)) + 1;
  const isAppended = await events.append(log, { sequence, writer, transitions: [], isAfterLoss: true });
  await events.create(log, state);
  // Where it was not, another reader had the same thought, or the log has been made after all.
  return isAppended ? sequence + 1 : sequence;
}
