/** Accesses the Realtime Database as the caller. Source: docs/decisions/0009-databases-as-the-caller.md. */
import type { Caller } from '../../../identity/rules/principal.ts';
import { Service } from '../../../kernel/ports.ts';
import type {
  DatabaseAccess,
  DataPath,
  ReadOutcome,
  ReadRequest,
  Watch,
  Watched,
  Watcher,
  WriteOutcome,
  WriteRequest,
} from '../rules/databaseAccess.ts';
import { pathNotFound } from '../rules/dataErrors.ts';
import { CallerClients } from './callerClients.ts';
import { entriesOf } from './order.ts';
import { readPage } from './paging.ts';
import { CallerRest, NOTHING_ETAG, type RealtimePorts } from './rest.ts';
import { CallerWatch } from './watch.ts';
import { ChildLimits } from './writable.ts';
import { Writing } from './writing.ts';

/** Source: https://firebase.google.com/docs/database/rest/retrieve-data */
export class RealtimeAccess extends Service<RealtimePorts> implements DatabaseAccess {
  private readonly clients = new CallerClients(this.ports);
  private readonly bounds = new ChildLimits(this.ports);

  async read(
    caller: Caller,
    { text: path }: DataPath,
    { query, shallow, maxBytes }: ReadRequest,
  ): Promise<ReadOutcome> {
    const rest = new CallerRest(this.ports, caller);
    if (query !== undefined && !shallow) return readPage(rest, path, query);
    const asked = shallow ? { path, parameters: { shallow: 'true' } } : { path, wantsEtag: true };
    const { data, etag } = await rest.read(asked, maxBytes);
    if (data === null) throw pathNotFound(path);
    return {
      data,
      count: typeof data === 'object' ? entriesOf(data).length : 1,
      timestamp: this.ports.clock.now(),
      version: shallow || etag === NOTHING_ETAG ? undefined : etag,
    };
  }

  async write(caller: Caller, path: DataPath, request: WriteRequest): Promise<WriteOutcome> {
    const rest = new CallerRest(this.ports, caller);
    await this.bounds.check(rest, path, request);
    return new Writing(rest, path, request).perform();
  }

  watch(caller: Caller, { text: path }: DataPath, watched: Watched, watcher: Watcher): Watch {
    return new CallerWatch({ ...this.ports, clients: this.clients }, { ...watched, caller, path }, watcher);
  }
}
