/** Firestore as the caller. Source: docs/decisions/0011-firestore-as-caller.md. */
import type { Caller } from '../../../access/rules/principal.ts';
import type { CallerTokens } from '../../../access/store/callerTokens.ts';
import { connectionError, type MusterError } from '../../../kernel/errors.ts';
import type { Clock, Hashing } from '../../../kernel/ports.ts';
import type {
  DatabaseAccess,
  DataPath,
  ReadOutcome,
  ReadRequest,
  Watch,
  Watcher,
  WatchShape,
  WriteOutcome,
  WriteRequest,
} from '../rules/access.ts';
import { unansweredWrite } from '../rules/errors.ts';
import { CallerClients } from './clients.ts';
import { type Attempt, explained } from './errors.ts';
import { readCollection, readDocument } from './read.ts';
import { watch } from './watch.ts';
import { write } from './write.ts';

interface FirestoreAccessPorts {
  readonly tokens: CallerTokens;
  readonly clock: Clock;
  readonly hashing: Hashing;
  /** How long a call, or a watch's first snapshot, may take. */
  readonly timeoutMilliseconds: number;
}

export class FirestoreAccess implements DatabaseAccess {
  private readonly ports: FirestoreAccessPorts;
  private readonly clients: CallerClients;

  constructor(ports: FirestoreAccessPorts) {
    this.ports = ports;
    this.clients = new CallerClients(ports.tokens, ports.clock);
  }

  read(caller: Caller, path: DataPath, { query = {} }: ReadRequest): Promise<ReadOutcome> {
    const attempt: Attempt = { caller, path, action: 'read', orderBy: query.orderBy };
    return this.attempt(attempt, () =>
      this.clients.use(caller, (client) =>
        path.kind === 'document'
          ? readDocument(client, path)
          : readCollection(this.ports, client, path, query),
      ),
    );
  }

  write(caller: Caller, path: DataPath, request: WriteRequest): Promise<WriteOutcome> {
    return this.attempt({ caller, path, action: 'write' }, () =>
      this.clients.use(caller, (client) => write({ clock: this.ports.clock, client, caller }, path, request)),
    );
  }

  watch(caller: Caller, path: DataPath, shape: WatchShape, most: number, watcher: Watcher): Watch {
    return watch({ ...this.ports, clients: this.clients }, { caller, path, shape, most }, watcher);
  }

  private async attempt<T>(attempt: Attempt, work: () => Promise<T>): Promise<T> {
    const unanswered = attempt.action === 'write' ? unansweredWrite : connectionError;
    try {
      return await withinPatience(work(), this.ports.timeoutMilliseconds, unanswered);
    } catch (error) {
      throw explained(error, attempt);
    }
  }
}

/** The client itself goes on for minutes where nothing answers. */
function withinPatience<T>(
  work: Promise<T>,
  milliseconds: number,
  unanswered: (cause: unknown) => MusterError,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(unanswered(`no answer in ${milliseconds} ms`)), milliseconds);
    work.then(resolve, reject).finally(() => clearTimeout(late));
  });
}
