import { z } from 'zod';
import { WORKSPACE_NAME } from '../../functions/src/identity/rules/principal.ts';
import { MEMBER_ROLES, type MemberRole, ROLES, type Role } from '../../functions/src/identity/rules/role.ts';
import { deployment, parsedLine, UsageError } from '../operator/deployment.ts';

const GIVEN = [...ROLES, 'none'] as const;

const options = z.strictObject({
  workspace: z.string().regex(WORKSPACE_NAME, '--workspace must be 1 to 64 letters, digits, "-" or "_"').optional(),
  role: z.enum(ROLES, `--role must be one of ${ROLES.join(', ')}`).optional(),
  mail: z.email('--mail: an email address').optional(),
  name: z.string().min(1).max(100).optional(),
  person: z.string().optional(),
  'database-url': z.url('--database-url: a URL').optional(),
  'dry-run': z.boolean().default(false),
  yes: z.boolean().default(false),
  unverified: z.boolean().default(false),
  json: z.boolean().default(false),
  ...deployment,
});
type Options = z.output<typeof options>;

export type Command = { readonly options: Options } & (
  | { readonly kind: 'list' }
  | { readonly kind: 'show' | 'revoke'; readonly who: string }
  | { readonly kind: 'create'; readonly mail: string }
  | { readonly kind: 'erase'; readonly who: string; readonly isDry: boolean }
  | { readonly kind: 'set-role'; readonly who: string; readonly role: Role | 'none' }
  | { readonly kind: 'add'; readonly who: string; readonly workspace: string; readonly role: MemberRole }
  | { readonly kind: 'remove'; readonly who: string; readonly workspace: string }
);

export function parseCommand(args: readonly string[]): Command {
  const text = { workspace: 'string', role: 'string', mail: 'string', name: 'string', person: 'string' } as const;
  const flags = {
    'dry-run': 'boolean',
    yes: 'boolean',
    unverified: 'boolean',
    json: 'boolean',
    project: 'string',
    emulator: 'boolean',
  } as const;
  const { options: given, words } = parsedLine(args, { ...text, ...flags }, options);
  const [kind = '', who, role] = words;
  const taken = { list: 1, create: 1, erase: 1, 'set-role': 3 }[kind] ?? 2;
  if (words.length > taken) throw new UsageError(`Unexpected argument "${words.slice(taken).join(' ')}".`);
  const base = { options: given };
  switch (kind) {
    case 'list':
      return { ...base, kind };
    case 'create':
      if (given.mail === undefined) throw new UsageError('create requires --mail.');
      return { ...base, kind, mail: given.mail };
    case 'erase': {
      const isDry = given['dry-run'];
      const person = personIn(given.person, 'erase --person');
      if (isDry === given.yes)
        throw new UsageError('erase requires --dry-run to preview the changes or --yes to make them.');
      return { ...base, kind, who: person, isDry };
    }
    case 'show':
    case 'revoke':
      return { ...base, kind, who: personIn(who, kind) };
    case 'set-role':
      return { ...base, kind, who: personIn(who, kind), role: choiceIn(GIVEN, role, 'set-role requires a role') };
    case 'add':
    case 'remove': {
      const { workspace } = given;
      if (workspace === undefined) throw new UsageError(`${kind} requires --workspace.`);
      const person = personIn(who, kind);
      if (kind === 'remove') return { ...base, kind, who: person, workspace };
      const own = choiceIn(MEMBER_ROLES, given.role ?? 'worker', '--role in a workspace');
      return { ...base, kind, who: person, workspace, role: own };
    }
    default:
      throw new UsageError('Unknown command. Use list, show, create, set-role, add, remove, revoke or erase.');
  }
}

/** A uid or email address: 1 to 254 characters that a document path can contain. */
const PERSON = /^[^/\s]{1,254}$/;

function personIn(word: string | undefined, kind: string): string {
  if (word === undefined || !PERSON.test(word)) throw new UsageError(`${kind} requires a person's uid or email.`);
  return word;
}

function choiceIn<const Choice extends string>(
  choices: readonly Choice[],
  word: string | undefined,
  what: string,
): Choice {
  const found = choices.find((choice) => choice === word);
  if (found === undefined) throw new UsageError(`${what}: ${choices.join(', ')}.`);
  return found;
}
