/** Calls the triggered functions in the functions emulator when data changes. */
import { randomBytes } from 'node:crypto';
import { type Caller, uidOf } from './caller.ts';
import { nodeHash } from './tree/hash.ts';
import { delta, isRecord, toJson } from './tree/json.ts';
import { childOf, splitPath, type Tree } from './tree/node.ts';

/** Registration of a trigger, as the functions emulator sends it. */
export interface Registration {
  readonly name: string;
  readonly path: string;
  readonly event: string;
  /** Pattern for the database; set only for functions of the second generation. */
  readonly namespacePattern?: string | undefined;
}

interface Trigger {
  readonly key: string;
  readonly project: string;
  readonly path: readonly string[];
  readonly event: string;
  readonly isSecondGeneration: boolean;
  readonly namespaces: RegExp;
}

/** Trigger, with a changed path that matches the trigger's path. */
interface Match {
  readonly trigger: Trigger;
  readonly at: readonly string[];
  readonly before: Tree;
  readonly after: Tree;
}

interface Origin {
  readonly namespace: string;
  readonly caller: Caller;
}

export class Triggers {
  readonly #functionsUrl: string | null;
  readonly #triggers = new Map<string, Trigger>();

  constructor(functionsUrl: string | null) {
    this.#functionsUrl = functionsUrl;
  }

  /** Registers a trigger. A reloaded function has a key with a new generation, which replaces the old. */
  register(registration: Registration, namespace: string): void {
    const [, project = '', , , , key = ''] = registration.name.split('/');
    this.#triggers.set(`${key.replace(/-\d+$/, '')}|${registration.event}`, {
      key,
      project,
      path: splitPath(registration.path),
      event: registration.event,
      isSecondGeneration: registration.namespacePattern !== undefined,
      namespaces: matcherOf(registration.namespacePattern ?? namespace),
    });
  }

  list(): object[] {
    return [...this.#triggers.values()].map((trigger) => ({ ...trigger, namespaces: trigger.namespaces.source }));
  }

  fire(namespace: string, before: Tree, after: Tree, caller: Caller): void {
    if (this.#functionsUrl === null) return;
    for (const trigger of this.#triggers.values()) {
      if (!trigger.namespaces.test(namespace)) continue;
      for (const match of matchesIn({ trigger, at: [], before, after }))
        void post(this.#functionsUrl, match, { namespace, caller });
    }
  }
}

/** Returns a regular expression for a pattern with the wildcards `*` and `{name}`. */
function matcherOf(pattern: string): RegExp {
  const escaped = pattern.replace(/[.+^$()|\\[\]]/g, '\\$&');
  return new RegExp(`^${escaped.replace(/\{[^}]*\}|\*+/g, '[^/]*')}$`);
}

function matchesIn(match: Match): Match[] {
  const { trigger, at, before, after } = match;
  if (before === after) return []; // Versions of the data share unchanged nodes.
  const segment = trigger.path[at.length];
  if (segment === undefined) return isWanted(match) ? [match] : [];
  const keys = /^\{.*\}$/.test(segment)
    ? new Set([...(before?.children?.keys() ?? []), ...(after?.children?.keys() ?? [])])
    : [segment];
  return [...keys].flatMap((key) =>
    matchesIn({ trigger, at: [...at, key], before: childOf(before, key), after: childOf(after, key) }),
  );
}

/** Returns whether the event type matches, such as `written` or, in the first generation of functions, `write`. */
function isWanted({ trigger, before, after }: Match): boolean {
  if (nodeHash(before) === nodeHash(after)) return false;
  const wanted = trigger.event.replace(/^.*\.(create|update|delete|writ)\w*$/, '$1');
  if (wanted === 'writ') return true;
  if (!before) return wanted === 'create';
  return wanted === (after ? 'update' : 'delete');
}

async function post(functionsUrl: string, match: Match, origin: Origin): Promise<void> {
  const { key, project, isSecondGeneration } = match.trigger;
  const event = isSecondGeneration ? cloudEvent(match, origin) : legacyEvent(match, origin);
  const type = isSecondGeneration ? 'application/cloudevents+json; charset=utf-8' : 'application/json';
  try {
    const response = await fetch(`${functionsUrl}/functions/projects/${project}/triggers/${key}`, {
      method: 'POST',
      headers: { 'content-type': type },
      body: JSON.stringify(event),
    });
    if (response.ok) return;
    console.error(`trigger ${key}: HTTP ${response.status} ${(await response.text()).slice(0, 300)}`);
  } catch (error) {
    console.error(`trigger ${key}: ${String(error)}`);
  }
}

function dataOf({ before, after }: Match): object {
  return { data: toJson(before), delta: delta(before, after) };
}

function eventId(): string {
  return randomBytes(12).toString('base64url');
}

function cloudEvent(match: Match, { namespace, caller }: Origin): object {
  const ref = match.at.join('/');
  const uid = isRecord(caller.auth) ? uidOf({ sub: caller.auth.uid }) : null;
  return {
    specversion: '1.0',
    id: eventId(),
    time: new Date().toISOString(),
    type: match.trigger.event,
    datacontenttype: 'application/json',
    source: `//firebasedatabase.googleapis.com/projects/_/locations/us-central1/instances/${namespace}`,
    subject: `refs/${ref}`,
    instance: namespace,
    ref,
    location: 'us-central1',
    firebasedatabasehost: 'firebaseio.com',
    authtype: authType(caller, uid),
    ...(uid !== null && { authid: uid }),
    data: { '@type': 'type.googleapis.com/google.events.firebase.database.v1.ReferenceEventData', ...dataOf(match) },
  };
}

function authType(caller: Caller, uid: string | null): string {
  if (caller.isOwner) return 'admin';
  return uid === null ? 'unauthenticated' : 'app_user';
}

function legacyEvent(match: Match, { namespace, caller }: Origin): object {
  const { trigger, at } = match;
  const params = trigger.path.flatMap((segment, index) => {
    const variable = /^\{(\w+)/.exec(segment)?.[1];
    return variable === undefined ? [] : [[variable, at[index]]];
  });
  const user = { admin: false, ...(caller.auth && { variable: caller.auth }) };
  return {
    data: dataOf(match),
    context: {
      eventId: eventId(),
      timestamp: new Date().toISOString(),
      eventType: trigger.event,
      params: Object.fromEntries(params),
      resource: `projects/_/instances/${namespace}/refs/${at.join('/')}`,
      domain: 'firebaseio.com',
      auth: caller.isOwner ? { admin: true } : user,
    },
  };
}
