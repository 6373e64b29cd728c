/** Watches a document or a collection as the caller, through as many ID tokens as it takes. */

import type { DocumentSnapshot, Firestore, QueryDocumentSnapshot } from '@google-cloud/firestore';
import type { Caller } from '../../../access/rules/principal.ts';
import { expired } from '../../../access/rules/principal.ts';
import { TOKEN_MARGIN_MILLISECONDS } from '../../../access/store/signIn.ts';
import { connectionError, MusterError } from '../../../kernel/errors.ts';
import { versionOf } from '../../../kernel/firestore/provenCommit.ts';
import type { JsonValue } from '../../../kernel/json.ts';
import type { Clock } from '../../../kernel/ports.ts';
import type { Change, DataPath, Watch, Watcher, WatchShape } from '../rules/access.ts';
import { sizeLimitExceeded } from '../rules/errors.ts';
import type { CallerClients, Lease } from './access.ts';
import { explained } from './errors.ts';
import { elementOf } from './read.ts';
import { fieldsToJson } from './values.ts';

interface WatchPorts {
  readonly clients: CallerClients;
  readonly clock: Clock;
  /** How long a first snapshot may take. */
  readonly timeoutMilliseconds: number;
}

interface Watched {
  readonly caller: Caller;
  readonly path: DataPath;
  readonly shape: WatchShape;
  readonly most: number;
}

/** Between renewals, should a token ever be old when it comes. */
const LEAST_RENEWAL_MILLISECONDS = 1000;

export function watch(ports: WatchPorts, watched: Watched, watcher: Watcher): Watch {
  const watching = new Watching(ports, watched, watcher);
  watching.attach();
  return { stop: () => watching.end() };
}

class Watching {
  private readonly ports: WatchPorts;
  private readonly watched: Watched;
  private readonly watcher: Watcher;
  /** By id, as the watcher was last told of them. */
  private readonly documents = new Map<string, { version: string; data: JsonValue }>();
  private begun = false;
  private ended = false;
  /** Ends the listening under the present ID token. */
  private detach: () => void = () => undefined;

  constructor(ports: WatchPorts, watched: Watched, watcher: Watcher) {
    this.ports = ports;
    this.watched = watched;
    this.watcher = watcher;
  }

  /** Begins to listen under the caller's present ID token. */
  attach(): void {
    this.ports.clients.lease(this.watched.caller).then(
      (lease) => (this.ended ? lease.release() : this.listen(lease)),
      (error: unknown) => this.fail(error),
    );
  }

  end(): void {
    this.ended = true;
    this.detach();
  }

  private fail(error: unknown): void {
    if (this.ended) return;
    this.end();
    const explanation = explained(error, { ...this.watched, action: 'watch' });
    this.watcher.failed(explanation instanceof MusterError ? explanation : connectionError(error));
  }

  private listen({ client, expiresAt, release }: Lease): void {
    const { path, shape, most } = this.watched;
    const inList = shape === 'value' && path.kind === 'collection';
    let first = true;
    const late = setTimeout(
      () => this.fail(connectionError('no snapshot came')),
      this.ports.timeoutMilliseconds,
    );
    const renewal = setTimeout(() => this.renew(), this.untilRenewal(expiresAt));
    const unsubscribe = listen(
      client,
      path,
      most,
      (document) => (inList ? elementOf(document) : fieldsToJson(document.data())),
      {
        next: (snapshot) => {
          clearTimeout(late);
          if (snapshot.size > most) this.fail(tooMany(most));
          else this.tell(snapshot, first ? this.differenceTo(snapshot.all()) : snapshot.difference());
          first = false;
        },
        failed: (error) => this.fail(error),
      },
    );
    this.detach = () => {
      clearTimeout(late);
      clearTimeout(renewal);
      unsubscribe();
      release();
    };
  }

  /** An agent's token is minted anew; a person must come with another. */
  private renew(): void {
    if (this.watched.caller.principal.kind === 'person') {
      this.fail(expired());
      return;
    }
    this.detach();
    this.attach();
  }

  private untilRenewal(expiresAt: Date): number {
    const margin = this.watched.caller.principal.kind === 'person' ? 0 : TOKEN_MARGIN_MILLISECONDS;
    const left = expiresAt.getTime() - margin - this.ports.clock.now().getTime();
    return Math.max(left, LEAST_RENEWAL_MILLISECONDS);
  }

  /** What is different from what the watcher knows, when a new listening begins. */
  private differenceTo(rows: readonly Row[]): Difference {
    const ids = new Set(rows.map(({ id }) => id));
    return {
      present: rows.filter(({ id, version }) => this.documents.get(id)?.version !== version),
      gone: [...this.documents.keys()].filter((id) => !ids.has(id)),
    };
  }

  private tell(snapshot: Snapshot, { present, gone }: Difference): void {
    for (const row of present) this.documents.set(row.id, { version: row.version, data: row.data() });
    for (const id of gone) this.documents.delete(id);
    if (!this.begun) {
      this.begun = true;
      this.watcher.initial(new Map(this.state(snapshot)));
      return;
    }
    if (present.length + gone.length === 0) return;
    this.watcher.changed(this.watched.shape === 'value' ? [this.whole(snapshot)] : this.each(present, gone));
  }

  private state(snapshot: Snapshot): (readonly [string, JsonValue])[] {
    if (this.watched.shape === 'children') {
      return [...this.documents].map(([id, { data }]) => [id, data] as const);
    }
    const { key, data } = this.whole(snapshot);
    return data === undefined ? [] : [[key, data]];
  }

  private whole(snapshot: Snapshot): Change {
    const documents = snapshot.all().flatMap(({ id }) => this.documents.get(id)?.data ?? []);
    const isCollection = this.watched.path.kind === 'collection';
    return { key: '', data: isCollection ? documents : documents[0] };
  }

  private each(present: readonly Row[], gone: readonly string[]): Change[] {
    return [
      ...present.map(({ id }): Change => ({ key: id, data: this.documents.get(id)?.data })),
      ...gone.map((id): Change => ({ key: id, data: undefined })),
    ];
  }
}

function tooMany(most: number): MusterError {
  return sizeLimitExceeded(
    'path',
    `There are more than ${most} documents here.`,
    'Watch a single document, or a collection with fewer.',
  );
}

// Snapshots of a document or a collection, as one kind of thing.

/** A document as a snapshot has it. */
interface Row {
  readonly id: string;
  readonly version: string;
  data(): JsonValue;
}

interface Difference {
  /** New, or changed. */
  readonly present: readonly Row[];
  /** The ids of those that are no more. */
  readonly gone: readonly string[];
}

interface Snapshot {
  readonly size: number;
  /** All documents, in their order. */
  all(): readonly Row[];
  /** What is different from the snapshot before. */
  difference(): Difference;
}

interface Listener {
  next(snapshot: Snapshot): void;
  failed(error: unknown): void;
}

/**
 * @param most how many documents are of interest: of a collection, one more is listened to
 * @param json a document as it is told of
 * @return ends the listening
 */
function listen(
  client: Firestore,
  path: DataPath,
  most: number,
  json: (document: QueryDocumentSnapshot) => JsonValue,
  listener: Listener,
): () => void {
  const failed = (error: Error): void => listener.failed(error);
  if (path.kind === 'document') {
    return client.doc(path.text).onSnapshot((document) => listener.next(single(document, json)), failed);
  }
  const row = (document: QueryDocumentSnapshot): Row => rowOf(document, json);
  return client
    .collection(path.text)
    .limit(most + 1)
    .onSnapshot((snapshot) => {
      listener.next({
        size: snapshot.size,
        all: () => snapshot.docs.map(row),
        difference() {
          const changes = snapshot.docChanges();
          return {
            present: changes.filter(({ type }) => type !== 'removed').map(({ doc }) => row(doc)),
            gone: changes.filter(({ type }) => type === 'removed').map(({ doc }) => doc.id),
          };
        },
      });
    }, failed);
}

function single(document: DocumentSnapshot, json: (document: QueryDocumentSnapshot) => JsonValue): Snapshot {
  const rows = exists(document) ? [rowOf(document, json)] : [];
  return {
    size: rows.length,
    all: () => rows,
    difference: () => ({ present: rows, gone: rows.length === 0 ? [document.id] : [] }),
  };
}

/** The SDK's own class of a document that exists has no more than a narrower type. */
function exists(document: DocumentSnapshot): document is QueryDocumentSnapshot {
  return document.exists;
}

function rowOf(document: QueryDocumentSnapshot, json: (document: QueryDocumentSnapshot) => JsonValue): Row {
  return { id: document.id, version: versionOf(document.updateTime), data: () => json(document) };
}
