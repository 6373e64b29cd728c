/** One side of a connection that exchanges requests, responses and notifications as lines of JSON. */
import { z } from 'zod';

/** Thrown if the other side responds with an error, or if the connection ends before it responds. */
export class RequestRefused extends Error {}

const incoming = z.looseObject({
  id: z.union([z.number(), z.string()]).optional(),
  method: z.string().optional(),
  params: z.unknown().optional(),
  result: z.unknown().optional(),
  error: z.looseObject({ message: z.string() }).optional(),
});

export interface JsonLinesOptions {
  readonly send: (line: string) => void;
  /** Returns the result of a request; undefined if the method is unknown. */
  readonly onRequest: (method: string, params: unknown) => object | undefined;
  readonly onNotification: (method: string, params: unknown) => void;
}

interface Pending {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: RequestRefused) => void;
}

/** Speaks JSON-RPC without its member `jsonrpc`, as the app-server of Codex does. */
export class JsonLines {
  private readonly options: JsonLinesOptions;
  private readonly pending = new Map<string | number, Pending>();
  private next = 1;

  constructor(options: JsonLinesOptions) {
    this.options = options;
  }

  /** @throws RequestRefused if the other side responds with an error */
  request(method: string, params: object): Promise<unknown> {
    const id = this.next++;
    return new Promise((resolve, reject) => {
      this.pending.set(id, { resolve, reject });
      this.send({ id, method, params });
    });
  }

  notify(method: string): void {
    this.send({ method });
  }

  /** Processes a message of the other side. Every request gets a response, so that the other side never waits. */
  receive(message: object): void {
    const parsed = incoming.safeParse(message);
    if (!parsed.success) return;
    const { id, method, params, result, error } = parsed.data;
    if (method === undefined) this.settle(id, result, error?.message);
    else if (id === undefined) this.options.onNotification(method, params);
    else this.answer(id, method, params);
  }

  private answer(id: string | number, method: string, params: unknown): void {
    const answer = this.options.onRequest(method, params);
    if (answer === undefined)
      this.send({ id, error: { code: METHOD_NOT_FOUND, message: `Unknown method ${method}.` } });
    else this.send({ id, result: answer });
  }

  private settle(id: string | number | undefined, result: unknown, error: string | undefined): void {
    const waiting = id === undefined ? undefined : this.pending.get(id);
    if (id === undefined || waiting === undefined) return;
    this.pending.delete(id);
    if (error === undefined) waiting.resolve(result);
    else waiting.reject(new RequestRefused(error));
  }

  private send(message: object): void {
    this.options.send(JSON.stringify(message));
  }
}

/** Source: https://www.jsonrpc.org/specification#error_object */
const METHOD_NOT_FOUND = -32601;
