/** One request to GitHub: with a limit to our patience, a token made anew where it was refused, and our errors. */

import { failureOf, isUnanswered, refusalOf } from './failure.ts';
import type { Answer, Asking, Client } from './request.ts';
import { unlessUnchanged } from './unchanged.ts';

/** For one request, its wait for a turn and its retries included, so that a tool's few fit into its call. */
const PATIENCE_MILLISECONDS = 20_000;

/** The version of the API that Muster was written against. */
const API_VERSION = '2022-11-28';

/**
 * @param route as GitHub's documentation writes it: `GET /repos/{owner}/{repo}`
 * @throws MusterError
 */
export async function ask(client: Client, route: string, parameters: Asking): Promise<Answer> {
  try {
    return await attempt(client, route, parameters);
  } catch (error) {
    throw failureOf(error, route);
  }
}

/** The same; GitHub's 404 is undefined. */
export async function find(client: Client, route: string, parameters: Asking): Promise<Answer | undefined> {
  return unless(client, route, parameters, ({ status }) => (status === 404 ? 'missing' : undefined)).then(
    (answer) => (answer === 'missing' ? undefined : answer),
  );
}

/** The same; a refusal that `recognise` knows is its word for it. */
export async function unless<Word extends string>(
  client: Client,
  route: string,
  parameters: Asking,
  recognise: (refusal: { readonly status: number; readonly text: string }) => Word | undefined,
): Promise<Answer | Word> {
  return recognised(client, route, parameters, (error) => wordFor(error, recognise));
}

/**
 * The same, sent once: what creates something would create it twice. `unanswered` where GitHub may have done it all
 * the same.
 */
export async function once<Word extends string>(
  client: Client,
  route: string,
  parameters: Asking,
  recognise: (refusal: { readonly status: number; readonly text: string }) => Word | undefined,
): Promise<Answer | Word | 'unanswered'> {
  const sent = { ...parameters, request: { retries: 0 } };
  const recogniseLoss = (error: unknown) => (isUnanswered(error) ? 'unanswered' : undefined);
  return recognised(client, route, sent, (error) => wordFor(error, recognise) ?? recogniseLoss(error));
}

async function recognised<Word extends string>(
  client: Client,
  route: string,
  parameters: Asking,
  recognise: (error: unknown) => Word | undefined,
): Promise<Answer | Word> {
  try {
    return await attempt(client, route, parameters);
  } catch (error) {
    const word = recognise(error);
    if (word !== undefined) return word;
    throw failureOf(error, route);
  }
}

function wordFor<Word extends string>(
  error: unknown,
  recognise: (refusal: { readonly status: number; readonly text: string }) => Word | undefined,
): Word | undefined {
  const refusal = refusalOf(error);
  return refusal?.answered ? recognise(refusal) : undefined;
}

async function attempt(client: Client, route: string, parameters: Asking): Promise<Answer> {
  try {
    return await unlessUnchanged(client, route, parameters, (asked) => patiently(client, route, asked));
  } catch (error) {
    if (!client.renewable || refusalOf(error)?.status !== 401) throw error;
    // Withdrawn before its time; the SDK makes a new one only when the old one's time is over.
    await client.octokit.auth({ type: 'installation', refresh: true });
    return unlessUnchanged(client, route, parameters, (asked) => patiently(client, route, asked));
  }
}

/** What is still waiting for its turn when our patience ends is never sent. */
async function patiently(client: Client, route: string, parameters: Asking): Promise<Answer> {
  const impatience = new AbortController();
  const { request, headers, ...rest } = parameters;
  const sent = client.octokit.request(route, {
    ...rest,
    headers: { 'x-github-api-version': API_VERSION, ...asObject(headers) },
    request: { ...asObject(request), signal: impatience.signal },
  });
  let timer: NodeJS.Timeout | undefined;
  const end = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      const reason = new DOMException('GitHub took too long.', 'AbortError');
      impatience.abort(reason);
      reject(reason);
    }, PATIENCE_MILLISECONDS);
  });
  try {
    const { status, headers: answered, data } = await Promise.race([sent, end]);
    return { route, status, headers: answered, data };
  } finally {
    clearTimeout(timer);
  }
}

function asObject(value: unknown): object {
  return typeof value === 'object' && value !== null ? value : {};
}
