/** Requests and responses of the sign-in endpoints, and the ports that they share. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { z } from 'zod';
import type { Address } from '../../access/rules/addresses.ts';
import { parsedJson } from '../../kernel/json.ts';
import type { Clock, Log } from '../../kernel/ports.ts';
import { type BodyLimits, checkBodyHeaders, readBody } from '../../mcp/http/body.ts';
import type { Clients } from '../rules/clients.ts';
import type { Consent } from '../rules/consent.ts';
import { OAuthError } from '../rules/oauthError.ts';
import type { TokenService } from '../rules/tokens.ts';

export interface SignInPorts {
  readonly clients: Clients;
  readonly consent: Consent;
  readonly tokens: TokenService;
  readonly clock: Clock;
  readonly log: Log;
  readonly randomness: { uuid(): string; secret(bytes: number): string };
  readonly firebase: FirebaseSettings;
  readonly trustedProxies: number;
  /** Returns the toolsets that a path below the MCP endpoint selects; none if the path is unknown. */
  toolsetsAt(below: string): readonly string[];
  asset(name: 'page.js' | 'page.css'): Promise<Buffer>;
}

export interface FirebaseSettings {
  readonly apiKey: string;
  readonly authDomain: string;
  readonly emulator?: string;
  readonly google: boolean;
}

export interface SignInRequest {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Address of the deployment to which the request was sent. */
  readonly address: Address;
  /** Path relative to the sign-in root, such as `/token`. */
  readonly path: string;
  readonly query: URLSearchParams;
}

export interface Reply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string | Buffer;
}

export const NOT_STORED = { 'Cache-Control': 'no-store', Pragma: 'no-cache' } as const;

export function json(status: number, value: unknown, headers: Reply['headers'] = NOT_STORED): Reply {
  return { status, headers: { 'Content-Type': 'application/json', ...headers }, body: JSON.stringify(value) };
}

/** Limits of a request's body, which contains a few parameters or an ID token. */
const LIMITS: BodyLimits = { bytes: 32 * 1024, milliseconds: 10_000 };

async function textOf({ request, response }: SignInRequest): Promise<string> {
  checkBodyHeaders(request, LIMITS);
  return (await readBody(request, response, LIMITS)).toString('utf8');
}

/** @throws OAuthError; Refusal if the body cannot be read */
export async function formOf(visit: SignInRequest): Promise<URLSearchParams> {
  if (!/^application\/x-www-form-urlencoded\b/i.test(visit.request.headers['content-type'] ?? ''))
    throw new OAuthError('invalid_request', 'Content-Type must be application/x-www-form-urlencoded.');
  return new URLSearchParams(await textOf(visit));
}

/** @throws OAuthError; Refusal if the body cannot be read */
export async function jsonOf(visit: SignInRequest): Promise<z.output<typeof object>> {
  if (!/^application\/json\b/i.test(visit.request.headers['content-type'] ?? ''))
    throw new OAuthError('invalid_request', 'Content-Type must be application/json.');
  const { success, data } = object.safeParse(parsedJson(await textOf(visit)));
  if (!success) throw new OAuthError('invalid_request', 'The body must be a JSON object.');
  return data;
}

const object = z.record(z.string(), z.unknown());
