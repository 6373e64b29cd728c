/** Values to begin a test with, and the look at an error. */
import assert from 'node:assert/strict';
import { type Agent, NOTHING_DONE } from '../../functions/src/access/rules/agent.ts';
import type { Versioned } from '../../functions/src/kernel/commit.ts';
import { MusterError } from '../../functions/src/kernel/errors.ts';
import type { CodingTask, CodingWork } from '../../functions/src/toolsets/coordination/rules/codingTask.ts';
import type { Task } from '../../functions/src/toolsets/coordination/rules/task.ts';

export const START = new Date('2030-01-01T00:00:00.000Z');

export function secondsAfterStart(seconds: number): Date {
  return new Date(START.getTime() + seconds * 1000);
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

export function versionOf<Value>(value: Value, version = '1.0'): Versioned<Value> {
  return { value, version };
}

/** The MusterError that `act` throws, now or later. */
export async function refusal(act: () => unknown): Promise<MusterError> {
  try {
    await act();
  } catch (error) {
    assert.ok(error instanceof MusterError, `not a MusterError: ${String(error)}`);
    return error;
  }
  assert.fail('nothing was refused');
}
