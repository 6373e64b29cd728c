/** Invariants of an inbox request after any sequence of actions by people and agents. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { MusterError } from '../../../functions/src/kernel/errors.ts';
import {
  answeredRequest,
  EXECUTION_LEASE_MS,
  expiredRequest,
  isChangeable,
  isDue,
  markDone,
  markStarted,
  optionsOf,
  type Request,
  withdrawnRequest,
} from '../../../functions/src/toolsets/inbox/rules/request.ts';
import { sampleRequest } from '../../support/builders.ts';
import { forAll } from '../../support/properties.ts';

const START = new Date('2026-11-22T09:00:00Z').getTime();

const steps = fc.array(
  fc.record({
    minutes: fc.oneof(fc.nat(90), fc.constantFrom(0, 0.5)),
    step: fc.oneof(
      fc.record({
        kind: fc.constant('answer' as const),
        answer: fc.constantFrom('approve', 'refuse', 'red', 'blue', 'anything'),
        by: fc.constantFrom('ada', 'ben'),
      }),
      fc.record({ kind: fc.constantFrom('expire' as const, 'withdraw' as const) }),
    ),
  }),
  { maxLength: 12 },
);

const requests = fc
  .record({
    kind: fc.constantFrom('approval' as const, 'choice' as const, 'text' as const),
    defaultAnswer: fc.option(fc.constant('refuse'), { nil: undefined }),
  })
  .map(({ kind, defaultAnswer }) =>
    sampleRequest({
      kind,
      options: kind === 'choice' ? ['red', 'blue', 'refuse'] : [],
      created_at: new Date(START),
      expires_at: new Date(START + 3_600_000),
      ...(defaultAnswer !== undefined && { default: defaultAnswer }),
    }),
  );

const CALL = { tool: 'coding.create_task', arguments: {}, readonly: false };

/** Each step takes over the approved call, or stores its outcome under the current or an earlier epoch. */
const turns = fc.array(
  fc.record({
    seconds: fc.nat(90),
    turn: fc.oneof({ arbitrary: fc.constant('take' as const), weight: 2 }, fc.integer({ min: 1, max: 6 })),
  }),
  { maxLength: 30 },
);

type Step =
  | { readonly kind: 'answer'; readonly answer: string; readonly by: string }
  | { readonly kind: 'expire' | 'withdraw' };

function taken(request: Request, step: Step, now: Date): Request {
  try {
    if (step.kind === 'answer') return answeredRequest(request, step, { uid: step.by }, now);
    return step.kind === 'expire' ? expiredRequest(request, now) : withdrawnRequest(request, now);
  } catch (error) {
    assert.ok(error instanceof MusterError);
    assert.match(error.code, /^(CONFLICT|VALIDATION_ERROR)$/);
    return request;
  }
}

/** Asserts the invariants that every step preserves. */
function holds(before: Request, after: Request, now: Date): void {
  const { answer: _, changed_at: __, ...kept } = after;
  const { answer: ___, changed_at: ____, ...same } = before;
  if (isChangeable(before, now)) assert.deepEqual(kept, same, 'only the answer changes');
  else if (before.state !== 'open') assert.deepEqual(after, before, 'a closed request stays unchanged');
  if (after.state === 'answered')
    assert.ok(Number(after.settled_at) < after.expires_at.getTime(), 'never after its expiry');
  const { answer } = after;
  assert.equal(answer, ANSWERS[after.state](after));
  if (answer !== undefined) assert.ok(optionsOf(after)?.includes(answer) ?? true);
  assert.equal(isDue(after, new Date(START)), false);
}

/** Expected answer to a request in each state. */
const ANSWERS: Readonly<Record<Request['state'], (request: Request) => string | undefined>> = {
  open: () => undefined,
  withdrawn: () => undefined,
  expired: ({ default: defaultAnswer }) => defaultAnswer,
  answered: ({ answer }) => answer,
};

/** Takes over the approved call, unless another instance runs it or the call has already run. */
function tookOn(request: Request, now: number, isHeld: boolean): Request | undefined {
  const next = markStarted(request, new Date(now));
  assert.equal(next === undefined, isHeld || request.due_at === undefined);
  assert.equal(next?.execution_epoch ?? request.execution_epoch + 1, request.execution_epoch + 1);
  return next;
}

/** Stores the call's outcome for an epoch. Only the instance that took over last succeeds, and only once. */
function brought(request: Request, epoch: number): Request | undefined {
  const outcome = { answer: { by: epoch } };
  const next = markDone(request, outcome, epoch);
  assert.equal(next !== undefined, request.due_at !== undefined && epoch === request.execution_epoch);
  if (next !== undefined) assert.deepEqual([next.outcome, next.due_at], [outcome, undefined]);
  return next;
}

const REFUSED = { answer: 'refuse', uid: 'ada' };

/** Asserts that an answer is rejected for this reason, with the stored answer, and returns the message. */
function rejectsAnswer(
  request: Request,
  { answer, ...by }: { readonly answer: string; readonly uid: string; readonly agentId?: string },
  now: Date,
  reason: string,
): string {
  try {
    answeredRequest(request, { answer }, by, now);
  } catch (error) {
    assert.ok(error instanceof MusterError);
    assert.deepEqual([error.details.reason, error.details.about], [reason, { answer: request.answer }]);
    return error.message;
  }
  return assert.fail('The answer was accepted.');
}

describe('inbox request', () => {
  it('closes once, then keeps its state, and has an answer only in a state that has one', () =>
    forAll(requests, steps, (first, plan) => {
      let request: Request = first;
      let now = START;
      for (const { minutes, step } of plan) {
        now += minutes * 60_000;
        const after = taken(request, step, new Date(now));
        holds(request, after, new Date(now));
        request = after;
      }
    }));

  it('is executed by one instance at a time, and keeps the outcome of the last instance', () => {
    const approved = answeredRequest(
      sampleRequest({ kind: 'approval', call: CALL }),
      { answer: 'approve' },
      { uid: 'ada' },
      new Date(START),
    );
    forAll(turns, (plan) => {
      let request = approved;
      let now = START;
      const heldUntil: number[] = [];
      for (const { seconds, turn } of plan) {
        now += seconds * 1000;
        const isHeld = heldUntil.some((until) => until > now);
        const next = turn === 'take' ? tookOn(request, now, isHeld) : brought(request, turn);
        if (turn === 'take' && next !== undefined) heldUntil.push(now + EXECUTION_LEASE_MS);
        request = next ?? request;
        assert.deepEqual([request.state, request.answer], ['answered', 'approve']);
      }
    });
  });

  it('has no call to execute if it is refused, withdrawn, expired or open', () => {
    const open = sampleRequest({ kind: 'approval', call: CALL, default: 'approve' });
    const now = open.created_at;
    for (const request of [
      open,
      answeredRequest(open, { answer: 'refuse' }, { uid: 'ada' }, now),
      withdrawnRequest(open, now),
      expiredRequest(open, open.expires_at),
    ])
      assert.equal(markStarted(request, open.expires_at), undefined, request.state);
  });

  it('accepts a repeated answer, and rejects the same answer of another person', () => {
    const open = sampleRequest({ kind: 'choice', options: ['red', 'blue'] });
    const now = open.created_at;
    const first = answeredRequest(open, { answer: 'red', comment: 'warm' }, { uid: 'ada' }, now);
    assert.equal(answeredRequest(first, { answer: 'red' }, { uid: 'ada' }, now), first);
    rejectsAnswer(first, { answer: 'red', uid: 'ben' }, now, 'ALREADY_ANSWERED');
  });

  it('lets the person change the answer for a minute after the first answer, but not an agent', () => {
    const open = sampleRequest({ kind: 'choice', options: ['red', 'blue', 'green'] });
    const later = (seconds: number) => new Date(open.created_at.getTime() + seconds * 1000);
    const first = answeredRequest(open, { answer: 'red', comment: 'warm' }, { uid: 'ada' }, later(0));
    const second = answeredRequest(first, { answer: 'blue' }, { uid: 'ada' }, later(30));
    const { comment: _, ...kept } = first;
    assert.deepEqual(second, { ...kept, answer: 'blue', changed_at: later(30) });
    const third = answeredRequest(second, { answer: 'green' }, { uid: 'ada' }, later(59));
    assert.deepEqual([third.answer, third.settled_at], ['green', later(0)]);
    const late = rejectsAnswer(third, { answer: 'red', uid: 'ada' }, later(60), 'ALREADY_ANSWERED');
    assert.match(late, /was answered more than a minute ago/);
    rejectsAnswer(first, { answer: 'blue', uid: 'ada', agentId: 'helper' }, later(1), 'ALREADY_ANSWERED');
  });

  it('keeps an answer that its asker has received, an agent gave, or that approves a call', () => {
    const now = new Date(START);
    const open = sampleRequest({ kind: 'approval' });
    const first = answeredRequest(open, { answer: 'approve' }, { uid: 'ada' }, now);
    const received = rejectsAnswer({ ...first, delivered_at: now }, REFUSED, now, 'ALREADY_RECEIVED');
    assert.match(received, /the asker has received the answer/);
    const byAgent = answeredRequest(open, { answer: 'approve' }, { uid: 'ada', agentId: 'helper' }, now);
    rejectsAnswer(byAgent, REFUSED, now, 'ALREADY_ANSWERED');
    const approval = answeredRequest({ ...open, call: CALL }, { answer: 'approve' }, { uid: 'ada' }, now);
    rejectsAnswer(approval, REFUSED, now, 'ALREADY_ANSWERED');
    const expired = expiredRequest({ ...open, default: 'approve' }, open.expires_at);
    rejectsAnswer(expired, REFUSED, open.expires_at, 'NOT_OPEN');
  });

  it('lists its options in the error for an answer that is not an option', () => {
    const open = sampleRequest({ kind: 'approval' });
    assert.throws(
      () => answeredRequest(open, { answer: 'yes' }, { uid: 'ada' }, open.created_at),
      (error) => error instanceof MusterError && error.details.entries?.join() === 'approve,refuse',
    );
  });
});
