/** Tests the deployed endpoint with the first message of an MCP client. */
import { setTimeout } from 'node:timers/promises';
import { z } from 'zod';
import { VERSION } from '../../functions/src/config.ts';
import { proxyHint } from '../setup/proxy.mjs';
import { Stop } from './step.ts';

/** Maximum number of calls. Google's servers need up to a minute until they accept a new address. */
const ATTEMPTS = 12;
const PAUSE_MS = 5000;

const initialize = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'npm run deploy', version: VERSION } },
};

const welcomed = z.object({ result: z.object({ serverInfo: z.object({ name: z.string(), version: z.string() }) }) });
const refused = z.object({ error: z.object({ message: z.string() }) });

/**
 * Calls the endpoint and returns a sentence about its response.
 * @param credential of an agent. Without a credential, the endpoint must refuse the call and link to the sign-in
 * @throws Stop
 */
export async function callEndpoint(
  url: string,
  credential: string | undefined,
  pause: (milliseconds: number) => Promise<void> = async (ms) => void (await setTimeout(ms)),
): Promise<string> {
  for (let attempt = 1; ; attempt++) {
    const response = await callOnce(url, credential);
    if (response.ok) return response.sentence;
    if (attempt === ATTEMPTS) throw new Stop(`${url}: ${response.sentence}`, { command: `curl -i ${url}` });
    await pause(PAUSE_MS);
  }
}

interface CallCheck {
  readonly ok: boolean;
  readonly sentence: string;
}

async function callOnce(url: string, credential: string | undefined): Promise<CallCheck> {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...(credential !== undefined && { authorization: `Bearer ${credential}` }),
      },
      body: JSON.stringify(initialize),
      signal: AbortSignal.timeout(60_000),
    });
    return credential === undefined
      ? checkAnonymous(response, await response.text())
      : checkAgent(response, await response.text());
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { ok: false, sentence: `no response (${why})${proxyHint(process.env)}` };
  }
}

/** Cloud Run's own responses 403 and 404 are HTML pages. A response of the function is a JSON-RPC message. */
function checkAnonymous({ status, headers }: Response, text: string): CallCheck {
  const { data } = refused.safeParse(parsed(text));
  const challenge = headers.get('www-authenticate');
  if (status !== 401 || data === undefined || challenge === null) return unexpected(status, text);
  const signIn = challenge.includes('resource_metadata') ? 'and links to the sign-in' : 'but has no sign-in';
  return { ok: true, sentence: `the endpoint requires a credential ${signIn}` };
}

function checkAgent({ status }: Response, text: string): CallCheck {
  const message = /^data: (.*)$/m.exec(text)?.[1] ?? text;
  const { data } = welcomed.safeParse(parsed(message));
  if (status !== 200 || data === undefined) return unexpected(status, text);
  const { name, version } = data.result.serverInfo;
  return { ok: true, sentence: `the endpoint is ${name} ${version}` };
}

function unexpected(status: number, text: string): CallCheck {
  return { ok: false, sentence: `the endpoint responded with ${status}: ${text.replace(/\s+/g, ' ').slice(0, 200)}` };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
