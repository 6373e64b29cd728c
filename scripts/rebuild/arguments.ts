import { z } from 'zod';
import { deployment, parsedLine, UsageError } from '../operator/deployment.ts';

/** Kinds of derived data, in the order in which they are rebuilt. */
export const KINDS = ['access', 'presence', 'counters', 'files', 'queue'] as const;
export type Kind = (typeof KINDS)[number];

const options = z.strictObject({
  'dry-run': z.boolean().default(false),
  'database-url': z.url('--database-url: a URL').optional(),
  ...deployment,
});

export interface Command {
  readonly kinds: readonly Kind[];
  readonly options: z.output<typeof options>;
}

export function parseCommand(args: readonly string[]): Command {
  const flags = { 'dry-run': 'boolean', emulator: 'boolean' } as const;
  const texts = { project: 'string', 'database-url': 'string' } as const;
  const { options: given, words } = parsedLine(args, { ...flags, ...texts }, options);
  const unknown = words.find((word) => !KINDS.some((kind) => kind === word));
  if (unknown !== undefined)
    throw new UsageError(`Unknown kind "${unknown}". Use queue, files, counters, presence or access.`);
  const kinds = KINDS.filter((kind) => words.includes(kind));
  if (kinds.length === 0) throw new UsageError('Specify what to rebuild: queue, files, counters, presence or access.');
  return { kinds, options: given };
}
