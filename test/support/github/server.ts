/**
 * A local GitHub with the endpoints that Muster uses. It keeps state and verifies credentials. Requests and responses
 * are validated against GitHub's own description. Deviations are added to `problems`.
 */
import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import Bottleneck from 'bottleneck';
import { DEFAULT_PACE, type GitHubSettings, type RequestPace } from '../../../functions/src/vendors/octokit/clients.ts';
import { bodyOf } from '../listening.ts';
import { identify, limitOf } from './authentication.ts';
import { answerProblems, requestProblems } from './description.ts';
import { access } from './routes/access.ts';
import { actions } from './routes/actions.ts';
import { contents } from './routes/contents.ts';
import { git } from './routes/git.ts';
import { tracker } from './routes/tracker.ts';
import { type Asked, match, Refused, type Reply, type Routes } from './routing.ts';
import { GitHubState } from './state.ts';

const routes: Routes = { ...access, ...contents, ...git, ...tracker, ...actions };

/** A response that the server returns to the next matching requests instead of the correct response. */
export interface Fault {
  readonly route: string;
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Body of the response, sent unchanged even if it is not valid JSON. */
  readonly text?: string;
  /** If set, the request is executed first. Then this function is called. */
  readonly carriedOut?: () => void;
  /** If set, the connection closes without a response. */
  readonly hangUp?: true;
  /** Number of requests that get this response. Default: 1. */
  readonly times?: number;
  /** If set, the response waits until this promise resolves. */
  readonly after?: Promise<unknown>;
}

export interface Seen {
  readonly route: string;
  readonly authorization: string | undefined;
  /** Status of the response. Unset if the response was a fault. */
  status?: number;
}

/** Tests write sequentially, but without the pauses that GitHub requires between writes. */
export const AT_ONCE: RequestPace = {
  ...DEFAULT_PACE,
  queues: {
    write: new Bottleneck.Group({ maxConcurrent: 1 }),
    search: new Bottleneck.Group({ maxConcurrent: 1 }),
    notifications: new Bottleneck.Group({ maxConcurrent: 1 }),
  },
  retryBaseMilliseconds: 10,
};

/** Maximum number of requests per hour and credential. */
const LIMIT = 5000;

export class LocalGitHub {
  readonly world = new GitHubState();
  readonly problems: string[] = [];
  readonly seen: Seen[] = [];
  private readonly faults: (Fault & { left: number })[] = [];
  private readonly server: Server = createServer((request, response) => {
    this.answer(request, response).catch((error) => {
      this.problems.push(String(error));
      response.destroy();
    });
  });

  /** @param port 0 means any free port */
  async start(port = 0): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.server.once('error', reject);
      this.server.listen(port, '127.0.0.1', resolve);
    });
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  get url(): string {
    const address = this.server.address();
    if (address === null || typeof address === 'string') throw new Error('the local GitHub is not running');
    return `http://127.0.0.1:${address.port}`;
  }

  /** Returns the settings with which a deployment uses this server as its App. */
  get asApp(): GitHubSettings {
    const { id, privateKey } = this.world.app;
    return { apiUrl: this.url, app: { id, privateKey }, pace: AT_ONCE };
  }

  get asPerson(): GitHubSettings {
    return { apiUrl: this.url, token: this.world.personalToken, pace: AT_ONCE };
  }

  fail(fault: Fault): void {
    this.faults.push({ ...fault, left: fault.times ?? 1 });
  }

  /** Number of received requests. */
  get total(): number {
    return this.seen.length;
  }

  count(route: string): number {
    return this.seen.filter((one) => one.route === route).length;
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? '/', this.url);
    if (pathname.startsWith('/-/logs/')) return this.giveLog(pathname, request, response);
    if (pathname === '/-/problems') return send(response, { status: 200, body: this.problems });
    const found = match(routes, request.method ?? '', pathname);
    const text = await bodyOf(request);
    if (found === undefined) {
      this.problems.push(`The local GitHub has no route ${request.method} ${pathname}`);
      return send(response, { status: 404, body: { message: 'Not Found' } });
    }
    const { route, path } = found;
    const seen: Seen = { route, authorization: request.headers.authorization };
    this.seen.push(seen);
    const fault = this.faults.find((one) => one.route === route && one.left > 0);
    if (fault !== undefined) fault.left--;
    if (fault !== undefined && fault.carriedOut === undefined) return failWith(fault, response);
    const query = Object.fromEntries(searchParams);
    const body: unknown = text === '' ? undefined : JSON.parse(text);
    this.problems.push(...requestProblems(route, { path, query, body }));
    const reply = this.reply(route, { path, query, body: Object(body) }, request.headers.authorization);
    fault?.carriedOut?.();
    if (fault !== undefined) return failWith(fault, response);
    this.problems.push(...answerProblems(route, reply.status, plain(reply.body)));
    const conditional = unlessKnown(reply, request);
    seen.status = conditional.status;
    send(response, { ...conditional, headers: { ...conditional.headers, ...this.spend(conditional, request) } });
  }

  /** Counts the response against the credential's rate limit, except status 304. Returns the rate limit's headers. */
  private spend({ status }: Reply, { headers }: IncomingMessage): Record<string, string> {
    const name = limitOf(identify(this.world, headers.authorization));
    if (name === undefined) return {};
    const used = (this.world.spent.get(name) ?? 0) + (status === 304 ? 0 : 1);
    this.world.spent.set(name, used);
    const remaining = Math.max(0, LIMIT - used);
    return {
      'x-ratelimit-limit': String(LIMIT),
      'x-ratelimit-remaining': String(remaining),
      'x-ratelimit-used': String(used),
    };
  }

  private reply(
    route: string,
    request: Pick<Asked, 'path' | 'query' | 'body'>,
    authorization: string | undefined,
  ): Reply {
    try {
      const asker = identify(this.world, authorization);
      if (asker.kind === 'refused') throw new Refused(401, asker.why);
      const asked = { world: this.world, asker, ...request, origin: this.url };
      return routes[route]?.(asked) ?? { status: 500 };
    } catch (error) {
      if (error instanceof Refused) return error.reply;
      throw error;
    }
  }

  /** Returns the log of a job. The logs have another host, so a request with the API's token would leak the token. */
  private giveLog(pathname: string, request: IncomingMessage, response: ServerResponse): void {
    if (request.headers.authorization !== undefined) this.problems.push('the token was sent to the host of logs');
    const jobs = [...this.world.repositories.values()].flatMap(({ runs }) => runs.flatMap((run) => run.jobs));
    const job = jobs.find(({ id }) => pathname === `/-/logs/${id}`);
    response.writeHead(job === undefined ? 404 : 200, { 'content-type': 'text/plain' }).end(job?.log ?? '');
  }
}

async function failWith(fault: Fault, response: ServerResponse): Promise<void> {
  await fault.after;
  if (fault.hangUp) {
    response.destroy();
    return;
  }
  const headers = { 'content-type': 'application/json; charset=utf-8', ...fault.headers };
  response.writeHead(fault.status ?? 200, headers).end(fault.text ?? '{"message":"A fault"}');
}

/** Adds an ETag, which depends on the token, or returns status 304 if the request contains the same ETag. */
function unlessKnown(reply: Reply, { method, headers }: IncomingMessage): Reply {
  if (method !== 'GET' || reply.status !== 200) return reply;
  const digest = createHash('sha256')
    .update(JSON.stringify([reply.body, headers.authorization]))
    .digest('hex');
  const etag = `W/"${digest}"`;
  if (headers['if-none-match'] === etag) return { status: 304, headers: { etag } };
  return { ...reply, headers: { ...reply.headers, etag } };
}

function send(response: ServerResponse, { status, body, headers = {} }: Reply): void {
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8', ...headers });
  response.end(body === undefined ? '' : JSON.stringify(body));
}

/** Returns the body as the client will parse it, without undefined fields. */
function plain(body: unknown): unknown {
  return body === undefined ? undefined : JSON.parse(JSON.stringify(body));
}
