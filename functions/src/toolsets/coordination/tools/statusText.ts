/** What get_status answers, for who reads it in a terminal. */
import { columnLines, terminalLines } from '../../../kernel/text.ts';
import type { statusAnswer } from './get_status.ts';

export function statusText(answer: ReturnType<typeof statusAnswer>): string {
  const { goal, tasks, total_tasks, progress_percent, blocked_tasks, agents, late, stuck } = answer;
  const blocked = blocked_tasks > 0 ? ` (${blocked_tasks} of them blocked)` : '';
  const lines = [
    `Goal: ${goal || 'none is set'}`,
    `Tasks: ${tasks.done} of ${total_tasks} done (${progress_percent} %), ${tasks.in_progress} in progress, ${tasks.claimed} claimed, ${tasks.available} available${blocked}, ${tasks.failed} failed`,
    `Agents: ${agents.active} active of ${agents.total} (leaders ${agents.leaders}, workers ${agents.workers})`,
    `Discoveries: ${answer.discoveries_count}`,
    `Last activity: ${answer.last_activity ?? 'none'}`,
  ];
  if (stuck !== undefined) {
    lines.push(`Will never start: ${stuck.count}${named(stuck)}`);
    lines.push(...columnLines(stuck.tasks.map(({ id, reason = '' }) => [id, reason])));
  }
  if (late !== undefined) {
    const rows = late.tasks.map(({ id, status, deadline = '', claimed_by }) => [
      id,
      status,
      `due ${deadline}`,
      claimed_by === undefined ? '' : `held by ${claimed_by}`,
    ]);
    lines.push(`Late: ${late.count}${named(late)}`, ...columnLines(rows));
  }
  return terminalLines(lines);
}

function named({ count, tasks }: { readonly count: number; readonly tasks: readonly unknown[] }): string {
  return count > tasks.length ? `, of which ${tasks.length} are named` : '';
}
