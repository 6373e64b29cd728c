/** Logs as plain text: one line an entry, which begins with its time; what goes on is indented. */
import type { LogLine } from '../../domain/coding/log.ts';
import { terminalText } from '../../domain/terminalText.ts';

const LEVEL_WIDTH = 5;
const TYPE_WIDTH = 10;

/** How much of an entry's data is shown. */
const MAX_DATA_LENGTH = 1000;

export function textOf({ at, level, type, prefix, message, data }: LogLine): string {
  const head = [at.toISOString(), level.toUpperCase().padEnd(LEVEL_WIDTH), type.padEnd(TYPE_WIDTH)].join(' ');
  const said = prefix === undefined ? message : `[${prefix}] ${message}`;
  const more = data === undefined ? '' : ` ${shortened(JSON.stringify(data))}`;
  return `${head} ${terminalText(said + more).replace(/\n/g, '\n    ')}`;
}

function shortened(text: string): string {
  return text.length > MAX_DATA_LENGTH ? `${text.slice(0, MAX_DATA_LENGTH)}…` : text;
}

/** The last part of a log, with a word about what it lacks. */
export function tailText(lines: readonly LogLine[], total: number, taskId: string): string {
  const left = total - lines.length;
  const omitted =
    left > 0 ? [`(${left} lines before these: get_task_logs has task ${taskId}'s from the first)`] : [];
  return [...omitted, ...lines.map(textOf)].map((line) => `${line}\n`).join('');
}
