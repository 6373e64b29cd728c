/** The adapter of the Realtime Database, used without the services, and a recorder of its watches. */
import assert from 'node:assert/strict';
import { CachedCallerTokens, IdentityToolkitSignIn } from '../../../functions/src/access/store/idTokens.ts';
import type { Caller } from '../../../functions/src/identity/rules/principal.ts';
import type { MusterError } from '../../../functions/src/kernel/errors.ts';
import type { JsonValue } from '../../../functions/src/kernel/json.ts';
import { systemClock, systemHashing, systemRandomness } from '../../../functions/src/kernel/platform.ts';
import { firebaseApp } from '../../../functions/src/kernel/realtime/database.ts';
import { RealtimeAccess } from '../../../functions/src/toolsets/firebase/realtime/access.ts';
import {
  type Change,
  type DatabaseAccess,
  parsePath,
  type Watch,
  type Watched,
} from '../../../functions/src/toolsets/firebase/rules/databaseAccess.ts';
import { eventually } from '../../e2e/support/waiting.ts';

export function openAccess(clock = systemClock, timeoutMilliseconds = 10_000): DatabaseAccess {
  return new RealtimeAccess({
    app: firebaseApp,
    tokens: new CachedCallerTokens({
      agents: new IdentityToolkitSignIn({ app: firebaseApp, webApiKey: '' }),
      clock: systemClock,
    }),
    clock,
    hashing: systemHashing,
    randomness: systemRandomness,
    timeoutMilliseconds,
  });
}

type Told = [key: string, data: JsonValue | undefined];

/** Starts a watch and records what it reports. */
export class Recorder {
  state: Record<string, JsonValue> | undefined;
  readonly changes: Told[][] = [];
  private error: MusterError | undefined;
  private taken = 0;
  private readonly watch: Watch;

  constructor(access: DatabaseAccess, caller: Caller, path: string, { shape, maxItems }: Watched) {
    this.watch = access.watch(
      caller,
      parsePath('realtime', path),
      { shape, maxItems },
      {
        initial: (state) => {
          assert.ok(this.state === undefined && this.error === undefined, 'the watch starts once');
          this.state = Object.fromEntries(state);
        },
        changed: (changes) => {
          assert.ok(this.state !== undefined && this.error === undefined, 'changes follow the first state');
          this.changes.push(changes.map(({ key, data }: Change): Told => [key, data]));
        },
        failed: (error) => {
          assert.ok(this.error === undefined, 'the watch fails once');
          this.error = error;
        },
      },
    );
  }

  started(): Promise<Record<string, JsonValue>> {
    return eventually('the first state', async () => {
      if (this.error) throw this.error;
      return this.state;
    });
  }

  failed(): Promise<MusterError> {
    return eventually('the failure', async () => this.error);
  }

  /** Waits for the next batch of changes, and returns the batch. */
  async next(): Promise<Told[]> {
    const batch = await eventually('a change', async () => this.changes[this.taken]);
    this.taken++;
    return batch;
  }

  async reported(expected: Told[]): Promise<void> {
    assert.deepEqual(await this.next(), expected);
  }

  stop(): void {
    this.watch.stop();
  }
}
