/**
 * What GitHub says of a request that it refuses: which field of it, and why. Only what is in these tables becomes part
 * of a sentence; the rest is GitHub's, and goes to the caller as data if it is a name at all.
 * Source: https://docs.github.com/rest/using-the-rest-api/troubleshooting-the-rest-api
 */
import { z } from 'zod';
import { MusterError } from '../../domain/errors.ts';

/** GitHub's names, and those of the tools' arguments. */
const ARGUMENTS: ReadonlyMap<string, string> = new Map([
  ...['title', 'body', 'labels', 'assignees', 'milestone', 'head', 'base', 'draft', 'message', 'branch']
    .concat('maintainer_can_modify', 'status', 'workflow_id')
    .map((name): [string, string] => [name, name]),
  ['Label.name', 'labels'],
  ['assignee', 'assignees'],
  ['q', 'query'],
  ['ref', 'branch'],
  ['content', 'files'],
  ['tree', 'files'],
  ['tree.path', 'files'],
]);

/** GitHub's codes in words. */
const WORDS: Readonly<Record<string, string>> = {
  missing: 'what it names does not exist',
  missing_field: 'it is required',
  invalid: 'it is not valid',
  already_exists: 'there is one like it already',
  unprocessable: 'it cannot be used',
  too_large: 'it is too large',
  custom: 'GitHub has reasons of its own',
};

const NAME = /^[A-Za-z][\w.]{0,59}$/;

const MOST_SHOWN = 5;

const name = z.string().regex(NAME).optional().catch(undefined);

const refusedField = z.object({ resource: name, field: name, code: name });

export type RefusedField = z.output<typeof refusedField>;

const answer = z.object({ errors: z.array(z.unknown()) });

/** @param data the body of GitHub's answer */
export function refusedFieldsOf(data: unknown): readonly RefusedField[] {
  const { errors } = answer.safeParse(data).data ?? { errors: [] };
  return errors.slice(0, MOST_SHOWN).flatMap((error) => refusedField.safeParse(error).data ?? []);
}

export function invalidArguments(fields: readonly RefusedField[], cause: string): MusterError {
  const named = fields.flatMap((one) => {
    const argument = argumentOf(one);
    return argument === undefined ? [] : [{ argument, why: WORDS[one.code ?? ''] ?? 'it is not valid' }];
  });
  const [first] = named;
  const unknown = fields
    .filter((one) => argumentOf(one) === undefined)
    .map(nameOf)
    .filter(Boolean);
  const message =
    first === undefined
      ? 'GitHub does not accept these arguments.'
      : `GitHub does not accept "${first.argument}": ${first.why}.`;
  return new MusterError('VALIDATION_ERROR', message, {
    ...(first !== undefined && { field: first.argument }),
    reason: 'VALIDATION_ERROR',
    suggestion:
      unknown.length === 0
        ? 'Check that the branches, labels, people and milestones that you name exist.'
        : 'Check that the branches, labels, people and milestones that you name exist. data.entries has what GitHub calls the fields.',
    ...(unknown.length > 0 && { entries: unknown }),
    cause,
  });
}

function argumentOf({ resource, field }: RefusedField): string | undefined {
  return ARGUMENTS.get(`${resource}.${field}`) ?? ARGUMENTS.get(field ?? '');
}

function nameOf({ resource, field, code }: RefusedField): string {
  return field === undefined ? '' : [resource, field].filter(Boolean).join('.') + (code ? `: ${code}` : '');
}
