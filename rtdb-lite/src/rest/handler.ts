/** Handles requests to the REST API. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Store } from '../store.ts';
import { answerData } from './data.ts';
import { statusOf } from './errors.ts';
import { type Reply, readRequest } from './request.ts';
import { answerSettings, isSettingsPath } from './settings.ts';

export async function handleRest(message: IncomingMessage, response: ServerResponse, store: Store): Promise<void> {
  const reply = message.method === 'OPTIONS' ? preflight(message) : await answer(message, store);
  const isPretty = /[?&]print=pretty(&|$)/.test(message.url ?? '');
  response.writeHead(reply.status, {
    'content-type': 'application/json; charset=utf-8',
    'cache-control': 'no-cache',
    'access-control-allow-origin': '*',
    ...reply.headers,
  });
  response.end(reply.status === 204 ? undefined : serialized(reply, isPretty));
}

async function answer(message: IncomingMessage, store: Store): Promise<Reply> {
  try {
    const request = await readRequest(message);
    return isSettingsPath(request.pathname) ? answerSettings(request, store) : answerData(request, store);
  } catch (error) {
    const status = statusOf(error);
    if (status === 500) console.error(error);
    return { status, body: { error: error instanceof Error ? error.message : String(error) } };
  }
}

function serialized({ body, isText }: Reply, isPretty: boolean): string {
  return isText ? String(body) : JSON.stringify(body, null, isPretty ? 2 : undefined);
}

function preflight({ headers }: IncomingMessage): Reply {
  return {
    status: 204,
    body: null,
    headers: {
      'access-control-allow-methods': 'GET,PUT,POST,PATCH,DELETE',
      'access-control-allow-headers': String(headers['access-control-request-headers'] ?? '*'),
    },
  };
}
