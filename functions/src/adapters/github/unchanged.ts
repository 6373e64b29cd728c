/**
 * Asks GitHub only whether something has changed that is known: a 304 costs nothing of the rate limit. GitHub decides
 * about access again each time, and what one credential was answered is shown to no other.
 * Source: https://docs.github.com/rest/using-the-rest-api/best-practices-for-using-the-rest-api
 */
import { refusalOf } from './failure.ts';
import type { KnownAnswers } from './knownAnswers.ts';
import type { Answer, Asking, Client } from './request.ts';

/** Sends a request for what may be known: files and lists of a repository. Whatever else is sent as it is. */
export async function unlessUnchanged(
  { known, credential }: Client,
  route: string,
  parameters: Asking,
  send: (parameters: Asking) => Promise<Answer>,
): Promise<Answer> {
  if (!route.startsWith('GET /repos/') || credential === undefined || parameters['request'] !== undefined) {
    return send(parameters);
  }
  const name = JSON.stringify([credential, route, parameters]);
  const before = known.find(name);
  if (before === undefined) return keeping(known, name, await send(parameters));
  try {
    const headers = { ...Object(parameters['headers']), 'if-none-match': before.etag };
    return keeping(known, name, await send({ ...parameters, headers }));
  } catch (error) {
    if (refusalOf(error)?.status !== 304) throw error;
    known.keep(name, before.etag, before.json);
    return { route, status: 200, headers: {}, data: JSON.parse(before.json) };
  }
}

function keeping(known: KnownAnswers, name: string, answer: Answer): Answer {
  const { etag } = answer.headers;
  if (answer.status === 200 && typeof etag === 'string') known.keep(name, etag, JSON.stringify(answer.data));
  return answer;
}
