/** What `session://{sessionType}/{sessionId}` shows. */
import { codingStatus } from '../../domain/coding/status.ts';
import { isHeld } from '../../domain/tasks/task.ts';
import { terminalText } from '../../domain/terminalText.ts';
import type { CallContext } from '../../mcp/tool.ts';
import { pastAttemptAnswer } from './answers.ts';

interface SessionName {
  readonly sessionType: 'coding' | 'coordination';
  readonly sessionId: string;
}

/** @throws MusterError NOT_FOUND */
export function sessionAnswer(
  context: CallContext,
  { sessionType, sessionId }: SessionName,
): Promise<object> {
  return sessionType === 'coding'
    ? runnerSession(context, sessionId)
    : coordinationSession(context, sessionId);
}

async function runnerSession({ services, workspace }: CallContext, id: string): Promise<object> {
  const dot = id.lastIndexOf('.');
  const epoch = Number(id.slice(dot + 1));
  const { task, past } = await services.codingView.runnerSession(workspace, id.slice(0, dot), epoch);
  const { claim, coding } = task;
  const named = {
    sessionType: 'coding',
    sessionId: id,
    taskId: task.id,
    tool: coding.tool,
    branch: coding.branch,
  };
  if (past !== undefined || claim === undefined) {
    return { ...named, isAlive: false, ...(past && pastAttemptAnswer(task, past)) };
  }
  return {
    ...named,
    isAlive: isHeld(task.status),
    status: codingStatus(task.status),
    state: task.status,
    runner: claim.agentId,
    epoch,
    claimedAt: claim.claimedAt,
    startedAt: claim.startedAt,
    endedAt: task.closedAt,
    leaseUntil: isHeld(task.status) ? claim.leaseExpiresAt : undefined,
    progress: coding.progress === undefined ? undefined : terminalText(coding.progress),
  };
}

async function coordinationSession({ services, workspace }: CallContext, id: string): Promise<object> {
  const { session, isOpen, counters } = await services.codingView.coordinationSession(workspace, id);
  return {
    sessionType: 'coordination',
    sessionId: id,
    workspace,
    isOpen,
    goal: session.goal,
    masterPlan: session.masterPlan,
    createdAt: session.createdAt,
    counts: counters.counts,
    lastActivity: counters.lastActivity,
  };
}
