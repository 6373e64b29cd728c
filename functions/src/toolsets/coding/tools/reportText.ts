/** What report_task answers, for who reads it in a terminal. */
import { z } from 'zod';
import { columnLines, quotedLines, terminalLines } from '../../../kernel/text.ts';
import { logEntryShape, previousShape, taskShape } from './shapes.ts';

type Report = z.output<typeof reportShape>;

/** Have a place of their own. */
const APART = new Set(['id', 'status', 'state', 'description', 'instructions', 'config', 'failure']);

export function reportText({ task, attempts, logs, result }: Report): string {
  const { id, status, state, description, instructions, config, failure } = task;
  const rest = Object.entries(task).filter(([name, value]) => !APART.has(name) && value !== undefined);
  return terminalLines([
    `Coding task ${id}: ${status}${state === status ? '' : ` (${state})`}`,
    ...quotedLines(description),
    ...columnLines(rest.map(([name, value]) => [`${name}:`, String(value)])),
    ...(failure ? [`Failure: ${failure.class}`, ...quotedLines(failure.message)] : []),
    ...titled('Earlier attempts:', attempts.flatMap(attemptLines)),
    ...titled(`Log, ${logs.latest.length} of ${logs.lines} lines:`, logs.latest.flatMap(logLines)),
    ...(result === undefined ? [] : ['Result:', ...quotedLines(JSON.stringify(result, null, 2))]),
    ...(Object.keys(config).length === 0 ? [] : ['Configuration:', ...quotedLines(JSON.stringify(config))]),
    'Instructions:',
    ...quotedLines(instructions),
  ]);
}

const titled = (title: string, lines: readonly string[]) => (lines.length === 0 ? [] : [title, ...lines]);

function attemptLines({ epoch, runner, branch, endedAt, failure, commits }: Report['attempts'][number]) {
  return [
    `  ${epoch}: ${failure.class}, by ${runner} on ${branch}, ended ${endedAt}`,
    ...quotedLines(failure.message),
    ...columnLines(commits.map(({ sha, subject }) => [`commit ${sha}`, subject])),
  ];
}

function logLines({ line, at, level, type, prefix, message, data }: Report['logs']['latest'][number]) {
  const said = prefix === undefined ? message : `[${prefix}] ${message}`;
  const more = data === undefined ? '' : ` ${JSON.stringify(data)}`;
  return [`  ${line}  ${at}  ${level}  ${type}`, ...quotedLines(`${said}${more}`)];
}

/** A report on a task; `task://{taskId}` is the same without the result. */
export const reportShape = z.object({
  task: taskShape,
  attempts: z.array(previousShape.extend({ epoch: z.number() })).describe('Those that failed.'),
  logs: z.object({
    lines: z.number().describe('How many there are, those included that were dropped for their age.'),
    latest: z.array(logEntryShape),
  }),
  result: z.unknown().optional().describe('As it was given to coding.end_task.'),
});
