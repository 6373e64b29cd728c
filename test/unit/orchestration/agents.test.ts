import assert from 'node:assert/strict';
import { NO_ROUTING } from '../../../functions/src/access/rules/workspace.ts';
import {
  inferRequirements,
  metricsOf,
  roleNamed,
} from '../../../functions/src/toolsets/orchestration/rules/agents/profile.ts';
import {
  chooseWorkflow,
  fallbackAgents,
  recommend,
} from '../../../functions/src/toolsets/orchestration/rules/agents/roster.ts';
import { type Attempt, measuresOf } from '../../../functions/src/toolsets/orchestration/rules/calls/attempt.ts';
import { assignAgents, withOverrides } from '../../../functions/src/toolsets/orchestration/rules/runs/assignment.ts';
import {
  networkTask,
  recordOf,
  runOfTask,
} from '../../../functions/src/toolsets/orchestration/rules/steps/networkStep.ts';
import { startedStep } from '../../../functions/src/toolsets/orchestration/rules/steps/step.ts';
import { agentsOf, allSteps } from '../../../functions/src/toolsets/orchestration/rules/workflows/definition.ts';
import { builtIn } from '../../../functions/src/toolsets/orchestration/rules/workflows/library.ts';
import { progressOf } from '../../../functions/src/toolsets/orchestration/rules/workflows/progress.ts';
import { readWorkflow } from '../../../functions/src/toolsets/orchestration/rules/workflows/validation.ts';
import { START, sampleAttempt, sampleTask } from '../../support/builders.ts';
import { PROFILES } from '../../support/models/agents.ts';

const available = PROFILES.map((profile) => ({ ...profile, availability: { available: true as const } }));
const UNKNOWN = { workspace: 'alpha', agentStatuses: available, routing: NO_ROUTING, work: {} };

/** Fails the test if a random number is drawn, because routing draws none before outcomes are recorded. */
const NO_CHANCE = { integer: (): number => assert.fail('a random number was drawn') };
const away = { availability: { available: false as const, reason: 'There is no key.' } };

describe('recommendation of an agent', () => {
  it('ranks the agents in the example of the specification as that example does', () => {
    const requirements = { role: 'execute', language: 'Python', contextSize: 1_000_000 } as const;
    assert.deepEqual(recommend(available, requirements), [
      { agent: 'gemini', score: 0.95, reasons: ['Best execution capability', 'Supports Python'], warnings: [] },
      {
        agent: 'claude',
        score: 0.85,
        reasons: ['Good execution capability'],
        warnings: ['Context window smaller than required'],
      },
    ]);
  });

  it('ranks an agent that lacks a requirement behind an agent that lacks none', () => {
    const [first, second] = recommend(available, { role: 'plan', contextSize: 500_000 });
    assert.deepEqual([first?.agent, first?.score], ['gemini', 0.85]);
    assert.deepEqual([second?.agent, second?.score], ['claude', 0.85]);
    const [plan] = recommend(available, { role: 'plan' });
    assert.deepEqual([plan?.agent, plan?.score], ['claude', 0.95]);
  });

  it('contains a warning if an agent is unavailable or the language is unknown', () => {
    const [claude, gemini] = available;
    assert.ok(claude && gemini);
    const [first, last] = recommend([claude, { ...gemini, ...away }], { role: 'execute' });
    assert.deepEqual([first?.agent, last?.warnings], ['claude', ['Unavailable: There is no key.']]);
    const [any] = recommend(available, { role: 'execute', language: 'Whitespace' });
    assert.deepEqual(any?.warnings, ['Unknown language: Whitespace']);
  });
});

describe('requirements that are inferred from a task', () => {
  const read: readonly [string, object][] = [
    ['Process 1MB of text data', { role: 'execute', contextSize: 250_000 }],
    ['Write a Python web scraper', { role: 'execute', language: 'Python' }],
    ['Review 20,000 lines of Go code', { role: 'review', language: 'Go', contextSize: 200_000 }],
    ['Plan the migration of our JavaScript', { role: 'plan', language: 'JavaScript' }],
    ['Summarize 1.5 million tokens', { role: 'execute', contextSize: 1_500_000 }],
    ['A 500-page book in C++', { role: 'execute', language: 'C++', contextSize: 250_000 }],
    ['I want to go home', { role: 'execute' }],
    ['', { role: 'execute' }],
  ];
  for (const [task, expected] of read)
    it(`are the expected ones for "${task}"`, () => {
      const { notes: _notes, ...requirements } = inferRequirements(task, {});
      assert.deepEqual(requirements, expected);
    });

  it('are ignored if the caller states the requirements', () => {
    const given = { role: 'plan', language: 'Rust', contextSize: 1000 } as const;
    const { notes, ...requirements } = inferRequirements('Review 1MB of Python', given);
    assert.deepEqual([requirements, notes], [given, []]);
  });

  it('are inferred quickly, even from a hostile text', () => {
    for (const part of ['1,', '\n', 'build ', '- x\n', 'then ', '1.5 ', '(', 'a.ts ']) {
      const task = part.repeat(50_000);
      inferRequirements(task, {});
      chooseWorkflow(task, 2);
    }
  });
});

describe('roleNamed', () => {
  it('finds a role by its own name or by the name of its capability', () =>
    assert.deepEqual(['Planning', 'executor', ' review ', 'cook'].map(roleNamed), [
      'plan',
      'execute',
      'review',
      undefined,
    ]));
});

describe('automatic choice of a workflow and its agents', () => {
  const chosen: readonly [string, string][] = [
    ['What is 2+2?', 'direct'],
    ['Write a Python web scraper', 'direct'],
    ['Create a React component for user authentication', 'plan-execute'],
    ['Build a REST API', 'plan-execute'],
    ['1. Read the file\n2. Sort it', 'plan-execute'],
    ['word '.repeat(200), 'plan-execute'],
    ['Optimize this SQL query', 'competitive'],
    ['Polish this text', 'iterative'],
  ];
  for (const [prompt, workflow] of chosen)
    it(`selects the workflow ${workflow} for "${prompt.slice(0, 40)}", and states a reason`, () => {
      const choice = chooseWorkflow(prompt, 2);
      assert.equal(choice.workflow, workflow);
      assert.ok(choice.reason.startsWith(`${workflow}: `));
    });

  it('does not select the workflow "competitive" if only one agent is available', () => {
    const { workflow, reason } = chooseWorkflow('Optimize this SQL query', 1);
    assert.equal(workflow, 'direct');
    assert.match(reason, /only one agent is available/);
  });

  it('assigns agents by the role of each step, and explains the choice', () => {
    const workflow = builtIn('iterative');
    assert.ok(workflow);
    const { workflow: assigned, reasons } = assignAgents(workflow, 'Do it.', UNKNOWN, NO_CHANCE);
    assert.deepEqual(allSteps(assigned).flatMap(agentsOf), ['gemini', 'claude', 'gemini']);
    assert.match(reasons.join('\n'), /^execute: gemini: Best execution capability \(0\.95\)\.\nrefine: gemini/);
    const preferred = withOverrides(workflow, {}, 'claude');
    assert.deepEqual(allSteps(preferred).flatMap(agentsOf), ['claude', 'claude', 'claude']);
  });

  it('is replaced by the agents and timeouts that the caller sets for a step', () => {
    const workflow = builtIn('competitive');
    assert.ok(workflow);
    const overrides = { agents: { compete: 'gemini' }, timeouts: { pick: 5000 } };
    const [compete, pick] = allSteps(withOverrides(workflow, overrides, 'auto'));
    assert.deepEqual([compete?.agent, compete?.agents, pick?.timeout], ['gemini', undefined, 5000]);
  });

  it('orders fallback agents by score, and sets no fallback agent for a step of live agents', () => {
    assert.deepEqual(fallbackAgents('claude', 'plan', available), ['gemini']);
    assert.deepEqual(fallbackAgents('network', 'plan', available), []);
  });
});

describe('measured values of an agent', () => {
  const attempt = (agent: string, end: Attempt['end'], milliseconds = 100): Attempt =>
    sampleAttempt({ agent, end, milliseconds });

  it('exclude attempts that were cancelled or never sent', () => {
    const measures = measuresOf([
      attempt('claude', 'overloaded'),
      attempt('claude', 'answered', 300),
      attempt('claude', 'answered', 100),
      attempt('claude', 'aborted'),
      attempt('gemini', 'unavailable'),
    ]);
    assert.deepEqual(measures, [{ agent: 'claude', requests: 3, answered: 2, milliseconds: 400 }]);
    assert.deepEqual(metricsOf(measures[0]), { avgResponseTime: 200, successRate: 2 / 3, totalRequests: 3 });
  });

  it('are undefined if nothing was measured', () => {
    assert.equal(metricsOf(undefined), undefined);
    const failed = metricsOf({ agent: 'x', requests: 1, answered: 0, milliseconds: 0 });
    assert.deepEqual(failed, { successRate: 0, totalRequests: 1 });
  });
});

describe('workflow step for live agents', () => {
  const workflow = readWorkflow(
    { name: 'custom', steps: [{ name: 'code', agent: 'network', capabilities: ['Coding'] }] },
    'workflow',
  );
  const { next } = progressOf(workflow, { input: 'Do it.', context: {} }, new Map());
  assert.ok(next.kind === 'execute' && next.steps[0]);
  const [due] = next.steps;

  it('becomes the same task each time the task is built', () => {
    const run = { id: `run-${'a'.repeat(20)}`, workflow: 'custom' };
    const task = networkTask(run, due);
    assert.deepEqual(networkTask(run, due), task);
    assert.equal(task.id, `${run.id}-code-1`);
    assert.equal(runOfTask(task.id), run.id);
    assert.equal(runOfTask('task-xxx-001'), undefined);
    assert.notEqual(networkTask({ ...run, id: `run-${'b'.repeat(20)}` }, due).id, task.id);
    assert.notEqual(networkTask(run, { ...due, iteration: 2 }).id, task.id);
    assert.equal(task.draft.description, 'Step code of the workflow custom\n\nDo it.');
    assert.deepEqual(task.draft.required_capabilities, ['Coding']);
  });

  it('ends when its task ends', () => {
    const claim = {
      claimed_by: 'terminal-2',
      claim_epoch: 1,
      claimed_at: START,
      lease_seconds: 60,
      lease_expires_at: START,
    };
    const begunStep = startedStep({ name: 'code', iteration: 1 }, 'execute', 1, START);
    const ended = (changes: Parameters<typeof sampleTask>[0]) => {
      const { agents, status, output, failure } = recordOf(begunStep, sampleTask(changes), START);
      return [status, agents, output ?? failure?.message];
    };
    assert.deepEqual(ended({ status: 'done', claim, result: { output: 'Done.' } }), [
      'succeeded',
      ['terminal-2'],
      'Done.',
    ]);
    assert.deepEqual(ended({ status: 'failed', claim, error: 'No compiler.' }), [
      'failed',
      ['terminal-2'],
      'The task task-1 failed (agent terminal-2): No compiler.',
    ]);
    assert.deepEqual(ended({ status: 'cancelled' }), ['failed', ['network'], 'The task task-1 was cancelled.']);
    for (const status of ['available', 'claimed', 'in_progress', 'waiting'] as const)
      assert.deepEqual(ended({ status }), ['waiting', ['network'], undefined]);
  });
});
