/** What a caller says of a new task, alone or in a batch. */
import { z } from 'zod';
import { idOf } from '../../domain/ids.ts';
import {
  capabilityKey,
  MAX_CAPABILITY_KEY_BYTES,
  MAX_REQUIRED_CAPABILITIES,
} from '../../domain/tasks/capabilities.ts';
import type { TaskDraft } from '../../domain/tasks/creation.ts';
import { CODING_TYPE, MAX_TYPE_LENGTH, TYPE_NAME, USUAL_TYPE } from '../../domain/tasks/projection.ts';
import { text, texts } from './shapes.ts';

const MAX_DEPENDENCIES = 100;

const isPriority = (priority: number): boolean =>
  Number.isInteger(priority) && priority >= 1 && priority <= 10;

const isShortEnough = (required: readonly string[]): boolean =>
  Buffer.byteLength(capabilityKey(required)) <= MAX_CAPABILITY_KEY_BYTES;

export const priority = z
  .number()
  .refine(isPriority, 'expected a whole number from 1 to 10')
  .describe('1 (first) to 10 (last)');

/** The arguments without `priority`, whose default the two tools state differently. */
export const taskArguments = {
  description: text('Task description', 20_000),
  dependencies: z
    .array(idOf('a task'))
    .refine((list) => list.length <= MAX_DEPENDENCIES, `expected at most ${MAX_DEPENDENCIES} entries`)
    .optional()
    .describe('Tasks to complete first, by id'),
  context_files: texts('Relevant files', 200).optional(),
  hints: text('For the worker', 20_000).optional(),
  required_capabilities: z
    .array(z.string().regex(/^[^|\s][^|]{0,99}$/, 'expected 1 to 100 characters without "|"'))
    .refine(
      (list) => list.length <= MAX_REQUIRED_CAPABILITIES,
      `expected at most ${MAX_REQUIRED_CAPABILITIES} entries`,
    )
    .refine(isShortEnough, `expected at most ${MAX_CAPABILITY_KEY_BYTES} bytes in all`)
    .optional()
    .describe('Only agents that have all of these get it'),
  type: z
    .string()
    .refine(
      (name) => TYPE_NAME.test(name) && name.length <= MAX_TYPE_LENGTH,
      `expected a lower-case word such as "research" or "bug-fix", of at most ${MAX_TYPE_LENGTH} characters`,
    )
    .refine((name) => name !== CODING_TYPE, 'expected another type: coding.create_task makes coding tasks')
    .optional()
    .describe(`A word to filter by; ${USUAL_TYPE} if left out`),
  deadline: z.iso
    .datetime({ offset: true })
    .refine((text) => new Date(text).getUTCFullYear() <= 9999, 'expected a date before the year 10000')
    .optional()
    .describe('At equal priority, earlier ones go first'),
};

/** The priority of a task that names none. */
export const USUAL_PRIORITY = 5;

type Written = z.output<z.ZodObject<typeof taskArguments>> & { readonly priority?: number | undefined };

export function draftOf(written: Written): TaskDraft {
  return {
    description: written.description,
    priority: written.priority ?? USUAL_PRIORITY,
    dependencies: written.dependencies ?? [],
    files: written.context_files ?? [],
    hints: written.hints,
    requiredCapabilities: written.required_capabilities ?? [],
    type: written.type,
    deadline: written.deadline === undefined ? undefined : new Date(written.deadline),
  };
}
