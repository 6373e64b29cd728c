/**
 * A GitHub on this machine: the endpoints that Muster uses, over real state, with the App's authentication really
 * performed. What is asked and what is answered is held against GitHub's own description; whatever does not
 * agree is among `problems`.
 */
import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import Bottleneck from 'bottleneck';
import type { GitHubSettings } from '../../../functions/src/vendors/octokit/clients.ts';
import { type Pace, USUAL_PACE } from '../../../functions/src/vendors/octokit/clients.ts';
import { identify, limitOf } from './authentication.ts';
import { answerProblems, requestProblems } from './description.ts';
import { access } from './routes/access.ts';
import { actions } from './routes/actions.ts';
import { contents } from './routes/contents.ts';
import { git } from './routes/git.ts';
import { tracker } from './routes/tracker.ts';
import { type Asked, match, Refused, type Reply, type Routes } from './routing.ts';
import { World } from './world.ts';

const routes: Routes = { ...access, ...contents, ...git, ...tracker, ...actions };

/** What one request is answered instead of what it should be. */
export interface Fault {
  readonly route: string;
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** As it goes out, well-formed or not. */
  readonly text?: string;
  /** It is carried out all the same, and then this happens. */
  readonly carriedOut?: () => void;
  /** The connection ends without an answer. */
  readonly hangUp?: true;
  /** For so many requests; 1 where absent. */
  readonly times?: number;
  /** The answer waits for this. */
  readonly after?: Promise<unknown>;
}

export interface Seen {
  readonly route: string;
  readonly authorization: string | undefined;
  /** What it was answered, but for faults. */
  status?: number;
}

/** Nobody here asks for GitHub's pace: still one write after another, but without waits between them. */
export const AT_ONCE: Pace = {
  ...USUAL_PACE,
  queues: {
    write: new Bottleneck.Group({ maxConcurrent: 1 }),
    search: new Bottleneck.Group({ maxConcurrent: 1 }),
    notifications: new Bottleneck.Group({ maxConcurrent: 1 }),
  },
  retryBaseMilliseconds: 10,
};

/** Requests an hour. */
const LIMIT = 5000;

export class LocalGitHub {
  readonly world = new World();
  readonly problems: string[] = [];
  readonly seen: Seen[] = [];
  private readonly faults: (Fault & { left: number })[] = [];
  private readonly server: Server = createServer((request, response) => {
    this.answer(request, response).catch((error) => {
      this.problems.push(String(error));
      response.destroy();
    });
  });

  /** @param port 0: any that is free */
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

  /** Connects a deployment to it as its App. */
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

  /** How many requests have come. */
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
      this.problems.push(`GitHub has no ${request.method} ${pathname}`);
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
    send(response, {
      ...conditional,
      headers: { ...conditional.headers, ...this.spend(conditional, request) },
    });
  }

  /** Every answer to a credential costs one of its limit, but for those that say that nothing has changed. */
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

  /** Elsewhere than the API: a token sent here would be a token given away. */
  private giveLog(pathname: string, request: IncomingMessage, response: ServerResponse): void {
    if (request.headers.authorization !== undefined)
      this.problems.push('the token went to the host of the logs');
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

/** With its ETag, which is another for another token; or only that it is known to whoever asks. */
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

/** As it comes out at the other end: without what is undefined. */
function plain(body: unknown): unknown {
  return body === undefined ? undefined : JSON.parse(JSON.stringify(body));
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString('utf8');
}
