/** Calls from a runner to the hub. Source: docs/guides/runner.md, "The protocol". */
import { z } from 'zod';
import type { Json } from '../redaction.ts';
import type { FailureClass } from '../task/failure.ts';
import type { HubConnection } from './connection.ts';

/** Name of a coding agent in tasks, such as `CLAUDECODE`. `src/agents/known.ts` lists the agents. */
export type CodingTool = string;

/** When an agent receives a message: before its next request to the model, or only after its turn. */
export type Hearing = 'between_steps' | 'between_turns';

export interface LogEntry {
  readonly sequence: number;
  /** Time of the entry, as an RFC 3339 timestamp. */
  readonly at: string;
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly type: 'system' | 'agent' | 'tool' | 'command' | 'output' | 'git' | 'acceptance' | 'message';
  readonly prefix?: string;
  readonly message: string;
  /** The message that the agent has heard, in an entry of the type `message`. */
  readonly data?: { readonly message_id: string; readonly sent_at: string };
}

const claimedTask = z.object({
  id: z.string(),
  epoch: z.number(),
  tool: z.string(),
  description: z.string(),
  instructions: z.string(),
  branch: z.string(),
  config: z.record(z.string(), z.json()),
  attempt: z.number(),
  previous: z
    .object({
      failure: z.object({ class: z.string(), message: z.string() }).optional(),
      /** Correction with which the work was sent back. */
      comments: z.string().optional(),
    })
    .optional(),
  /** Checks that the result of the task must pass. */
  acceptance: z.object({ command: z.string().optional() }).optional(),
  /** Command of a command run: it checks the branch, or the commit of it, without a coding agent. */
  command: z.string().optional(),
  commit: z.string().optional(),
  /** Trace of the call that created the task. Source: https://www.w3.org/TR/trace-context/#traceparent-header */
  traceparent: z.string().optional(),
});

const message = z.object({
  id: z.string(),
  from: z.string(),
  text: z.string(),
  at: z.string().default(''),
  task_id: z.string().optional(),
});
export type Message = z.output<typeof message>;
export type ClaimedTask = z.output<typeof claimedTask> & { readonly messages: readonly Message[] };
const stop = z.object({ reason: z.enum(['ended', 'claim_lost']), message: z.string() });
/** Reason for which the hub wants the runner to stop working on a task. */
export type Stop = z.output<typeof stop>;

const answer = <Result extends z.ZodType>(result: Result) => z.object({ result });
const claimAnswer = answer(z.object({ task: claimedTask.nullable(), messages: z.array(message).default([]) }));
const standing = answer(z.object({ stop: stop.optional(), messages: z.array(message).default([]) }));
export type Standing = z.output<typeof standing>['result'];
const endAnswer = answer(z.object({ outcome: z.string() }));
const registration = z.object({ agentId: z.string(), workspace: z.string(), owner: z.string().default('its owner') });
const registered = answer(registration);

type Registered = z.output<typeof registration>;
const pullRequest = z.object({ number: z.number(), url: z.string().optional() });

export interface Ending {
  readonly status: 'completed' | 'failed';
  readonly result: Json;
  readonly failure?: {
    readonly class: FailureClass;
    readonly message: string;
    readonly retryable?: boolean;
    /** If set, the task returns to the queue and is available after this delay. The attempt does not count. */
    readonly returnAfterSeconds?: number;
  };
}

export interface ProgramVersion {
  readonly name: string;
  readonly version: string;
}

export interface ClaimWishes {
  /** Undefined for every task that the registration allows, including command runs. */
  readonly tools: readonly CodingTool[] | undefined;
  readonly leaseSeconds: number;
  readonly waitMs: number;
  readonly project?: string | undefined;
  readonly taskId?: string | undefined;
}

export interface Beat {
  readonly state?: 'in_progress' | 'waiting' | undefined;
  /** When the coding agent hears a message. The response of `message_agent` states this to the sender. */
  readonly hearing?: Hearing | undefined;
  /** Id of the last message that was received. The hub returns only later messages. */
  readonly receivedUntil?: string | undefined;
  /** Paths that the branch has changed until now. */
  readonly files?: readonly string[] | undefined;
  /** Time to wait for a message or a stop, in milliseconds. */
  readonly waitMs?: number;
}

export interface PullRequestDraft {
  readonly owner: string;
  readonly repo: string;
  readonly title: string;
  readonly body: string;
  readonly head: string;
  readonly base: string;
  readonly draft: boolean;
  readonly task_id: string;
}

export class Hub {
  private readonly connection: HubConnection;

  constructor(connection: HubConnection) {
    this.connection = connection;
  }

  /**
   * Registers the runner with its coding agents and the owners of its tasks. Returns the runner's identity.
   * @param commands whether the runner does command runs; hubs before 0.4.0 refuse the argument
   */
  async register(
    programs: readonly ProgramVersion[],
    { serves, commands }: { readonly serves: 'owner' | 'workspace'; readonly commands: boolean },
  ): Promise<Registered> {
    const args = { programs, serves, ...(commands && { commands }) };
    return (await this.connection.call('coding_register_runner', args, registered)).result;
  }

  /**
   * Waits for a task and claims it. Returns undefined if no task became available.
   * @param key idempotency key of this claim; a repeated call returns the first result
   */
  async claim(wishes: ClaimWishes, key: string, signal: AbortSignal): Promise<ClaimedTask | undefined> {
    const { tools, project, taskId, ...rest } = wishes;
    const named = { ...(tools && { tools }), ...(project && { project }), ...(taskId && { taskId }) };
    const args = { ...rest, ...named, idempotency_key: key };
    const options = { signal, waitMs: wishes.waitMs };
    const { result } = await this.connection.call('coding_claim_task', args, claimAnswer, options);
    const { task, messages } = result;
    return task === null ? undefined : { ...task, messages };
  }

  /** @param heard ids of the messages that the coding agent has acknowledged; from then on, they count as read */
  async append(
    taskId: string,
    epoch: number,
    entries: readonly LogEntry[],
    heard: readonly string[],
  ): Promise<Stop | undefined> {
    const args = { taskId, epoch, entries, ...(heard.length > 0 && { heard }) };
    return (await this.connection.call('coding_append_logs', args, standing)).result.stop;
  }

  async heartbeat(taskId: string, epoch: number, beat: Beat, signal?: AbortSignal): Promise<Standing> {
    const { state, hearing, receivedUntil, files, waitMs } = beat;
    const named = { ...(state && { state }), ...(hearing && { hearing }), ...(receivedUntil && { receivedUntil }) };
    const args = { taskId, epoch, ...named, ...(files && { files }), ...(waitMs && { waitMs }) };
    const options = { signal, waitMs: waitMs ?? 0 };
    return (await this.connection.call('coding_heartbeat_task', args, standing, options)).result;
  }

  /** @returns the outcome of the task, as `end_task` returns it */
  async end(taskId: string, epoch: number, ending: Ending): Promise<string> {
    const { result } = await this.connection.call('coding_end_task', { taskId, epoch, ...ending }, endAnswer);
    return result.outcome;
  }

  createPullRequest(draft: PullRequestDraft): Promise<z.output<typeof pullRequest>> {
    return this.connection.call('github_createPR', { ...draft }, pullRequest);
  }

  close(): Promise<void> {
    return this.connection.close();
  }
}
