/** Sample responses, with every field set, of the tools with a view: a page in which a client shows the response. */

const TIME = '2026-11-24T10:00:00.000Z';

export const STATUS = {
  goal: 'Ship the login',
  tasks: { available: 3, claimed: 1, in_progress: 2, done: 5, failed: 4 },
  blocked_tasks: 2,
  total_tasks: 15,
  progress_percent: 33,
  agents: { total: 7, leaders: 1, workers: 6, active: 2 },
  discoveries_count: 9,
  last_activity: TIME,
  late: { count: 3, tasks: [{ id: 'task-7', deadline: TIME, status: 'claimed', claimed_by: 'worker-1' }] },
  stuck: {
    count: 2,
    tasks: [{ id: 'task-9', reason: 'Can never start, because task "task-8" failed.', because_of: 'task-8' }],
  },
};

export const TODOS = {
  tasks: [
    {
      id: 'todo-1',
      title: 'Buy milk',
      description: 'Two bottles',
      due_date: TIME,
      priority: 'HIGH',
      tags: ['home', 'shop'],
      completed: false,
      created_at: '2026-11-01T10:00:00.000Z',
      recurring_task_id: 'recurring-1',
      delegated: {
        task_id: 'task-3',
        workspace: 'team',
        status: 'in_progress',
        done: 1,
        things: 4,
        attempts: 2,
        cost_usd: 0.25,
      },
    },
    { id: 'todo-2', title: 'Sleep', completed: true, completed_at: '2026-11-02T10:00:00.000Z' },
  ],
  total: 12,
  total_pages: 6,
  has_previous: true,
  truncated: true,
  next_cursor: 'abc',
};

export const RUN = {
  success: true,
  result: 'It is done.',
  metadata: { workflow: 'review', agents: ['one', 'two'], cached: true, duration: 12_345 },
  runId: 'run-abcdefghijklmnopqrst',
  status: 'waiting',
  error: { reason: 'BUDGET_EXHAUSTED', message: 'Nothing is left.' },
  next: 'Call get_run.',
  steps: [
    {
      name: 'draft',
      iteration: 2,
      role: 'execute',
      agent: 'one, two',
      status: 'succeeded',
      output: 'First line\nsecond line',
      results: [
        { agent: 'one', output: 'mine' },
        { agent: 'two', error: 'too slow' },
      ],
      explanation: 'one won',
      error: 'in part',
      taskId: 'task-5',
      startedAt: '2026-11-22T10:00:01.000Z',
      settledAt: '2026-11-22T10:00:09.500Z',
    },
  ],
  running: ['check'],
  attempts: [
    {
      step: 'draft',
      agent: 'one',
      model: 'model-1',
      outcome: 'answered',
      reason: 'at once',
      waited: 11,
      milliseconds: 2100,
      tokens: { input: 101, output: 22 },
      outcomeUnknown: true,
    },
  ],
  usage: { inputTokens: 1001, outputTokens: 202, costUsd: 0.0123 },
  selection: { agent: 'one', workflow: 'review', reasons: ['it is good at it'] },
  warnings: ['two was slow'],
  budgets: [
    {
      kind: 'workspace',
      id: 'team',
      limit: { money: 5 },
      spent: { money: 1.5, tokens: 77 },
      reserved: { money: 0.5, tokens: 33 },
      left: { money: 3 },
    },
  ],
  withheld: true,
};

export const REPORT = {
  status: 'success',
  message: 'Task task-1 is failed.',
  result: {
    task: {
      id: 'task-1',
      tool: 'CLAUDECODE',
      description: 'Fix the login',
      instructions: 'Look into it\nand fix it',
      branch: 'fix/login',
      config: { model: 'large' },
      project: 'muster/app',
      status: 'failed',
      state: 'failed',
      priority: 5,
      createdAt: TIME,
      createdBy: 'ada',
      attempt: 2,
      runner: 'runner-1',
      epoch: 8,
      durationMs: 61_000,
      error: 'The tests fail',
      failure: { class: 'acceptance_failed', message: 'npm test: 3 failed' },
    },
    attempts: [
      {
        epoch: 6,
        branch: 'fix/login',
        runner: 'runner-2',
        endedAt: TIME,
        failure: { class: 'runner_lost', message: 'It was heard of no more.' },
        commits: [{ sha: 'abc123', subject: 'Begin' }],
      },
    ],
    logs: {
      lines: 40,
      latest: [
        { line: 39, at: TIME, level: 'error', type: 'output', prefix: 'npm', message: 'failed', data: { code: 7 } },
      ],
    },
    result: { commits: [{ sha: 'def456', subject: 'Fix it' }], tokens: 999 },
  },
};
