/** Requests and responses of the sign-in endpoints, and the ports that they share. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Address } from '../../access/rules/addresses.ts';
import type { Clock, Log } from '../../kernel/ports.ts';
import type { Clients } from '../rules/clients.ts';
import type { Consent } from '../rules/consent.ts';
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
}

export interface FirebaseSettings {
  readonly apiKey: string;
  readonly authDomain: string;
  readonly emulator?: string;
  readonly google: boolean;
  /** JSON of the emulators' sample people, as whom anyone on this machine may sign in with one click. */
  readonly samplePeople: string;
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
