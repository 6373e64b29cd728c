/** Lists requests, waits for answers, and records answers. Source: docs/guides/inbox.md. */
import { ownRole, type Principal, personsRoleIn } from '../../../identity/rules/principal.ts';
import { type CallRecord, type RecordResponse, StaleWriteError, type Versioned } from '../../../kernel/commit.ts';
import { cancellableAbort, cancellableDelay, type LongPoll, retryOnConflict } from '../../../kernel/concurrency.ts';
import { MusterError, notFound } from '../../../kernel/errors.ts';
import type { ListPage, PageRequest } from '../../../kernel/paging.ts';
import { readFor, Service, skipUnreadable } from '../../../kernel/ports.ts';
import { type SweepContext, type SweepJob, type SweepReport, sweepPages } from '../../../kernel/sweep.ts';
import { APPROVE_RESULT, endWaitForAnswer, GIVE_UP, type Ruling } from '../../coordination/index.ts';
import type { InboxChange, InboxPorts } from './ports.ts';
import {
  type Answerer,
  answeredRequest,
  expiredRequest,
  isApproved,
  isAskedAtClient,
  isChangeable,
  isDue,
  isShownAtClient,
  type Request,
  type RequestState,
} from './request.ts';

const BATCH = 100;

export interface Answering {
  readonly answer: string;
  readonly comment?: string | undefined;
}

export class Answers extends Service<InboxPorts> {
  /** Expires requests that were not answered in time. */
  readonly sweepJob: SweepJob = { name: 'requests', run: (turn) => this.sweep(turn) };

  /** Lists requests, newest first. `sent`: an agent's own requests, or those of a person and the person's agents. */
  async list(
    { uid, kind, owner_uid, held_to }: Principal,
    box: 'received' | 'sent',
    states: readonly RequestState[],
    page: PageRequest,
  ): Promise<ListPage<Request>> {
    const whose =
      box === 'received'
        ? ({ by: 'asked_of', uid: owner_uid } as const)
        : ({ by: kind === 'agent' ? 'asked_by' : 'owner_uid', uid } as const);
    const { items, more } = await this.ports.requests.list({ ...whose, workspace: held_to, states }, page);
    const now = this.ports.clock.now();
    return { items: items.map((request) => (isDue(request, now) ? expiredRequest(request, now) : request)), more };
  }

  /** Returns the request when it is settled, or when the time is over. @throws MusterError NOT_FOUND */
  async wait(
    principal: Principal,
    id: string,
    milliseconds: number,
    { disconnectSignal, trackWait }: LongPoll,
  ): Promise<Request> {
    const now = await this.current(principal, id);
    if (isSettled(now) || milliseconds === 0) return this.delivered(principal, now);
    await trackWait(this.settled(now, milliseconds, disconnectSignal()));
    return this.delivered(principal, await this.current(principal, id));
  }

  /** Returns the request. If its asker thereby receives an answer, the person can no longer change the answer. */
  private async delivered(principal: Principal, request: Request): Promise<Request> {
    const { clock, randomness, store } = this.ports;
    if (principal.uid !== request.asked_by || !isChangeable(request, clock.now())) return request;
    return retryOnConflict(randomness, async () => {
      const { value: before, version } = await findOwn(this.ports, principal, request.id);
      const now = clock.now();
      if (!isChangeable(before, now)) return before;
      const received = { ...before, delivered_at: now };
      await store.commit([{ kind: 'replaceRequest', request: received, before, version }]);
      return received;
    });
  }

  /**
   * Answers a request for the person who was asked. An agent can answer if that person allows it. Only the person can
   * change the answer to a question, for a minute.
   * @throws MusterError NOT_FOUND; FORBIDDEN; VALIDATION_ERROR for an invalid answer; CONFLICT if already closed
   */
  answer(
    principal: Principal,
    id: string,
    given: Answering,
    recordResponse: RecordResponse<Request>,
  ): Promise<Request> {
    const { clock, randomness, store } = this.ports;
    return retryOnConflict(randomness, async () => {
      const found = await findOwn(this.ports, principal, id);
      const by = await this.answererOf(principal, found.value);
      const now = clock.now();
      const request = answeredRequest(found.value, given, by, now);
      const changes = request === found.value ? [] : await settlement(this.ports, found, request, now);
      await store.commit(changes, recordResponse(request));
      return request;
    });
  }

  /** Returns the request; undefined if it is closed, missing or hidden from the caller. */
  async findOpen(principal: Principal, id: string): Promise<Request | undefined> {
    try {
      const { value } = await findOwn(this.ports, principal, id);
      return value.state === 'open' && !isDue(value, this.ports.clock.now()) ? value : undefined;
    } catch (error) {
      if (error instanceof MusterError && error.code === 'NOT_FOUND') return undefined;
      throw error;
    }
  }

  /**
   * Records that a client has shown the request, and what the person entered there. If the question was answered
   * elsewhere in the meantime, that answer counts. After an invalid answer, or if only a page was opened, the request
   * stays open and can be answered elsewhere.
   * @param answer undefined if the person did not answer in the client
   * @param record names, for the audit log, the call that delivered the answer
   */
  async shownAtClient(principal: Principal, id: string, answer: string | undefined, record: CallRecord): Promise<void> {
    const { clock, randomness, store } = this.ports;
    await retryOnConflict(randomness, async () => {
      const found = await findOwn(this.ports, principal, id);
      const now = clock.now();
      if (!isShownAtClient(found.value, principal) || isDue(found.value, now)) return;
      if (answer === undefined || !isAskedAtClient(found.value, principal)) {
        const { value: before, version } = found;
        await store.commit([{ kind: 'replaceRequest', request: { ...before, put_off: true }, before, version }]);
        return;
      }
      const by = { uid: found.value.asked_of, agentId: principal.agent_id };
      const request = answeredRequest(found.value, { answer }, by, now);
      await store.commit(await settlement(this.ports, found, request, now), record);
    });
  }

  private async answererOf(principal: Principal, request: Request): Promise<Answerer> {
    const { uid, kind, agent_id, owner_uid, owner } = principal;
    if (owner_uid !== request.asked_of || personsRoleIn(owner, request.workspace) === undefined)
      throw new MusterError('FORBIDDEN', `Only ${request.asked_of_name} can answer the request "${request.id}".`, {
        field: 'request_id',
        reason: 'NOT_ASKED',
        suggestion: 'If this is your own request, withdraw it with inbox.withdraw.',
      });
    if (kind === 'person') return { uid };
    // Without this check, an agent could register a second agent, let it make a request, and approve the request.
    const isFromIt = request.call?.lineage?.some((link) => link.agent_id === agent_id) === true;
    const isAuthor = [uid, agent_id].some((one) => one !== undefined && request.proves?.not_by.includes(one));
    const isAllowed =
      !request.in_person &&
      uid !== request.asked_by &&
      !isFromIt &&
      !isAuthor &&
      agent_id !== undefined &&
      (await this.ports.agentsMayAnswer(owner_uid)).includes(agent_id);
    if (!isAllowed)
      throw new MusterError(
        'FORBIDDEN',
        `${request.asked_of_name} must answer the request "${request.id}" in person.`,
        {
          field: 'request_id',
          reason: 'NOT_A_PERSON',
          suggestion: 'agents_may_answer in preferences/{uid} lists agents that may answer requests of other agents.',
        },
      );
    return { uid: owner_uid, agentId: agent_id };
  }

  /** Returns the request. If its time is over, marks the request as expired first. */
  private current(principal: Principal, id: string): Promise<Request> {
    return retryOnConflict(this.ports.randomness, async () => this.expire(await findOwn(this.ports, principal, id)));
  }

  private async expire(found: Versioned<Request>): Promise<Request> {
    const now = this.ports.clock.now();
    if (!isDue(found.value, now)) return found.value;
    const request = expiredRequest(found.value, now);
    await this.ports.store.commit(await settlement(this.ports, found, request, now));
    return request;
  }

  /** Resolves when the request is settled or due, when the time is over, or when the caller disconnects. */
  private async settled({ id, expires_at }: Request, milliseconds: number, disconnected: AbortSignal): Promise<void> {
    const { requests, clock, log } = this.ports;
    const left = Math.max(0, expires_at.getTime() - clock.now().getTime());
    const end = new AbortController();
    const late = cancellableDelay(Math.min(milliseconds, left));
    const away = cancellableAbort(disconnected);
    const watched = (async () => {
      for await (const request of requests.watch(id, end.signal)) if (isSettled(request)) return;
    })().catch((error: unknown) => log.warn('request_watch_broke', { requestId: id, error }));
    await Promise.race([watched, late.promise, away.promise]);
    late.dispose();
    away.dispose();
    end.abort();
  }

  private async sweep(turn: SweepContext): Promise<SweepReport> {
    const counts = { expired: 0 };
    const { requests, log } = this.ports;
    const due = (after: SweepContext['from']) => requests.due(turn.now, BATCH, after);
    const end = await sweepPages(turn, due, async (found) => {
      try {
        await this.expire(found);
        counts.expired++;
      } catch (error) {
        // The request is being answered, or its task is changing. The next sweep retries.
        if (error instanceof StaleWriteError) return;
        log.error('request_not_expired', { requestId: found.value.id, error });
      }
    });
    return { ...end, counts };
  }
}

/** Returns whether the request can no longer change. */
export function isSettled(request: Request): boolean {
  return request.state !== 'open' && !isApproved(request);
}

/** Returns a request that the caller or its owner made or received. @throws MusterError NOT_FOUND, also for others */
export async function findOwn(
  { requests }: Pick<InboxPorts, 'requests'>,
  principal: Principal,
  id: string,
): Promise<Versioned<Request>> {
  const { owner_uid, held_to } = principal;
  const found = await readFor(owner_uid, requests.find(id));
  const { value } = found ?? {};
  const concerns = value !== undefined && [value.owner_uid, value.asked_of].includes(owner_uid);
  const isHere = held_to === undefined || held_to === value?.workspace;
  if (found === undefined || !concerns || !isHere || ownRole(principal) === undefined)
    throw notFound('Request', { request_id: id }, 'inbox.list lists requests to you and from you.');
  return found;
}

/** Replaces the request that `find` returns. Commits nothing, and returns undefined, if `change` returns undefined. */
export function changeRequest(
  { store, randomness }: Pick<InboxPorts, 'store' | 'randomness'>,
  find: () => Promise<Versioned<Request> | undefined>,
  change: (request: Request) => Request | undefined,
): Promise<Request | undefined> {
  return retryOnConflict(randomness, async () => {
    const found = await find();
    const request = found && change(found.value);
    if (found === undefined || request === undefined) return undefined;
    await store.commit([{ kind: 'replaceRequest', request, before: found.value, version: found.version }]);
    return request;
  });
}

/** Returns the changes that settle a request: that of the request, and that of the task that waits for the answer. */
export async function settlement(
  { tasks, proofs, roles }: Pick<InboxPorts, 'tasks' | 'proofs' | 'roles'>,
  before: Versioned<Request>,
  request: Request,
  now: Date,
): Promise<InboxChange[]> {
  const changes: InboxChange[] = [{ kind: 'replaceRequest', request, before: before.value, version: before.version }];
  if (request.proves !== undefined) {
    const isMember = personsRoleIn(await roles.of(request.asked_of), request.workspace) !== undefined;
    const judged = await proofs.judged({ id: request.id, ...request.proves }, rulingOf(request, isMember), now);
    return [...changes, ...judged.changes];
  }
  if (request.task_id === undefined) return changes;
  const found = await skipUnreadable(tasks.find(request.task_id));
  const task = found && endWaitForAnswer(found.value, request.id, now);
  if (found === undefined || task === undefined) return changes;
  return [...changes, { kind: 'replaceTask', task, before: found.value, version: found.version }];
}

/** Returns what the end of a question says about the result. @throws MusterError REQUIRED_FIELD without a correction */
function rulingOf(
  { state, answer, comment, answered_by, asked_of, asked_of_name }: Request,
  isMember: boolean,
): Ruling {
  const by = answered_by ?? asked_of;
  if (state === 'expired') return { says: 'nothing', why: 'No one has confirmed it in 7 days.' };
  if (state === 'withdrawn') return isMember ? { says: 'give_up', by: asked_of_name } : { says: 'ask_another' };
  if (answer === APPROVE_RESULT) return { says: 'approve', by };
  if (answer === GIVE_UP) return { says: 'give_up', by: asked_of_name };
  if (comment === undefined)
    throw new MusterError('REQUIRED_FIELD', 'A request for changes needs a comment.', {
      field: 'comment',
      reason: 'COMMENT_NEEDED',
      suggestion: 'Set comment to the requested changes.',
    });
  return { says: 'request_changes', by, comments: comment, step: 'person', isPersons: true };
}
