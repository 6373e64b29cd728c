/** One HTTP exchange: with an end to patience and to size, and with errors that never quote the URL. */
import { connectionCodes, isUnsent } from '../../platform/connection.ts';

export interface HttpRequest {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface HttpLimits {
  /** Of the whole exchange, the body included. */
  readonly patienceMilliseconds: number;
  /** Of the answer's body; of a larger one no more than this is read. */
  readonly mostBytes: number;
}

export interface HttpAnswer {
  readonly status: number;
  readonly etag?: string;
  /** Undefined where it is larger than was allowed. */
  readonly text: string | undefined;
}

/** No answer came. */
export class UnansweredError extends Error {
  /** What broke, without the URL: `ECONNRESET`, `TimeoutError`, `HTTP 503`. */
  readonly reason: string;
  /** Whether the request may have arrived, and been carried out. */
  readonly isSent: boolean;

  constructor(reason: string, isSent: boolean) {
    super(`No answer came: ${reason}.`);
    this.name = 'UnansweredError';
    this.reason = reason;
    this.isSent = isSent;
  }
}

/**
 * @param url may hold a credential
 * @throws UnansweredError
 */
export async function exchange(
  url: string,
  request: HttpRequest,
  { patienceMilliseconds, mostBytes }: HttpLimits,
): Promise<HttpAnswer> {
  try {
    const signal = AbortSignal.timeout(patienceMilliseconds);
    const response = await fetch(url, { ...request, signal });
    const etag = response.headers.get('etag');
    const text = await textOf(response, mostBytes);
    return { status: response.status, text, ...(etag !== null && { etag }) };
  } catch (error) {
    throw new UnansweredError(nameOf(error), !isUnsent(error));
  }
}

async function textOf(response: Response, mostBytes: number): Promise<string | undefined> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  // Leaving the loop early also ends the transfer.
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > mostBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** `ECONNREFUSED`, `TimeoutError`. Its message could quote the URL. */
function nameOf(error: unknown): string {
  const [code] = connectionCodes(error);
  return code ?? (error instanceof Error ? error.name : 'unknown');
}
