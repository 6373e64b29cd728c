/** Context of a request and of each of its calls. */

import type { Caller, Principal, Scope } from '../identity/rules/principal.ts';
import type { Role } from '../identity/rules/role.ts';
import type { Operation } from '../kernel/commit.ts';
import type { LongPoll } from '../kernel/concurrency.ts';
import type { ErrorDetails } from '../kernel/errors.ts';
import type { JsonObject } from '../kernel/json.ts';

/** One authenticated HTTP request, which may contain several calls. */
export interface RequestContext {
  readonly principal: Principal;
  /** Bearer credential, for derived secrets. */
  readonly credential: string;
  /** Workspace: from the URL, else the agent's own, else `default`. */
  readonly workspace: string;
  /** Identifies the request in logs and in "Internal error" responses. */
  readonly requestId: string;
  /** Address of this deployment without a trailing slash: `https://…cloudfunctions.net/mcp`. */
  readonly baseUrl: string;
  /** The deployment's tools and resources. */
  readonly directory: Directory;
  /** Returns a signal for when the client disconnects. Listening to one costs more than a cheap call. */
  disconnectSignal(): AbortSignal;
  /** Remaining time of the request, shared by all its calls. A waiting tool must keep enough of it to respond. */
  readonly timeLeft: TimeLeft;
}

/** Context that a handler gets with its arguments, once per call. `Services`: the services that its toolset uses. */
export interface CallContext<out Services = never> extends LongPoll, Omit<RequestContext, 'credential'> {
  /** The principal with its credential, for access under the security rules. */
  readonly caller: Caller;
  /** Passes the call's idempotency key to the commit that settles it. */
  readonly operation: Operation;
  readonly services: Services;
  /** Returns the built HTML page of a toolset's view. */
  readonly view: (name: string) => Promise<string>;
  /** Sets the details of the timeout error. A later call replaces them. */
  onTimeout(late: TimeoutError): void;
  /**
   * Sends a notification on the call's stream, before its response. Only for tools with `notifies`. Clients that
   * accept no stream do not get it, so the response must contain everything.
   */
  notify(notification: Notification): void;
  /** Absent if the client cannot ask people, or its revision needs sessions to do so. */
  readonly elicitation?: Elicitation | undefined;
  /** Reports progress to clients that want it. Only for tools with `notifies`. */
  progress(progress: Progress): void;
}

/**
 * Questions to the person at the client, before the response. The client shows the question and repeats the call with
 * the answer; the server keeps no state. Source: MCP 2026-07-28, "Elicitation" and "Multi Round-Trip Requests".
 */
export interface Elicitation {
  /** Returns the answer to a question, if the client has asked it. Its content is not validated. */
  response(key: string): ElicitationResponse | undefined;
  /** Asks the client for an answer instead of returning a result. */
  ask(key: string, form: ElicitationForm): void;
}

export interface ElicitationResponse {
  readonly action: 'accept' | 'decline' | 'cancel';
  readonly content?: Readonly<Record<string, unknown>>;
}

/** A form with one text to enter, or to choose from `options`. */
export interface ElicitationForm {
  readonly message: string;
  readonly field: string;
  readonly title: string;
  readonly options?: readonly string[] | undefined;
}

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

/** A deployment's tools and resources, and those that the caller's endpoint serves. */
export interface Directory {
  /** All tools of the deployment, ordered by toolset. */
  readonly tools: readonly ListedToolInfo[];
  /** URIs of the resources that this endpoint lists. */
  readonly resources: readonly string[];
  /** Returns the name of `coordination.create_task` at this endpoint; undefined if it does not serve the tool. */
  wireName(fullName: string): string | undefined;
  /** Replaces full tool names in a text by the names that this endpoint lists. */
  named(text: string): string;
}

/** Description of a tool for other tools. */
export interface ListedToolInfo {
  readonly toolset: string;
  /** Full name, which `tools/call` accepts at every endpoint: `coordination.create_task`. */
  readonly fullName: string;
  readonly title: string;
  readonly description: string;
  readonly role: Role;
  readonly agentRole: Role | undefined;
  readonly scope: Scope;
  readonly writes: boolean;
  readonly openToAll: boolean;
  /** Whether a workspace may require approval of its calls. */
  readonly approvable: boolean;
  /** JSON Schema of the arguments. */
  readonly parameters: JsonObject;
  readonly example: JsonObject;
}

/** Returns the milliseconds left to respond to the request, at least 0. */
export type TimeLeft = () => number;

/** Details of a call's timeout error: related ids and the next action. */
export type TimeoutError = Pick<ErrorDetails, 'about' | 'suggestion'>;
