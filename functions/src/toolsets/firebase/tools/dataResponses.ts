/** Definitions shared by the firebase tools. Source: the network specification, "Firebase Tools". */

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

/** Listed with its pattern. The rules check it and return an INVALID_PATH, which explains more. */
export function path(description: string) {
  return z.string().meta({ pattern: PATH_PATTERN, description });
}

/** Any JSON object, array or null: the specification's type for data read. */
export const structured = z.union([z.record(z.string(), z.unknown()), z.array(z.unknown()), z.null()]);

/**
 * Wraps a single text, number or boolean, which the specification has no type for, in the Realtime Database's own
 * form. Source: https://firebase.google.com/docs/reference/js/database.datasnapshot, exportVal.
 */
export function asStructured(data: JsonValue): z.input<typeof structured> {
  if (data === null) return null;
  if (Array.isArray(data)) return [...data];
  return typeof data === 'object' ? { ...data } : { '.value': data };
}

/** A caller's own id for a subscription, as in the network specification. */
export const subscriptionId = idLike(
  /^[a-zA-Z0-9-]{1,200}$/,
  'expected 1 to 200 letters, digits or "-", as passed to firebase.subscribe',
);

/** Subscription id for tools whose pattern the specification lists. */
export function listedSubscriptionId(description: string) {
  return subscriptionId.meta({ pattern: '^[a-zA-Z0-9-]+$', description });
}

/** Returns a subscription's initial data, in the form of firebase.read. */
export function initialDataOf(
  { database: name, eventType }: { readonly database: DatabaseName; readonly eventType: EventType },
  data: ReadonlyMap<string, JsonValue>,
): z.input<typeof structured> {
  if (eventType === 'value') return asStructured(data.get('') ?? null);
  if (name === 'firestore') return [...data].map(([id, fields]) => namedDocument(id, fields));
  return data.size === 0 ? null : Object.fromEntries(data);
}

/** Adds the id to a document of a list, as `__name__` if its fields have another `id`. */
function namedDocument(id: string, fields: JsonValue): JsonObject {
  const own = jsonObject.parse(fields);
  return own['id'] === undefined || own['id'] === id ? { id, ...own } : { __name__: id, ...own };
}
