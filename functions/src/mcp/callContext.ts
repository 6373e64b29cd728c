/** What is known of a request and of the call that it carries. */

import type { Caller, Principal, Scope } from '../identity/rules/principal.ts';
import type { Role } from '../identity/rules/role.ts';
import type { Operation } from '../kernel/commit.ts';
import type { ErrorDetails } from '../kernel/errors.ts';
import type { JsonObject } from '../kernel/json.ts';
import type { LongPoll } from '../kernel/waiting.ts';

/** One authenticated HTTP request, which may carry several calls. */
export interface RequestContext {
  readonly principal: Principal;
  /** The bearer credential, for secrets derived from it. */
  readonly credential: string;
  /** The coordination workspace: the URL's, else the agent's own, else `default`. */
  readonly workspace: string;
  /** Names the request in logs and in "internal error" answers. */
  readonly requestId: string;
  /** Where this deployment answers, without a trailing slash: `https://…cloudfunctions.net/mcp`. */
  readonly baseUrl: string;
  /** What this deployment can do. */
  readonly directory: Directory;
  /** Makes the signal that the client has gone away. Following one costs more than a cheap call. */
  gone(): AbortSignal;
  /** Of the request, for all its calls. A tool that waits leaves of this what it needs to answer. */
  readonly timeLeft: TimeLeft;
}

/** What a handler is given besides its arguments, once per call. `Services`: what the tools of its toolset ask. */
export interface CallContext<out Services = never> extends LongPoll, Omit<RequestContext, 'credential'> {
  /** The principal together with what it came with, for what runs under the security rules. */
  readonly caller: Caller;
  /** Carries the call's idempotency key into the commit that settles it. */
  readonly operation: Operation;
  readonly services: Services;
  /** Returns a page that the build has made of a toolset's view, as HTML. */
  readonly view: (name: string) => Promise<string>;
  /** Says what the caller is told where the time is over before the answer. What comes later replaces it. */
  ifLate(late: Late): void;
  /**
   * Sends a notification on the call's own stream, before its answer. Only for a tool that says `notifies`. A
   * client that takes no stream does not get it, so nothing may be told by notifications alone.
   */
  notify(notification: Notification): void;
  /** Absent where the client cannot ask, or speaks a revision in which a server without sessions cannot have it ask. */
  readonly elicitation?: Elicitation | undefined;
  /** Says how far the call has come, to a client that asks. Only for a tool that says `notifies`. */
  progress(progress: Progress): void;
}

/**
 * Asking the person at the client, before the answer. The client shows the question and calls again with what came of
 * it; nothing is kept in between. Source: MCP 2026-07-28, "Elicitation" and "Multi Round-Trip Requests".
 */
export interface Elicitation {
  /** What came of a question, where the client has asked it already. Of its content nothing is checked. */
  said(key: string): Said | undefined;
  /** Has the client ask, in place of what the call answers. */
  ask(key: string, form: ElicitationForm): void;
}

export interface Said {
  readonly action: 'accept' | 'decline' | 'cancel';
  readonly content?: Readonly<Record<string, unknown>>;
}

/** One text that the person enters, or chooses where there are options. */
export interface ElicitationForm {
  readonly message: string;
  readonly field: string;
  readonly title: string;
  readonly options?: readonly string[] | undefined;
}

/** A JSON-RPC notification. */
export interface Notification {
  readonly method: string;
  readonly params: JsonObject;
}

/** How far a call has come. Source: MCP 2025-11-25, "Progress". */
export interface Progress {
  readonly progress: number;
  readonly total?: number;
  /** In words. */
  readonly message: string;
}

/** What a deployment can do, and what of it the caller's endpoint serves. */
export interface Directory {
  /** Every tool that there is, in the order of the toolsets. */
  readonly tools: readonly KnownTool[];
  /** The URIs of the resources that this endpoint lists. */
  readonly resources: readonly string[];
  /** The name under which this endpoint takes calls of `coordination.create_task`; undefined where it does not. */
  wireName(fullName: string): string | undefined;
  /** Writes the tools that a text names by their full names as this endpoint lists them. */
  named(text: string): string;
}

/** A tool as others speak of it. */
export interface KnownTool {
  readonly toolset: string;
  /** `coordination.create_task`: `tools/call` finds it by this name wherever it is served. */
  readonly fullName: string;
  readonly title: string;
  readonly description: string;
  readonly role: Role;
  readonly agentRole: Role | undefined;
  readonly scope: Scope;
  readonly writes: boolean;
  readonly openToAll: boolean;
  /** Whether a workspace may want its calls approved. */
  readonly approvable: boolean;
  /** The JSON Schema of its arguments. */
  readonly parameters: JsonObject;
  readonly example: JsonObject;
}

/** Milliseconds until the request must have been answered, and never less than none. */
export type TimeLeft = () => number;

/** What the caller of a late call is told: what it is about, and what to do. */
export type Late = Pick<ErrorDetails, 'about' | 'suggestion'>;
