/** Direct access to both databases. Security rules are tested against permissions.json; see docs/data-model.md. */
import { z } from 'zod';
import { ROLES } from '../../identity/rules/role.ts';
import rows from './permissions.json' with { type: 'json' };

/** Who may: whoever has this role or a stronger one; whose it is, alone or with their agents; `nobody` but the server. */
const least = z.enum([...ROLES, 'owner', 'owner and agents', 'nobody']);

export type Least = z.output<typeof least>;

/**
 * Where a role is needed. In the workspace that a variable of the path or a field of the document names; in the workspace that
 * has the name of a segment of the path, or in `default` where none has it; in `default`; in any; in the deployment.
 * What belongs to somebody takes some role `anywhere`, or, `nowhere`, an account alone; where a field of it names a
 * workspace too, a credential that is held to another does not know it.
 */
const where = z.union([
  z.enum(['default', 'anywhere', 'deployment', 'nowhere']),
  z.strictObject({ variable: z.string() }),
  z.strictObject({ field: z.string() }),
  z.strictObject({ first: z.string() }),
]);

const permission = z.strictObject({
  database: z.enum(['firestore', 'realtime']),
  /** Of a document or child, with its variables in braces; `{name=**}` is any depth. */
  path: z.string(),
  holds: z.string(),
  reads: least,
  where: where.default('anywhere'),
  /** The field that says whose it is. Where there is none, `{uid}` in the path does. Beside a role, its owner reads too. */
  ownerField: z.string().exactOptional(),
  /** The field that names another person whose it is as well. */
  otherOwnerField: z.string().exactOptional(),
  /** The role that its owner needs in its workspace as well: without it they see nothing of what was made there. */
  ownerNeeds: z.enum(ROLES).exactOptional(),
  /** Holds data of several workspaces, so a credential that is restricted to one does not read it. */
  spansWorkspaces: z.literal(true).exactOptional(),
  writes: least,
  /** Each may be read, and all of them by nobody. */
  unlisted: z.literal(true).exactOptional(),
  /** What of the server writes it. */
  keeper: z.string().exactOptional(),
  /** The children by which the Realtime Database's queries order. */
  indexOn: z.array(z.string()).exactOptional(),
});

export type Permission = z.output<typeof permission>;

/** The last of each database stands for every path that no other one names. */
export const permissions: readonly Permission[] = z.array(permission).parse(rows);

/** Whether the fields of a document say who may read it, so that nobody may read one that does not exist. */
export function isDecidedByContent({ reads, where, ownerField }: Permission): boolean {
  return reads !== 'nobody' && (ownerField !== undefined || (typeof where === 'object' && 'field' in where));
}

export interface DataQuestion {
  readonly database: Permission['database'];
  /** Of a document or child, or of the collection or list above it. */
  readonly path: string;
}

/** A row, the values of its path's variables, and whether it was asked for the collection or list above. */
export interface MatchedPermission {
  readonly permission: Permission;
  readonly variables: ReadonlyMap<string, string>;
  readonly isList: boolean;
}

/** The row that decides about a path. */
export function permissionFor({ database, path }: DataQuestion): MatchedPermission {
  const segments = path.split('/');
  for (const permission of permissions) {
    if (permission.database !== database) continue;
    const found = matched(permission, segments);
    if (found !== undefined) return { permission, ...found };
  }
  throw new Error(`permissions.json has no row for the rest of ${database}.`);
}

/** A collection has an odd number of segments in Firestore. Below a child of the Realtime Database lies more of it. */
function matched({ database, path }: Permission, segments: readonly string[]) {
  const template = path.split('/');
  const isDeep = path.endsWith('=**}');
  const isList = isDeep
    ? database === 'firestore' && segments.length % 2 === 1
    : segments.length === template.length - 1 && isVariable(template.at(-1));
  const named = isDeep || isList ? template.slice(0, -1) : template;
  const most = isDeep || (database === 'realtime' && !isList) ? Number.POSITIVE_INFINITY : named.length;
  if (segments.length < named.length || segments.length > most) return undefined;
  if (!named.every((part, index) => isVariable(part) || part === segments[index])) return undefined;
  const values = named.map((part, index) => [part.slice(1, -1), segments[index] ?? ''] as const);
  return { variables: new Map(values.filter((_value, index) => isVariable(named[index]))), isList };
}

function isVariable(part: string | undefined): boolean {
  return part?.startsWith('{') ?? false;
}
