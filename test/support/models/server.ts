/**
 * A local server with the APIs of all vendors, which returns prepared responses, streamed or not. Requests that a
 * vendor would reject are added to `problems`. The server records each request, and the time at which its response
 * was complete or its client disconnected.
 */
import { EventEmitter, once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { bodyOf, LocalServer } from '../listening.ts';
import { anthropic } from './anthropic.ts';
import { type Behavior, type Match, rule } from './behavior.ts';
import { type Dialect, type Question, Unacceptable, type Vendor } from './dialect.ts';
import { gemini } from './gemini.ts';
import { chat, openai } from './openai/dialects.ts';
import { Reply } from './reply.ts';
import { vertexClaude, vertexGemini } from './vertex.ts';

const dialects: readonly Dialect[] = [anthropic, gemini, openai, chat, vertexClaude, vertexGemini];

export interface Asked extends Question {
  readonly vendor: Vendor;
  /** Time of arrival, in milliseconds of the server's monotonic clock. The other times use the same clock. */
  readonly at: number;
  /** Time at which the last byte of the response was sent. */
  answeredAt?: number;
  /** Time at which the client disconnected before the response was complete. */
  closedAt?: number;
}

export interface LocalModelsOptions {
  /** Returns the text of an answer if no rule specifies a text. */
  readonly usually?: (question: Question) => string;
}

interface Rule {
  readonly match: Match;
  readonly behavior: Behavior;
  left: number;
}

const USUAL: Omit<Rule, 'left'> = { match: {}, behavior: { does: 'answer' } };

export class LocalModels extends LocalServer {
  readonly asked: Asked[] = [];
  readonly problems: string[] = [];
  private readonly usually: (question: Question) => string;
  private readonly rules: Rule[] = [];
  private readonly happenings = new EventEmitter().setMaxListeners(0);
  protected readonly server: Server = createServer((request, response) => {
    this.serve(request, response).catch((error: unknown) => {
      this.problems.push(String(error));
      response.destroy();
    });
  });

  constructor({ usually = ({ prompt }) => `An answer to: ${prompt.slice(0, 200)}` }: LocalModelsOptions = {}) {
    super();
    this.usually = usually;
  }

  /** Adds a rule. If several rules match a request, the rule that was added last applies. */
  when(match: Match, behavior: Behavior): void {
    this.rules.unshift({ match, behavior, left: match.times ?? Number.POSITIVE_INFINITY });
  }

  /** Returns the requests whose prompt contains `text`, in order of arrival. */
  askedAbout(text: string): readonly Asked[] {
    return this.asked.filter(({ prompt }) => prompt.includes(text));
  }

  /** Resolves with the first request whose prompt contains `text`. */
  arrival(text: string): Promise<Asked> {
    return this.happened(() => this.askedAbout(text)[0]);
  }

  /** Resolves with the time at which the client disconnects. */
  closing(asked: Asked): Promise<number> {
    return this.happened(() => asked.closedAt);
  }

  private async happened<Found>(look: () => Found | undefined): Promise<Found> {
    for (;;) {
      const found = look();
      if (found !== undefined) return found;
      await once(this.happenings, 'happened');
    }
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://local');
    const body = await bodyOf(request);
    if (pathname.startsWith('/-/')) {
      const answer = this.control(`${request.method} ${pathname}`, searchParams, body);
      return send(response, answer === undefined ? 404 : 200, answer ?? {});
    }
    const dialect = dialects.find((one) => one.serves(pathname));
    if (dialect === undefined || request.method !== 'POST') {
      this.problems.push(`unknown endpoint ${request.method} ${pathname}`);
      return send(response, 404, {});
    }
    if (!dialect.admits(request.headers)) return send(response, 401, dialect.error(401));
    let question: Question;
    try {
      question = dialect.read(pathname, request.headers, JSON.parse(body));
    } catch (error) {
      if (!(error instanceof Unacceptable)) throw error;
      this.problems.push(`${dialect.vendor}: ${error.message}`);
      return send(response, 400, dialect.error(400));
    }
    await this.answer(dialect, question, response);
  }

  private async answer(dialect: Dialect, question: Question, response: ServerResponse): Promise<void> {
    const asked: Asked = { vendor: dialect.vendor, ...question, at: performance.now() };
    this.asked.push(asked);
    this.happenings.emit('happened');
    const reply = new Reply(dialect, question, response);
    response.once('finish', () => {
      asked.answeredAt = performance.now();
      this.happenings.emit('happened');
    });
    response.once('close', () => {
      if (!reply.over) asked.closedAt = performance.now();
      this.happenings.emit('happened');
    });
    const { behavior, match } = this.ruleFor(dialect.vendor, question) ?? USUAL;
    if (behavior.does === 'answer') await this.gathered(behavior.company ?? 1, match.text ?? '', asked);
    await reply.perform(behavior, () => this.usually(question));
  }

  /** Waits until `company` requests contain the text, or until the client has disconnected. */
  private async gathered(company: number, text: string, asked: Asked): Promise<void> {
    await this.happened(() =>
      this.askedAbout(text).length >= company || asked.closedAt !== undefined ? true : undefined,
    );
  }

  private ruleFor(vendor: Vendor, question: Question): Rule | undefined {
    const found = this.rules.find(
      ({ match, left }) =>
        left > 0 && (match.vendor ?? vendor) === vendor && question.prompt.includes(match.text ?? ''),
    );
    if (found !== undefined) found.left--;
    return found;
  }

  /** Provides `when`, `askedAbout` and `problems` over HTTP, for tests in another process. */
  private control(route: string, query: URLSearchParams, body: string): unknown {
    if (route === 'POST /-/rules') {
      const { match, behavior } = rule.parse(JSON.parse(body));
      this.when(match, behavior);
      return {};
    }
    if (route === 'GET /-/asked') return this.askedAbout(query.get('text') ?? '');
    return route === 'GET /-/problems' ? this.problems : undefined;
  }
}

function send(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
