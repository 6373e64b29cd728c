/** Client for Muster's MCP endpoint. This is the only file that uses the MCP SDK. */
import { Client, SdkHttpError, StreamableHTTPClientTransport, UnauthorizedError } from '@modelcontextprotocol/client';
import { z } from 'zod';
import { oneLine } from '../../../functions/src/kernel/hiddenCharacters.ts';
import { cut } from '../text.ts';
import { VERSION } from '../version.ts';
import { fetchThroughProxy } from './fetching.ts';

/** Thrown if the hub refuses a call in a way that a retry would not change. */
export class HubRefusal extends Error {
  readonly type: string;

  constructor(tool: string, type: string, message: string) {
    super(`${tool}: ${message}`);
    this.type = type;
  }
}

/** Thrown if the hub refuses the credential, or if the credential's role or restrictions do not allow the call. */
export class CredentialRefused extends HubRefusal {
  /** @param reason the hub's reason, as a sentence */
  constructor(tool: string, reason: string) {
    super(tool, 'UNAUTHENTICATED', reason);
    this.message = `The hub refuses this runner's credential: ${reason} ${HOW_TO_GET_ANOTHER}`;
  }
}

const HOW_TO_GET_ANOTHER =
  'Create another credential with "npm run agents -- create --name <name> --owner <email>" or onboarding.registerAgent, set MUSTER_TOKEN to it, and restart the runner. If the new credential belongs to an agent of the same name, the runner also sends the pending reports.';

/** Thrown if the hub did not respond or reported a temporary failure. A retry can succeed. */
export class HubUnreachable extends Error {}

/** Temporary errors. The `coding` tools report them as a type, the `github` tools as a code. */
const TRANSIENT_STATUSES = new Set([
  'RATE_LIMITED',
  '-32400',
  'FIREBASE_ERROR',
  '-32500',
  'TIMEOUT',
  '-32502',
  'INTERNAL',
  '-32603',
]);

/** Returns whether an HTTP status means that the request itself is at fault, not the network or the server. */
const refuses = (status: number): boolean => status >= 400 && status < 500 && status !== 408 && status !== 429;

/** Refusal reasons that apply to a credential in every call, not only to one task. */
const BEYOND_CREDENTIAL = new Set(['ROLE_TOO_WEAK', 'TOOLSET_NOT_ALLOWED']);
const MAX_SAID_LENGTH = 300;

/** Timeout of a call, in milliseconds, in addition to its requested wait. The hub may have to start an instance. */
const TIMEOUT_MS = 60_000;

/** Schema of errors, which have different forms in the `coding` tools and the `github` tools. */
const refusal = z.looseObject({
  message: z.string().optional(),
  error: z
    .looseObject({
      type: z.string().optional(),
      message: z.string().optional(),
      code: z.unknown(),
      details: z.looseObject({ reason: z.string().optional() }).optional(),
      data: z.looseObject({ reason: z.string().optional() }).optional(),
    })
    .optional(),
});

export type Arguments = Readonly<Record<string, unknown>>;

export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  /** Time that the hub may wait before it responds, in milliseconds. */
  readonly waitMs?: number;
}

export class HubConnection {
  private readonly url: URL;
  private readonly token: string;
  private client: Promise<Client> | undefined;
  /** The hub's last message about a refused credential. The SDK does not include it in its errors. */
  private lastReason = '';

  /** @param url address of `/mcp`; its workspace parameter is kept */
  constructor(url: string, token: string) {
    this.url = new URL(url);
    this.url.searchParams.set('toolsets', 'coding,github');
    this.token = token;
  }

  /**
   * Calls a tool at the endpoint `/mcp`.
   * @throws HubRefusal if the hub refuses the call
   * @throws HubUnreachable if the hub does not respond or fails temporarily
   */
  async call<Shape extends z.ZodType>(
    tool: string,
    args: Arguments,
    shape: Shape,
    { signal, waitMs = 0 }: CallOptions = {},
  ): Promise<z.output<Shape>> {
    try {
      const client = await this.connected();
      const timeout = { timeout: waitMs + TIMEOUT_MS, ...(signal && { signal }) };
      const answer = await client.callTool({ name: tool, arguments: { ...args } }, timeout);
      if (answer.isError === true) throw refusalOf(tool, answer.structuredContent);
      return shape.parse(answer.structuredContent);
    } catch (error) {
      throw failureOf(tool, error, this.lastReason);
    }
  }

  async close(): Promise<void> {
    const client = await this.client?.catch(() => undefined);
    this.client = undefined;
    await client?.close();
  }

  private connected(): Promise<Client> {
    this.client ??= this.connect().catch((error: unknown) => {
      this.client = undefined;
      throw error;
    });
    return this.client;
  }

  private async connect(): Promise<Client> {
    const client = new Client(
      { name: 'muster-runner', version: VERSION },
      { versionNegotiation: { mode: { pin: '2026-07-28' } } },
    );
    const headers = { Authorization: `Bearer ${this.token}` };
    const fetchFromHub = fetchThroughProxy(this.url);
    const transport = new StreamableHTTPClientTransport(this.url, {
      requestInit: { headers },
      fetch: async (url, init) => {
        const response = await fetchFromHub(url, init);
        if (response.status === 401 || response.status === 403) this.lastReason = await messageOf(response.clone());
        return response;
      },
    });
    await client.connect(transport, { timeout: TIMEOUT_MS });
    return client;
  }
}

/** Returns the message of a JSON-RPC error on one line, or the HTTP status if there is no message. */
async function messageOf(response: Response): Promise<string> {
  const body = await response.text().catch(() => '');
  const message = /^\s*\{/.test(body) ? refusal.safeParse(parsedOrNothing(body)).data?.error?.message : undefined;
  const line = message && oneLine(message);
  return line ? cut(line, MAX_SAID_LENGTH) : `HTTP ${response.status}.`;
}

function parsedOrNothing(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

function refusalOf(tool: string, structured: unknown): Error {
  const parsed = refusal.safeParse(structured);
  const { message, error } = parsed.success ? parsed.data : {};
  const type = error?.type ?? String(error?.code ?? 'UNKNOWN');
  const text = message ?? error?.message ?? 'refused without a reason';
  const reason = error?.details?.reason ?? error?.data?.reason ?? '';
  if (BEYOND_CREDENTIAL.has(reason)) return new CredentialRefused(tool, text);
  return TRANSIENT_STATUSES.has(type) ? new HubUnreachable(`${tool}: ${text}`) : new HubRefusal(tool, type, text);
}

function failureOf(tool: string, error: unknown, reason: string): unknown {
  if (error instanceof HubRefusal || error instanceof HubUnreachable) return error;
  if (error instanceof z.ZodError)
    return new HubRefusal(
      tool,
      'UNEXPECTED',
      `this version of the runner cannot parse the hub's response:\n${z.prettifyError(error)}`,
    );
  const message = error instanceof Error ? error.message : String(error);
  const status = statusOf(error);
  if (status === 401 || status === 403) return new CredentialRefused(tool, reason);
  if (status !== undefined && refuses(status)) return new HubRefusal(tool, `HTTP_${status}`, message);
  if (isProtocolError(error)) return new HubRefusal(tool, 'PROTOCOL', message);
  return new HubUnreachable(`${tool}: ${message}`);
}

function statusOf(error: unknown): number | undefined {
  if (error instanceof SdkHttpError) return error.status;
  return error instanceof UnauthorizedError ? 401 : undefined;
}

/** Returns whether a JSON-RPC error is caused by the request: an unknown tool, or invalid arguments. */
function isProtocolError(error: unknown): boolean {
  if (!(error instanceof Error) || !('code' in error)) return false;
  return error.code === -32601 || error.code === -32602 || error.code === -32600;
}
