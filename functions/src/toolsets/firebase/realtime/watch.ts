/** Watches a path with the caller's rights. Source: https://firebase.google.com/docs/database/admin/retrieve-data */
import type { Database, DataSnapshot } from 'firebase-admin/database';
import type { CallerToken } from '../../../access/store/idTokens.ts';
import { expiredCredential } from '../../../identity/rules/credential.ts';
import type { Caller } from '../../../identity/rules/principal.ts';
import { connectionError, MusterError } from '../../../kernel/errors.ts';
import type { JsonValue } from '../../../kernel/json.ts';
import type { Change, Watch, Watched, Watcher } from '../rules/databaseAccess.ts';
import { permissionDenied, sizeLimitExceeded } from '../rules/dataErrors.ts';
import type { CallerClients, Lease } from './callerClients.ts';
import type { RealtimePorts } from './rest.ts';

/** Maximum duration of a timer in milliseconds: one hour, the lifetime of an ID token. */
const MAX_TIMER_MS = 3_600_000;

interface WatchPorts extends RealtimePorts {
  readonly clients: CallerClients;
}

interface CallersWatched extends Watched {
  readonly caller: Caller;
  readonly path: string;
}

/** One watch. If the caller's ID token expires, an agent gets a new one at once; a person must sign in again. */
export class CallerWatch implements Watch {
  private readonly ports: WatchPorts;
  private readonly watched: CallersWatched;
  private readonly watcher: Watcher;
  /** Timer that ends the watch if the first data does not arrive. Without the timer, the SDK would retry forever. */
  private readonly late: NodeJS.Timeout;
  private renewal: NodeJS.Timeout | undefined;
  private isStarted = false;
  private ended = false;
  private lease: Lease | undefined;
  private unlisten: (() => void) | undefined;

  constructor(ports: WatchPorts, watched: CallersWatched, watcher: Watcher) {
    this.ports = ports;
    this.watched = watched;
    this.watcher = watcher;
    const lost = () => this.fail(connectionError('the database sent nothing'));
    this.late = setTimeout(lost, ports.timeoutMilliseconds).unref();
    this.start().catch((error: unknown) => this.fail(error));
  }

  stop(): void {
    if (this.ended) return;
    this.ended = true;
    clearTimeout(this.late);
    clearTimeout(this.renewal);
    this.unlisten?.();
    this.lease?.release();
  }

  private async start(): Promise<void> {
    const token = await this.ports.tokens.of(this.watched.caller);
    const lease = await this.ports.clients.lease(token.claims);
    if (this.ended) return lease.release();
    this.lease = lease;
    this.scheduleRenewal(token);
    const unlisten = this.listen(lease.database);
    // The previous call may have received cached data that ended the watch already.
    if (this.ended) unlisten();
    else this.unlisten = unlisten;
  }

  private scheduleRenewal({ expiresAt }: CallerToken): void {
    const left = expiresAt.getTime() - this.ports.clock.now().getTime();
    const renew = () => this.renew().catch((error: unknown) => this.fail(error));
    this.renewal = setTimeout(renew, Math.min(Math.max(left, 0), MAX_TIMER_MS)).unref();
  }

  private async renew(): Promise<void> {
    const token = await this.ports.tokens.of(this.watched.caller);
    if (this.ended) return;
    if (token.expiresAt <= this.ports.clock.now()) throw expiredCredential();
    this.scheduleRenewal(token);
  }

  private fail(error: unknown): void {
    if (this.ended) return;
    this.stop();
    this.watcher.failed(error instanceof MusterError ? error : connectionError(error));
  }

  /**
   * Starts the listeners, and combines their events into one list of changes per server message. For each message,
   * the SDK calls the listeners of children first and the listener of the whole value last, all synchronously. If
   * another watch has cached the data, these calls happen before this function returns.
   * @returns a function that stops the listeners
   */
  private listen(database: Database): () => void {
    const { path, shape, maxItems } = this.watched;
    const node = database.ref(path);
    // Requests one child more than allowed, to detect that the maximum is exceeded.
    const query = shape === 'children' ? node.orderByKey().limitToFirst(maxItems + 1) : node;
    let changes: Change[] = [];
    const present = (child: DataSnapshot) => void changes.push({ key: keyOf(child), data: dataOf(child) });
    const removed = (child: DataSnapshot) => void changes.push({ key: keyOf(child), data: undefined });
    const whole = (snapshot: DataSnapshot): void => {
      if (snapshot.numChildren() > maxItems)
        this.fail(sizeLimitExceeded('path', `This path has more than ${maxItems} children.`, 'Use a deeper path.'));
      else this.emit(shape === 'value' ? [{ key: '', data: dataOf(snapshot) }] : changes);
      changes = [];
    };
    const ofChildren = [
      ['child_added', present],
      ['child_changed', present],
      ['child_removed', removed],
    ] as const;
    const listeners = [...(shape === 'children' ? ofChildren : []), ['value', whole] as const];
    const failed = (error: Error) => this.fail(watchErrorOf(error, path));
    for (const [event, callback] of listeners) query.on(event, callback, failed);
    return () => {
      for (const [event, callback] of listeners) query.off(event, callback);
    };
  }

  /** Reports changes to the watcher. The first changes are reported as the initial state. */
  private emit(changes: readonly Change[]): void {
    if (this.ended) return;
    clearTimeout(this.late);
    if (this.isStarted) {
      if (changes.length > 0) this.watcher.changed(changes);
      return;
    }
    this.isStarted = true;
    this.watcher.initial(new Map(changes.flatMap(({ key, data }) => (data === undefined ? [] : [[key, data]]))));
  }
}

function keyOf({ key }: DataSnapshot): string {
  if (key === null) throw new Error('A child must have a key.');
  return key;
}

/** Returns the data of a snapshot; undefined if the path has no data. */
function dataOf(snapshot: DataSnapshot): JsonValue | undefined {
  return snapshot.exists() ? plain(snapshot.val()) : undefined;
}

/** Fills the gaps of lists with null, as REST does. The SDK leaves gaps empty. */
function plain(value: unknown): JsonValue {
  if (Array.isArray(value)) return Array.from(value, plain);
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return value;
  if (typeof value !== 'object' || value === null) return null;
  return Object.fromEntries(Object.entries(value).map(([key, child]) => [key, plain(child)]));
}

/** Returns the error for the caller, according to the server's error code in the SDK's error. */
function watchErrorOf(error: Error, path: string): MusterError {
  const code = 'code' in error ? error.code : undefined;
  if (code === 'PERMISSION_DENIED') return permissionDenied(path, error);
  if (code === 'TOO_BIG') {
    const what = 'The data at this path is too large for one read.';
    return sizeLimitExceeded('path', what, 'Use a deeper path.');
  }
  return connectionError(error);
}
