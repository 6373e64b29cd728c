/** URL and credentials of the running endpoint, and names for the workspaces of tests. */
import { randomUUID } from 'node:crypto';
import { seedTokens } from '../../../emulator-data/import.ts';

/** Callers whose credentials are in emulator-data/. */
export type Seeded = 'admin' | 'leader' | 'worker1' | 'worker2' | 'worker3' | 'person' | 'person2';

export const FUNCTIONS_URL = required('MUSTER_FUNCTIONS_URL');
export const MCP_URL = required('MUSTER_MCP_URL');

/** Returns the value of an environment variable that the suite e2e sets. */
export function required(variable: string): string {
  const value = process.env[variable];
  if (value === undefined || value === '') throw new Error(`${variable} is not set: run "npm test -- e2e".`);
  return value;
}

let tokens: Promise<Readonly<Record<string, string>>> | undefined;

/** Returns the credential of a seeded caller. `npm test` imports these callers before the suite e2e. */
export async function tokenOf(name: Seeded): Promise<string> {
  tokens ??= seedTokens();
  const token = (await tokens)[name];
  if (token === undefined) throw new Error(`The seed has no credential for ${name}.`);
  return token;
}

/** Returns a unique workspace name. */
export const newWorkspace = (label: string): string => `${label}-${randomUUID().slice(0, 8)}`;

/** Returns a unique agent name that is short enough for onboarding. */
export const newAgentName = (label: string): string => `${label}-${randomUUID().slice(0, 8)}`;

/** @param path path below `/mcp`, such as `/coordination` */
export function endpointUrl(path = '', query: Readonly<Record<string, string>> = {}): string {
  const search = new URLSearchParams(query).toString();
  return `${MCP_URL}${path}${search === '' ? '' : `?${search}`}`;
}
