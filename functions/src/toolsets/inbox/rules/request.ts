/**
 * A question to a person: `requests/{id}`. It is open until it is answered, withdrawn, or its time is over. Each
 * transition is pure: it gives a new request or throws what stands in its way. Source: docs/guides/inbox.md.
 */
import { z } from 'zod/mini';
import { lineage } from '../../../identity/rules/credential.ts';
import type { Principal } from '../../../identity/rules/principal.ts';
import { documentCodec, jsonText, timestamp } from '../../../kernel/documentCodec.ts';
import { MusterError } from '../../../kernel/errors.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { optionMeant } from '../../../kernel/words.ts';

/** What is asked for: yes or no, one of some options, or words. */
export const REQUEST_KINDS = ['approval', 'choice', 'text'] as const;

export const REQUEST_STATES = ['open', 'answered', 'expired', 'withdrawn'] as const;

export type RequestKind = (typeof REQUEST_KINDS)[number];

export type RequestState = (typeof REQUEST_STATES)[number];

export type Request = ReturnType<typeof requestFromDocument>;

export const APPROVE = 'approve';

export const REFUSE = 'refuse';

/** The longest answer, in characters. */
export const MAX_ANSWER = 10_000;

/** Who answers: a person, or an agent that the person lets answer. */
export interface Answerer {
  readonly uid: string;
  readonly agentId?: string | undefined;
}

/** What may be answered; undefined where it is words of one's own. */
export function optionsOf({
  kind,
  options,
}: Pick<Request, 'kind' | 'options'>): readonly string[] | undefined {
  if (kind === 'text') return undefined;
  return kind === 'approval' ? [APPROVE, REFUSE] : options;
}

/** Whether its time is over and nobody has noted that yet. */
export function isDue({ state, expires_at }: Request, now: Date): boolean {
  return state === 'open' && expires_at <= now;
}

/**
 * What has been answered already by the same person stays the very same request.
 * @throws MusterError VALIDATION_ERROR for what is none of the options; CONFLICT where it is over
 */
export function answered(
  request: Request,
  { answer: written, comment }: { readonly answer: string; readonly comment?: string | undefined },
  by: Answerer,
  now: Date,
): Request {
  const answer = answerMeant(request, 'answer', written);
  if (request.state === 'answered' && request.answer === answer && request.answered_by === by.uid)
    return request;
  if (request.state !== 'open' || isDue(request, now)) throw isOver(request, now);
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

/** Whoever has asked may have its client ask the person too: of what it wants to know itself, and nobody demands. */
export function isAskedAtClient(
  { state, asked_by, asked_of, call, put_off }: Request,
  { uid, kind, owner_uid, readonly }: Pick<Principal, 'uid' | 'kind' | 'owner_uid' | 'readonly'>,
): boolean {
  const isOwn = kind === 'agent' && asked_by === uid && asked_of === owner_uid;
  return state === 'open' && isOwn && call === undefined && !put_off && readonly !== true;
}

/** Its time is over: the answer that was said beforehand holds, or none. */
export function expired(request: Request, now: Date): Request {
  if (!isDue(request, now)) throw isOver(request, now);
  const { default: answer } = request;
  return { ...request, state: 'expired', ...(answer !== undefined && { answer }), settled_at: now };
}

/** Nobody needs the answer any more. @throws MusterError CONFLICT where it is over */
export function withdrawn(request: Request, now: Date): Request {
  if (request.state === 'withdrawn') return request;
  if (request.state !== 'open' || isDue(request, now)) throw isOver(request, now);
  return { ...request, state: 'withdrawn', settled_at: now };
}

/** The credential that made its call was revoked. Undefined if it is over. */
export function revoked(request: Request, now: Date): Request | undefined {
  if (request.state !== 'open' || isDue(request, now)) return undefined;
  return { ...request, state: 'withdrawn', withdrawn_because: 'REVOKED', settled_at: now };
}

/** The option as it was written, or the words of a text. @throws MusterError VALIDATION_ERROR for what is none of the options */
export function answerMeant(
  request: Pick<Request, 'kind' | 'options'>,
  field: 'answer' | 'default',
  answer: string,
): string {
  const options = optionsOf(request);
  if (options === undefined) return answer;
  const meant = optionMeant(options, answer);
  if (meant !== undefined) return meant;
  throw new MusterError('VALIDATION_ERROR', `"${answer}" is none of the answers that there are.`, {
    field,
    value: answer,
    reason: 'NOT_AN_OPTION',
    suggestion: 'Give one of the entries.',
    entries: options,
  });
}

function isOver(request: Request, now: Date) {
  const { id, state, answer, answered_by, answered_by_agent, settled_at, withdrawn_because } = request;
  const at = (settled_at ?? now).toISOString();
  const by = answered_by_agent === undefined ? `"${answered_by}"` : `the agent "${answered_by_agent}"`;
  const how = {
    open: 'its time is over',
    answered: `${by} answered it at ${at}`,
    expired: `it expired at ${at}`,
    withdrawn:
      withdrawn_because === 'REVOKED'
        ? `the credential that made the call was revoked at ${at}`
        : `it was withdrawn at ${at}`,
  }[state];
  return new MusterError('CONFLICT', `The request "${id}" takes no answer any more: ${how}.`, {
    field: 'request_id',
    reason: state === 'answered' ? 'ALREADY_ANSWERED' : 'NOT_OPEN',
    ...(answer !== undefined && { about: { answer } }),
    suggestion: 'inbox.list shows it as it is.',
  });
}

/** How long an instance has for an approved call before another one takes it on. */
export const EXECUTION_MILLISECONDS = 2 * 60_000;

/** Whether an approved call is yet to be made. */
export function isApproved({ due_at }: Request): boolean {
  return due_at !== undefined;
}

/** Taken on by an instance, which has the call until its time is over. Undefined while another one has it. */
export function takenOn(request: Request, now: Date): Request | undefined {
  const { due_at, execution_epoch: epoch } = request;
  if (due_at === undefined || (epoch > 0 && due_at > now)) return undefined;
  return { ...request, execution_epoch: epoch + 1, due_at: new Date(now.getTime() + EXECUTION_MILLISECONDS) };
}

/** What came of the call. Undefined where another instance has taken it on since. */
export function madeWith(request: Request, outcome: JsonObject, epoch: number): Request | undefined {
  const { due_at, ...rest } = request;
  return due_at === undefined || request.execution_epoch !== epoch ? undefined : { ...rest, outcome };
}

/** The same whether there is none, or one that is somebody else's. */
export function requestNotFound(id: string): MusterError {
  return new MusterError('NOT_FOUND', `There is no request "${id}" of yours.`, {
    field: 'request_id',
    value: id,
    suggestion: 'inbox.list lists what waits for you, and what you have asked.',
  });
}

export interface RequestChanges {
  readonly createRequest: { readonly request: Request };
  readonly replaceRequest: {
    readonly request: Request;
    /** For the trail. */
    readonly before: Request;
    readonly version: string;
  };
}

export const requestDocument = z.object({
  id: z.string(),
  workspace: z.string(),
  kind: z.enum(REQUEST_KINDS),
  question: z.string(),
  /** Of a choice; empty otherwise. */
  options: z.array(z.string()),
  task_id: z.nullable(z.string()),
  /** The uid of who asked, the id of the agent that did, and the uid of its owner or of the person themselves. */
  asked_by: z.string(),
  asked_by_agent: z.nullable(z.string()),
  owner_uid: z.string(),
  /** The uid of the person who is asked, and their name then. */
  asked_of: z.string(),
  asked_of_name: z.string(),
  state: z.enum(REQUEST_STATES),
  answer: z.nullable(z.string()),
  comment: z.nullable(z.string()),
  /** The uid of who answered; where an agent did for its person, the agent's id as well. */
  answered_by: z.nullable(z.string()),
  answered_by_agent: z.nullable(z.string()),
  created_at: timestamp,
  expires_at: timestamp,
  settled_at: z.nullable(timestamp),
  /** The answer that holds when it expires. */
  default: z.nullable(z.string()),
  /** The call that is made once the request is approved, as whom it was made, and what its credential opened. */
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
  /** The call loosens a limit: no agent answers for the person. */
  in_person: z.exactOptional(z.literal(true)),
  /** The limits that the call would loosen, as the person is shown them. The approval covers nothing else. */
  would: z.exactOptional(z.array(z.string())),
  /** The person was asked at the asker's client as well, and has not answered there. */
  put_off: z.boolean(),
  /** A digest of who called what: the same call again is the same request. */
  call_key: z.nullable(z.string()),
  /** While an approved call is to be made: when somebody is to look after it. An instance makes it until then. */
  due_at: z.exactOptional(timestamp),
  /** How often an instance has taken the call on. */
  execution_epoch: z.int(),
  /** Why it was withdrawn, if not by its asker or their owner: the credential that made the call was revoked. */
  withdrawn_because: z.exactOptional(z.literal('REVOKED')),
  /** What came of the call: its answer, or its error. */
  outcome: z.nullable(jsonText),
});

export const { toDocument: requestToDocument, fromDocument: requestFromDocument } =
  documentCodec(requestDocument);
