/** What the firebase tools have in common. Source: the network specification, "Firebase Tools". */

import { z } from 'zod';
import { idLike } from '../../../kernel/ids.ts';
import { type JsonObject, type JsonValue, jsonObject } from '../../../kernel/json.ts';
import { toolsFor } from '../../../mcp/tool.ts';
import type { FirebaseServices } from '../create.ts';
import { DATABASES, type DatabaseName, PATH_PATTERN } from '../rules/databaseAccess.ts';
import type { EventType } from '../rules/subscription.ts';

export const defineTool = toolsFor<FirebaseServices>();

export function database(description: string) {
  return z.enum(DATABASES).describe(description);
}

/** Listed with its pattern; what does not match is an INVALID_PATH of the rules', which says more. */
export function path(description: string) {
  return z.string().meta({ pattern: PATH_PATTERN, description });
}

/** Any JSON object, array or null, as the specification types what it reads. */
export const structured = z.union([z.record(z.string(), z.unknown()), z.array(z.unknown()), z.null()]);

/**
 * What the specification has no type for, a single text, number or boolean, in the Realtime Database's own
 * form for it. Source: https://firebase.google.com/docs/reference/js/database.datasnapshot, exportVal.
 */
export function asStructured(data: JsonValue): z.input<typeof structured> {
  if (data === null) return null;
  if (Array.isArray(data)) return [...data];
  return typeof data === 'object' ? { ...data } : { '.value': data };
}

/** A caller's own name for a subscription, as the network specification writes it. */
export const subscriptionId = idLike(
  /^[a-zA-Z0-9-]{1,200}$/,
  'expected 1 to 200 letters, digits or "-", as firebase.subscribe takes it',
);

/** The same where the specification lists its pattern. */
export function listedSubscriptionId(description: string) {
  return subscriptionId.meta({ pattern: '^[a-zA-Z0-9-]+$', description });
}

/** What a subscription begins with, in the form in which firebase.read answers it. */
export function initialDataOf(
  { database: name, eventType }: { readonly database: DatabaseName; readonly eventType: EventType },
  data: ReadonlyMap<string, JsonValue>,
): z.input<typeof structured> {
  if (eventType === 'value') return asStructured(data.get('') ?? null);
  if (name === 'firestore') return [...data].map(([id, fields]) => namedDocument(id, fields));
  return data.size === 0 ? null : Object.fromEntries(data);
}

/** A document of a list begins with its id; one that has another of its own keeps it. */
function namedDocument(id: string, fields: JsonValue): JsonObject {
  const own = jsonObject.parse(fields);
  return own['id'] === undefined || own['id'] === id ? { id, ...own } : { __name__: id, ...own };
}
