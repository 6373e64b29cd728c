import { z } from 'zod';
import type { Json } from '../redaction.ts';
import { AttemptFailure } from './failure.ts';
import { unsafeRules } from './permissions.ts';

/** Schema of a text that is passed to a program as an argument. The program must not read it as an option. */
const argument = z
  .string()
  .regex(/^[^\s-]/, 'must not begin with "-"')
  .max(500);

const pullRequest = z.strictObject({
  title: z.string().min(1).max(256).optional(),
  body: z.string().max(50_000).optional(),
  base: argument.optional(),
  draft: z.boolean().default(false),
});

/** Schema of the settings that a task can give its runner. Other keys are ignored. */
const taskConfig = z.looseObject({
  base: argument.optional(),
  model: argument.optional(),
  allowedTools: z.array(argument).max(100).default([]),
  acceptance: z.string().min(1).max(10_000).optional(),
  /** Limits of the cost and tokens of one attempt. Reaching one ends the task as failed. */
  maxCostUsd: z.number().positive().optional(),
  maxTokens: z.int().min(1).optional(),
  silenceSeconds: z
    .int()
    .min(1)
    .max(24 * 60 * 60)
    .optional(),
  pullRequest: z
    .union([z.boolean(), pullRequest])
    .transform((wish) => (wish === true ? pullRequest.parse({}) : wish || undefined))
    .optional(),
});
export type TaskConfig = z.output<typeof taskConfig>;

/** @throws AttemptFailure, final, if the config is invalid, or if it needs --unsafe */
export function parseTaskConfig(config: Json, { unsafe }: { readonly unsafe: boolean }): TaskConfig {
  const parsed = taskConfig.safeParse(config);
  if (!parsed.success) {
    const problems = parsed.error.issues.map(({ path, message }) => `config.${path.join('.')}: ${message}`);
    throw new AttemptFailure('crashed', problems.join('\n'), { retryable: false });
  }
  const refused = unsafe ? [] : unsafeRules(parsed.data.allowedTools);
  if (refused.length > 0) {
    const message = `config.allowedTools: only a runner started with --unsafe allows ${refused.join(', ')}. Name the commands, as in "Bash(npm test)".`;
    throw new AttemptFailure('crashed', message, { retryable: false });
  }
  return parsed.data;
}
