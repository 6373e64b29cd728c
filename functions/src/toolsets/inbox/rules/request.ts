/**
 * Request to a person, stored as `requests/{id}`. It is open until it is answered, withdrawn or expired. Transitions
 * are pure functions: they return a new request, or throw an error. Source: docs/guides/inbox.md.
 */
import { z } from 'zod/mini';
import { lineage } from '../../../identity/rules/credential.ts';
import type { Principal } from '../../../identity/rules/principal.ts';
import { documentCodec, jsonText, timestamp } from '../../../kernel/documentCodec.ts';
import { MusterError } from '../../../kernel/errors.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { matchOption } from '../../../kernel/textSearch.ts';

/** Expected answer: approve or refuse, one of several options, or free text. */
export const REQUEST_KINDS = ['approval', 'choice', 'text'] as const;
export const REQUEST_STATES = ['open', 'answered', 'expired', 'withdrawn'] as const;

export type RequestKind = (typeof REQUEST_KINDS)[number];
export type RequestState = (typeof REQUEST_STATES)[number];
export type Request = ReturnType<typeof requestFromDocument>;

/** Fields of each new request, unless it has options. */
export const NEW_REQUEST = { options: [], state: 'open', put_off: false, execution_epoch: 0 } as const;
export const APPROVE = 'approve';
export const REFUSE = 'refuse';

/** Maximum length of an answer, in characters. */
export const MAX_ANSWER = 10_000;

/** Person to whom the answer is attributed, and the agent that gave it for that person, if any. */
export interface Answerer {
  readonly uid: string;
  readonly agentId?: string | undefined;
}

/** Returns the possible answers, or undefined if the answer is free text. */
export function optionsOf({ kind, options }: Pick<Request, 'kind' | 'options'>): readonly string[] | undefined {
  if (kind === 'text') return undefined;
  return kind === 'approval' ? [APPROVE, REFUSE] : options;
}

/** Returns whether the request's time is over, but the request is not yet marked as expired. */
export function isDue({ state, expires_at }: Request, now: Date): boolean {
  return state === 'open' && expires_at <= now;
}

/** Time in which a person can change their answer to a question, in milliseconds. */
export const CHANGEABLE_MS = 60_000;

/**
 * Answers a request, or changes the person's own answer. If the same person repeats the same answer, the request is
 * returned unchanged.
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
  if (isOwnAnswer(request) && request.answered_by === by.uid && by.agentId === undefined)
    return changedAnswer(request, { answer, comment }, now);
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

/** Returns whether a person answered a question in person. Approvals, and answers about results, take effect at once. */
function isOwnAnswer({ state, answered_by_agent, call, proves }: Request): boolean {
  return state === 'answered' && answered_by_agent === undefined && call === undefined && proves === undefined;
}

/** Returns whether the answer can still be changed by the person who gave it. */
export function isChangeable(request: Request, now: Date): boolean {
  const { settled_at, delivered_at } = request;
  if (!isOwnAnswer(request) || settled_at === undefined || delivered_at !== undefined) return false;
  return now.getTime() - settled_at.getTime() < CHANGEABLE_MS;
}

function changedAnswer(
  { comment: _, ...request }: Request,
  { answer, comment }: { readonly answer: string; readonly comment: string | undefined },
  now: Date,
): Request {
  const { id, answer: given, delivered_at } = request;
  if (isChangeable(request, now))
    return { ...request, answer, ...(comment !== undefined && { comment }), changed_at: now };
  const why =
    delivered_at === undefined
      ? 'was answered more than a minute ago'
      : 'was answered, and the asker has received the answer';
  throw new MusterError('CONFLICT', `The answer cannot be changed: the request "${id}" ${why}.`, {
    field: 'request_id',
    reason: delivered_at === undefined ? 'ALREADY_ANSWERED' : 'ALREADY_RECEIVED',
    ...(given !== undefined && { about: { answer: given } }),
    suggestion: 'Tell the asker with coordination.message_agent.',
  });
}

type Viewer = Pick<Principal, 'uid' | 'kind' | 'owner_uid' | 'readonly'>;

/** Returns whether the caller's client may show the request: the person who was asked is the caller or its owner. */
export function isShownAtClient({ state, asked_of, put_off }: Request, { owner_uid, readonly }: Viewer): boolean {
  return state === 'open' && asked_of === owner_uid && !put_off && readonly !== true;
}

/** Returns whether the person may also answer in the client. They may if an agent asks its own owner. */
export function isAskedAtClient(request: Request, viewer: Viewer): boolean {
  const { asked_by, call } = request;
  const isOwn = viewer.kind === 'agent' && asked_by === viewer.uid;
  return isOwn && call === undefined && isShownAtClient(request, viewer);
}

/** Marks the request as expired. Its default answer, if any, becomes the answer. */
export function expiredRequest(request: Request, now: Date): Request {
  if (!isDue(request, now)) throw isExpired(request, now);
  const { default: answer } = request;
  return { ...request, state: 'expired', ...(answer !== undefined && { answer }), settled_at: now };
}

/** Marks the request as withdrawn, because no answer is needed. @throws MusterError CONFLICT if it is closed */
export function withdrawnRequest(request: Request, now: Date): Request {
  if (request.state === 'withdrawn') return request;
  if (request.state !== 'open' || isDue(request, now)) throw isExpired(request, now);
  return { ...request, state: 'withdrawn', settled_at: now };
}

/** Withdraws the request because the credential of its call was revoked. Returns undefined if it is closed. */
export function revokedRequest(request: Request, now: Date): Request | undefined {
  if (request.state !== 'open' || isDue(request, now)) return undefined;
  return { ...request, state: 'withdrawn', withdrawn_because: 'REVOKED', settled_at: now };
}

/** Returns the option that the answer matches, or the free text. @throws MusterError VALIDATION_ERROR for no match */
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
    suggestion: 'Use one of the options exactly as listed.',
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

/** Time that an instance has to run an approved call. After this time, another instance may run the call. */
export const EXECUTION_LEASE_MS = 2 * 60_000;

/** Returns whether the request is an approved call that has not run yet. */
export function isApproved({ due_at }: Request): boolean {
  return due_at !== undefined;
}

/** Assigns the call to an instance for a limited time. Returns undefined while another instance has the call. */
export function markStarted(request: Request, now: Date): Request | undefined {
  const { due_at, execution_epoch: epoch } = request;
  if (due_at === undefined || (epoch > 0 && due_at > now)) return undefined;
  return { ...request, execution_epoch: epoch + 1, due_at: new Date(now.getTime() + EXECUTION_LEASE_MS) };
}

/** Stores the outcome of the call. Returns undefined if another instance has been assigned the call since. */
export function markDone(request: Request, outcome: JsonObject, epoch: number): Request | undefined {
  const { due_at, ...rest } = request;
  return due_at === undefined || request.execution_epoch !== epoch ? undefined : { ...rest, outcome };
}

export interface RequestChanges {
  readonly createRequest: { readonly request: Request };
  readonly replaceRequest: { readonly request: Request; readonly before: Request; readonly version: string };
}

export const requestDocument = z.object({
  id: z.string(),
  workspace: z.string(),
  kind: z.enum(REQUEST_KINDS),
  question: z.string(),
  /** Possible answers of a choice; empty for other kinds. */
  options: z.array(z.string()),
  task_id: z.nullable(z.string()),
  /** Uid of the asker, id of the asker if it is an agent, and uid of the person on whose behalf it asked. */
  asked_by: z.string(),
  asked_by_agent: z.nullable(z.string()),
  owner_uid: z.string(),
  /** Uid of the person who was asked, and the person's name at that time. */
  asked_of: z.string(),
  asked_of_name: z.string(),
  state: z.enum(REQUEST_STATES),
  answer: z.nullable(z.string()),
  comment: z.nullable(z.string()),
  /** Uid of the person who answered, and id of the agent that answered for that person, if any. */
  answered_by: z.nullable(z.string()),
  answered_by_agent: z.nullable(z.string()),
  created_at: timestamp,
  expires_at: timestamp,
  settled_at: z.nullable(timestamp),
  /** Time at which the person last changed the answer. Omitted if the first answer counts. */
  changed_at: z.exactOptional(timestamp),
  /** Time at which the asker received an answer that could still be changed. It can then no longer be changed. */
  delivered_at: z.exactOptional(timestamp),
  /** Answer that counts if the request expires. */
  default: z.nullable(z.string()),
  /** Call that runs after its approval, and the limits of the credential that made the call. */
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
  /** Set if the call loosens a limit. No agent can then answer for the person. */
  in_person: z.exactOptional(z.literal(true)),
  /** Descriptions of the limits that the call would loosen. The person saw these, and approves only these limits. */
  would: z.exactOptional(z.array(z.string())),
  /** Whether the question was also shown in the asker's client, but not answered there. */
  put_off: z.boolean(),
  /** Digest of the caller and the call. If the call is repeated, the same request is found by this key. */
  call_key: z.nullable(z.string()),
  /** Time from which the next instance may run the approved call. Omitted if there is no call to run. */
  due_at: z.exactOptional(timestamp),
  /** Number of times that the call was assigned to an instance. */
  execution_epoch: z.int(),
  /** Set if the server withdrew the request, because the credential that made the call was revoked. */
  withdrawn_because: z.exactOptional(z.literal('REVOKED')),
  outcome: z.nullable(jsonText),
  /** Set for a question about the result of a task. `not_by`: ids and uids of its authors, who cannot answer. */
  proves: z._default(z.nullable(z.object({ task_id: z.string(), round: z.int(), not_by: z.array(z.string()) })), null),
});

export const { toDocument: requestToDocument, fromDocument: requestFromDocument } = documentCodec(requestDocument);
