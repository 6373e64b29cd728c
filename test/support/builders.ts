/** The smallest valid object of each kind of the domain. A test names only the fields that it is about. */
import { type Agent, NOTHING_DONE } from '../../functions/src/access/rules/agent.ts';
import type { Credential } from '../../functions/src/access/rules/credential.ts';
import {
  CODE_MILLISECONDS,
  challengeOf,
  type Grant,
  MOST_MILLISECONDS,
} from '../../functions/src/access/rules/grant.ts';
import type { Versioned } from '../../functions/src/kernel/commit.ts';
import { systemHashing } from '../../functions/src/kernel/platform.ts';
import type { CodingTask, CodingWork } from '../../functions/src/toolsets/coordination/rules/codingTask.ts';
import type { Session } from '../../functions/src/toolsets/coordination/rules/session.ts';
import type { Task } from '../../functions/src/toolsets/coordination/rules/task.ts';
import type { PullRequestLink } from '../../functions/src/toolsets/github/rules/link.ts';
import type { Request } from '../../functions/src/toolsets/inbox/rules/request.ts';
import type {
  Attempt,
  JournalEntry,
} from '../../functions/src/toolsets/orchestration/rules/calls/attempt.ts';
import {
  NOTHING_SPENT,
  type Run,
  type StepRecord,
} from '../../functions/src/toolsets/orchestration/rules/runs/run.ts';
import type { RecurringTask } from '../../functions/src/toolsets/todo/rules/recurrenceRule.ts';
import type { Todo } from '../../functions/src/toolsets/todo/rules/todo.ts';

export const START = new Date('2030-01-01T00:00:00.000Z');

export function secondsAfterStart(seconds: number): Date {
  return new Date(START.getTime() + seconds * 1000);
}

export function versionOf<Value>(value: Value, version = '1.0'): Versioned<Value> {
  return { value, version };
}

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
    failedDependencies: [],
    requiredCapabilities: [],
    context: { files: [] },
    createdAt: START,
    createdBy: 'lead',
    epoch: 0,
    lapsedClaims: [],
    retries: 0,
    formerEnds: [],
    stuckDependencies: {},
    stuck: false,
    stuckUnsettled: false,
    ...changes,
  };
}

export function sampleCodingWork(changes: Partial<CodingWork> = {}): CodingWork {
  return {
    tool: 'CLAUDECODE',
    instructions: 'Implement JWT authentication',
    branch: 'feature/auth',
    config: {},
    ownerUid: 'person',
    queueSeconds: 3600,
    queueEndsAt: secondsAfterStart(3600),
    attempts: [],
    returns: 0,
    ...changes,
  };
}

/** A coding task, waiting for a runner. */
export function sampleCodingTask(changes: Partial<CodingTask> = {}): CodingTask {
  return { ...sampleTask({ requiredCapabilities: ['claude'] }), coding: sampleCodingWork(), ...changes };
}

export function sampleSession(changes: Partial<Session> = {}): Session {
  return {
    id: 'session-1',
    workspace: 'alpha',
    goal: 'A goal',
    masterPlan: '',
    createdAt: START,
    queueVersion: 1,
    capabilityKeys: [],
    spread: 8,
    firstGate: 0,
    ...changes,
  };
}

export function sampleAgent(changes: Partial<Agent> = {}): Agent {
  return {
    id: 'terminal-2',
    name: 'terminal-2',
    type: 'developer',
    version: '1.0.0',
    capabilities: [],
    configuration: {
      maxConcurrentTasks: 1,
      timeout: 30_000,
      retryPolicy: { maxRetries: 3, backoffMs: 1000 },
    },
    ownerUid: 'person',
    role: 'worker',
    status: 'active',
    registeredAt: START,
    lastSeen: START,
    ...NOTHING_DONE,
    ...changes,
  };
}

/** A key that has expired, unless its end is named. */
export function sampleCredential(changes: Partial<Credential> = {}): Credential {
  return {
    apiKey: 'mk_a',
    agentId: 'terminal-2',
    secretHash: 'a-digest',
    createdAt: START,
    expiresAt: START,
    ancestors: [],
    ...changes,
  };
}

/** The secret of the code of `sampleGrant`, and what its app proves itself by. */
export const CODE = 'the-secret-of-a-code-that-waits-to-be-redeemed';
export const VERIFIER = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';
export const SALT = 'Jm3yqT1c0ZKQv5bqk1pA8Yl2m9o4h7uXeWnRsDgBfCE';

/** A sign-in whose code waits to be redeemed. */
export function sampleGrant(changes: Partial<Grant> = {}): Grant {
  const codeExpiresAt = new Date(START.getTime() + CODE_MILLISECONDS);
  return {
    id: 'k3v7q2mzj5x4n6r2wbta',
    ownerUid: 'person',
    agentId: 'terminal-2',
    clientId: 'https://client.example/oauth.json',
    clientName: 'A client',
    clientHost: 'client.example',
    resource: 'https://muster.example/mcp',
    createdAt: START,
    usedAt: START,
    expiresAt: codeExpiresAt,
    endsAt: new Date(START.getTime() + MOST_MILLISECONDS),
    salt: SALT,
    code: {
      hash: systemHashing.sha256(CODE),
      challenge: challengeOf(systemHashing, VERIFIER),
      redirectUri: 'http://localhost:1234/callback',
      expiresAt: codeExpiresAt,
      isRedeemed: false,
    },
    rotated: 0,
    recentRotations: [],
    accessTokens: [],
    ...changes,
  };
}

export function sampleTodo(changes: Partial<Todo> = {}): Todo {
  return {
    id: 'todo-1',
    ownerUid: 'owner-1',
    title: 'Finish the presentation',
    priority: 'MEDIUM',
    tags: [],
    completed: false,
    createdAt: START,
    ...changes,
  };
}

export function sampleRecurringTask(changes: Partial<RecurringTask> = {}): RecurringTask {
  return {
    id: 'recurring-1',
    ownerUid: 'owner-1',
    title: 'Check emails',
    priority: 'MEDIUM',
    tags: [],
    frequency: 'DAILY',
    anchor: START,
    timezone: 'UTC',
    createdAt: START,
    latestOn: '2030-01-01',
    latestDue: START,
    ...changes,
  };
}

/** A question that waits for its person. */
export function sampleRequest(changes: Partial<Request> = {}): Request {
  return {
    id: 'request-1',
    workspace: 'default',
    kind: 'text',
    question: 'What is it to be called?',
    options: [],
    askedBy: 'agent:lead',
    askedByAgent: 'lead',
    ownerUid: 'ada',
    askedOf: 'ada',
    askedOfName: 'Ada',
    state: 'open',
    createdAt: START,
    expiresAt: secondsAfterStart(86_400),
    putOff: false,
    epoch: 0,
    ...changes,
  };
}

/** A run that nobody has begun to execute. */
export function sampleRun(changes: Partial<Run> = {}): Run {
  return {
    id: 'run-1',
    ownerUid: 'ada',
    startedBy: 'agent:lead',
    workspace: 'default',
    workflow: 'direct',
    title: 'Write a poem',
    status: 'pending',
    createdAt: START,
    cancelRequested: false,
    epoch: 0,
    deliveries: 0,
    deadline: secondsAfterStart(3600),
    current: [],
    stepsSettled: 0,
    stepsPlanned: 1,
    spent: NOTHING_SPENT,
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
    spent: NOTHING_SPENT,
    startedAt: START,
    ...changes,
  };
}

/** A model that was asked, and has answered. */
export function sampleAttempt(changes: Partial<Attempt> = {}): Attempt {
  return {
    call: 'claude',
    number: 1,
    agent: 'claude',
    model: 'claude-opus',
    waited: 0,
    end: 'answered',
    milliseconds: 100,
    usage: { inputTokens: 10, outputTokens: 20 },
    costUsd: 0.01,
    outcomeUnknown: false,
    ...changes,
  };
}

/** A call of a model that is under way. */
export function sampleCall(changes: Partial<JournalEntry> = {}): JournalEntry {
  return {
    id: 'call-1',
    step: 'execute.1',
    call: 'claude',
    number: 1,
    repetition: 0,
    agent: 'claude',
    model: 'claude-opus',
    inputHash: '',
    inputTokens: 10,
    maxOutputTokens: 10,
    waited: 0,
    startedAt: START,
    ...changes,
  };
}

/** An open pull request of the task `task-1`. */
export function sampleLink(changes: Partial<PullRequestLink> = {}): PullRequestLink {
  return {
    repositoryId: 7,
    number: 8,
    owner: 'octo',
    repo: 'app',
    taskId: 'task-1',
    linkedBy: 'agent:lead',
    linkedAt: START,
    workspace: 'default',
    title: 'End retries',
    state: 'open',
    checks: [],
    ...changes,
  };
}
