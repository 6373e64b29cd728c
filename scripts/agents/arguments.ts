import { z } from 'zod';
import type { WantedLimits } from '../../functions/src/identity/rules/lineage.ts';
import { TOOLSETS, WORKSPACE_NAME } from '../../functions/src/identity/rules/principal.ts';
import { ROLES, type Role } from '../../functions/src/identity/rules/role.ts';
import { ID } from '../../functions/src/kernel/ids.ts';
import { deployment, parsedLine, UsageError } from '../operator/deployment.ts';

const workspace = (option: string) =>
  z.string().regex(WORKSPACE_NAME, `${option} must be 1 to 64 letters, digits, "-" or "_"`).optional();

const toolsetList = z
  .string()
  .transform((list) => list.split(',').map((name) => name.trim()))
  .pipe(z.array(z.enum(TOOLSETS, `--toolsets must be one or more of ${TOOLSETS.join(', ')}, separated by commas`)));

const options = z.strictObject({
  name: z
    .string()
    .regex(/^[a-zA-Z0-9-_]{3,50}$/, '--name must be 3 to 50 letters, digits, "-" or "_"')
    .optional(),
  role: z.enum(ROLES, `--role must be one of ${ROLES.join(', ')}`).default('worker'),
  owner: z.string().min(1, "--owner must be a person's uid or email address").max(128).optional(),
  workspace: workspace('--workspace'),
  toolsets: toolsetList.optional(),
  'held-to': workspace('--held-to'),
  'read-only': z.boolean().default(false),
  'without-limits': z.boolean().default(false),
  json: z.boolean().default(false),
  ...deployment,
});
export type Options = z.output<typeof options>;

export type Command = { readonly options: Options } & (
  | { readonly kind: 'list' }
  | { readonly kind: 'create'; readonly name: string; readonly owner: string }
  | { readonly kind: 'renew' | 'revoke'; readonly agentId: string }
  | { readonly kind: 'set-role'; readonly agentId: string; readonly role: Role }
);

/** An agent without an owner would get no tasks, and its work would belong to no one. */
const MISSING_OWNER = 'create requires --owner: the email address or uid of the person for whom the agent works.';

export function parseCommand(args: readonly string[]): Command {
  const text = { name: 'string', role: 'string', owner: 'string', workspace: 'string' } as const;
  const limits = { toolsets: 'string', 'held-to': 'string', 'read-only': 'boolean' } as const;
  const flags = { 'without-limits': 'boolean', json: 'boolean' } as const;
  const where = { project: 'string', emulator: 'boolean' } as const;
  const line = parsedLine(args, { ...text, ...limits, ...flags, ...where }, options);
  const { options: given } = line;
  const [kind, agentId, role, ...rest] = line.words;
  const tooMany = kind === 'set-role' ? rest : line.words.slice(kind === 'renew' || kind === 'revoke' ? 2 : 1);
  if (tooMany.length > 0) throw new UsageError(`Unexpected argument "${tooMany.join(' ')}".`);
  switch (kind) {
    case 'list':
      return { kind, options: given };
    case 'create':
      if (given.name === undefined) throw new UsageError('create requires --name.');
      if (given.owner === undefined) throw new UsageError(MISSING_OWNER);
      return { kind, name: given.name, owner: given.owner, options: given };
    case 'renew':
    case 'revoke':
      return { kind, agentId: agentIdIn(agentId, kind), options: given };
    case 'set-role': {
      const wanted = z.enum(ROLES, `set-role requires a role: ${ROLES.join(', ')}`).safeParse(role);
      if (!wanted.success) throw new UsageError(wanted.error.issues[0]?.message);
      return { kind, agentId: agentIdIn(agentId, kind), role: wanted.data, options: given };
    }
    default:
      throw new UsageError('Unknown command. Use list, create, renew, set-role or revoke.');
  }
}

function agentIdIn(word: string | undefined, kind: string): string {
  if (word === undefined || !ID.test(word)) throw new UsageError(`${kind} requires an agent id.`);
  return word;
}

/** Returns the limits to set. Limits that are not specified stay unchanged, unless all limits are removed. */
export function limitsIn(given: Options): WantedLimits {
  const { toolsets, 'held-to': heldTo, 'read-only': isReadonly, 'without-limits': isLifted } = given;
  const unnamed = isLifted ? null : undefined;
  return {
    toolsets: toolsets ?? unnamed,
    held_to: heldTo ?? unnamed,
    ...((isReadonly || isLifted) && { readonly: isReadonly }),
  };
}
