import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { Change } from '../../../functions/src/composition/changes.ts';

import type { Task } from '../../../functions/src/toolsets/coordination/rules/task.ts';
import { Deliveries } from '../../../functions/src/toolsets/github/rules/deliveries.ts';
import type { PullRequestLink } from '../../../functions/src/toolsets/github/rules/link.ts';
import type { GitHubPorts } from '../../../functions/src/toolsets/github/rules/ports.ts';
import { silent } from '../../integration/coordination/team.ts';
import { sampleLink, sampleTask, versionOf } from '../../support/builders.ts';
import {
  type About,
  checkRun,
  checkSuite,
  type Payload,
  pullRequest,
  workflowRun,
} from '../../support/github/payloads.ts';
import { portsOf } from '../../support/ports.ts';
import { forAllAsync } from '../../support/properties.ts';

const START = Date.parse('2026-11-27T12:00:00Z');
const COMMITS = ['a', 'b', 'c'].map((letter) => letter.repeat(40));
const [FIRST = '', SECOND = ''] = COMMITS;

type Mark = NonNullable<Task['failed_check']>;

/** Pull request and its task in memory, which receive webhook deliveries. */
class Desk {
  link: PullRequestLink = sampleLink({ number: 3, task_id: 'task', workspace: 'w', linked_at: new Date(START) });
  mark: Mark | undefined;
  readonly logged = new Set<string>();
  private readonly deliveries: Deliveries;

  constructor() {
    const commit = async (changes: readonly Change[]) => {
      for (const change of changes) this.take(change);
    };
    const task = () => sampleTask({ workspace: 'w', ...(this.mark && { failed_check: this.mark }) });
    this.deliveries = new Deliveries(
      portsOf<GitHubPorts>({
        pullRequestLinks: { find: async () => versionOf(this.link) },
        tasks: { find: async () => versionOf(task()) },
        store: { commit },
        clock: { now: () => new Date(START) },
        randomness: {},
        log: silent,
      }),
    );
  }

  private take(change: Change): void {
    if (change.kind === 'replaceLink') this.link = change.link;
    else if (change.kind === 'checkFailed') this.mark = change.check;
    else if (change.kind === 'checkPassed') this.mark = undefined;
    else if (change.kind === 'logFailedCheck') this.logged.add(change.entry.id);
    else assert.fail(`${change.kind} was not expected`);
  }

  async receive(payloads: readonly Payload[]): Promise<this> {
    for (const { event, payload } of payloads)
      assert.equal(await this.deliveries.receive(event, JSON.stringify(payload)), 'noted');
    return this;
  }
}

const at = (second: number) => new Date(START + 1000 * second);
const headed = (head: string): About => ({ repository: 7, pull: 3, head });

describe('check result of a pull request', () => {
  const passed = (commit: string, second: number, more = {}) =>
    checkRun(headed(SECOND), { name: 'test', conclusion: 'success', commit, at: at(second), id: second, ...more });
  const failed = (commit: string, second: number, more = {}) =>
    checkRun(headed(SECOND), { name: 'test', commit, at: at(second), id: second, ...more });

  it('is logged, without any other effect, if a check of an older commit failed', async () => {
    for (const payloads of [
      [passed(SECOND, 2), failed(FIRST, 1)],
      [passed(SECOND, 2), failed(FIRST, 3)],
      [failed(FIRST, 3), passed(SECOND, 2)],
    ]) {
      const desk = await new Desk().receive(payloads);
      assert.equal(desk.mark, undefined);
      assert.equal(desk.logged.size, 1);
    }
  });

  it('does not clear a later failure of the same check, in any order of delivery', async () => {
    for (const payloads of [
      [passed(SECOND, 1), failed(SECOND, 2)],
      [failed(SECOND, 2), passed(SECOND, 1)],
      [failed(SECOND, 2), passed(FIRST, 3)],
    ])
      assert.deepEqual((await new Desk().receive(payloads)).mark?.at, at(2));
  });

  it('does not affect a check of another suite or another kind with the same name', async () => {
    const others = [
      passed(SECOND, 3, { of: 2 }),
      workflowRun(headed(SECOND), { name: 'test', conclusion: 'success', at: at(3) }),
      checkSuite(headed(SECOND), { name: 'test', conclusion: 'success', at: at(3) }),
    ];
    const url = 'https://github.com/octo/app/runs/1';
    const desk = await new Desk().receive([failed(SECOND, 2, { url }), ...others]);
    assert.deepEqual([desk.mark?.name, desk.mark?.url], ['test', url]);
    await desk.receive([passed(SECOND, 4)]);
    assert.equal(desk.mark, undefined);
  });

  it('no longer marks the task after another commit is pushed', async () => {
    const desk = await new Desk().receive([checkRun(headed(FIRST), { at: at(1) })]);
    const marked = () => desk.mark?.name;
    assert.equal(marked(), 'lint');
    await desk.receive([pullRequest(headed(SECOND), 'synchronize', { at: at(2) })]);
    assert.equal(marked(), undefined);
    await desk.receive([pullRequest(headed(FIRST), 'synchronize', { at: at(3) })]);
    assert.equal(marked(), 'lint', 'the push returned to that commit');
  });

  it('neither replaces nor clears a later mark by another pull request of the same task', async () => {
    const desk = new Desk();
    const other = { name: 'test', at: at(5), repository: 'octo/app', pull_request: 4 };
    desk.mark = other;
    await desk.receive([failed(SECOND, 2), passed(SECOND, 6)]);
    assert.deepEqual(desk.mark, other);
  });

  it('is kept for the latest commit, even among hundreds of results for other commits', async () => {
    const many = Array.from({ length: 400 }, (_, index) => passed(FIRST, 10 + index, { name: `test ${index}` }));
    const desk = await new Desk().receive([failed(SECOND, 1), ...many]);
    assert.equal(desk.mark?.name, 'test');
    assert.ok(desk.link.checks.length <= 200);
  });
});

describe('webhook deliveries of a pull request', () => {
  const happening = fc.oneof(
    fc.record({ what: fc.constant('push' as const), commit: fc.constantFrom(...COMMITS) }),
    fc.record({ what: fc.constantFrom('closed' as const, 'reopened' as const) }),
    fc.record({
      what: fc.constantFrom('check_run' as const, 'check_suite' as const, 'workflow_run' as const),
      name: fc.constantFrom('test', 'lint'),
      of: fc.constantFrom(1, 2),
      conclusion: fc.constantFrom('success', 'failure', 'timed_out'),
      /** Index of the checked commit, counted from the commit that was pushed last. */
      back: fc.nat({ max: 3 }),
    }),
  );
  type Happening = typeof happening extends fc.Arbitrary<infer Value> ? Value : never;
  type Checked = Exclude<Happening, { what: 'push' } | { what: 'closed' | 'reopened' }>;

  /** Simulated pull request at GitHub, which creates the deliveries of its history. */
  class Told {
    readonly payloads = [pullRequest(headed(FIRST), 'opened', { at: at(0) })];
    readonly failures = new Set<string>();
    private readonly pushed = [FIRST];
    private readonly results = new Map<string, { commit: string; failed: boolean; name: string; at: Date }>();
    state: 'open' | 'closed' = 'open';

    constructor(history: readonly Happening[]) {
      for (const [index, one] of history.entries()) this.tell(one, index + 1);
    }

    get head(): string {
      return this.pushed[0] ?? FIRST;
    }

    /** Latest failed check of the commit that was pushed last. */
    get mark() {
      const failed = [...this.results.values()].filter((one) => one.failed && one.commit === this.head);
      const last = failed.sort((left, right) => right.at.getTime() - left.at.getTime())[0];
      return last && [last.name, last.at];
    }

    private tell(one: Happening, second: number): void {
      if ('back' in one) this.check(one, second);
      else if (one.what === 'push') this.push(one.commit, second);
      else this.turn(one.what, second);
    }

    private push(commit: string, second: number): void {
      this.pushed.unshift(commit);
      this.payloads.push(pullRequest(headed(commit), 'synchronize', { at: at(second) }));
      this.state = 'open';
    }

    private turn(what: 'closed' | 'reopened', second: number): void {
      this.state = what === 'closed' ? 'closed' : 'open';
      this.payloads.push(pullRequest(headed(this.head), what, { at: at(second) }));
    }

    private check({ what, name, of, conclusion, back }: Checked, second: number): void {
      const commit = this.pushed[back % this.pushed.length] ?? this.head;
      const id = what === 'check_suite' ? of : second;
      const make = { check_run: checkRun, check_suite: checkSuite, workflow_run: workflowRun }[what];
      this.payloads.push(make(headed(this.head), { name, conclusion, commit, at: at(second), id, of }));
      const failed = conclusion !== 'success';
      this.results.set(`${what} ${name} ${of} ${commit}`, { commit, failed, name, at: at(second) });
      if (failed) this.failures.add(what === 'workflow_run' ? `${what}-${id}-1` : `${what}-${id}`);
    }
  }

  it('lead to the same state in any order, even if some are repeated or a commit is pushed again', async () => {
    const shuffled = fc
      .array(happening, { minLength: 1, maxLength: 12 })
      .map((history) => new Told(history))
      .chain((reported) => {
        const { payloads } = reported;
        const once = fc.shuffledSubarray(payloads, { minLength: payloads.length });
        const again = fc.array(fc.constantFrom(...payloads), { maxLength: 6 });
        return fc.record({ reported: fc.constant(reported), once, again, more: fc.shuffledSubarray(payloads) });
      });
    await forAllAsync(shuffled, async ({ reported, once, again, more }) => {
      // Some repetitions arrive before the deliveries that they repeat, others after all deliveries.
      const desk = await new Desk().receive([...again, ...once, ...more]);
      const { head, state, mark, failures } = reported;
      assert.deepEqual([desk.link.head, desk.link.state], [head, state]);
      assert.deepEqual(desk.mark && [desk.mark.name, desk.mark.at], mark);
      assert.deepEqual([...desk.logged].sort(), [...failures].sort());
    });
  });
});
