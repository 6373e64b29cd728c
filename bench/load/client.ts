/** Client that calls a function over persistent connections, with little overhead. */
import { Agent, request } from 'node:http';
import { connect } from 'node:net';
import { z } from 'zod';

export interface Answer {
  readonly status: number;
  readonly text: string;
}

/** The socket limit exceeds the number of callers in every benchmark. */
const connections = new Agent({ keepAlive: true, maxSockets: 128 });

/** Returns the number of bytes that have been sent and received over all open connections. */
export function bytesOnTheWire(): number {
  const sockets = [connections.sockets, connections.freeSockets].flatMap((pool) => Object.values(pool)).flat();
  return sockets.reduce((sum, socket) => sum + (socket ? socket.bytesRead + socket.bytesWritten : 0), 0);
}

type Headers = Readonly<Record<string, string>>;

export function post(url: string, headers: Headers, body: string): Promise<Answer> {
  return ask('POST', url, headers, body);
}

export function ask(method: string, url: string, headers: Headers = {}, body = ''): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, agent: connections, headers: { ...headers } }, (response) => {
      const parts: Buffer[] = [];
      response.on('data', (part: Buffer) => parts.push(part));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text: Buffer.concat(parts).toString() }));
      response.on('error', reject);
    });
    sent.on('error', (error) => {
      // The server closed the idle connection before the request arrived, so repeating the request is safe.
      const unseen = sent.reusedSocket && 'code' in error && error.code === 'ECONNRESET';
      if (unseen) ask(method, url, headers, body).then(resolve, reject);
      else reject(error);
    });
    sent.end(body);
  });
}

export function connects(url: string): Promise<boolean> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname);
    const tell = (answer: boolean) => () => {
      socket.destroy();
      resolve(answer);
    };
    socket.once('connect', tell(true)).once('error', tell(false));
  });
}

/** Returns a JSON-RPC request. Its id is constant, so that the responses of two requests can be compared. */
export function mcpMessage(method: string, params: object = {}): string {
  return JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
}

export function mcpHeaders(credential: string): Record<string, string> {
  return {
    authorization: `Bearer ${credential}`,
    accept: 'application/json',
    'content-type': 'application/json',
    'mcp-protocol-version': '2025-11-25',
  };
}

const toolAnswer = z.object({
  result: z.object({ structuredContent: z.record(z.string(), z.unknown()), isError: z.boolean().optional() }),
});

export class McpCaller {
  private readonly url: string;
  private readonly headers: Record<string, string>;

  constructor(url: string, credential: string) {
    this.url = url;
    this.headers = mcpHeaders(credential);
  }

  /** Returns the endpoint's raw response. */
  async send(method: string, params: object = {}): Promise<Answer> {
    const answer = await post(this.url, this.headers, mcpMessage(method, params));
    if (answer.status !== 200) throw new Error(`${method}: HTTP ${answer.status}: ${answer.text.slice(0, 500)}`);
    return answer;
  }

  /** Calls a tool by its full name. @throws Error if the call fails */
  async call(name: string, args: object): Promise<Record<string, unknown>> {
    const { text } = await this.send('tools/call', { name, arguments: args });
    const parsed = toolAnswer.safeParse(JSON.parse(text));
    if (!parsed.success || parsed.data.result.isError) throw new Error(`${name}: ${text.slice(0, 500)}`);
    return parsed.data.result.structuredContent;
  }
}

/** Returns the id of an object in a response. */
export function idOf(value: unknown): string {
  if (typeof value === 'object' && value !== null && 'id' in value) return String(value.id);
  throw new Error('The response contains no object with an id.');
}
