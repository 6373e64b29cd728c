/** Samples of all stored data. Each kind of change has samples with all optional fields and with few of them. */
import type { Agent } from '../../functions/src/agents/rules/agent.ts';
import type { Change } from '../../functions/src/composition/changes.ts';
import type { Budget, Reservation } from '../../functions/src/graph/rules/budget.ts';
import type { Grant } from '../../functions/src/identity/rules/grant.ts';
import type { Caller } from '../../functions/src/identity/rules/principal.ts';
import type { CallRecord } from '../../functions/src/kernel/commit.ts';
import type { SweepState } from '../../functions/src/kernel/sweep.ts';
import type { Authorization } from '../../functions/src/signin/rules/authorization.ts';
import { appendNumbered, type NumberedEntry } from '../../functions/src/toolsets/coding/rules/log.ts';
import type { Task } from '../../functions/src/toolsets/coordination/rules/task.ts';
import type { Request } from '../../functions/src/toolsets/inbox/rules/request.ts';
import { ModelFailure } from '../../functions/src/toolsets/orchestration/rules/agents/model.ts';
import type { Run } from '../../functions/src/toolsets/orchestration/rules/runs/run.ts';
import type { StepRecord } from '../../functions/src/toolsets/orchestration/rules/steps/step.ts';
import { readWorkflow } from '../../functions/src/toolsets/orchestration/rules/workflows/validation.ts';
import type { Notification } from '../../functions/src/toolsets/todo/rules/reminders/notification.ts';
import type { TaskEvent } from '../../functions/src/toolsets/todo/rules/taskEvent.ts';
import type { Todo } from '../../functions/src/toolsets/todo/rules/todo.ts';
import {
  sampleAgent,
  sampleAttempt,
  sampleCall,
  sampleCodingWork,
  sampleCredential,
  sampleLink,
  sampleRecurringTask,
  sampleRequest,
  sampleRun,
  sampleSession,
  sampleStep,
  sampleTask,
  sampleTodo,
} from '../support/builders.ts';
import { personOf } from '../support/principals.ts';

const START = Date.UTC(2026, 10, 22, 9);

/** Returns the time this many minutes after `START`. */
const at = (minutes: number): Date => new Date(START + minutes * 60_000);

const IN_DEFAULT = { workspace: 'default', created_at: at(0) };
const TASK = sampleTask({ ...IN_DEFAULT, id: 'plain', description: 'Write the tests' });

const CLAIM = {
  claimed_by: 'terminal-2',
  claim_epoch: 2,
  claimed_at: at(1),
  lease_seconds: 1800,
  lease_expires_at: at(31),
  started_at: at(2),
};

const RESULT = { output: 'It is done.', files_modified: ['a.ts'], files_created: ['b.ts'] };

const TASKS: readonly Task[] = [
  TASK,
  {
    ...TASK,
    id: 'held',
    status: 'in_progress',
    dependencies: ['plain'],
    dependents: ['blocked'],
    required_capabilities: ['TypeScript', 'tests'],
    context: { files: ['README.md'], hints: 'Be quick' },
    claim_epoch: 2,
    claim: CLAIM,
    lapsed_claims: [{ agent_id: 'terminal-1', claim_epoch: 1 }],
    waiting_for: { request_id: 'full', who: 'Ben', until: at(60) },
  },
  {
    ...TASK,
    id: 'blocked',
    blockers: 2,
    failed_dependencies: ['held'],
    retries: 1,
    retry_at: at(5),
    budget_wait: 'workspace-alpha',
    error: 'The network was away',
  },
  {
    ...TASK,
    id: 'part',
    status: 'waiting',
    claim_epoch: 1,
    result: RESULT,
    part_of: { kind: 'todo', id: 'full' },
    ancestors: ['todo-full'],
    spent: { input_tokens: 10, output_tokens: 20, cost_usd: 0.01, milliseconds: 60_000 },
    parts_awaited: { agent_id: 'terminal-1', claim_epoch: 1, since: at(5), failed: ['task-other'] },
  },
  { ...TASK, id: 'due', given_type: 'research', deadline: at(60) },
  {
    ...TASK,
    id: 'done',
    status: 'done',
    claim_epoch: 2,
    claim: CLAIM,
    result: RESULT,
    completed_at: at(9),
    late_result: { agent_id: 'terminal-1', claim_epoch: 1, received_at: at(10), result: RESULT, error: 'late' },
  },
];

const CODING = sampleCodingWork({
  instructions: 'Implement sign-in',
  branch: 'task/12345678-sign-in',
  config: { model: 'opus', matrix: [[1, 2], [3]] },
  owner_uid: 'ada',
  queue_ends_at: at(60),
});

const FAILURE = { class: 'crashed', message: 'It ended with code 1.' } as const;

const CODING_TASKS: readonly Task[] = [
  { ...TASK, id: 'coding', required_capabilities: ['claude'], coding: CODING },
  {
    ...TASK,
    id: 'coding-done',
    status: 'done',
    required_capabilities: ['claude'],
    claim_epoch: 2,
    claim: { ...CLAIM, claimed_by_runner: true },
    result: RESULT,
    completed_at: at(9),
    coding: {
      ...CODING,
      project: 'owner/name',
      progress: 'Tests are green',
      failure: FAILURE,
      attempts: [
        {
          claim_epoch: 1,
          agent_id: 'runner-1',
          ended_at: at(4),
          failure: FAILURE,
          commits: [{ sha: 'abc123', subject: 'Begin' }],
        },
      ],
      result: { claim_epoch: 2, bytes: 14, parts: 1 },
    },
  },
];

const AGENT = sampleAgent({
  id: 'plain',
  name: 'plain',
  owner_uid: 'ada',
  status: 'offline',
  registered_at: at(0),
  last_seen: at(0),
});

const AGENTS: readonly Agent[] = [
  AGENT,
  {
    ...AGENT,
    id: 'experienced',
    description: 'Writes tests',
    creator: 'Ada',
    capability_details: [
      { name: 'TypeScript', category: 'languages', parameters: { versions: ['5', '7'], strict: true } },
      { name: 'tests', category: 'general' },
    ],
    workspace: 'default',
    parts: { default: 'leader', alpha: 'worker' },
    registered_by: 'agent:lead',
    serves: 'workspace',
    status: 'active',
    active_since: at(1),
    held: { held: { session: 'session-1', claim_epoch: 2 } },
    tasks_completed: 3,
    tasks_failed: 1,
    work_milliseconds: 90_000,
    last_failed: true,
    last_completed_at: at(3),
    milestones: { seen: at(0), joined: at(1), claimed: at(2), completed: at(3) },
  },
];

const CREDENTIAL = sampleCredential({
  api_key: 'mk_plain',
  agent_id: 'plain',
  secret_hash: 'e3b0c442',
  created_at: at(0),
  expires_at: at(100),
});

const LINEAGE = [
  { subject: 'grant:k3v7q2mzj5x4n6r2wbta', agent_id: 'Claude-Code-Ada-4f1c8e20' },
  { subject: 'key:mk_leader', agent_id: 'lead' },
] as const;

/** A sign-in whose app has not yet exchanged the authorization code for tokens. */
const GRANT: Grant = {
  id: 'k3v7q2mzj5x4n6r2wbta',
  owner_uid: 'ada',
  agent_id: 'Claude-Code-Ada-4f1c8e20',
  client_id: 'https://claude.ai/oauth/claude-code-client-metadata',
  client_name: 'Claude Code',
  client_host: 'claude.ai',
  resource: 'https://mcp-123456789012.us-central1.run.app/mcp',
  created_at: at(0),
  used_at: at(0),
  expires_at: at(1),
  ends_at: at(365 * 24 * 60),
  salt: 'Jm3yqT1c0ZKQv5bqk1pA8Yl2m9o4h7uXeWnRsDgBfCE',
  code: {
    hash: '1f825aa2f0020ef7cf91dfa30da4668d791c5d4824fc8e41354b89ec05795ab3',
    challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
    redirect_uri: 'http://localhost:49152/callback',
    expires_at: at(1),
    is_redeemed: false,
  },
  rotated: 0,
  recent_rotations: [],
  access_tokens: [],
};

const { client_host: _host, ...SELF_REGISTERED } = GRANT;

/** A sign-in that was renewed several times, with restricted permissions. */
const USED_GRANT: Grant = {
  ...SELF_REGISTERED,
  id: 'p6d2s4y7c3hn5kx2uqrv',
  client_id: 'client_9b2f4c1d7e8a40536271f0e9d8c7b6a5',
  client_name: 'Cursor',
  resource: 'https://mcp-123456789012.us-central1.run.app/mcp/todo',
  toolsets: ['todo', 'system'],
  held_to: 'alpha',
  readonly: true,
  used_at: at(130),
  expires_at: at(130 + 90 * 24 * 60),
  code: { ...GRANT.code, redirect_uri: 'cursor://anysphere.cursor-mcp/oauth/callback', is_redeemed: true },
  refresh_hash: '9c56cc51b374c3ba189210d5b6d4bf57790d351c96c47c02190ecf1e430635ab',
  rotated: 3,
  recent_rotations: [at(129), at(130)],
  access_tokens: [
    { hash: '2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae', expires_at: at(189) },
    { hash: 'fcde2b2edba56bf408601fb721fe9b5c338d10ee429ea04fae5511b68fbf8fb9', expires_at: at(190) },
  ],
};

/** The record that remains of a sign-in after it has ended. */
const ENDED_GRANT: Grant = {
  ...GRANT,
  id: `ended-${GRANT.agent_id}`,
  expires_at: at(200 + 30 * 24 * 60),
  ends_at: at(200 + 30 * 24 * 60),
  salt: '',
  code: { ...GRANT.code, hash: '', challenge: '', is_redeemed: true },
  end: { reason: 'refresh_token_reused', at: at(200) },
};

const AUTHORIZATION: Authorization = {
  id: 'w5b3n7kq2xd4m6jt7vca',
  browser_hash: '486ea46224d1bb4fb680f34f7c9ad96a8f24ec88be73ea8e5a6c65260e9cb8a7',
  client_id: 'client_9b2f4c1d7e8a40536271f0e9d8c7b6a5',
  client_name: 'Cursor',
  redirect_uri: 'cursor://anysphere.cursor-mcp/oauth/callback',
  challenge: GRANT.code.challenge,
  is_readonly: false,
  resource: GRANT.resource,
  issuer: 'https://mcp-123456789012.us-central1.run.app',
  expires_at: at(10),
};

const SIGNED_AUTHORIZATION: Authorization = {
  ...AUTHORIZATION,
  id: 'f2u6z4s7ph3yr5kx2qgm',
  client_id: GRANT.client_id,
  client_name: GRANT.client_name,
  client_host: 'claude.ai',
  redirect_uri: GRANT.code.redirect_uri,
  state: 'af0ifjsldkj',
  is_readonly: true,
  person: { uid: 'ada', approval_hash: '7d1a54127b222502f5b79b5fb0803061152a44f92b37e23c6527baf665d4da9a' },
};

const SESSION = sampleSession({
  ...IN_DEFAULT,
  goal: 'Ship it',
  master_plan: 'First this, then that',
  queue_version: 4,
  capability_keys: ['', 'tests'],
});

const TODO = sampleTodo({ id: 'plain', owner_uid: 'ada', title: 'Buy milk', priority: 'LOW', created_at: at(0) });

const FULL_TODO: Todo = {
  ...TODO,
  id: 'full',
  description: 'The blue one',
  due_date: at(90),
  priority: 'HIGH',
  tags: ['home', 'shop'],
  completed: true,
  completed_at: at(80),
  recurring_task_id: 'plain',
  occurs_on: '2026-11-22',
  ancestors: [],
  delegated_task_id: 'part',
};

const RECURRING = sampleRecurringTask({
  id: 'plain',
  owner_uid: 'ada',
  title: 'Water the plants',
  created_at: at(0),
  start_date: at(0),
  latest_on: '2026-11-22',
  latest_due: at(0),
});

const EVENT: TaskEvent = {
  id: 'event-1',
  type: 'created',
  taskId: 'plain',
  userId: 'ada',
  timestamp: at(0),
  before: null,
  after: { id: 'plain', title: 'Buy milk', tags: ['home'] },
  changes: ['title'],
};

const RUN = sampleRun({ ...IN_DEFAULT, id: 'plain', started_by: 'agent:plain', deadline: at(60) });
const SPENT = { input_tokens: 10, output_tokens: 20, cost_usd: 0.01, unpriced_tokens: 12 };

const FULL_RUN: Run = {
  ...RUN,
  id: 'full',
  status: 'failed',
  ended_at: at(3),
  cancel_requested: true,
  epoch: 2,
  deliveries: 2,
  lease_expires_at: at(2),
  due_at: at(2),
  current: ['execute'],
  steps_settled: 1,
  spent: SPENT,
  result_step: 'execute.1',
  failure: { reason: 'STEP_FAILED', message: 'The step failed.' },
  warnings: ['claude was not available'],
  selection: { agent: 'claude', workflow: 'direct', reasons: ['It is short'] },
  part_of: { kind: 'task', id: 'part' },
  ancestors: ['task-part', 'todo-full'],
  worked: { attempts: 2, milliseconds: 900 },
  budget_wait: { key: 'workspace-alpha', is_spent: true, since: at(1) },
};

const DEFINITION = JSON.stringify({ name: 'mine', steps: [{ name: 'execute', agent: 'auto' }] });
const ATTEMPT = sampleAttempt({ milliseconds: 1200, provider: 'anthropic' });
const STEP = sampleStep({ spent: SPENT, started_at: at(0) });

const FULL_STEP: StepRecord = {
  ...STEP,
  id: 'execute.2',
  agents: ['claude', 'gemini'],
  status: 'failed',
  output: 'Roses are red',
  results: [
    { agent: 'claude', output: 'Roses are red' },
    { agent: 'gemini', error: 'It timed out.' },
  ],
  failure: { reason: 'STEP_FAILED', message: 'The step failed.' },
  attempts: [
    ATTEMPT,
    { ...ATTEMPT, number: 2, end: 'timeout', reason: 'It timed out.', outcome_unknown: true, unpriced_tokens: 12 },
  ],
  explanation: 'claude won',
  judged: true,
  task_id: 'held',
  settled_at: at(2),
};

const CALL = sampleCall({
  id: 'open',
  input_hash: 'e3b0c442',
  input_tokens: 12,
  max_output_tokens: 8192,
  started_at: at(0),
  provider: 'anthropic',
  price: { inputPerMillion: 2, outputPerMillion: 10 },
});

const ANSWER = {
  text: 'Roses are red',
  model: 'claude-opus',
  usage: { ...ATTEMPT.usage, cost_usd: 0.01 },
  complete: true,
};

const TIMED_OUT = new ModelFailure('timeout', 'It timed out.', {
  retry_after_ms: 1000,
  usage: ATTEMPT.usage,
  outcome_unknown: true,
});

const LINES: readonly NumberedEntry[] = [
  { sequence: 0, at: at(0), level: 'info', type: 'system', message: 'It begins' },
  { sequence: 1, at: at(1), level: 'warn', type: 'tool', prefix: 'npm', message: 'Slow', data: { ms: [[9]] } },
];

const REMINDER = {
  id: 'plain',
  task_id: 'plain',
  task_title: 'Buy milk',
  owner_uid: 'ada',
  remind_at: at(30),
  sent: false,
};

const LIMIT: Budget = { kind: 'todo', thing_id: 'todo-1', owner_uid: 'ada', tokens: 1000, round: 1, set_at: at(0) };

const RESERVATION: Reservation = {
  id: 'run-1-call-1',
  keys: ['run-1', 'workspace-alpha'],
  amount: { nano_usd: 60_000_000, tokens: 4200 },
  due_at: at(2),
};

/** The document with the counts is written only by merging fields, so no sample has all its fields. */
const BUDGETS: readonly Change[] = [
  { kind: 'setBudget', budget: LIMIT },
  {
    kind: 'setBudget',
    budget: {
      ...LIMIT,
      kind: 'workspace',
      thing_id: 'alpha',
      workspace: 'alpha',
      cost_usd: 5,
      cost_set_by: 'ada',
      tokens_set_by: 'agent:coder',
    },
    spent: { nano_usd: 0, tokens: 0 },
  },
  { kind: 'reserve', reservation: RESERVATION },
  { kind: 'spend', keys: ['workspace-alpha'], spent: { nano_usd: 1500, tokens: 12 } },
];

const { asked_by_agent: _agent, ...REQUEST } = sampleRequest({ id: 'plain', created_at: at(0), expires_at: at(1440) });

const FULL_REQUEST: Request = {
  ...REQUEST,
  id: 'full',
  kind: 'approval',
  options: [],
  task_id: 'held',
  asked_by_agent: 'lead',
  asked_of: 'ben',
  asked_of_name: 'Ben',
  state: 'answered',
  answer: 'approve',
  comment: 'Go ahead.',
  answered_by: 'ben',
  answered_by_agent: 'bens-agent',
  settled_at: at(5),
  default: 'refuse',
  call: {
    tool: 'coding.create_task',
    arguments: { description: 'Write the tests', files: [['a.ts']] },
    toolsets: ['coding'],
    held_to: 'default',
    readonly: false,
    grant: 'grant-1',
  },
  in_person: true,
  would: ['raise the budget of workspace "default" from $5 to $9'],
  call_key: 'e3b0c442',
  due_at: at(6),
  execution_epoch: 1,
  outcome: { answer: { taskId: 'plain' } },
};

const CHANGED_REQUEST: Request = {
  ...REQUEST,
  id: 'changed',
  state: 'answered',
  answer: 'Blue',
  answered_by: 'ada',
  settled_at: at(5),
  changed_at: at(6),
  delivered_at: at(7),
};

const REVOKED_REQUEST: Request = {
  ...REQUEST,
  id: 'revoked',
  kind: 'approval',
  options: [],
  state: 'withdrawn',
  withdrawn_because: 'REVOKED',
  settled_at: at(5),
  call: { tool: 'coding.create_task', arguments: {}, readonly: false, lineage: LINEAGE },
};

const LINK = sampleLink({ owner: 'owner', repo: 'name', linked_by: 'agent:plain', linked_at: at(4) });

export const CHANGES: readonly Change[] = [
  // Parents are created before their parts.
  { kind: 'createTodo', todo: FULL_TODO },
  ...[...TASKS, ...CODING_TASKS].map((task): Change => ({ kind: 'createTask', task })),
  ...AGENTS.map((agent): Change => ({ kind: 'createAgent', agent })),
  {
    kind: 'holdFiles',
    workspace: 'default',
    session: 'plain',
    entries: {
      plain: { agent_id: 'plain', claim_epoch: 1, globs: ['src/**'], touched: [], told: [] },
      full: {
        agent_id: 'plain',
        claim_epoch: 2,
        project: 'owner/name',
        globs: ['docs/*.md'],
        touched: ['src/a.ts'],
        told: ['plain'],
      },
    },
  },
  {
    kind: 'replaceMailbox',
    mailbox: {
      id: 'plain',
      count: 2,
      messages: [
        { id: '1', from: 'lead', workspace: 'default', text: 'Look', at: at(1) },
        { id: '2', from: 'lead', workspace: 'default', text: 'Look', at: at(2), task_id: 'plain' },
      ],
    },
    sent: { id: '2', from: 'lead', workspace: 'default', text: 'Look', at: at(2), task_id: 'plain' },
  },
  { kind: 'issueCredential', credential: CREDENTIAL },
  { kind: 'issueCredential', credential: { ...CREDENTIAL, api_key: 'mk_narrow', toolsets: ['todo'] } },
  { kind: 'issueCredential', credential: { ...CREDENTIAL, api_key: 'mk_held', held_to: 'alpha', readonly: true } },
  { kind: 'issueCredential', credential: { ...CREDENTIAL, api_key: 'mk_by_app', grant: USED_GRANT.id } },
  {
    kind: 'issueCredential',
    credential: { ...CREDENTIAL, api_key: 'mk_renewed', grant: USED_GRANT.id, line: 'mk_first', ancestors: LINEAGE },
  },
  ...[GRANT, USED_GRANT, ENDED_GRANT].map((grant): Change => ({ kind: 'createGrant', grant })),
  ...[AUTHORIZATION, SIGNED_AUTHORIZATION].map(
    (authorization): Change => ({ kind: 'startAuthorization', authorization }),
  ),
  {
    kind: 'storeClient',
    client: {
      id: 'client_9b2f4c1d7e8a40536271f0e9d8c7b6a5',
      name: 'Cursor',
      redirect_uris: [
        'cursor://anysphere.cursor-mcp/oauth/callback',
        'https://www.cursor.com/agents/mcp/oauth/callback',
        'http://localhost:8787/callback',
      ],
      created_at: at(0),
      expires_at: at(90 * 24 * 60),
    },
  },
  { kind: 'setPerson', uid: 'ada', role: 'admin' },
  { kind: 'setPerson', uid: 'cyd', role: 'none' },
  { kind: 'limitAccount', uid: 'cyd', validSince: 1_788_000_000, account: 'disabled', isNews: true },
  { kind: 'setMember', member: { uid: 'ben', workspace: 'alpha', role: 'leader', added_by: 'ada', added_at: at(0) } },
  { kind: 'nameWorkspace', workspace: 'alpha', access: 'private' },
  {
    kind: 'createWorkspace',
    name: 'alpha',
    workspace: { repositories: ['sartor-ai/muster'], created_by: 'agent:plain', created_at: at(0) },
  },
  {
    kind: 'setApprovalRules',
    workspace: 'alpha',
    approvals: [{ tool: 'github.createPR' }, { tool: 'orchestration.orchestrate', above_usd: 2, asks: 'ben' }],
  },
  { kind: 'listRepositories', workspace: 'alpha', repositories: ['sartor-ai/*'] },
  {
    kind: 'routeWorkspace',
    workspace: 'alpha',
    routing: { pins: [{ kind: 'review', agent: 'claude' }], forbidden: ['gemini'] },
  },
  {
    kind: 'queueEmail',
    mail: {
      id: 'invitation-1-0',
      to: 'cyd@example.com',
      subject: 'An invitation',
      text: 'You are invited.',
      at: at(0),
    },
  },
  {
    kind: 'invite',
    invitation: {
      id: 'invitation-1',
      workspace: 'alpha',
      email: 'cyd@example.com',
      role: 'worker',
      invited_by: 'ben',
      created_at: at(0),
      expires_at: at(100),
    },
  },
  {
    kind: 'invite',
    invitation: {
      id: 'invitation-2',
      workspace: 'alpha',
      email: 'dan@example.com',
      role: 'viewer',
      invited_by: 'ben',
      created_at: at(0),
      expires_at: at(100),
      lineage: LINEAGE,
    },
  },
  { kind: 'countAgents', workspace: 'default', by: { total: 1, leaders: 1, active: 1, registered: 1, online: 1 } },
  { kind: 'openSession', session: SESSION },
  { kind: 'archiveSession', session: { ...SESSION, id: 'session-0' }, version: '1.0', at: at(1) },
  {
    kind: 'count',
    workspace: 'default',
    session: 'session-1',
    by: { available: 2, claimed: -1 },
    at: at(1),
    waited: 1200,
  },
  { kind: 'count', workspace: 'default', session: 'session-2', by: {}, at: at(1) },
  {
    kind: 'createDiscovery',
    discovery: {
      id: 'discovery-1',
      workspace: 'default',
      session: 'session-1',
      agent_id: 'plain',
      content: 'It is in the attic',
      tags: ['attic'],
      created_at: at(0),
    },
  },
  {
    kind: 'offerSkill',
    skill: { id: 'plain', workspace: 'alpha', name: 'Tests', category: 'general', version: '1.0.0', author: 'plain' },
    agents: 1,
  },
  {
    kind: 'offerSkill',
    skill: {
      id: 'full',
      workspace: 'default',
      name: 'TypeScript',
      category: 'languages',
      parameters: { versions: [['5'], ['7']] },
      version: '1.0.0',
      author: 'Ada',
    },
    agents: 1,
  },
  {
    kind: 'checkFailed',
    taskId: TASK.id,
    check: { name: 'build', at: at(3), repository: 'octo/app', pull_request: 7, url: 'https://example.com/1' },
  },
  {
    kind: 'logFailedCheck',
    task: { id: TASK.id, workspace: 'default' },
    entry: {
      id: 'check-1',
      details: { source: 'check_run', name: 'build', conclusion: 'failure' },
      at: at(3),
      repository: 'octo/app',
      pull_request: 7,
    },
  },
  ...appendNumbered(undefined, 1, LINES).writes.map(
    (write): Change => ({ kind: 'appendLog', task: { id: 'coding', workspace: 'default' }, write }),
  ),
  { kind: 'storeResult', task: { id: 'coding-done', workspace: 'default' }, epoch: 2, parts: ['{"summary":1}'] },
  { kind: 'linkPullRequest', link: { ...LINK, task_id: 'held' } },
  {
    kind: 'openSubscription',
    ownerUid: 'ada',
    subscription: {
      id: 'subscription-1',
      uid: 'agent:plain',
      subscription_id: 'mine',
      database: 'realtime',
      path: 'tasks/queue',
      event_type: 'child_added',
      log: 'log-1',
      created_at: at(0),
      rights: '4bf5ebe0000000000000',
      expires_at: at(100),
    },
  },
  { kind: 'recordEvent', event: EVENT },
  {
    kind: 'recordEvent',
    event: { ...EVENT, id: 'event-2', type: 'deleted', before: EVENT.after, after: null, changes: [] },
  },
  { kind: 'createReminder', reminder: REMINDER },
  {
    kind: 'createReminder',
    reminder: { ...REMINDER, id: 'full', task_id: 'full', sent: true, sent_at: at(31), late: true },
  },
  { kind: 'createTodo', todo: TODO },
  { kind: 'reserveTitle', id: 'guard-1', taskId: 'plain' },
  { kind: 'createRecurringTask', recurringTask: RECURRING },
  {
    kind: 'createRecurringTask',
    recurringTask: {
      ...RECURRING,
      id: 'full',
      description: 'With water',
      tags: ['home'],
      end_date: at(9000),
      ended_at: at(99),
    },
  },
  {
    kind: 'createWorkflow',
    saved: {
      id: 'workflow-1',
      owner_uid: 'ada',
      definition: readWorkflow(DEFINITION, 'workflow'),
      version: 1,
      created_at: at(0),
      updated_at: at(1),
    },
  },
  { kind: 'measureAgent', measure: { agent: 'claude', requests: 2, answered: 1, milliseconds: 1200 } },
  {
    kind: 'recordOutcomes',
    workspace: 'alpha',
    bookings: [
      {
        kind: 'review',
        outcomes: 2,
        bucket: 16,
        tallies: {
          claude: {
            accepted: 1,
            failed: 1,
            lost: 0,
            retried: 1,
            worth: 0.75,
            milliseconds: 1200,
            cost_usd: 0.01,
            unpriced: 1,
          },
        },
        faded: [],
      },
    ],
  },
  ...[RUN, FULL_RUN].map(
    (run): Change => ({
      kind: 'createRun',
      run,
      order: {
        workflow: readWorkflow(DEFINITION, 'workflow'),
        input: 'Write a poem',
        context: { about: [['roses']] },
        budget: { tokens: 1000, cost_usd: 1 },
        parallel: false,
        forbidden: ['gemini'],
      },
    }),
  ),
  ...[STEP, FULL_STEP].map((step): Change => ({ kind: 'recordStep', runId: 'plain', step })),
  ...[
    CALL,
    { ...CALL, id: 'answered', ending: { at: at(1), attempt: ATTEMPT, settled: { answer: ANSWER } } },
    {
      ...CALL,
      id: 'failed',
      ending: {
        at: at(1),
        attempt: { ...ATTEMPT, end: 'timeout', reason: 'It timed out.', outcome_unknown: true } as const,
        settled: { failure: TIMED_OUT },
      },
    },
  ].map((entry): Change => ({ kind: 'startCall', runId: 'plain', entry })),
  ...BUDGETS,
  ...[REQUEST, FULL_REQUEST, CHANGED_REQUEST, REVOKED_REQUEST].map(
    (request): Change => ({ kind: 'createRequest', request }),
  ),
  { kind: 'cacheResponse', key: 'answer-1', runId: 'plain', expiresAt: at(5) },
  {
    kind: 'linkPullRequest',
    link: {
      ...LINK,
      number: 9,
      task_id: '',
      title: 'Say why',
      state: 'merged',
      state_at: at(5),
      head: 'c'.repeat(40),
      head_at: at(4),
      checks: [
        {
          key: '["check_run","build",7]',
          name: 'build',
          commit: 'c'.repeat(40),
          at: at(4),
          id: 1,
          passed: false,
          url: 'https://example.com/1',
        },
      ],
      part_of: { kind: 'run', id: FULL_RUN.id },
      ancestors: [`run-${FULL_RUN.id}`, 'task-part', 'todo-full'],
    },
  },
];

export const SETTLED = {
  id: 'settled-1',
  arguments_hash: 'e3b0c442',
  answer: { task_id: 'plain', files: [['a.ts']] },
  expires_at: at(1440),
};

/** Lists of changes, each with the call that made the changes, as the audit log records them. */
export const TOLD: readonly [readonly Change[], CallRecord][] = [
  [
    [
      { kind: 'audit', effect: { kind: 'task', id: 'plain', workspace: 'default', after: { priority: 5 } } },
      { kind: 'audit', effect: { kind: 'todo', id: 'todo-1', owner_uid: 'ada', before: { title: 'Milk' } } },
      {
        kind: 'audit',
        effect: { kind: 'task', id: 'huge', workspace: 'default', after: { hints: 'x'.repeat(200_000) } },
      },
      {
        kind: 'audit',
        effect: {
          kind: 'document',
          id: 'realtime:shared/plan',
          workspace: 'default',
          before: { __rows__: [[1]] },
          after: { __rows__: [[1, 2]], 'a-b': { c: null } },
          free_form: true,
        },
      },
    ],
    {
      by: {
        uid: 'agent:coder',
        agent_id: 'coder',
        owner_uid: 'ada',
        grant_id: 'grant-1',
        tool: 'coordination.create_task',
        workspace: 'default',
        request_id: 'request-1',
        approved_by: 'ada',
      },
    },
  ],
  [
    [{ kind: 'audit', effect: { kind: 'todo', id: 'todo-1', owner_uid: 'ada', after: { title: 'Milk' } } }],
    {
      by: { uid: 'ada', owner_uid: 'ada', tool: 'system.undo', workspace: 'default', request_id: 'request-2' },
      undoes: { id: 'entry-1', version: '1.0' },
    },
  ],
];

/** The caller whose write leaves a commit marker. */
export const CALLER: Caller = { principal: personOf('ada', 'worker'), credential: 'token' };

export const REPETITION = { id: 'write-1', argumentsHash: 'e3b0c442' };
export const OUTAGE: SweepState['outage'] = { since: new Date(START), back_at: new Date(START + 60_000) };

export const BEHIND: SweepState['behind'] = {
  leases: { since: new Date(START), from: { at: new Date(START - 60_000), id: 'task-0001' } },
  liveness: { since: new Date(START) },
};

export const ARRIVAL = [EVENT, 'e3b0c442', at(1)] as const;

export const NOTIFICATION: Notification = {
  id: 'event-1',
  uid: 'ada',
  about: { task_id: 'plain' },
  what: 'Reminder',
  title: 'Buy milk',
  body: 'A reminder of your to-do.',
  link: 'https://muster-team.web.app/d/plain',
  at: at(30),
};
