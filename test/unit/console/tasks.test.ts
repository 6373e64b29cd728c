import assert from 'node:assert/strict';
import { blockedReason, leaseEnd, stateOf } from '../../../console/src/parts/taskState.ts';
import { linesOf } from '../../../console/src/screens/task/lines.ts';
import { NOW, task, VERIFYING } from './samples.ts';

describe('task that the console shows', () => {
  it('has a state that is derived from several fields, not only from its stored status', () => {
    assert.equal(stateOf(task()), 'available');
    assert.equal(stateOf(task({ blockers: 2 })), 'blocked');
    assert.equal(stateOf(task({ blockers: 1, failed_dependencies: ['x'] })), 'never');
    assert.equal(stateOf(task({ blockers: 1, stuck: true, stuck_by: 'x' })), 'never');
    const waiting_for = { request_id: 'r', who: 'Ada', until: NOW };
    assert.equal(stateOf(task({ status: 'in_progress', waiting_for })), 'waiting');
    assert.equal(stateOf(task({ status: 'failed', failed_dependencies: ['x'] })), 'failed');
    assert.equal(stateOf(task({ status: 'waiting' })), 'waiting');
    assert.equal(stateOf(task(VERIFYING)), 'verifying');
    assert.equal(stateOf(task({ ...VERIFYING, waiting_for })), 'verifying');
    assert.equal(stateOf(task({ ...VERIFYING, status: 'done' })), 'done');
  });

  it('is held up if its lease has expired, a check has failed or a budget is exhausted', () => {
    const at = NOW.getTime();
    const expired = { lapsed_claims: [{ agent_id: 'w', claim_epoch: 1 }] };
    const held = { status: 'claimed', claimed_by: 'w', lease_seconds: 600, lease_expires_at: NOW };
    const failed_check = { name: 'test', at: NOW, repository: 'octo/app', pull_request: 7 };
    assert.equal(blockedReason(task(), at), undefined);
    assert.equal(blockedReason(task(expired), at), 'lapsed');
    assert.equal(blockedReason(task({ ...held, ...expired }), at), undefined);
    const released = { lapsed_claims: [...expired.lapsed_claims, { agent_id: 'w', claim_epoch: 2, released: true }] };
    assert.equal(blockedReason(task(released), at), undefined);
    assert.equal(blockedReason(task(held), at + 599_000), undefined, 'the sweep may still find a heartbeat');
    assert.equal(blockedReason(task(held), at + 601_000), 'lapsed');
    const waiting_for = { request_id: 'r', who: 'Ada', until: NOW };
    assert.equal(blockedReason(task({ ...held, waiting_for }), at + 601_000), undefined);
    assert.equal(blockedReason(task({ ...held, failed_check }), at), 'red');
    assert.equal(blockedReason(task({ failed_check, budget_wait: 'task:t' }), at), 'budget');
  });

  it('is held up if its result has had no verdict for 12 hours and no person has been asked', () => {
    const later = NOW.getTime() + 12 * 3_600_000;
    assert.equal(blockedReason(task(VERIFYING), later), undefined);
    assert.equal(blockedReason(task(VERIFYING), later + 1), 'verifying');
    const waiting_for = { request_id: 'r', who: 'Ada', until: NOW };
    assert.equal(blockedReason(task({ ...VERIFYING, waiting_for }), later + 1), undefined);
  });

  it('is held until its lease ends; heartbeats renew the lease, except for runners', () => {
    const claim = { status: 'claimed', claimed_by: 'w', lease_seconds: 600, lease_expires_at: NOW };
    const later = NOW.getTime() + 60_000;
    assert.equal(leaseEnd(task(claim), undefined), NOW.getTime());
    assert.equal(leaseEnd(task(claim), later), later + 600_000);
    assert.equal(leaseEnd(task(claim), 0), NOW.getTime());
    assert.equal(leaseEnd(task({ ...claim, claimed_by_runner: true }), later), NOW.getTime());
    assert.equal(leaseEnd(task(), later), undefined);
  });
});

describe('log lines in the console', () => {
  const at = NOW.toISOString();

  it('are in order even if their chunks arrive in another order', () => {
    const line = (message: string) => JSON.stringify({ at, level: 'info', type: 'x', message });
    const chunk = (first_line: number, parts: Record<string, string>) => ({
      chunk: 0,
      first_line,
      lines: 1,
      bytes: 0,
      claim_epoch: 1,
      sequence: 0,
      parts,
    });
    const lines = linesOf([
      chunk(2, { n000000002: line('third') }),
      chunk(0, { n000000000: `${line('first')}\n${line('second')}` }),
    ]);
    const rows = lines.map(({ number, text }) => [number, text]);
    assert.deepEqual(rows, [
      [0, 'first'],
      [1, 'second'],
      [2, 'third'],
    ]);
  });

  it('have no color codes, fit on one line, name senders, and show unreadable text unchanged', () => {
    const message = '\u001b[31mred\u001b[0m\nand more';
    const said = { type: 'system', exact_type: 'message', prefix: 'ada', message: 'Stop' };
    const heard = JSON.stringify({ at, level: 'info', ...said });
    const parts = {
      n000000000: `${JSON.stringify({ at, level: 'error', prefix: 'tsc', message })}\n${heard}\nnot json`,
    };
    const head = { chunk: 0, first_line: 0, lines: 2, bytes: 0, claim_epoch: 1, sequence: 0 };
    const lines = linesOf([{ ...head, parts }]);
    const rows = lines.map(({ text, level }) => [text, level]);
    assert.deepEqual(rows, [
      ['tsc: red ⏎ and more', 'error'],
      ['Message from ada: Stop', 'info'],
      ['not json', 'info'],
    ]);
  });
});
