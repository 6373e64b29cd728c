/** Asks people questions, and withdraws the questions. Source: docs/guides/inbox.md. */
import { foldedEmail } from '../../../access/rules/invitations.ts';
import { type Principal, personsRoleIn } from '../../../identity/rules/principal.ts';
import type { RecordResponse } from '../../../kernel/commit.ts';
import { retryOnConflict } from '../../../kernel/concurrency.ts';
import { MusterError } from '../../../kernel/errors.ts';
import { DAY_MS, Service } from '../../../kernel/ports.ts';
import { isHeld, type ResultQuestion, taskNotFound, waitForAnswer } from '../../coordination/index.ts';
import { QUESTION, type TaskEvent } from '../../todo/index.ts';
import { findOwn, settlement } from './answering.ts';
import type { InboxChange, InboxPorts } from './ports.ts';
import { matchAnswer, NEW_REQUEST, type Request, type RequestKind, withdrawnRequest } from './request.ts';

export interface Question {
  readonly workspace: string;
  readonly question: string;
  readonly kind: RequestKind;
  readonly options: readonly string[];
  readonly taskId?: string | undefined;
  readonly expires?: Date | undefined;
  readonly defaultAnswer?: string | undefined;
  /** Uid or email address of the person to ask. Default: the caller's owner. */
  readonly to?: string | undefined;
}

const DEFAULT_EXPIRY_MS = DAY_MS;
const MAX_EXPIRY_DAYS = 30;

/** Maximum number of open questions per asker, because each question sends an email. */
const MAX_OPEN_REQUESTS = 50;

export class Asking extends Service<InboxPorts> {
  /**
   * @throws MusterError NOT_FOUND if the person has no account or no role in the workspace; CONFLICT if the caller
   * does not hold the task; VALIDATION_ERROR; QUOTA_EXCEEDED
   */
  async ask(principal: Principal, asked: Question, recordResponse: RecordResponse<Request>): Promise<Request> {
    const { clock, randomness, requests, store, idTokens } = this.ports;
    const { workspace, kind, question, options, taskId } = asked;
    requireOptions(kind, options);
    const defaultAnswer = asked.defaultAnswer && matchAnswer({ kind, options }, 'default', asked.defaultAnswer);
    const askedOf = await this.personNamed(principal, asked);
    const [profiles, open] = await Promise.all([idTokens.profiles([askedOf]), requests.countOpen(principal.uid)]);
    if (open >= MAX_OPEN_REQUESTS)
      throw new MusterError('QUOTA_EXCEEDED', `You have ${MAX_OPEN_REQUESTS} open questions, the maximum.`, {
        reason: 'TOO_MANY_OPEN',
        suggestion: 'Wait for answers, or withdraw some of your questions. inbox.list with box "sent" lists them.',
      });
    return retryOnConflict(randomness, async () => {
      const now = clock.now();
      const request: Request = {
        ...NEW_REQUEST,
        id: `request-${randomness.letters(20)}`,
        workspace,
        kind,
        question,
        options,
        ...(taskId !== undefined && { task_id: taskId }),
        asked_by: principal.uid,
        ...(principal.agent_id !== undefined && { asked_by_agent: principal.agent_id }),
        owner_uid: principal.owner_uid,
        asked_of: askedOf,
        asked_of_name: profiles.get(askedOf)?.name ?? askedOf,
        created_at: now,
        expires_at: expiryOf(asked.expires, now),
        ...(defaultAnswer !== undefined && { default: defaultAnswer }),
      };
      const waiting = taskId === undefined ? [] : await this.taskWaits(principal, request, taskId);
      await store.commit([...creationChangeOf(request), ...waiting], recordResponse(request));
      return request;
    });
  }

  /** Withdraws a question of the caller or of its agents. @throws MusterError NOT_FOUND; FORBIDDEN; CONFLICT */
  withdraw(principal: Principal, id: string, recordResponse: RecordResponse<Request>): Promise<Request> {
    const { clock, randomness, store } = this.ports;
    return retryOnConflict(randomness, async () => {
      const found = await findOwn(this.ports, principal, id);
      if (principal.uid !== found.value.asked_by && principal.uid !== found.value.owner_uid)
        throw new MusterError('FORBIDDEN', `Only the requester of "${id}", or their owner, can withdraw it.`, {
          field: 'request_id',
          suggestion: 'To answer it, use inbox.answer.',
        });
      const now = clock.now();
      const request = withdrawnRequest(found.value, now);
      const changes = request === found.value ? [] : await settlement(this.ports, found, request, now);
      await store.commit(changes, recordResponse(request));
      return request;
    });
  }

  private async personNamed({ owner_uid }: Principal, { workspace, to }: Question): Promise<string> {
    if (to === undefined || to === owner_uid) return owner_uid;
    const { idTokens, roles } = this.ports;
    const uid = to.includes('@') ? await idTokens.uidOf(foldedEmail(to)) : to;
    if (uid === owner_uid) return owner_uid;
    if (uid === undefined || personsRoleIn(await roles.of(uid), workspace) === undefined)
      throw new MusterError('NOT_FOUND', `"${to}" is not a person in the workspace "${workspace}".`, {
        field: 'to',
        value: to,
        suggestion: 'access.list_members lists the members of the workspace. Omit "to" to ask your owner.',
      });
    return uid;
  }

  /** Returns the change that makes the held task wait. The task keeps its lease until the question is closed. */
  private async taskWaits(principal: Principal, request: Request, taskId: string): Promise<InboxChange[]> {
    const { tasks, liveness } = this.ports;
    const { workspace, id: requestId, asked_of_name: who, expires_at: until } = request;
    const found = await tasks.find(taskId);
    if (found === undefined || found.value.workspace !== workspace) throw taskNotFound(taskId);
    const { claim, status, waiting_for } = found.value;
    const holder = isHeld(status) ? claim?.claimed_by : undefined;
    const isOfHolder =
      holder !== undefined &&
      (holder === principal.agent_id || (await liveness.requireActable(principal, workspace, holder)) !== undefined);
    if (!isOfHolder)
      throw new MusterError('CONFLICT', `You do not hold the task "${taskId}".`, {
        field: 'task_id',
        reason: 'NOT_HOLDER',
        suggestion: 'Use a task that you have claimed, or omit task_id.',
      });
    if (waiting_for !== undefined)
      throw new MusterError('CONFLICT', `The task "${taskId}" is already waiting for an answer.`, {
        field: 'task_id',
        reason: 'WAITS_ALREADY',
        about: { request_id: waiting_for.request_id },
        suggestion: 'Wait for the answer with inbox.wait, or withdraw the question with inbox.withdraw.',
      });
    const task = waitForAnswer(found.value, { request_id: requestId, who, until });
    return [{ kind: 'replaceTask', task, before: found.value, version: found.version }];
  }
}

/** Returns the request for a question about the result of a task. It is asked in the name of the person asked. */
export function resultRequest({ asked_of, proves, ...question }: ResultQuestion): Request {
  return {
    ...NEW_REQUEST,
    ...question,
    kind: 'choice',
    task_id: proves.task_id,
    asked_by: asked_of,
    owner_uid: asked_of,
    asked_of,
    proves: { ...proves, not_by: [...proves.not_by] },
  };
}

/** Returns the changes that create a request and send the person a notification. */
export function creationChangeOf(request: Request): InboxChange[] {
  return [
    { kind: 'createRequest', request },
    { kind: 'recordEvent', event: questionNotification(request) },
  ];
}

function requireOptions(kind: RequestKind, options: readonly string[]): void {
  const isGood = kind === 'choice' ? options.length >= 2 : options.length === 0;
  if (isGood && new Set(options).size === options.length) return;
  throw new MusterError('VALIDATION_ERROR', 'Set options only with kind choice, to at least 2 different texts.', {
    field: 'options',
    suggestion: 'Set kind to choice, or omit options.',
  });
}

function expiryOf(expires: Date | undefined, now: Date): Date {
  if (expires === undefined) return new Date(now.getTime() + DEFAULT_EXPIRY_MS);
  const milliseconds = expires.getTime() - now.getTime();
  if (milliseconds > 0 && milliseconds <= MAX_EXPIRY_DAYS * DAY_MS) return expires;
  throw new MusterError(
    'VALIDATION_ERROR',
    `expires must be within ${MAX_EXPIRY_DAYS} days from now, but is ${expires.toISOString()}.`,
    { field: 'expires', suggestion: `It is ${now.toISOString()} now. For the default of one day, omit expires.` },
  );
}

/** The id is derived from that of the request, so that a repeated delivery does not notify the person twice. */
export function questionNotification(request: Request): TaskEvent {
  const { id, workspace, kind, question, options, asked_by, asked_of, task_id, created_at, expires_at } = request;
  return {
    id: `question-${id}`,
    type: QUESTION,
    taskId: id,
    userId: asked_of,
    timestamp: created_at,
    before: null,
    after: {
      request_id: id,
      workspace,
      kind,
      question,
      options: [...options],
      asked_by,
      ...(task_id !== undefined && { task_id }),
      expires_at: expires_at.toISOString(),
    },
    changes: [],
  };
}
