/** Accesses Firestore with the caller's ID token. Source: docs/decisions/0009-databases-as-the-caller.md. */
import type { Firestore } from '@google-cloud/firestore';
import type { Caller } from '../../../identity/rules/principal.ts';
import { withTimeoutError } from '../../../kernel/concurrency.ts';
import { connectionError } from '../../../kernel/errors.ts';
import { Service } from '../../../kernel/ports.ts';
import type * as data from '../rules/databaseAccess.ts';
import { unknownWriteOutcome } from '../rules/dataErrors.ts';
import { CallerClients, type FirestorePorts } from './callerClients.ts';
import { type Attempt, explainedError } from './errors.ts';
import { readCollection, readDocument } from './read.ts';
import { CallerWatch } from './watch.ts';
import { write } from './write.ts';

export class FirestoreAccess extends Service<FirestorePorts> implements data.DatabaseAccess {
  private readonly clients = new CallerClients(this.ports);

  read(caller: Caller, path: data.DataPath, { query = {} }: data.ReadRequest): Promise<data.ReadOutcome> {
    return this.attempt({ caller, path, action: 'read', orderBy: query.orderBy }, (client) =>
      path.kind === 'document' ? readDocument(client, path) : readCollection(this.ports.hashing, client, path, query),
    );
  }

  write(caller: Caller, path: data.DataPath, request: data.WriteRequest): Promise<data.WriteOutcome> {
    return this.attempt({ caller, path, action: 'write' }, (client) => write(client, caller, path, request));
  }

  watch(caller: Caller, path: data.DataPath, watched: data.Watched, watcher: data.Watcher): data.Watch {
    return new CallerWatch({ ...this.ports, clients: this.clients }, { ...watched, caller, path }, watcher);
  }

  private async attempt<T>(attempt: Attempt, work: (client: Firestore) => Promise<T>): Promise<T> {
    const { timeoutMilliseconds: milliseconds } = this.ports;
    const unanswered = attempt.action === 'write' ? unknownWriteOutcome : connectionError;
    try {
      // Without a response, the Firestore client retries for minutes. The timeout below stops the retries.
      const answer = this.clients.use(attempt.caller, work);
      return await withTimeoutError(milliseconds, answer, () => unanswered(`no response in ${milliseconds} ms`));
    } catch (error) {
      throw explainedError(error, attempt);
    }
  }
}
