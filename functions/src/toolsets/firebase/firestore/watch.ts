/** Watches a Firestore document or collection with the caller's ID token, and renews the token if necessary. */
import type { DocumentSnapshot, QueryDocumentSnapshot } from '@google-cloud/firestore';
import { TOKEN_MARGIN_MS } from '../../../access/store/idTokens.ts';
import { expiredCredential } from '../../../identity/rules/credential.ts';
import type { Caller } from '../../../identity/rules/principal.ts';
import { connectionError, MusterError } from '../../../kernel/errors.ts';
import { versionOf } from '../../../kernel/firestore/verifiedCommit.ts';
import type { JsonValue } from '../../../kernel/json.ts';
import {
  type Change,
  type DataPath,
  elementOf,
  type Watch,
  type Watched,
  type Watcher,
} from '../rules/databaseAccess.ts';
import { sizeLimitExceeded } from '../rules/dataErrors.ts';
import type { CallerClients, FirestorePorts } from './callerClients.ts';
import { explainedError } from './errors.ts';
import { fieldsToJson } from './values.ts';

interface WatchPorts extends FirestorePorts {
  readonly clients: CallerClients;
}

interface CallersWatched extends Watched {
  readonly caller: Caller;
  readonly path: DataPath;
}

interface WatchedDocument {
  readonly version: string;
  readonly data: JsonValue;
}

/** Minimum time in milliseconds between renewals, because a new ID token may expire very soon. */
const MIN_RENEWAL_MS = 1000;

export class CallerWatch implements Watch {
  private readonly ports: WatchPorts;
  private readonly watched: CallersWatched;
  private readonly watcher: Watcher;
  /** Documents by id, in order, as last reported to the watcher. */
  private documents: ReadonlyMap<string, WatchedDocument> = new Map();
  private isStarted = false;
  private ended = false;
  private detach: () => void = () => undefined;

  constructor(ports: WatchPorts, watched: CallersWatched, watcher: Watcher) {
    this.ports = ports;
    this.watched = watched;
    this.watcher = watcher;
    this.attach();
  }

  stop(): void {
    this.ended = true;
    this.detach();
  }

  private attach(): void {
    this.ports.clients.lease(this.watched.caller).then(
      (lease) => (this.ended ? lease.release() : this.listen(lease)),
      (error: unknown) => this.fail(error),
    );
  }

  private fail(error: unknown): void {
    if (this.ended) return;
    this.stop();
    const explanation = explainedError(error, { ...this.watched, action: 'watch' });
    this.watcher.failed(explanation instanceof MusterError ? explanation : connectionError(error));
  }

  private listen({ client, expiresAt, release }: Lease): void {
    const { path, maxItems } = this.watched;
    const lost = () => this.fail(connectionError('no snapshot received'));
    const late = setTimeout(lost, this.ports.timeoutMilliseconds);
    const renewal = setTimeout(() => this.renew(), this.untilRenewal(expiresAt));
    let isFirst = true;
    const tell = (documents: readonly QueryDocumentSnapshot[]): void => {
      clearTimeout(late);
      const what = `This path has more than ${maxItems} documents.`;
      const suggestion = 'Watch a single document, or a collection with fewer documents.';
      if (documents.length > maxItems) this.fail(sizeLimitExceeded('path', what, suggestion));
      else this.emit(documents, isFirst);
      isFirst = false;
    };
    const failed = (error: Error): void => this.fail(error);
    const unsubscribe =
      path.kind === 'document'
        ? client.doc(path.text).onSnapshot((document) => tell([document].filter(exists)), failed)
        : // Requests one document more than allowed, to detect that the maximum is exceeded.
          client
            .collection(path.text)
            .limit(maxItems + 1)
            .onSnapshot(({ docs }) => tell(docs), failed);
    this.detach = () => {
      clearTimeout(late);
      clearTimeout(renewal);
      unsubscribe();
      release();
    };
  }

  /** Continues with a new ID token. Only agents can get one: people must sign in again. */
  private renew(): void {
    if (this.watched.caller.principal.kind === 'person') {
      this.fail(expiredCredential());
      return;
    }
    this.detach();
    this.attach();
  }

  private untilRenewal(expiresAt: Date): number {
    const margin = this.watched.caller.principal.kind === 'person' ? 0 : TOKEN_MARGIN_MS;
    const left = expiresAt.getTime() - margin - this.ports.clock.now().getTime();
    return Math.max(left, MIN_RENEWAL_MS);
  }

  /** Reports the changes since the previous report. @param isFirst whether this is the listener's first snapshot */
  private emit(snapshot: readonly QueryDocumentSnapshot[], isFirst: boolean): void {
    const before = this.documents;
    const now = new Map(snapshot.map((one) => [one.id, this.documentOf(one, before.get(one.id))]));
    this.documents = now;
    if (!this.isStarted) {
      this.isStarted = true;
      const state = this.changesOf([...now.keys()]);
      this.watcher.initial(new Map(state.flatMap(({ key, data }) => (data === undefined ? [] : [[key, data]]))));
      return;
    }
    const present = [...now.keys()].filter((id) => now.get(id) !== before.get(id));
    // Within one snapshot, Firestore reports new documents before changed ones. This code does the same.
    if (!isFirst) present.sort((one, other) => Number(before.has(one)) - Number(before.has(other)));
    const changed = [...present, ...[...before.keys()].filter((id) => !now.has(id))];
    if (changed.length > 0) this.watcher.changed(this.changesOf(changed));
  }

  /** Returns the known object if the document has not changed, so that its data is not converted again. */
  private documentOf(document: QueryDocumentSnapshot, known: WatchedDocument | undefined): WatchedDocument {
    const { path, shape } = this.watched;
    const version = versionOf(document.updateTime);
    if (known?.version === version) return known;
    const inList = shape === 'value' && path.kind === 'collection';
    const data = fieldsToJson(document.data());
    return { version, data: inList ? elementOf(document.id, data) : data };
  }

  private changesOf(ids: readonly string[]): readonly Change[] {
    const { path, shape } = this.watched;
    if (shape === 'children') return ids.map((key) => ({ key, data: this.documents.get(key)?.data }));
    const all = [...this.documents.values()].map(({ data }) => data);
    return [{ key: '', data: path.kind === 'collection' ? all : all[0] }];
  }
}

function exists(document: DocumentSnapshot): document is QueryDocumentSnapshot {
  return document.exists;
}

export type Lease = Awaited<ReturnType<CallerClients['lease']>>;
