import { type ParseArgsConfig, parseArgs } from 'node:util';
import { z } from 'zod';
import { parseAgent } from './agents/index.ts';
import { isLoopback } from './hub/address.ts';

const options = {
  repo: { type: 'string' },
  url: { type: 'string' },
  token: { type: 'string' },
  for: { type: 'string' },
  'allow-http': { type: 'boolean' },
  project: { type: 'string' },
  once: { type: 'boolean' },
  task: { type: 'string' },
  concurrency: { type: 'string' },
  base: { type: 'string' },
  acceptance: { type: 'string' },
  commands: { type: 'boolean' },
  push: { type: 'boolean' },
  agent: { type: 'string', multiple: true },
  unsafe: { type: 'boolean' },
  silence: { type: 'string' },
  lease: { type: 'string' },
  worktrees: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const satisfies ParseArgsConfig['options'];

const text = (name: string) => z.string(`--${name} is missing.`).trim().min(1, `--${name} is empty.`);

const whole = (name: string, lowest: number, limit: number) =>
  z.coerce
    .number(`--${name} must be a number.`)
    .int(`--${name} must be a whole number.`)
    .min(lowest, `--${name} must be at least ${lowest}.`)
    .max(limit, `--${name} must be at most ${limit}.`);

const settings = z.strictObject({
  repo: text('repo'),
  url: z.url({ protocol: /^https?$/, error: '--url must be the http(s) address of the MCP endpoint.' }),
  token: text('token'),
  for: z.enum(['owner', 'workspace'], '--for must be owner or workspace.').default('owner'),
  project: text('project').optional(),
  once: z.boolean().default(false),
  task: text('task').optional(),
  concurrency: whole('concurrency', 1, 16).default(1),
  base: text('base')
    .refine((ref) => !ref.startsWith('-'), '--base must be a branch, tag or commit.')
    .optional(),
  acceptance: text('acceptance').optional(),
  commands: z.boolean().default(false),
  push: z.boolean().default(false),
  agent: z
    .array(
      z.string().transform((value, context) => {
        const agent = parseAgent(value);
        if (agent !== undefined) return agent;
        const message = `--agent must have the form NAME=COMMAND, as in --agent goose="goose acp". Got "${value}".`;
        context.addIssue({ code: 'custom', message });
        return z.NEVER;
      }),
    )
    .default([]),
  unsafe: z.boolean().default(false),
  silence: whole('silence', 1, 24 * 60 * 60).default(600),
  lease: whole('lease', 15, 60 * 60).default(120),
  worktrees: text('worktrees').optional(),
});

/** Settings from the command line. Durations are in seconds. */
export type Settings = z.output<typeof settings>;

/** Thrown if the command line is invalid. The message lists every problem. */
export class UsageError extends Error {}

/**
 * @returns undefined if only help was requested
 * @throws UsageError if the arguments are invalid
 */
export function parseSettings(args: readonly string[], env: NodeJS.ProcessEnv): Settings | undefined {
  const { help, 'allow-http': allowHttp = false, ...values } = parsed(args);
  if (help) return undefined;
  const { MUSTER_URL: url, MUSTER_TOKEN: token } = env;
  const checked = settings.safeParse({ ...(url && { url }), ...(token && { token }), ...values });
  if (!checked.success) throw new UsageError(checked.error.issues.map(({ message }) => message).join('\n'));
  const { url: address, task, once, concurrency } = checked.data;
  if (!allowHttp && !isSafe(new URL(address)))
    throw new UsageError(
      '--url uses http, which sends the credential unencrypted. Use https, or --allow-http if you control the network.',
    );
  if ((once || task !== undefined) && concurrency > 1)
    throw new UsageError('--concurrency cannot be combined with --once or --task.');
  return { ...checked.data, once: once || task !== undefined };
}

/** Returns whether a URL uses https or names this machine, so that no other machine can read requests to it. */
function isSafe(url: URL): boolean {
  return url.protocol === 'https:' || isLoopback(url);
}

function parsed(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options }).values;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}
