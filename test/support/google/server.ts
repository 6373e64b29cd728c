/**
 * Local Google APIs for one project. The first part of each path is the API's name. The server returns recorded
 * responses, and validates all requests and responses against Google's discovery documents.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import { LocalServer } from '../listening.ts';
import { type Method, methodAt } from './discovery.ts';

export const TOKEN = 'ya29.a-token-of-tests';

export interface GoogleRequest {
  readonly method: Method;
  readonly api: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly body: unknown;
}

/** Returns the response to a write, and changes the responses to later requests. */
export type Write = (request: GoogleRequest, answers: Map<string, unknown>) => unknown;

/** Returns an error in the format of google.rpc.Status. */
export function googleError(code: number, status: string, message: string, details: readonly object[] = []): object {
  return { error: { code, message, status, details } };
}

export class LocalGoogle extends LocalServer {
  readonly answers: Map<string, unknown>;
  /** Requests and responses that violate Google's discovery documents. Tests assert that this list is empty. */
  readonly faults: string[] = [];
  /** All received requests, such as `POST firestore.googleapis.com/v1/…`. */
  readonly requests: string[] = [];
  /** For each API and path, the number of requests that fail with status 503 before the first request succeeds. */
  readonly busy = new Map<string, number>();
  /** Accepted tokens. The Firebase CLI sends the token `owner` to hosts other than Google's. */
  readonly tokens = [TOKEN, 'owner'];
  private readonly write: Write | undefined;
  protected readonly server: Server;

  constructor(answers: Map<string, unknown>, write?: Write) {
    super();
    this.answers = answers;
    this.write = write;
    this.server = createServer((request, response) => void this.answer(request, response));
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { httpMethod, api, path, query } = partsOf(request);
    const sent = await text(request);
    this.requests.push(`${httpMethod} ${api}/${path}`);
    const answer = this.answerTo(request, httpMethod, {
      api,
      path,
      query,
      body: sent === '' ? undefined : JSON.parse(sent),
    });
    const code = codeOf(answer);
    response.writeHead(code, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
  }

  private answerTo(request: IncomingMessage, httpMethod: string, asked: Omit<GoogleRequest, 'method'>): unknown {
    const { api, path, query, body } = asked;
    // A Realtime Database has its own host, which no discovery document describes.
    if (httpMethod === 'GET' && api.endsWith('.firebaseio.com'))
      return this.answers.get(`${api}/${path}`) ?? googleError(404, 'NOT_FOUND', path);
    const method = methodAt(httpMethod, api, path);
    const fault =
      method === undefined
        ? `${httpMethod} ${api}/${path} is not a method of Google's APIs`
        : method.faultOfRequest(query, body);
    if (method === undefined || fault !== undefined) {
      this.faults.push(fault ?? '');
      return googleError(400, 'INVALID_ARGUMENT', fault ?? '');
    }
    if (!this.tokens.some((token) => request.headers.authorization === `Bearer ${token}`))
      return googleError(401, 'UNAUTHENTICATED', 'Request had invalid authentication credentials.');
    const times = this.busy.get(`${api}/${path}`) ?? 0;
    if (times > 0) {
      this.busy.set(`${api}/${path}`, times - 1);
      return googleError(503, 'UNAVAILABLE', 'The service is currently unavailable.');
    }
    if (!this.isEnabled(api)) return disabled(api);
    const answer = this.found({ ...asked, method }, httpMethod);
    const wrong = codeOf(answer) === 200 ? method.faultOfAnswer(answer) : undefined;
    if (wrong !== undefined) this.faults.push(wrong);
    return answer;
  }

  private found(request: GoogleRequest, httpMethod: string): unknown {
    const { api, path } = request;
    const isRead = httpMethod === 'GET' || /:(getIamPolicy|testIamPermissions|test)$/.test(path);
    const answer = isRead ? this.answers.get(`${api}/${path}`) : this.write?.(request, this.answers);
    if (answer !== undefined) return path.endsWith(':getIamPolicy') ? policyAsAsked(answer, request) : answer;
    if (!isRead) this.faults.push(`unexpected write: ${httpMethod} ${api}/${path}`);
    return googleError(404, 'NOT_FOUND', `Requested entity was not found: ${path}`);
  }

  /** Returns whether the project has enabled the API. Service Usage itself is always enabled. */
  private isEnabled(api: string): boolean {
    const services = [...this.answers].find(([path]) => /^serviceusage.*\/services$/.test(path))?.[1];
    return api === 'serviceusage.googleapis.com' || JSON.stringify(services).includes(`/services/${api}"`);
  }
}

/** Omits the conditions of a policy and marks their roles, as Google does unless the request asks for version 3. */
function policyAsAsked(answer: unknown, { query, body }: Omit<GoogleRequest, 'method'>): unknown {
  const { data } = conditional.safeParse(answer);
  const asked =
    query.get('options.requestedPolicyVersion') ?? options.safeParse(body).data?.options.requestedPolicyVersion;
  if (data === undefined || Number(asked) === 3) return answer;
  const bindings = data.bindings.map(({ condition, ...binding }) =>
    condition === undefined ? binding : { ...binding, role: `${binding.role}_withcond_0` },
  );
  return { ...data, version: 1, bindings };
}

const conditional = z.looseObject({
  bindings: z.array(z.looseObject({ role: z.string(), condition: z.unknown().optional() })),
});
const options = z.object({ options: z.object({ requestedPolicyVersion: z.number() }) });

function partsOf({ method = 'GET', url = '/' }: IncomingMessage) {
  const { pathname, searchParams } = new URL(url, 'http://localhost');
  const [, api = '', path = ''] = /^\/([^/]+)\/(.*)$/.exec(decodeURIComponent(pathname)) ?? [];
  return { httpMethod: method, api, path, query: searchParams };
}

function codeOf(answer: unknown): number {
  if (typeof answer !== 'object' || answer === null || !('error' in answer)) return 200;
  const { error } = answer;
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  return typeof code === 'number' ? code : 200;
}

function disabled(api: string): object {
  const message = `${api} has not been used in project before or it is disabled. Enable it by visiting the console, then retry.`;
  const info = {
    '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
    reason: 'SERVICE_DISABLED',
    domain: 'googleapis.com',
    metadata: { service: api },
  };
  return googleError(403, 'PERMISSION_DENIED', message, [info]);
}
