/** Handles the endpoints that only emulators have: rules, function triggers and the list of databases. */
import { Denied } from '../namespace.ts';
import { Ruleset } from '../rules/ruleset.ts';
import type { Store } from '../store.ts';
import { isRecord } from '../tree/json.ts';
import type { Registration } from '../triggers.ts';
import { HttpError } from './errors.ts';
import { parseJson, type Reply, type RestRequest } from './request.ts';

export function isSettingsPath(pathname: string): boolean {
  return /^\/\.(settings|inspect)\//.test(pathname);
}

export function answerSettings(request: RestRequest, store: Store): Reply {
  if (!request.caller.isOwner) throw new Denied();
  switch (request.pathname.replace(/\.json$/, '')) {
    case '/.settings/rules':
      return request.method === 'GET' ? showRules(request, store) : replaceRules(request, store);
    case '/.settings/functionTriggers':
      return request.method === 'GET' ? { status: 200, body: store.triggers.list() } : register(request, store);
    case '/.inspect/databases':
      return { status: 200, body: store.namespaces().map(({ name, rules }) => ({ name, rules: rules.source })) };
    default:
      throw new HttpError(404, 'Not found');
  }
}

/** `format=strict` returns the rules without comments. */
function showRules({ namespace, parameters }: RestRequest, store: Store): Reply {
  const { rules } = store.namespace(namespace);
  if (parameters.get('format') === 'strict') return { status: 200, body: rules.json };
  return { status: 200, body: rules.source, isText: true };
}

function replaceRules({ namespace, body }: RestRequest, store: Store): Reply {
  store.namespace(namespace).rules = new Ruleset(body);
  return { status: 200, body: { status: 'ok' } };
}

function register({ namespace, body }: RestRequest, store: Store): Reply {
  store.triggers.register(readRegistration(parseJson(body)), namespace);
  return { status: 200, body: { status: 'ok' } };
}

function readRegistration(json: unknown): Registration {
  if (isRecord(json)) {
    const { name, path, event, namespacePattern } = json;
    const isComplete = typeof name === 'string' && typeof path === 'string' && typeof event === 'string';
    if (isComplete && (namespacePattern === undefined || typeof namespacePattern === 'string'))
      return { name, path, event, namespacePattern };
  }
  throw new HttpError(400, 'Invalid data; expected the name, path and event of a trigger');
}
