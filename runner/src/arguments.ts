import { type ParseArgsConfig, parseArgs } from 'node:util';
import { z } from 'zod';
import { isLoopback } from './hub/address.ts';

export const USAGE = `Usage:
  muster-runner --repo <path> --url <mcp url> [options]

  --repo <path>            the repository to work on; your checkout is never touched
  --url <url>              Muster's MCP endpoint (or MUSTER_URL)
  --token <credential>     an agent's credential (better: MUSTER_TOKEN, which no process list shows)
  --for <owner|workspace>  whose tasks to do: your own (owner), or of all workers of the workspace too
  --allow-http             send the credential unencrypted to a hub on another machine
  --project <owner/name>   what tasks call this repository; by default, the remote "origin" if it is on github.com

  --once                   do one task and exit: 0 if it was completed, 1 otherwise
  --task <id>              do this task and exit
  --concurrency <n>        tasks at a time (1)
  --base <ref>             what new branches start from, unless a task says (HEAD)
  --acceptance <command>   what must succeed for a task to be completed, unless the task says
  --push                   fetch bases and task branches from "origin", and push task branches
  --unsafe                 switch the coding agents' permission checks off

  --silence <seconds>      how long a coding agent may print nothing (600)
  --lease <seconds>        after how long without a sign of life others may take a task (120)
  --worktrees <folder>     where tasks are worked on (~/.local/state/muster/worktrees)`;

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
  push: { type: 'boolean' },
  unsafe: { type: 'boolean' },
  silence: { type: 'string' },
  lease: { type: 'string' },
  worktrees: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const satisfies ParseArgsConfig['options'];

const text = (name: string) => z.string(`--${name} is missing.`).trim().min(1, `--${name} is empty.`);

const whole = (name: string, least: number, most: number) =>
  z.coerce
    .number(`--${name}: a number`)
    .int(`--${name}: a whole number`)
    .min(least, `--${name}: at least ${least}`)
    .max(most, `--${name}: at most ${most}`);

const settings = z.strictObject({
  repo: text('repo'),
  url: z.url({ protocol: /^https?$/, error: '--url: the http(s) address of the MCP endpoint' }),
  token: text('token'),
  for: z.enum(['owner', 'workspace'], '--for: owner or workspace').default('owner'),
  project: text('project').optional(),
  once: z.boolean().default(false),
  task: text('task').optional(),
  concurrency: whole('concurrency', 1, 16).default(1),
  base: text('base')
    .refine((ref) => !ref.startsWith('-'), '--base: a branch, tag or commit')
    .optional(),
  acceptance: text('acceptance').optional(),
  push: z.boolean().default(false),
  unsafe: z.boolean().default(false),
  silence: whole('silence', 1, 24 * 60 * 60).default(600),
  lease: whole('lease', 15, 60 * 60).default(120),
  worktrees: text('worktrees').optional(),
});

/** What the command line asks for; seconds are seconds. */
export type Settings = z.output<typeof settings>;

/** The command line cannot be followed; the message says why. */
export class UsageError extends Error {}

/**
 * @returns undefined where only help is asked for
 * @throws UsageError that lists everything that is wrong
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
      '--url: http sends the credential unencrypted. Use https, or --allow-http if every machine between here and the hub is yours.',
    );
  if ((once || task !== undefined) && concurrency > 1)
    throw new UsageError('--concurrency does not go with --once or --task.');
  return { ...checked.data, once: once || task !== undefined };
}

/** Returns whether no other machine can read what is sent to the address. */
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
