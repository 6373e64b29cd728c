import type { MusterError } from '../../../../functions/src/kernel/errors.ts';
import type { JsonValue } from '../../../../functions/src/kernel/json.ts';
import type { Change, Watcher } from '../../../../functions/src/toolsets/firebase/rules/databaseAccess.ts';
import { eventually } from '../../../e2e/support/waiting.ts';

/** A watcher that records what a watch reports. */
export class Recorder implements Watcher {
  readonly initials: Readonly<Record<string, JsonValue>>[] = [];
  readonly changes: Change[] = [];
  readonly failures: MusterError[] = [];

  initial(state: ReadonlyMap<string, JsonValue>): void {
    this.initials.push(Object.fromEntries(state));
  }

  changed(changes: readonly Change[]): void {
    this.changes.push(...changes);
  }

  failed(error: MusterError): void {
    this.failures.push(error);
  }

  started(): Promise<Readonly<Record<string, JsonValue>>> {
    return eventually('the first snapshot', async () => this.initials[0]);
  }

  failure(): Promise<MusterError> {
    return eventually('the failure', async () => this.failures[0]);
  }

  /** Waits for at least `count` changes, and returns all changes so far. */
  atLeast(count: number): Promise<readonly Change[]> {
    return eventually(`${count} changes`, async () => (this.changes.length >= count ? this.changes : undefined));
  }
}
