/** Watching as the caller. Source: https://firebase.google.com/docs/database/admin/retrieve-data */

import type { Database, DataSnapshot } from 'firebase-admin/database';
import type { CallerToken } from '../../../access/store/idTokens.ts';
import { expired } from '../../../identity/rules/credential.ts';
import type { Caller } from '../../../identity/rules/principal.ts';
import { connectionError, MusterError } from '../../../kernel/errors.ts';
import type { JsonValue } from '../../../kernel/json.ts';
import type { Change, Watch, Watcher, WatchShape } from '../rules/databaseAccess.ts';
import { permissionDenied, sizeLimitExceeded } from '../rules/dataErrors.ts';
import type { CallerClients, Lease } from './callerClients.ts';
import type { RealtimePorts } from './rest.ts';

/** A token lasts an hour. */
const LONGEST_TIMER_MILLISECONDS = 3_600_000;

interface WatchPorts extends RealtimePorts {
  readonly clients: CallerClients;
}

interface Watched {
  readonly caller: Caller;
  readonly path: string;
  readonly shape: WatchShape;
  readonly most: number;
}

/** One watch. When its token ends, another is asked for: an agent has one, a person only after signing in again. */
export class CallerWatch implements Watch {
  private readonly ports: WatchPorts;
  private readonly watched: Watched;
  private readonly watcher: Watcher;
  /** Fails where the first state does not come: the SDK itself tries to connect for ever. */
  private readonly late: NodeJS.Timeout;
  private renewal: NodeJS.Timeout | undefined;
  private begun = false;
  private ended = false;
  private lease: Lease | undefined;
  private unlisten: (() => void) | undefined;

  constructor(ports: WatchPorts, watched: Watched, watcher: Watcher) {
    this.ports = ports;
    this.watched = watched;
    this.watcher = watcher;
    const lost = () => this.fail(connectionError('the database sent nothing'));
    this.late = setTimeout(lost, ports.timeoutMilliseconds).unref();
    this.begin().catch((error: unknown) => this.fail(error));
  }

  stop(): void {
    if (this.ended) return;
    this.ended = true;
    clearTimeout(this.late);
    clearTimeout(this.renewal);
    this.unlisten?.();
    this.lease?.release();
  }

  private async begin(): Promise<void> {
    const token = await this.ports.tokens.of(this.watched.caller);
    const lease = await this.ports.clients.lease(token.claims);
    if (this.ended) return lease.release();
    this.lease = lease;
    this.renewAtTheEndOf(token);
    const unlisten = this.listen(lease.database);
    // What was at hand already came while listening began, and may have ended the watch.
    if (this.ended) unlisten();
    else this.unlisten = unlisten;
  }

  private renewAtTheEndOf({ expiresAt }: CallerToken): void {
    const left = expiresAt.getTime() - this.ports.clock.now().getTime();
    const renew = () => this.renew().catch((error: unknown) => this.fail(error));
    this.renewal = setTimeout(renew, Math.min(Math.max(left, 0), LONGEST_TIMER_MILLISECONDS)).unref();
  }

  private async renew(): Promise<void> {
    const token = await this.ports.tokens.of(this.watched.caller);
    if (this.ended) return;
    if (token.expiresAt <= this.ports.clock.now()) throw expired();
    this.renewAtTheEndOf(token);
  }

  private fail(error: unknown): void {
    if (this.ended) return;
    this.stop();
    this.watcher.failed(error instanceof MusterError ? error : connectionError(error));
  }

  /**
   * Turns the SDK's listeners into a batch of changes for each message of the server: of one message the SDK tells at
   * once, of the children first and of the whole last. It may tell before this returns, where another watch has the
   * data at hand.
   * @return ends the listening
   */
  private listen(database: Database): () => void {
    const { path, shape, most } = this.watched;
    const node = database.ref(path);
    // One child more than there may be, and so never a great many.
    const query = shape === 'children' ? node.orderByKey().limitToFirst(most + 1) : node;
    let changes: Change[] = [];
    const present = (child: DataSnapshot) => void changes.push({ key: keyOf(child), data: dataOf(child) });
    const gone = (child: DataSnapshot) => void changes.push({ key: keyOf(child), data: undefined });
    const whole = (snapshot: DataSnapshot): void => {
      if (snapshot.numChildren() > most) this.fail(tooMany(most));
      else this.tell(shape === 'value' ? [{ key: '', data: dataOf(snapshot) }] : changes);
      changes = [];
    };
    const ofChildren = [
      ['child_added', present],
      ['child_changed', present],
      ['child_removed', gone],
    ] as const;
    const listeners = [...(shape === 'children' ? ofChildren : []), ['value', whole] as const];
    const failed = (error: Error) => this.fail(refusalOf(error, path));
    for (const [event, heard] of listeners) query.on(event, heard, failed);
    return () => {
      for (const [event, heard] of listeners) query.off(event, heard);
    };
  }

  /** Tells the first changes as the state that they lead to. */
  private tell(changes: readonly Change[]): void {
    if (this.ended) return;
    clearTimeout(this.late);
    if (this.begun) {
      if (changes.length > 0) this.watcher.changed(changes);
      return;
    }
    this.begun = true;
    this.watcher.initial(
      new Map(changes.flatMap(({ key, data }) => (data === undefined ? [] : [[key, data]]))),
    );
  }
}

function keyOf({ key }: DataSnapshot): string {
  if (key === null) throw new Error('A child without a key.');
  return key;
}

/** Undefined where there is nothing. */
function dataOf(snapshot: DataSnapshot): JsonValue | undefined {
  return snapshot.exists() ? plain(snapshot.val()) : undefined;
}

/** The SDK's lists have gaps, where REST writes null. */
function plain(value: unknown): JsonValue {
  if (Array.isArray(value)) return Array.from(value, plain);
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return value;
  if (typeof value !== 'object' || value === null) return null;
  return Object.fromEntries(Object.entries(value).map(([key, child]) => [key, plain(child)]));
}

function tooMany(most: number): MusterError {
  return sizeLimitExceeded('path', `There are more than ${most} children here.`, 'Watch a deeper path.');
}

/** The SDK gives its errors the server's code. */
function refusalOf(error: Error, path: string): MusterError {
  const code = 'code' in error ? error.code : undefined;
  if (code === 'PERMISSION_DENIED') return permissionDenied(path, error);
  if (code === 'TOO_BIG') {
    const what = 'There is more than the database gives at once.';
    return sizeLimitExceeded('path', what, 'Watch a deeper path.');
  }
  return connectionError(error);
}
