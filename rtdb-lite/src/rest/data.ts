/** Handles REST requests that read and write data. Each path is a resource with the suffix `.json`. */
import { createHash } from 'node:crypto';
import type { Namespace, Write } from '../namespace.ts';
import type { Store } from '../store.ts';
import { nodeHash } from '../tree/hash.ts';
import { isRecord, toJson } from '../tree/json.ts';
import { checkedPath, nodeAt, type Path, splitPath, type Tree } from '../tree/node.ts';
import { HttpError } from './errors.ts';
import { pushId } from './pushId.ts';
import { limitFrom, queryFrom } from './query.ts';
import { parseJson, type Reply, type RestRequest } from './request.ts';

export function answerData(request: RestRequest, store: Store): Reply {
  const { pathname, headers, parameters, caller } = request;
  if (!pathname.endsWith('.json')) throw new HttpError(404, 'append .json to your request URI to use the REST API.');
  const path = checkedPath(splitPath(pathname.slice(0, -'.json'.length)));
  const namespace = store.namespace(request.namespace);
  const expected = headers['if-match'];
  const wantsEtag = headers['x-firebase-etag'] === 'true';
  refuseCombinations(request, expected !== undefined, wantsEtag);
  if (expected !== undefined && expected !== etagOf(namespace, path)) {
    const current = namespace.read(path, caller);
    return { status: 412, body: toJson(current), headers: { etag: etagOf(namespace, path) } };
  }
  const body = perform(request, namespace, path);
  return {
    status: parameters.get('print') === 'silent' ? 204 : 200,
    body,
    ...(wantsEtag && { headers: { etag: etagOf(namespace, path) } }),
  };
}

/** Parameters that every request accepts: the caller's token and the database. */
const always: readonly string[] = ['auth', 'access_token', 'ns'];

/**
 * Refuses combinations that the service does not support. Only PUT and DELETE accept conditions, ETags cannot be
 * combined with queries, and `shallow` accepts only the limit with which `firebase emulators:export` checks for data.
 */
function refuseCombinations({ method, parameters }: RestRequest, isConditional: boolean, wantsEtag: boolean): void {
  const others = [...parameters.keys()].filter((name) => !always.includes(name));
  if (isConditional && method !== 'PUT' && method !== 'DELETE')
    throw new HttpError(400, `if-match is not supported for ${method}`);
  if ((isConditional || wantsEtag) && others.length > 0)
    throw new HttpError(400, 'ETags are not supported with query parameters');
  const besideShallow = others.filter((name) => name !== 'limitToFirst');
  if (parameters.get('shallow') === 'true' && besideShallow.length > 1)
    throw new HttpError(400, 'shallow cannot be mixed with other query parameters');
}

function etagOf(namespace: Namespace, path: Path): string {
  const node = nodeAt(namespace.root, path);
  return node ? createHash('sha1').update(nodeHash(node)).digest('base64') : 'null_etag';
}

function perform(request: RestRequest, namespace: Namespace, path: Path): unknown {
  const { method, body, caller, parameters } = request;
  const triggers = parameters.get('disableTriggers') !== 'true';
  const write = (writes: Write[]) => namespace.write(writes, caller, { triggers });
  switch (method) {
    case 'GET':
      return read(request, namespace, path);
    case 'PUT': {
      const value = parseJson(body);
      write([{ path, value }]);
      return value;
    }
    case 'PATCH': {
      const children = parseJson(body);
      if (!isRecord(children) || Array.isArray(children))
        throw new HttpError(400, 'Invalid data; expected a JSON object');
      write(Object.entries(children).map(([key, value]) => ({ path: [...path, ...splitPath(key)], value })));
      return children;
    }
    case 'POST': {
      const name = pushId();
      write([{ path: [...path, name], value: parseJson(body) }]);
      return { name };
    }
    case 'DELETE':
      write([{ path, value: null }]);
      return null;
    default:
      throw new HttpError(405, 'Method not allowed');
  }
}

function read({ parameters, caller }: RestRequest, namespace: Namespace, path: Path): unknown {
  const query = queryFrom(parameters);
  const node = namespace.read(path, caller, query);
  if (query && !namespace.rules.isIndexed(path, query)) {
    const missing = `add ".indexOn": "${query.i}", for path "/${path.join('/')}", to the rules`;
    throw new HttpError(400, `Index not defined, ${missing}`);
  }
  if (parameters.get('shallow') === 'true') return shallow(node, limitFrom(parameters).l);
  return toJson(node, parameters.get('format') === 'export');
}

function shallow(node: Tree, limit: number | undefined): unknown {
  if (!node?.children) return toJson(node);
  const keys = [...node.children.keys()].slice(0, limit);
  return Object.fromEntries(keys.map((key) => [key, true]));
}
