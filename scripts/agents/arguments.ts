import { parseArgs } from 'node:util';
import { z } from 'zod';
import { ROLES, WORKSPACE_NAME } from '../../functions/src/access/rules/principal.ts';
import { ID } from '../../functions/src/kernel/ids.ts';

export const USAGE = `Usage:
  npm run agents -- create --name <name> [--role ${ROLES.join('|')}] [--owner <uid>] [--workspace <name>]
  npm run agents -- revoke <agentId>
Where:
  --project <id>   the Firebase project, with your own Google credentials
                   (gcloud auth application-default login)
  --emulator       the emulators of a running npm start`;

const options = z.strictObject({
  name: z
    .string()
    .regex(/^[a-zA-Z0-9-_]{3,50}$/, '--name: 3 to 50 letters, digits, "-" or "_"')
    .optional(),
  role: z.enum(ROLES, `--role: one of ${ROLES.join(', ')}`).default('worker'),
  owner: z.string().min(1, '--owner: the uid of a person').max(128).default('operator'),
  workspace: z.string().regex(WORKSPACE_NAME, '--workspace: 1 to 64 letters, digits, "-" or "_"').optional(),
  project: z.string().min(1).optional(),
  emulator: z.boolean().default(false),
});

export type Options = z.output<typeof options>;

export type Command =
  | { readonly kind: 'create'; readonly name: string; readonly options: Options }
  | { readonly kind: 'revoke'; readonly agentId: string; readonly options: Options };

/** The command line cannot be followed; the message says why. */
export class UsageError extends Error {}

export function parseCommand(args: readonly string[]): Command {
  const text = { type: 'string' } as const;
  const known = { name: text, role: text, owner: text, workspace: text, project: text };
  const { values, positionals } = parsed(() =>
    parseArgs({
      args: [...args],
      allowPositionals: true,
      options: { ...known, emulator: { type: 'boolean' } },
    }),
  );
  const checked = options.safeParse(values);
  if (!checked.success) throw new UsageError(checked.error.issues.map((issue) => issue.message).join('\n'));
  const [kind, agentId, ...rest] = positionals;
  if (rest.length > 0) throw new UsageError(`What is "${rest.join(' ')}"?`);
  if (kind === 'create' && agentId === undefined) {
    if (checked.data.name === undefined) throw new UsageError('create needs --name.');
    return { kind, name: checked.data.name, options: checked.data };
  }
  if (kind === 'revoke') {
    if (agentId === undefined || !ID.test(agentId)) throw new UsageError('revoke needs the id of an agent.');
    return { kind, agentId, options: checked.data };
  }
  throw new UsageError('create or revoke?');
}

function parsed<Result>(parse: () => Result): Result {
  try {
    return parse();
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}
