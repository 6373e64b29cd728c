/**
 * A question to a person: `requests/{id}`. It is open until it is answered, withdrawn or expired. Transitions are pure
 * functions: they return a new request or throw why that is not possible. Source: docs/guides/inbox.md.
 */
import { z } from 'zod/mini';
import { lineage } from '../../../identity/rules/credential.ts';
import type { Principal } from '../../../identity/rules/principal.ts';
import { documentCodec, jsonText, timestamp } from '../../../kernel/documentCodec.ts';
import { MusterError } from '../../../kernel/errors.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { matchOption } from '../../../kernel/textSearch.ts';

/** Expected answer: yes or no, one of several options, or free text. */
export const REQUEST_KINDS = ['approval', 'choice', 'text'] as const;

export const REQUEST_STATES = ['open', 'answered', 'expired', 'withdrawn'] as const;

export type RequestKind = (typeof REQUEST_KINDS)[number];

export type RequestState = (typeof REQUEST_STATES)[number];

export type Request = ReturnType<typeof requestFromDocument>;

export const APPROVE = 'approve';

export const REFUSE = 'refuse';

/** Maximum length of an answer, in characters. */
export const MAX_ANSWER = 10_000;

/** The person who answers, and the agent that answers on their behalf. */
export interface Answerer {
  readonly uid: string;
  readonly agentId?: string | undefined;
}

/** Returns the possible answers; undefined for free text. */
export function optionsOf({ kind, options }: Pick<Request, 'kind' | 'options'>): readonly string[] | undefined {
  if (kind === 'text') return undefined;
  return kind === 'approval' ? [APPROVE, REFUSE] : options;
}

/** Returns whether the request has expired but is not yet marked as expired. */
export function isDue({ state, expires_at }: Request, now: Date): boolean {
  return state === 'open' && expires_at <= now;
}

/**
 * Repeating an answer as the same person returns the request unchanged.
 * @throws MusterError VALIDATION_ERROR if the answer is not an option; CONFLICT if the request is closed
 */
export function answeredRequest(
  request: Request,
  { answer: written, comment }: { readonly answer: string; readonly comment?: string | undefined },
  by: Answerer,
  now: Date,
): Request {
  const answer = matchAnswer(request, 'answer', written);
  if (request.state === 'answered' && request.answer === answer && request.answered_by === by.uid) return request;
  if (request.state !== 'open' || isDue(request, now)) throw isExpired(request, now);
  return {
    ...request,
    state: 'answered',
    answer,
    ...(comment !== undefined && { comment }),
    answered_by: by.uid,
    ...(by.agentId !== undefined && { answered_by_agent: by.agentId }),
    ...(request.call !== undefined && answer === APPROVE && { due_at: now }),
    settled_at: now,
  };
}

/** Returns whether the asker's client can also show the question: only the agent's own question to its owner. */
export function isAskedAtClient(
  { state, asked_by, asked_of, call, put_off }: Request,
  { uid, kind, owner_uid, readonly }: Pick<Principal, 'uid' | 'kind' | 'owner_uid' | 'readonly'>,
): boolean {
  const isOwn = kind === 'agent' && asked_by === uid && asked_of === owner_uid;
  return state === 'open' && isOwn && call === undefined && !put_off && readonly !== true;
}

/** Expires the request, with its default answer if it has one. */
export function expiredRequest(request: Request, now: Date): Request {
  if (!isDue(request, now)) throw isExpired(request, now);
  const { default: answer } = request;
  return { ...request, state: 'expired', ...(answer !== undefined && { answer }), settled_at: now };
}

/** Withdraws the request: its answer is no longer needed. @throws MusterError CONFLICT if it is closed */
export function withdrawnRequest(request: Request, now: Date): Request {
  if (request.state === 'withdrawn') return request;
  if (request.state !== 'open' || isDue(request, now)) throw isExpired(request, now);
  return { ...request, state: 'withdrawn', settled_at: now };
}

/** Ends the request because the credential of its call was revoked. Undefined if it is closed. */
export function revokedRequest(request: Request, now: Date): Request | undefined {
  if (request.state !== 'open' || isDue(request, now)) return undefined;
  return { ...request, state: 'withdrawn', withdrawn_because: 'REVOKED', settled_at: now };
}

/** Returns the matching option, or the free text. @throws MusterError VALIDATION_ERROR if it is not an option */
export function matchAnswer(
  request: Pick<Request, 'kind' | 'options'>,
  field: 'answer' | 'default',
  answer: string,
): string {
  const options = optionsOf(request);
  if (options === undefined) return answer;
  const meant = matchOption(options, answer);
  if (meant !== undefined) return meant;
  throw new MusterError('VALIDATION_ERROR', `"${answer}" is not one of the options.`, {
    field,
    value: answer,
    reason: 'NOT_AN_OPTION',
    suggestion: 'Use one of the entries exactly.',
    entries: options,
  });
}

function isExpired(request: Request, now: Date) {
  const { id, state, answer, answered_by, answered_by_agent, settled_at, withdrawn_because } = request;
  const at = (settled_at ?? now).toISOString();
  const by = answered_by_agent === undefined ? `"${answered_by}"` : `the agent "${answered_by_agent}"`;
  const how = {
    open: 'it has expired',
    answered: `${by} answered it at ${at}`,
    expired: `it expired at ${at}`,
    withdrawn:
      withdrawn_because === 'REVOKED'
        ? `the credential that made the call was revoked at ${at}`
        : `it was withdrawn at ${at}`,
  }[state];
  return new MusterError('CONFLICT', `The request "${id}" is closed: ${how}.`, {
    field: 'request_id',
    reason: state === 'answered' ? 'ALREADY_ANSWERED' : 'NOT_OPEN',
    ...(answer !== undefined && { about: { answer } }),
    suggestion: 'inbox.list shows its current state.',
  });
}

/** Time that an instance has to run an approved call before another instance runs it. */
export const EXECUTION_LEASE_MS = 2 * 60_000;

/** Returns whether an approved call has not been run yet. */
export function isApproved({ due_at }: Request): boolean {
  return due_at !== undefined;
}

/** Assigns the call to an instance for a limited time. Undefined while another instance has it. */
export function markStarted(request: Request, now: Date): Request | undefined {
  const { due_at, execution_epoch: epoch } = request;
  if (due_at === undefined || (epoch > 0 && due_at > now)) return undefined;
  return { ...request, execution_epoch: epoch + 1, due_at: new Date(now.getTime() + EXECUTION_LEASE_MS) };
}

/** Stores the outcome of the call. Undefined if another instance has been assigned since. */
export function markDone(request: Request, outcome: JsonObject, epoch: number): Request | undefined {
  const { due_at, ...rest } = request;
  return due_at === undefined || request.execution_epoch !== epoch ? undefined : { ...rest, outcome };
}

/** Returns the same error for a missing request and for another person's. */
export function requestNotFound(id: string): MusterError {
  return new MusterError('NOT_FOUND', `Request "${id}" not found.`, {
    field: 'request_id',
    value: id,
    suggestion: 'inbox.list lists requests to you and from you.',
  });
}

export interface RequestChanges {
  readonly createRequest: { readonly request: Request };
  readonly replaceRequest: {
    readonly request: Request;
    /** For the audit log. */
    readonly before: Request;
    readonly version: string;
  };
}

export const requestDocument = z.object({
  id: z.string(),
  workspace: z.string(),
  kind: z.enum(REQUEST_KINDS),
  question: z.string(),
  /** Only for a choice; otherwise empty. */
  options: z.array(z.string()),
  task_id: z.nullable(z.string()),
  /** Uid of the asker, id of the asking agent, and uid of its owner or of the asking person. */
  asked_by: z.string(),
  asked_by_agent: z.nullable(z.string()),
  owner_uid: z.string(),
  /** Uid of the person asked, and their name at that time. */
  asked_of: z.string(),
  asked_of_name: z.string(),
  state: z.enum(REQUEST_STATES),
  answer: z.nullable(z.string()),
  comment: z.nullable(z.string()),
  /** Uid of the person, and the id of the agent that answered for them. */
  answered_by: z.nullable(z.string()),
  answered_by_agent: z.nullable(z.string()),
  created_at: timestamp,
  expires_at: timestamp,
  settled_at: z.nullable(timestamp),
  /** The answer that applies on expiry. */
  default: z.nullable(z.string()),
  /** The call that runs once approved, with the limits of the credential that made it. */
  call: z.nullable(
    z.object({
      tool: z.string(),
      arguments: jsonText,
      toolsets: z.nullable(z.array(z.string())),
      held_to: z.nullable(z.string()),
      readonly: z.boolean(),
      grant: z.nullable(z.string()),
      lineage: z.exactOptional(lineage),
    }),
  ),
  /** The call loosens a limit: no agent can answer for the person. */
  in_person: z.exactOptional(z.literal(true)),
  /** The limits that the call would loosen, as shown to the person. The approval covers nothing else. */
  would: z.exactOptional(z.array(z.string())),
  /** The question was also shown in the asker's client and not answered there. */
  put_off: z.boolean(),
  /** Digest of caller and call: repeating the call finds the same request. */
  call_key: z.nullable(z.string()),
  /** Time at which the next instance may run the approved call. Absent if there is nothing to run. */
  due_at: z.exactOptional(timestamp),
  /** Number of times that an instance was assigned the call. */
  execution_epoch: z.int(),
  /** Reason for a withdrawal by the server: the credential that made the call was revoked. */
  withdrawn_because: z.exactOptional(z.literal('REVOKED')),
  /** The call's answer or error. */
  outcome: z.nullable(jsonText),
});

export const { toDocument: requestToDocument, fromDocument: requestFromDocument } = documentCodec(requestDocument);
