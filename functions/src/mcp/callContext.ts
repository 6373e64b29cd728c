/** Context of an HTTP request, and of each tool call in it, with their errors. */
import type { Caller, Principal, Scope } from '../identity/rules/principal.ts';
import type { Role } from '../identity/rules/role.ts';
import { type CallRecord, type Operation, UnknownCommitOutcomeError } from '../kernel/commit.ts';
import type { LongPoll } from '../kernel/concurrency.ts';
import { type ErrorDetails, MusterError } from '../kernel/errors.ts';
import type { JsonObject } from '../kernel/json.ts';
import type { Log } from '../kernel/ports.ts';

/** One authenticated HTTP request, which may contain several calls. */
export interface RequestContext {
  readonly principal: Principal;
  /** Bearer credential of the request. Secrets are derived from it. */
  readonly credential: string;
  /** Workspace that the URL selects, or else the agent's default workspace, or else `default`. */
  readonly workspace: string;
  /** Identifies the request in the log and in "Internal error" responses. */
  readonly requestId: string;
  /** URL of this deployment without a trailing slash: `https://…cloudfunctions.net/mcp`. */
  readonly baseUrl: string;
  readonly directory: Directory;
  /** W3C trace context of the caller, or else of the HTTP request. Runs and coding tasks store it. */
  readonly traceparent?: string | undefined;
  /** Returns a signal that fires when the client disconnects. Creating the signal costs more than a cheap call. */
  disconnectSignal(): AbortSignal;
  /** Milliseconds left for all calls of the request; never negative. A tool that waits must leave time to respond. */
  readonly timeLeft: () => number;
}

/** Context that a handler gets together with the arguments of a call. `Services`: the services of the toolset. */
export interface CallContext<out Services = never> extends LongPoll, Omit<RequestContext, 'credential'> {
  /** The principal with its credential, for database access under the security rules. */
  readonly caller: Caller;
  /** Records the call's response under its idempotency key, in the commit that the call makes. */
  readonly operation: Operation;
  readonly services: Services;
  /** Returns the built HTML page of a toolset's view. */
  readonly view: (name: string) => Promise<string>;
  /** Sets the details of the error that the caller gets on a timeout, replacing those of a previous invocation. */
  onTimeout(late: TimeoutError): void;
  /**
   * Sends a notification before the response. Only for tools with `notifies`. Clients that accept no event stream do
   * not receive notifications, so the response must repeat everything.
   */
  notify(notification: Notification): void;
  /** Undefined if the client cannot ask its user, or can do so only in a session, as in older protocol revisions. */
  readonly elicitation?: Elicitation | undefined;
  /** Responds to the call with a task instead of the result. Undefined if the client does not support tasks. */
  readonly respondWithTask?: ((state: McpTaskState) => void) | undefined;
  /** Sends progress to clients that requested it. Only for tools with `notifies`. */
  progress(progress: Progress): void;
}

/**
 * Questions to the person at the client, before the response. The client shows the question and repeats the call with
 * the answer, so the server keeps no state. Source: MCP 2026-07-28, "Elicitation" and "Multi Round-Trip Requests".
 */
export interface Elicitation {
  /** Returns the person's unvalidated answer to a question; undefined if the question was not asked yet. */
  response(key: string): ElicitationResponse | undefined;
  /** Responds to the call with a question instead of the result. Returns false if the client cannot show it. */
  ask(key: string, question: ElicitationQuestion): boolean;
}

export interface ElicitationResponse {
  readonly action: 'accept' | 'decline' | 'cancel';
  readonly content?: Readonly<Record<string, unknown>>;
}

/** Question for the person at the client, as a form, as the address of a page, or as either. */
export interface ElicitationQuestion {
  readonly message: string;
  /** One text field, or one choice if `options` is set. */
  readonly form?: { readonly field: string; readonly title: string; readonly options?: readonly string[] | undefined };
  /** Page on which the person decides, signed in as themselves. That the page was opened is not a decision. */
  readonly url?: string | undefined;
}

/** Open requests to the caller's own owner, which the caller's client may show. */
export interface ClientQuestions {
  /** Returns the questions by the ids of their requests. */
  pending(principal: Principal, waitsFor: WaitsFor): Promise<ReadonlyMap<string, ElicitationQuestion>>;
  /** Records that the client has shown the question, and the person's answer, if the question may be answered there. */
  shown(principal: Principal, id: string, response: ElicitationResponse, record: CallRecord): Promise<void>;
  /** Resolves when the request is closed, or after some seconds. */
  decided(principal: Principal, id: string, poll: LongPoll): Promise<unknown>;
}

/** Lets the client show a request. When the client repeats the call, records and returns the person's response. */
export async function shownAtClient(
  questions: ClientQuestions,
  { elicitation, principal, operation }: Pick<CallContext, 'elicitation' | 'principal' | 'operation'>,
  id: string,
): Promise<{ readonly isAsking: boolean; readonly response?: ElicitationResponse }> {
  const response = elicitation?.response(id);
  if (response !== undefined) {
    await questions.shown(principal, id, response, { by: operation.by });
    return { isAsking: false, response };
  }
  const pending = elicitation ? [...(await questions.pending(principal, { request: id }))] : [];
  return { isAsking: pending.some(([key, question]) => elicitation?.ask(key, question)) };
}

/**
 * Work that continues after its call, as MCP's tasks extension shows it. It is stored as a run or a coding task, so any
 * instance can respond. Source: docs/decisions/0058-tasks-prompts-traces.md.
 */
export interface McpTaskState {
  /** Id of the work, such as `run-abcdefghijklmnopqrst`. */
  readonly id: string;
  readonly status: 'working' | 'ended' | 'cancelled';
  /** Current step of the work, or the reason why it waits. */
  readonly message?: string | undefined;
  readonly createdAt: Date;
  readonly changedAt: Date;
  /** Retention setting of the work. */
  readonly kept: 'runs' | 'tasks';
  readonly pollMs: number;
  readonly waitsFor?: WaitsFor | undefined;
  /** Call that cancels the work, by the tool's full name. */
  readonly cancel: { readonly tool: string; readonly args: JsonObject };
}

/** Request to a person, by its id, or an exhausted budget, by its key. */
export type WaitsFor = { readonly request: string } | { readonly budget: string };

export interface Notification {
  readonly method: string;
  readonly params: JsonObject;
}

/** Progress of a call. Source: MCP 2025-11-25, "Progress". */
export interface Progress {
  readonly progress: number;
  readonly total?: number;
  readonly message: string;
}

/** The tools and resources of a deployment, and their names at the caller's endpoint. */
export interface Directory {
  /** All tools of the deployment, in the order of the toolsets. */
  readonly tools: readonly ListedToolInfo[];
  /** URIs of the resources that this endpoint lists. */
  readonly resources: readonly string[];
  /** Returns a tool's name at this endpoint, by its full name; undefined if the endpoint does not serve the tool. */
  wireName(fullName: string): string | undefined;
  /** Returns the text with full tool names replaced by the names at this endpoint. */
  named(text: string): string;
}

export interface ListedToolInfo {
  readonly toolset: string;
  /** Full name, such as `coordination.create_task`, which `tools/call` accepts at every endpoint. */
  readonly fullName: string;
  readonly title: string;
  readonly description: string;
  readonly role: Role;
  readonly agentRole: Role | undefined;
  readonly scope: Scope;
  readonly writes: boolean;
  readonly openToAll: boolean;
  /** Whether a workspace may require approval of calls of this tool. */
  readonly approvable: boolean;
  /** JSON Schema of the arguments. */
  readonly parameters: JsonObject;
  readonly example: JsonObject;
}

/** Details of the error that a call gets on a timeout: ids to look up, and the next action. */
export type TimeoutError = Pick<ErrorDetails, 'about' | 'suggestion'>;

/** Returns the error to show to the caller. An unexpected error is logged and replaced by the request id. */
export function presentableError(error: unknown, requestId: string, what: string, log: Log): MusterError {
  if (error instanceof MusterError) {
    if (error.cause !== undefined) log.warn('call_refused_with_cause', { requestId, what, error });
    return error;
  }
  if (error instanceof UnknownCommitOutcomeError) {
    log.warn('call_unanswered', { requestId, what, error });
    return new MusterError('FIREBASE_ERROR', 'The database did not respond.', {
      reason: 'OUTCOME_UNKNOWN',
      suggestion:
        'The write may or may not have been applied. Check this before you retry; with an idempotency_key, retrying is safe.',
    });
  }
  log.error('call_broke', { requestId, what, error });
  return new MusterError('INTERNAL', `Internal error. Report request id ${requestId} to the operator.`);
}
