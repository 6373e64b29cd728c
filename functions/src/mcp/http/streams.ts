/** Shared implementation of the long streams `/mcp/events` and `subscriptions/listen`. */
import type { CredentialAuthenticator } from '../../access/rules/authentication.ts';
import { checkPermission, type RequiredPermission, requirePermission } from '../../access/rules/permissionCheck.ts';
import { callingAgent, touchPresence } from '../../agents/rules/liveness.ts';
import { rightsOf } from '../../identity/rules/principal.ts';
import type { FirestorePeopleQueries } from '../../identity/store/people.ts';
import { cancellableDelay } from '../../kernel/concurrency.ts';
import { MusterError } from '../../kernel/errors.ts';
import type { PortOf } from '../../kernel/ports.ts';
import { type CallPorts, measured } from '../call.ts';
import { presentableError, type RequestContext } from '../callContext.ts';
import type { OpenEvents, OpenedEvents, ServerSentEvent } from '../tool.ts';
import { errorObject } from '../toolResponse.ts';

export interface StreamPorts extends CallPorts {
  readonly authenticator: PortOf<CredentialAuthenticator>;
  readonly people: Pick<FirestorePeopleQueries, 'watch'>;
  readonly openStreams: OpenStreams;
  readonly streams: {
    /** Milliseconds after which a stream ends and its client reconnects, because the platform stops long requests. */
    readonly lifetimeMs: number;
    /** Milliseconds between keep-alive frames of an idle stream, and between heartbeats of its agent. */
    readonly keepAliveMs: number;
  };
}

/** A stream. Its opening is measured like a call, without the stream's duration. Its end is logged separately. */
export class Stream {
  private readonly ports: StreamPorts;
  private readonly requestContext: RequestContext;
  private readonly name: string;
  private readonly started = performance.now();
  private readonly ending = new AbortController();
  private readonly lifetime: NodeJS.Timeout;
  private readonly presence: NodeJS.Timeout | undefined;
  private readonly closedSignal: AbortSignal;
  private readonly requiredPermissions: RequiredPermission[] = [];
  private readonly unsubscribe: () => void;
  private error: MusterError | undefined;
  /** Error that explains why the caller lost access to the stream. */
  private lossReason: unknown;
  private closed = false;

  /** @param name the stream's name in the log */
  constructor(ports: StreamPorts, requestContext: RequestContext, name: string) {
    this.ports = ports;
    this.requestContext = requestContext;
    this.name = name;
    const { lifetimeMs, keepAliveMs } = ports.streams;
    this.lifetime = setTimeout(this.finish, lifetimeMs);
    this.closedSignal = requestContext.disconnectSignal();
    this.closedSignal.addEventListener('abort', this.finish, { once: true });
    if (this.closedSignal.aborted) this.finish();
    const { principal } = requestContext;
    const broke = (error: Error) => ports.log.warn('rights_not_watched', { stream: name, error });
    const recheck = () => void this.requirePermissions('reauthenticate').catch(this.lose);
    this.unsubscribe = ports.people.watch(principal.owner_uid, recheck, broke);
    const agent = callingAgent(principal);
    if (agent === undefined) return;
    this.presence = setInterval(() => void this.sendHeartbeat(agent), keepAliveMs);
  }

  /** Fires when the client disconnects, the maximum lifetime is reached, or the stream is closed. */
  get end(): AbortSignal {
    return this.ending.signal;
  }

  private readonly finish = (): void => this.ending.abort();

  private readonly lose = (reason: unknown): void => {
    this.lossReason = reason;
    this.finish();
  };

  /** Checks a permission now and repeatedly until the stream ends. @throws MusterError FORBIDDEN */
  async checkPermission(need: RequiredPermission): Promise<RequestContext> {
    const admitted = await checkPermission(this.ports, this.requestContext, need);
    this.requiredPermissions.push(need);
    return admitted;
  }

  /** Checks again whether the caller has access. @throws MusterError UNAUTHORIZED, TOKEN_EXPIRED or FORBIDDEN */
  async reauthenticate(): Promise<void> {
    if (this.lossReason !== undefined) throw this.lossReason;
    await this.requirePermissions('authenticate');
  }

  /** Ends the stream if the caller's rights have changed. When the client reconnects, access is checked again. */
  private async requirePermissions(read: 'authenticate' | 'reauthenticate'): Promise<void> {
    const { credential, workspace, principal } = this.requestContext;
    const now = await this.ports.authenticator[read](credential);
    for (const need of this.requiredPermissions) requirePermission(now, workspace, need);
    if (rightsOf(now) !== rightsOf(principal)) this.finish();
  }

  /** Sends a heartbeat for the agent. Ends the stream if the agent's credential is no longer valid. */
  private async sendHeartbeat(agent: ReturnType<typeof callingAgent> & {}): Promise<void> {
    try {
      await this.requirePermissions('authenticate');
      if (!this.end.aborted) await touchPresence(this.ports, agent);
    } catch (error) {
      // Other errors, such as an unreachable database, do not mean that the caller lost access.
      if (error instanceof MusterError && ACCESS_LOSS.includes(error.code)) this.lose(error);
    }
  }

  /** Returns the error to show to the client; undefined if the stream had already ended. */
  fail(error: unknown): MusterError | undefined {
    if (this.end.aborted && error !== this.lossReason) return undefined;
    this.error = presentableError(error, this.requestContext.requestId, this.name, this.ports.log);
    return this.error;
  }

  /** Repeated calls do nothing. */
  close(): void {
    if (this.closed) return;
    this.closed = true;
    this.finish();
    clearTimeout(this.lifetime);
    clearInterval(this.presence);
    this.unsubscribe();
    this.closedSignal.removeEventListener('abort', this.finish);
    const { requestId, principal } = this.requestContext;
    this.ports.log.info('stream_ended', {
      requestId,
      principal: principal.uid,
      stream: this.name,
      outcome: this.error?.code ?? 'OK',
      milliseconds: Math.round(performance.now() - this.started),
    });
  }
}

const ACCESS_LOSS: readonly string[] = ['UNAUTHORIZED', 'TOKEN_EXPIRED', 'FORBIDDEN'];

/** Opens a stream, which counts as open until it ends. @throws MusterError that may be shown to the caller */
export function openStream<T>(
  ports: StreamPorts,
  requestContext: RequestContext,
  name: string,
  open: (stream: Stream) => Promise<T>,
): Promise<T> {
  return measured(ports, requestContext, { tool: name }, async () => {
    // Streams are long, so the rights are read from the database, not from the credential cache.
    const principal = await ports.authenticator.reauthenticate(requestContext.credential);
    const stream = new Stream(ports, { ...requestContext, principal }, name);
    try {
      await ports.limits.take(principal);
      const leave = ports.openStreams.open(principal.uid);
      if (stream.end.aborted) leave();
      else stream.end.addEventListener('abort', leave, { once: true });
      return await open(stream);
    } catch (error) {
      stream.close();
      throw error;
    }
  });
}

/** Yields the items, and `undefined` whenever no item arrives for `pauseMs`. A slow reader slows down the source. */
export async function* withPauses<T extends object>(
  items: AsyncIterable<T>,
  pauseMs: number,
): AsyncGenerator<T | undefined, void, undefined> {
  const iterator = items[Symbol.asyncIterator]();
  try {
    for (let next = iterator.next(); ; ) {
      const late = cancellableDelay(pauseMs);
      const result = await Promise.race([next, late.promise]).finally(late.dispose);
      if (result?.done === true) return;
      yield result?.value;
      if (result !== undefined) next = iterator.next();
    }
  } finally {
    await iterator.return?.();
  }
}

/** Maximum number of streams per principal and instance. An instance serves 80 concurrent requests. */
const MAX_STREAMS_PER_PRINCIPAL = 20;

/** Seconds after which a client should retry. Streams end often enough for a retry to succeed. */
const RETRY_SECONDS = 10;

/** Counts the open streams per principal, so that one principal cannot use all capacity of the instance. */
export class OpenStreams {
  private readonly counts = new Map<string, number>();

  /** Counts a stream. Returns a function to call once when it ends. @throws MusterError RATE_LIMITED */
  open(uid: string): () => void {
    const count = this.counts.get(uid) ?? 0;
    if (count >= MAX_STREAMS_PER_PRINCIPAL)
      throw new MusterError('RATE_LIMITED', `You have ${count} open streams, the maximum.`, {
        reason: 'TOO_MANY_STREAMS',
        suggestion: 'Close a stream, or watch several resources on one stream.',
        retryAfter: RETRY_SECONDS,
      });
    this.counts.set(uid, count + 1);
    return () => {
      const left = (this.counts.get(uid) ?? 1) - 1;
      if (left > 0) this.counts.set(uid, left);
      else this.counts.delete(uid);
    };
  }
}

/** Returns the text of an event. @throws RangeError if the id or type contains a line break or NUL */
export function frameOf({ id, event, data }: ServerSentEvent): string {
  if (/[\0\r\n]/.test(`${id}${event}`)) throw new RangeError('An event id or type must be one line.');
  const lines = data.split(/\r\n|\r|\n/).map((line) => `data: ${line}\n`);
  return `${event === undefined ? '' : `event: ${event}\n`}${id === undefined ? '' : `id: ${id}\n`}${lines.join('')}\n`;
}

/** Makes clients reconnect one second after a stream has ended. */
export const RETRY_FRAME = 'retry: 1000\n\n';

/** A comment without text, which keeps an idle connection open. */
export const KEEP_ALIVE_FRAME = ': keep-alive\n\n';

/** Opens `/mcp/events`. @throws MusterError that may be shown to the caller, if nothing can be streamed */
export function openEvents(
  ports: StreamPorts,
  requestContext: RequestContext,
  { toolset, name, open }: { readonly toolset: string; readonly name: string; readonly open: OpenEvents },
): Promise<AsyncIterable<string>> {
  // Any role suffices, because the stream contains only events of the caller's own subscriptions.
  const need: RequiredPermission = { toolset, what: name, role: 'viewer', scope: 'owner', writes: false };
  return openStream(ports, requestContext, name, async (stream) =>
    frames(ports, stream, await open(ports.services(), await stream.checkPermission(need), stream.end)),
  );
}

async function* frames(
  ports: StreamPorts,
  stream: Stream,
  { first, following }: OpenedEvents,
): AsyncGenerator<string, void, undefined> {
  try {
    yield RETRY_FRAME;
    yield* first.map(frameOf);
    for await (const events of withPauses(following, ports.streams.keepAliveMs)) {
      if (events === undefined) {
        yield KEEP_ALIVE_FRAME;
        continue;
      }
      await stream.reauthenticate();
      if (stream.end.aborted) break;
      yield* events.map(frameOf);
    }
    await stream.reauthenticate();
  } catch (error) {
    const shown = stream.fail(error);
    if (shown === undefined) return;
    const data = JSON.stringify({ jsonrpc: '2.0', id: null, error: errorObject(shown) });
    yield frameOf({ event: 'error', data });
  } finally {
    stream.close();
  }
}
