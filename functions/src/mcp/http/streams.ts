/** What streams have in common that outlive their first answer: `/mcp/events` and `subscriptions/listen`. */

import type { CredentialAuthenticator } from '../../access/rules/authentication.ts';
import { admit, authorise, type Need } from '../../access/rules/gate.ts';
import { callingAgent, touchPresence } from '../../agents/rules/liveness.ts';
import { type Principal, rightsOf } from '../../identity/rules/principal.ts';
import type { FirestorePeopleQueries } from '../../identity/store/people.ts';
import { MusterError } from '../../kernel/errors.ts';
import type { PortOf } from '../../kernel/ports.ts';
import { errorObject, presentable } from '../answer.ts';
import { type CallPorts, observed } from '../call.ts';
import type { RequestContext } from '../callContext.ts';
import type { OpenEvents, OpenedEvents, ServerSentEvent } from '../tool.ts';

export interface StreamPorts extends CallPorts {
  readonly authenticator: PortOf<CredentialAuthenticator>;
  readonly people: Pick<FirestorePeopleQueries, 'watch'>;
  readonly openStreams: OpenStreams;
  readonly streams: {
    /** After this a stream ends itself, for its client to come back: a function may not run forever. */
    readonly lifetimeMs: number;
    /** How often something is sent where nothing happens, and how often the agent is noted as alive. */
    readonly keepAliveMs: number;
  };
}

/** One stream. Opening it is a call; its end has its own log entry, so that no metric takes it for a slow answer. */
export class Stream {
  private readonly ports: StreamPorts;
  private readonly requestContext: RequestContext;
  private readonly name: string;
  private readonly started = performance.now();
  private readonly ending = new AbortController();
  private readonly lifetime: NodeJS.Timeout;
  private readonly presence: NodeJS.Timeout | undefined;
  private readonly gone: AbortSignal;
  private readonly needs: Need[] = [];
  private readonly forget: () => void;
  private error: MusterError | undefined;
  /** By what the caller has lost its right to the stream. */
  private loss: unknown;
  private closed = false;

  /** @param name the stream's in the log */
  constructor(ports: StreamPorts, requestContext: RequestContext, name: string) {
    this.ports = ports;
    this.requestContext = requestContext;
    this.name = name;
    const { lifetimeMs, keepAliveMs } = ports.streams;
    this.lifetime = setTimeout(this.finish, lifetimeMs);
    this.gone = requestContext.gone();
    this.gone.addEventListener('abort', this.finish, { once: true });
    if (this.gone.aborted) this.finish();
    const { principal } = requestContext;
    const broke = (error: Error) => ports.log.warn('rights_not_watched', { stream: name, error });
    this.forget = ports.people.watch(principal.owner_uid, () => void this.look(), broke);
    const agent = callingAgent(principal);
    if (agent === undefined) return;
    this.presence = setInterval(() => void this.beat(agent), keepAliveMs);
  }

  /** Its client has gone, its time is over, or it was closed. */
  get end(): AbortSignal {
    return this.ending.signal;
  }

  private readonly finish = (): void => this.ending.abort();

  /** Lets the caller have what it asks of the stream, for as long as it may. @throws MusterError FORBIDDEN */
  async admit(need: Need): Promise<RequestContext> {
    const admitted = await admit(this.ports, this.requestContext, need);
    this.needs.push(need);
    return admitted;
  }

  /** Checks rights anew: a stream outlives them. @throws MusterError UNAUTHORIZED, TOKEN_EXPIRED or FORBIDDEN */
  async authenticateAgain(): Promise<void> {
    if (this.loss !== undefined) throw this.loss;
    const { authenticator } = this.ports;
    this.authorise(await authenticator.authenticate(this.requestContext.credential));
  }

  /** A stream that was opened with other rights ends: its client comes back, and what it may have is looked at anew. */
  private authorise(principal: Principal): void {
    for (const need of this.needs) authorise(principal, this.requestContext.workspace, need);
    if (rightsOf(principal) !== rightsOf(this.requestContext.principal)) this.finish();
  }

  /** Ends the stream where what its owner may do has changed. Never rejects. */
  private async look(): Promise<void> {
    const { authenticator } = this.ports;
    try {
      this.authorise(await authenticator.authenticateAnew(this.requestContext.credential));
    } catch (error) {
      this.loss = error;
      this.finish();
    }
  }

  /** Notes the agent as alive, unless its credential has ended: then the stream does, also if nothing happens on it. */
  private async beat(agent: ReturnType<typeof callingAgent> & {}): Promise<void> {
    const { authenticator } = this.ports;
    try {
      this.authorise(await authenticator.authenticate(this.requestContext.credential));
    } catch (error) {
      // A database that does not answer takes nobody's rights.
      if (!isLoss(error)) return;
      this.loss = error;
      this.finish();
    }
    if (!this.end.aborted) await touchPresence(this.ports, agent);
  }

  /** @returns the error as its client may see it; undefined where the stream had ended before */
  fail(error: unknown): MusterError | undefined {
    if (this.end.aborted && error !== this.loss) return undefined;
    this.error = presentable(error, this.requestContext.requestId, this.name, this.ports.log);
    return this.error;
  }

  /** May be called twice. */
  close(): void {
    if (this.closed) return;
    this.closed = true;
    this.finish();
    clearTimeout(this.lifetime);
    clearInterval(this.presence);
    this.forget();
    this.gone.removeEventListener('abort', this.finish);
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

function isLoss(error: unknown): boolean {
  return error instanceof MusterError && ['UNAUTHORIZED', 'TOKEN_EXPIRED', 'FORBIDDEN'].includes(error.code);
}

/** Opens a stream, which counts against its principal until it ends. @throws MusterError as its caller may see it */
export function openStream<T>(
  ports: StreamPorts,
  requestContext: RequestContext,
  name: string,
  open: (stream: Stream) => Promise<T>,
): Promise<T> {
  return observed(ports, requestContext, { tool: name }, async () => {
    // A stream lasts, so it begins with the rights that its caller has now.
    const principal = await ports.authenticator.authenticateAnew(requestContext.credential);
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

/** The items, and `undefined` in each pause. Asks for the next when asked, so that a slow reader slows the source. */
export async function* withPauses<T extends object>(
  items: AsyncIterable<T>,
  pauseMs: number,
): AsyncGenerator<T | undefined, void, undefined> {
  const iterator = items[Symbol.asyncIterator]();
  try {
    for (let next = iterator.next(); ; ) {
      const result = await within(next, pauseMs);
      if (result?.done === true) return;
      yield result?.value;
      if (result !== undefined) next = iterator.next();
    }
  } finally {
    await iterator.return?.();
  }
}

function within<T>(promise: Promise<T>, milliseconds: number): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const pause = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, milliseconds, undefined);
  });
  return Promise.race([promise, pause]).finally(() => clearTimeout(timer));
}

/** An instance serves 80 requests at once. */
const MOST_OF_ONE_PRINCIPAL = 20;

/** Streams end, and their places with them, long before a client would give up. */
const RETRY_SECONDS = 10;

/** How many streams each principal has open at this instance, so that none of them takes all that it serves. */
export class OpenStreams {
  private readonly counts = new Map<string, number>();

  /** Returns what gives the place back, to be called once. @throws MusterError RATE_LIMITED */
  open(uid: string): () => void {
    const count = this.counts.get(uid) ?? 0;
    if (count >= MOST_OF_ONE_PRINCIPAL) {
      throw new MusterError('RATE_LIMITED', `You have ${count} open streams, the maximum.`, {
        reason: 'TOO_MANY_STREAMS',
        suggestion: 'Close one, or watch several resources on one stream.',
        retryAfter: RETRY_SECONDS,
      });
    }
    this.counts.set(uid, count + 1);
    return () => {
      const left = (this.counts.get(uid) ?? 1) - 1;
      if (left > 0) this.counts.set(uid, left);
      else this.counts.delete(uid);
    };
  }
}

/** @throws RangeError for an id or a type that does not fit in a line */
export function frameOf({ id, event, data }: ServerSentEvent): string {
  if (/[\0\r\n]/.test(`${id}${event}`))
    throw new RangeError('An event id or type must not contain line breaks or NUL.');
  const lines = data.split(/\r\n|\r|\n/).map((line) => `data: ${line}\n`);
  return `${event === undefined ? '' : `event: ${event}\n`}${id === undefined ? '' : `id: ${id}\n`}${lines.join('')}\n`;
}

/** How long a client waits before it comes back, in milliseconds. */
export const RETRY_FRAME = 'retry: 1000\n\n';

/** A line that means nothing, for what ends connections on which nothing moves. */
export const KEEP_ALIVE_FRAME = ': keep-alive\n\n';

/** Opens `/mcp/events`. @throws MusterError as its caller may see it, where there is nothing to stream */
export function openEvents(
  ports: StreamPorts,
  requestContext: RequestContext,
  { toolset, name, open }: { readonly toolset: string; readonly name: string; readonly open: OpenEvents },
): Promise<AsyncIterable<string>> {
  // Whose events they are, the source knows: it streams its caller's own.
  const need: Need = { toolset, what: name, role: 'viewer', scope: 'owner', writes: false };
  return openStream(ports, requestContext, name, async (stream) =>
    frames(ports, stream, await open(ports.services(), await stream.admit(need), stream.end)),
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
      await stream.authenticateAgain();
      if (stream.end.aborted) break;
      yield* events.map(frameOf);
    }
    await stream.authenticateAgain();
  } catch (error) {
    const shown = stream.fail(error);
    if (shown === undefined) return;
    const data = JSON.stringify({ jsonrpc: '2.0', id: null, error: errorObject(shown) });
    yield frameOf({ event: 'error', data });
  } finally {
    stream.close();
  }
}
