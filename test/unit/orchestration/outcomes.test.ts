import assert from 'node:assert/strict';
import { FAILURE_CLASSES } from '../../../functions/src/toolsets/orchestration/rules/agents/model.ts';
import { type Attempt, measuresOf } from '../../../functions/src/toolsets/orchestration/rules/calls/attempt.ts';
import { outcomesOfRun } from '../../../functions/src/toolsets/orchestration/rules/runs/outcomes.ts';
import { type StepRecord, startedStep } from '../../../functions/src/toolsets/orchestration/rules/steps/step.ts';
import { builtIn } from '../../../functions/src/toolsets/orchestration/rules/workflows/library.ts';
import { readWorkflow } from '../../../functions/src/toolsets/orchestration/rules/workflows/validation.ts';
import { START } from '../../support/builders.ts';

const BOTH = ['claude', 'gemini'];
const DIRECT = builtIn('direct') ?? assert.fail();

function attempt(agent: string, call = 'answer', end: Attempt['end'] = 'answered'): Attempt {
  return {
    call,
    number: 1,
    agent,
    model: 'm',
    waited: 0,
    end,
    milliseconds: 100,
    usage: { input_tokens: 1, output_tokens: 1 },
    cost_usd: 0.01,
    outcome_unknown: false,
  };
}

let number = 0;

function record(name: string, changed: Partial<StepRecord>): StepRecord {
  number += 1;
  const { role = 'execute', iteration = 1 } = changed;
  const round = { name, iteration };
  return { ...startedStep(round, role, number, new Date(START)), status: 'succeeded', output: 'Done.', ...changed };
}

function done(name: string, agent: string, changed: Partial<StepRecord> = {}): StepRecord {
  return record(name, { agents: [agent], attempts: [attempt(agent)], ...changed });
}

function together(name: string, winner: string | undefined, changed: Partial<StepRecord> = {}): StepRecord {
  return record(name, {
    agents: winner === undefined ? BOTH : [winner],
    attempts: BOTH.map((agent) => attempt(agent, `answer:${agent}`)),
    results: BOTH.map((agent) => ({ agent, output: `By ${agent}` })),
    ...changed,
  });
}

/** Returns the agent, the kind of work, the outcome and the worth of each recorded outcome. */
function reported(...given: Parameters<typeof outcomesOfRun>): string[] {
  return outcomesOfRun(...given).map(({ agent, kind, accepted, failed, retried, worth }) => {
    const end = accepted ? `accepted${retried ? ' again' : ''}` : failed ? 'failed' : 'lost';
    return `${agent} ${kind} ${end} ${worth}`;
  });
}

const several = (mode: string) => readWorkflow({ name: 'x', steps: [{ name: 'all', agents: BOTH, mode }] }, 'workflow');

describe('recorded outcomes of a run', () => {
  it('contain the accepted answer of an agent, with its cost and its duration', () => {
    const [outcome, ...others] = outcomesOfRun(DIRECT, [done('execute', 'gemini')], 'succeeded');
    assert.deepEqual(others, []);
    assert.deepEqual(outcome, {
      agent: 'gemini',
      kind: 'execute',
      accepted: 1,
      failed: 0,
      lost: 0,
      retried: 0,
      worth: 1,
      milliseconds: 100,
      cost_usd: 0.01,
    });
  });

  it('are worth less if the agent answered only after a retry', () => {
    const attempts = [attempt('gemini', 'answer', 'overloaded'), attempt('gemini')];
    assert.deepEqual(reported(DIRECT, [done('execute', 'gemini', { attempts })], 'succeeded'), [
      'gemini execute accepted again 0.75',
    ]);
  });

  it('contain both the agent that failed and its fallback agent', () => {
    const attempts = [attempt('gemini', 'answer', 'malformed'), attempt('claude')];
    assert.deepEqual(reported(DIRECT, [done('execute', 'claude', { attempts })], 'succeeded'), [
      'gemini execute failed 0',
      'claude execute accepted 1',
    ]);
  });

  it('omit agents that were never asked, and are empty if the run was cancelled', () => {
    const ends = ['unavailable', 'over_budget', 'interrupted', 'aborted'] as const;
    const attempts = ends.map((end) => attempt('gemini', 'answer', end));
    const failed = record('execute', { status: 'failed', agents: ['gemini'], attempts });
    assert.deepEqual(reported(DIRECT, [failed], 'failed'), []);
    assert.deepEqual(reported(DIRECT, [done('execute', 'gemini')], 'cancelled'), []);
  });

  it('and the metrics omit failures that the deployment or the request caused', () => {
    for (const end of ['authentication', 'quota', 'invalid_request', 'context_too_long'] as const) {
      const attempts = [attempt('gemini', 'answer', end)];
      const failed = record('execute', { status: 'failed', agents: ['gemini'], attempts });
      assert.deepEqual(reported(DIRECT, [failed], 'failed'), [], end);
      assert.deepEqual(measuresOf(attempts), [], end);
      const again = done('execute', 'gemini', { attempts: [...attempts, attempt('gemini')] });
      assert.deepEqual(reported(DIRECT, [again], 'succeeded'), ['gemini execute accepted 1'], end);
    }
  });

  it('and the metrics contain every other failure of an agent that was asked', () => {
    const uncounted = ['authentication', 'quota', 'invalid_request', 'context_too_long', 'aborted'];
    for (const end of FAILURE_CLASSES.filter((kind) => !uncounted.includes(kind))) {
      const attempts = [attempt('gemini', 'answer', end)];
      const failed = record('execute', { status: 'failed', agents: ['gemini'], attempts });
      assert.deepEqual(reported(DIRECT, [failed], 'failed'), ['gemini execute failed 0'], end);
      assert.deepEqual(measuresOf(attempts)[0]?.requests, 1, end);
    }
  });

  it('contain only the failed agent if the run failed', () => {
    const workflow = builtIn('plan-execute') ?? assert.fail();
    const attempts = [attempt('gemini', 'answer', 'refused')];
    const failed = record('execute', { status: 'failed', agents: ['gemini'], attempts });
    const records = [done('plan', 'claude', { role: 'plan' }), failed];
    assert.deepEqual(reported(workflow, records, 'failed'), ['gemini execute failed 0']);
  });

  it('contain the answer that the judge picked, and whether the judge ranked the answers', () => {
    const workflow = builtIn('competitive') ?? assert.fail();
    const compete = together('compete', undefined);
    const judges = { role: 'review', attempts: [attempt('claude', 'judge:claude')] } as const;
    const pick = done('pick', 'gemini', { ...judges, judged: true });
    assert.deepEqual(reported(workflow, [compete, pick], 'succeeded'), [
      'claude execute lost 0',
      'gemini execute accepted 1',
      'claude review accepted 1',
    ]);
    const byLot = done('pick', 'gemini', judges);
    assert.deepEqual(reported(workflow, [compete, byLot], 'succeeded'), ['claude review failed 0']);
  });

  it('contain every agent whose answer won the vote, and are empty if the vote was drawn by lot', () => {
    const vote = several('vote');
    const won = { output: 'By claude' };
    assert.deepEqual(reported(vote, [together('all', 'claude', { ...won, judged: true })], 'succeeded'), [
      'claude execute accepted 1',
      'gemini execute lost 0',
    ]);
    assert.deepEqual(reported(vote, [together('all', 'claude', won)], 'succeeded'), []);
    const same = BOTH.map((agent) => ({ agent, output: agent === 'claude' ? '42' : ' 42. ' }));
    const agreed = together('all', 'claude', { output: '42', results: same, judged: true });
    assert.deepEqual(reported(vote, [agreed], 'succeeded'), ['claude execute accepted 1', 'gemini execute accepted 1']);
  });

  it('are worth half as much for an agent that lost a race', () => {
    const attempts = [attempt('claude', 'answer:claude', 'aborted'), attempt('gemini', 'answer:gemini')];
    const results = [
      { agent: 'claude', error: 'aborted: The request was cancelled.' },
      { agent: 'gemini', output: 'x' },
    ];
    assert.deepEqual(reported(several('race'), [together('all', 'gemini', { attempts, results })], 'succeeded'), [
      'claude execute lost 0.5',
      'gemini execute accepted 1',
    ]);
  });

  it('rate work as lost only if the first line of the next review is a negative verdict', () => {
    const workflow = builtIn('iterative') ?? assert.fail();
    const review = (iteration: number, output: string) =>
      done('review', 'claude', { role: 'review', iteration, output });
    const records = [
      done('execute', 'gemini'),
      review(1, 'CHANGES\nMore tests.'),
      done('refine', 'claude'),
      review(2, '**APPROVED**\n'),
    ];
    assert.deepEqual(reported(workflow, records, 'succeeded'), [
      'gemini execute lost 0',
      'claude review accepted 1',
      'claude execute accepted 1',
      'claude review accepted 1',
    ]);
    for (const output of ['CHANGES are few', 'constructor', '', 'I approve.'])
      assert.equal(
        reported(workflow, [done('execute', 'gemini'), review(1, output)], 'succeeded')[0],
        'gemini execute accepted 1',
      );
  });

  it('rate the reviewed work as lost if one of several reviews does not approve it', () => {
    const workflow = builtIn('code-review') ?? assert.fail();
    const reviewed = (name: string, output: string) => done(name, 'claude', { role: 'review', output });
    const records = [
      done('generate', 'gemini'),
      reviewed('security', 'NO FINDINGS'),
      reviewed('performance', 'FINDINGS\nOne.'),
    ];
    assert.equal(reported(workflow, records, 'succeeded')[0], 'gemini execute lost 0');
  });

  it('omit live agents', () => {
    const live = record('execute', { agents: ['worker-1'], task_id: 'task-1' });
    assert.deepEqual(reported(DIRECT, [live], 'succeeded'), []);
  });
});
