/** Table of who can access which data. Tests compare the security rules with it. Source: docs/data-model.md. */
import { z } from 'zod';
import { ROLES } from '../../identity/rules/role.ts';
import tables from './permissions.json' with { type: 'json' };

/** Required caller: a minimum role, the owner, the owner or the owner's agents, or only the server (`no one`). */
const minimumRole = z.enum([...ROLES, 'owner', 'owner and agents', 'no one']);
export type MinimumRole = z.output<typeof minimumRole>;

/**
 * Workspace in which the caller needs the role: named by a path variable, a document field, or the first path segment
 * (`default` if the segment names no workspace). `anywhere`: any workspace. `deployment`: a deployment role. For
 * owned documents, `anywhere` requires any role, and `nowhere` only an account. If a field of an owned document names
 * a workspace, credentials restricted to another workspace cannot read the document.
 */
const where = z.union([
  z.enum(['default', 'anywhere', 'deployment', 'nowhere']),
  z.strictObject({ variable: z.string() }),
  z.strictObject({ field: z.string() }),
  z.strictObject({ first: z.string() }),
]);

const row = z.strictObject({
  /** Path of a document or node, with variables in braces. `{name=**}` matches any number of segments. */
  path: z.string(),
  holds: z.string(),
  reads: minimumRole,
  where: where.default('anywhere'),
  /** Field with the owner's uid; if absent, `{uid}` in the path is the owner. An owner can read without the role. */
  ownerField: z.string().exactOptional(),
  otherOwnerField: z.string().exactOptional(),
  /** Role that the owner must have in the document's workspace, in addition to owning the document. */
  ownerNeeds: z.enum(ROLES).exactOptional(),
  /** Set if the data belongs to several workspaces. Credentials restricted to one workspace cannot read it. */
  spansWorkspaces: z.literal(true).exactOptional(),
  writes: minimumRole,
  /** Set if callers can read single entries but not the whole list. */
  unlisted: z.literal(true).exactOptional(),
  /** Server component that writes to this path. */
  keeper: z.string().exactOptional(),
  /** Child keys by which Realtime Database queries order this path. */
  indexOn: z.array(z.string()).exactOptional(),
});
export type Permission = z.output<typeof row> & { readonly database: keyof typeof tables };

/** All rows. The last row of each database matches every path that no other row matches. */
export const permissions: readonly Permission[] = (['firestore', 'realtime'] as const).flatMap((database) =>
  z
    .array(row)
    .parse(tables[database])
    .map((one) => ({ database, ...one })),
);

/** Returns whether read access depends on the document's fields. If so, no caller can read a missing document. */
export function isDecidedByContent({ reads, where, ownerField }: Permission): boolean {
  return reads !== 'no one' && (ownerField !== undefined || (typeof where === 'object' && 'field' in where));
}

export interface DataQuestion {
  readonly database: Permission['database'];
  /** Path of a document or node, or of the collection or list that contains it. */
  readonly path: string;
}

export type MatchedPermission = ReturnType<typeof permissionFor>;

/** Returns the row of the table that matches a path. */
export function permissionFor({ database, path }: DataQuestion) {
  const segments = path.split('/');
  for (const permission of permissions) {
    if (permission.database !== database) continue;
    const found = matched(permission, segments);
    if (found !== undefined) return { permission, ...found };
  }
  throw new Error(`permissions.json has no default row for ${database}.`);
}

/** Matches a path with a row. Collection paths have odd numbers of segments. Realtime rows also match child nodes. */
function matched({ database, path }: Permission, segments: readonly string[]) {
  const template = path.split('/');
  const isDeep = path.endsWith('=**}');
  const isList = isDeep
    ? database === 'firestore' && segments.length % 2 === 1
    : segments.length === template.length - 1 && isVariable(template.at(-1));
  const named = isDeep || isList ? template.slice(0, -1) : template;
  const max = isDeep || (database === 'realtime' && !isList) ? Number.POSITIVE_INFINITY : named.length;
  if (segments.length < named.length || segments.length > max) return undefined;
  if (!named.every((part, index) => isVariable(part) || part === segments[index])) return undefined;
  const values = named.map((part, index) => [part.slice(1, -1), segments[index] ?? ''] as const);
  return { variables: new Map(values.filter((_value, index) => isVariable(named[index]))), isList };
}

function isVariable(part: string | undefined): boolean {
  return part?.startsWith('{') ?? false;
}
