/** Builders of minimal valid domain objects. Each test sets only the fields that matter for it. */
import { type Agent, NO_METRICS } from '../../functions/src/agents/rules/agent.ts';
import type { Credential } from '../../functions/src/identity/rules/credential.ts';
import { CODE_TTL_MS, challengeOf, type Grant, MAX_GRANT_TTL_MS } from '../../functions/src/identity/rules/grant.ts';
import type { Versioned } from '../../functions/src/kernel/commit.ts';
import { systemHashing } from '../../functions/src/kernel/platform.ts';
import type { CodingTask, CodingWork } from '../../functions/src/toolsets/coordination/rules/codingTask.ts';
import { NOTHING_PROVEN } from '../../functions/src/toolsets/coordination/rules/proof/proving.ts';
import type { Session } from '../../functions/src/toolsets/coordination/rules/session.ts';
import type { Task } from '../../functions/src/toolsets/coordination/rules/task.ts';
import type { PullRequestLink } from '../../functions/src/toolsets/github/rules/link.ts';
import type { Request } from '../../functions/src/toolsets/inbox/rules/request.ts';
import type { Attempt, JournalEntry } from '../../functions/src/toolsets/orchestration/rules/calls/attempt.ts';
import type { Run } from '../../functions/src/toolsets/orchestration/rules/runs/run.ts';
import { NO_USAGE, type StepRecord } from '../../functions/src/toolsets/orchestration/rules/steps/step.ts';
import type { RecurringTask } from '../../functions/src/toolsets/todo/rules/recurring/recurrenceRule.ts';
import type { Todo } from '../../functions/src/toolsets/todo/rules/todo.ts';

export const START = new Date('2030-01-01T00:00:00.000Z');

export const secondsAfterStart = (seconds: number): Date => new Date(START.getTime() + seconds * 1000);

export const versionOf = <Value>(value: Value, version = '1.0'): Versioned<Value> => ({ value, version });

export function sampleTask(changes: Partial<Task> = {}): Task {
  return {
    id: 'task-1',
    workspace: 'alpha',
    session: 'session-1',
    description: 'Create the user model',
    priority: 5,
    status: 'available',
    dependencies: [],
    dependents: [],
    blockers: 0,
    failed_dependencies: [],
    required_capabilities: [],
    context: { files: [] },
    created_at: START,
    created_by: 'lead',
    claim_epoch: 0,
    lapsed_claims: [],
    retries: 0,
    former_ends: [],
    stuck_dependencies: {},
    stuck: false,
    stuck_unsettled: false,
    ...NOTHING_PROVEN,
    ...changes,
  };
}

export function sampleCodingWork(changes: Partial<CodingWork> = {}): CodingWork {
  return {
    tool: 'CLAUDECODE',
    instructions: 'Implement JWT authentication',
    branch: 'feature/auth',
    config: {},
    owner_uid: 'person',
    queue_seconds: 3600,
    queue_ends_at: secondsAfterStart(3600),
    attempts: [],
    returns: 0,
    ...changes,
  };
}

/** Returns a coding task that waits for a runner. */
export function sampleCodingTask(changes: Partial<CodingTask> = {}): CodingTask {
  return { ...sampleTask({ required_capabilities: ['claude'] }), coding: sampleCodingWork(), ...changes };
}

export function sampleSession(changes: Partial<Session> = {}): Session {
  return {
    id: 'session-1',
    workspace: 'alpha',
    goal: 'A goal',
    master_plan: '',
    created_at: START,
    queue_version: 1,
    capability_keys: [],
    spread: 1,
    first_gate: 0,
    counter_shards: 8,
    ...changes,
  };
}

export function sampleAgent(changes: Partial<Agent> = {}): Agent {
  return {
    id: 'terminal-2',
    name: 'terminal-2',
    type: 'developer',
    version: '1.0.0',
    capability_details: [],
    configuration: { max_concurrent_tasks: 1, timeout: 30_000, retry_policy: { max_retries: 3, backoff_ms: 1000 } },
    owner_uid: 'person',
    role: 'worker',
    status: 'active',
    registered_at: START,
    last_seen: START,
    ...NO_METRICS,
    ...changes,
  };
}

/** Returns a credential that has expired, unless the test sets `expires_at`. */
export function sampleCredential(changes: Partial<Credential> = {}): Credential {
  return {
    api_key: 'mk_a',
    agent_id: 'terminal-2',
    secret_hash: 'a-digest',
    created_at: START,
    expires_at: START,
    ancestors: [],
    ...changes,
  };
}

/** The authorization code of `sampleGrant`, and the PKCE verifier of its app. */
export const CODE = 'the-secret-of-a-code-that-waits-to-be-redeemed';
export const VERIFIER = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';
export const SALT = 'Jm3yqT1c0ZKQv5bqk1pA8Yl2m9o4h7uXeWnRsDgBfCE';

/** Returns a sign-in whose authorization code has not been redeemed. */
export function sampleGrant(changes: Partial<Grant> = {}): Grant {
  const codeExpiresAt = new Date(START.getTime() + CODE_TTL_MS);
  return {
    id: 'k3v7q2mzj5x4n6r2wbta',
    owner_uid: 'person',
    agent_id: 'terminal-2',
    client_id: 'https://client.example/oauth.json',
    client_name: 'A client',
    client_host: 'client.example',
    resource: 'https://muster.example/mcp',
    created_at: START,
    used_at: START,
    expires_at: codeExpiresAt,
    ends_at: new Date(START.getTime() + MAX_GRANT_TTL_MS),
    salt: SALT,
    code: {
      hash: systemHashing.sha256(CODE),
      challenge: challengeOf(systemHashing, VERIFIER),
      redirect_uri: 'http://localhost:1234/callback',
      expires_at: codeExpiresAt,
      is_redeemed: false,
    },
    rotated: 0,
    recent_rotations: [],
    access_tokens: [],
    ...changes,
  };
}

export function sampleTodo(changes: Partial<Todo> = {}): Todo {
  return {
    id: 'todo-1',
    owner_uid: 'owner-1',
    title: 'Finish the presentation',
    priority: 'MEDIUM',
    tags: [],
    completed: false,
    created_at: START,
    ...changes,
  };
}

export function sampleRecurringTask(changes: Partial<RecurringTask> = {}): RecurringTask {
  return {
    id: 'recurring-1',
    owner_uid: 'owner-1',
    title: 'Check emails',
    priority: 'MEDIUM',
    tags: [],
    frequency: 'DAILY',
    start_date: START,
    timezone: 'UTC',
    created_at: START,
    latest_on: '2030-01-01',
    latest_due: START,
    ...changes,
  };
}

/** Returns an open question to a person. */
export function sampleRequest(changes: Partial<Request> = {}): Request {
  return {
    id: 'request-1',
    workspace: 'default',
    kind: 'text',
    question: 'What is it to be called?',
    options: [],
    asked_by: 'agent:lead',
    asked_by_agent: 'lead',
    owner_uid: 'ada',
    asked_of: 'ada',
    asked_of_name: 'Ada',
    state: 'open',
    created_at: START,
    expires_at: secondsAfterStart(86_400),
    put_off: false,
    execution_epoch: 0,
    ...changes,
  };
}

/** Returns a run that has not started. */
export function sampleRun(changes: Partial<Run> = {}): Run {
  return {
    id: 'run-1',
    owner_uid: 'ada',
    started_by: 'agent:lead',
    workspace: 'default',
    workflow: 'direct',
    title: 'Write a poem',
    status: 'pending',
    created_at: START,
    cancel_requested: false,
    epoch: 0,
    deliveries: 0,
    deadline: secondsAfterStart(3600),
    current: [],
    steps_settled: 0,
    steps_planned: 1,
    spent: NO_USAGE,
    warnings: [],
    ...changes,
  };
}

export function sampleStep(changes: Partial<StepRecord> = {}): StepRecord {
  return {
    id: 'execute.1',
    number: 1,
    name: 'execute',
    iteration: 1,
    role: 'execute',
    agents: [],
    status: 'waiting',
    attempts: [],
    spent: NO_USAGE,
    started_at: START,
    ...changes,
  };
}

/** Returns a completed model call. */
export function sampleAttempt(changes: Partial<Attempt> = {}): Attempt {
  return {
    call: 'claude',
    number: 1,
    agent: 'claude',
    model: 'claude-opus',
    waited: 0,
    end: 'answered',
    milliseconds: 100,
    usage: { input_tokens: 10, output_tokens: 20 },
    cost_usd: 0.01,
    outcome_unknown: false,
    ...changes,
  };
}

/** Returns a model call in progress. */
export function sampleCall(changes: Partial<JournalEntry> = {}): JournalEntry {
  return {
    id: 'call-1',
    step: 'execute.1',
    call: 'claude',
    number: 1,
    repetition: 0,
    agent: 'claude',
    model: 'claude-opus',
    input_hash: '',
    input_tokens: 10,
    max_output_tokens: 10,
    waited: 0,
    started_at: START,
    ...changes,
  };
}

/** Returns an open pull request of the task `task-1`. */
export function sampleLink(changes: Partial<PullRequestLink> = {}): PullRequestLink {
  return {
    repository_id: 7,
    number: 8,
    owner: 'octo',
    repo: 'app',
    task_id: 'task-1',
    linked_by: 'agent:lead',
    linked_at: START,
    workspace: 'default',
    title: 'End retries',
    state: 'open',
    checks: [],
    ...changes,
  };
}
