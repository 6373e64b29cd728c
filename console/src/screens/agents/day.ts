/** A day of an agent, from the audit log: when it worked on which task, and when it waited for an answer. */

export interface DayEvent {
  readonly at: Date;
  /** Id of the agent that acted. */
  readonly by: string;
  readonly tool: string;
  readonly changes: readonly DayChange[];
}

interface DayChange {
  readonly kind: string;
  readonly id: string;
  readonly before?: Readonly<Record<string, unknown>>;
  readonly after?: Readonly<Record<string, unknown>>;
}

export interface WorkSpan {
  readonly taskId: string;
  readonly from: Date;
  /** End; undefined if it still lasts. */
  readonly to: Date | undefined;
  /** How it ended: the task's state, `released`, or `open`. */
  readonly end: 'done' | 'failed' | 'released' | 'open';
  readonly waits: readonly { readonly from: Date; readonly to: Date | undefined }[];
}

/** Task that an agent holds now. */
export interface HeldTask {
  readonly taskId: string;
  readonly claimedAt: Date | undefined;
}

const HELD = ['claimed', 'in_progress', 'waiting'];

/**
 * @param events of one day, in any order, of all agents and people who changed the agent's tasks
 * @param held tasks that the agent holds now, which it may have claimed before the day
 * @param start start of the day
 */
export function dayOfAgent(
  agentId: string,
  events: readonly DayEvent[],
  { held, start }: { readonly held: readonly HeldTask[]; readonly start: Date },
): readonly WorkSpan[] {
  const ended: WorkSpan[] = [];
  const open = new Map<string, OpenSpan>();
  const inOrder = [...events].sort((one, other) => one.at.getTime() - other.at.getTime());
  for (const { at, by, changes } of inOrder)
    for (const change of changes) {
      const isOwn =
        by === agentId || open.has(change.id) || holderBefore(change) === agentId || isClaim(change, agentId);
      if (change.kind === 'task' && isOwn) ended.push(...applied(change, at, { agentId, open, start }));
    }
  const still = held.map(({ taskId, claimedAt }): WorkSpan => {
    const from = claimedAt !== undefined && claimedAt > start ? claimedAt : start;
    return { taskId, to: undefined, end: 'open', ...(open.get(taskId) ?? { from, waits: [] }) };
  });
  return [...ended, ...still].sort((one, other) => one.from.getTime() - other.from.getTime());
}

interface OpenSpan {
  readonly from: Date;
  readonly waits: { readonly from: Date; to: Date | undefined }[];
}

interface DayState {
  readonly agentId: string;
  readonly open: Map<string, OpenSpan>;
  readonly start: Date;
}

const holderBefore = ({ before = {} }: DayChange) => before['claimed_by'];
const isClaim = ({ after = {} }: DayChange, agentId: string) => after['claimed_by'] === agentId;

/** Applies a change of a task. @returns the spans that it ends */
function applied(change: DayChange, at: Date, { agentId, open, start }: DayState): readonly WorkSpan[] {
  const { id, before = {}, after = {} } = change;
  const span = open.get(id);
  if (isClaim(change, agentId)) open.set(id, { from: at, waits: [] });
  const isEnd = typeof after['status'] === 'string' && !HELD.includes(after['status']);
  const isTaken = 'claimed_by' in after && after['claimed_by'] !== agentId;
  if (span === undefined) {
    const wasHeld = holderBefore(change) === agentId && (isEnd || isTaken);
    return wasHeld ? [{ taskId: id, from: start, to: at, end: endOf(after['status']), waits: [] }] : [];
  }
  if (after['waiting_for'] != null) span.waits.push({ from: at, to: undefined });
  else if (before['waiting_for'] != null) close(span.waits.at(-1), at);
  if (!isEnd && !isTaken) return [];
  close(span.waits.at(-1), at);
  open.delete(id);
  return [{ taskId: id, from: span.from, to: at, end: endOf(after['status']), waits: span.waits }];
}

function close(wait: { to: Date | undefined } | undefined, at: Date): void {
  if (wait !== undefined && wait.to === undefined) wait.to = at;
}

function endOf(status: unknown): WorkSpan['end'] {
  return status === 'done' || status === 'failed' ? status : 'released';
}
