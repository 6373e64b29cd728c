/** Arguments and results of several firebase tools. Source: the network specification, "Firebase Tools". */
import { z } from 'zod';
import { idLike } from '../../../kernel/ids.ts';
import { type JsonValue, jsonObject } from '../../../kernel/json.ts';
import { toolsFor } from '../../../mcp/tool.ts';
import type { FirebaseServices } from '../create.ts';
import { DATABASES, type DatabaseName, elementOf, PATH_PATTERN } from '../rules/databaseAccess.ts';
import type { EventType } from '../rules/subscription.ts';

export const defineTool = toolsFor<FirebaseServices>();

export function database(description: string) {
  return z.enum(DATABASES).describe(description);
}

/** Returns the schema of a path. Its pattern is only shown to callers; rules/databaseAccess.ts validates the path. */
export function path(description: string) {
  return z.string().meta({ pattern: PATH_PATTERN, description });
}

/** Data in a type of the specification: an object, an array or null. */
export const structured = z.union([z.record(z.string(), z.unknown()), z.array(z.unknown()), z.null()]);

/**
 * Wraps a text, number or boolean as {".value": …}, because the specification has no type for such data. Source:
 * https://firebase.google.com/docs/reference/js/database.datasnapshot, exportVal.
 */
export function asStructured(data: JsonValue): z.input<typeof structured> {
  if (data === null) return null;
  if (Array.isArray(data)) return [...data];
  return typeof data === 'object' ? { ...data } : { '.value': data };
}

/** Id that a caller chooses for a subscription. Source of the pattern: the network specification. */
export const subscriptionId = idLike(
  /^[a-zA-Z0-9-]{1,200}$/,
  'expected 1 to 200 letters, digits or "-", as passed to firebase.subscribe',
);

/** Schema of a subscription id in tools for which the specification lists a pattern. */
export function listedSubscriptionId(description: string) {
  return subscriptionId.meta({ pattern: '^[a-zA-Z0-9-]+$', description });
}

/** Returns the initial data of a subscription in the form of firebase.read. */
export function initialDataOf(
  { database: name, eventType }: { readonly database: DatabaseName; readonly eventType: EventType },
  data: ReadonlyMap<string, JsonValue>,
): z.input<typeof structured> {
  if (eventType === 'value') return asStructured(data.get('') ?? null);
  if (name === 'firestore') return [...data].map(([id, fields]) => elementOf(id, jsonObject.parse(fields)));
  return data.size === 0 ? null : Object.fromEntries(data);
}
