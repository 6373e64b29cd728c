/** A page of to-dos, for who reads it in a terminal. */
import type { z } from 'zod';
import { quotedLines, terminalLines } from '../../../kernel/text.ts';
import type { listShape } from './listing.ts';
import type { delegatedShape, taskShape } from './shapes.ts';

export function listText(answer: z.output<typeof listShape>): string {
  const { tasks = [], total = tasks.length, total_pages, has_previous, truncated, next_cursor } = answer;
  const pages = total_pages !== undefined && total_pages > 1 ? `, in ${total_pages} pages` : '';
  const where = has_previous === true ? ', after earlier ones' : '';
  const lines = [`${tasks.length} of ${total} to-dos${pages}${where}`, ...tasks.flatMap(todoLines)];
  if (truncated === true) lines.push(`There is more: next_cursor ${next_cursor ?? ''}`);
  return terminalLines(lines);
}

function todoLines(todo: z.output<typeof taskShape>): readonly string[] {
  const { id = '', title = '', completed, due_date, priority, tags = [], description, delegated } = todo;
  const parts = [
    priority,
    due_date && `due ${due_date}`,
    ...tags.map((tag) => `#${tag}`),
    todo.completed_at && `completed ${todo.completed_at}`,
    todo.recurring_task_id && `an occurrence of ${todo.recurring_task_id}`,
    todo.created_at && `created ${todo.created_at}`,
  ];
  return [
    `[${completed === true ? 'x' : ' '}] ${id}  ${title}`,
    `    ${parts.filter((part) => part).join(', ')}`,
    ...(delegated === undefined ? [] : [`    with agents: ${delegatedText(delegated)}`]),
    ...(description === undefined ? [] : quotedLines(description).map((line) => `  ${line}`)),
  ];
}

function delegatedText(delegated: z.output<typeof delegatedShape>): string {
  const { task_id, workspace, status, done = 0, things = 0, attempts = 0, cost_usd = 0 } = delegated;
  return `${status ?? ''}, ${done} of ${things} done, ${attempts} attempts, $${cost_usd}, as task ${task_id ?? ''} of the workspace ${workspace ?? ''}`;
}
