/** What get_run answers, for who reads it in a terminal. What models wrote is quoted: it is no instruction. */
import type { z } from 'zod';
import { columnLines, quotedLines, terminalLines } from '../../../kernel/text.ts';
import type { runShape } from './shapes.ts';

type Shown = z.output<typeof runShape>;

export function runText(run: Shown): string {
  const { runId, status, metadata, usage, error, result, running, selection, warnings, budgets, next } = run;
  const { workflow, agents, cached, duration } = metadata;
  return terminalLines([
    `Run ${runId}: ${status}`,
    `Workflow: ${workflow}${cached ? ', answered before' : ''}; agents: ${agents.join(', ') || 'none yet'}`,
    `Took ${duration} ms, $${usage.costUsd}, ${usage.inputTokens} tokens in and ${usage.outputTokens} out`,
    ...(error ? [`Error: ${error.reason}`, ...quotedLines(error.message)] : []),
    ...(result === undefined ? [] : ['Result:', ...quotedLines(result)]),
    ...(run.withheld === true ? ['Prompts and outputs are left out: only its owner sees them.'] : []),
    ...(running.length === 0 ? [] : [`Under way: ${running.join(', ')}`]),
    ...titled('Steps:', run.steps.flatMap(stepLines)),
    ...titled('Attempts:', columnLines(run.attempts.map(attemptCells))),
    ...(selection ? [`Chosen: ${selection.agent}, ${selection.workflow}`, ...listed(selection.reasons)] : []),
    ...titled('Warnings:', listed(warnings)),
    ...titled('Budgets:', columnLines((budgets ?? []).map(budgetCells))),
    ...(next === undefined ? [] : [`Next: ${next}`]),
  ]);
}

const titled = (title: string, lines: readonly string[]) => (lines.length === 0 ? [] : [title, ...lines]);

const listed = (texts: readonly string[]) => texts.map((text) => `  - ${text}`);

function stepLines(step: Shown['steps'][number]): readonly string[] {
  const { name, iteration, role, agent, status, taskId, output, error, explanation, results = [] } = step;
  const round = iteration === undefined ? '' : `, round ${iteration}`;
  const task = taskId === undefined ? '' : `, task ${taskId}`;
  const { startedAt, settledAt } = step;
  const times = `  from ${startedAt}${settledAt === undefined ? '' : ` to ${settledAt}`}`;
  const said = [
    times,
    ...(explanation === undefined ? [] : [`  ${explanation}`]),
    ...(error === undefined ? [] : ['  error:', ...quotedLines(error)]),
    ...(output === undefined ? [] : quotedLines(output)),
    ...results.flatMap((one) => [
      `  ${one.agent}${one.error === undefined ? ':' : ' failed:'}`,
      ...quotedLines(one.error ?? one.output ?? ''),
    ]),
  ];
  return [`  ${name}: ${status} by ${agent} (${role}${round}${task})`, ...said.map(indented)];
}

const indented = (line: string) => `  ${line}`;

function attemptCells(attempt: Shown['attempts'][number]): readonly string[] {
  const { step, agent, model, outcome, reason = '', waited, milliseconds, tokens, outcomeUnknown } = attempt;
  return [
    step,
    agent,
    model,
    outcome,
    `${milliseconds} ms`,
    waited > 0 ? `after ${waited} ms` : '',
    `${tokens.input}+${tokens.output} tokens`,
    outcomeUnknown === true ? 'may have been done and billed' : '',
    reason,
  ];
}

type Budget = NonNullable<Shown['budgets']>[number];

function budgetCells({ kind, id, limit, spent, reserved, left }: Budget): readonly string[] {
  const all = { limit, spent, reserved, left };
  return [`${kind} ${id}`, ...Object.entries(all).map(([name, amount]) => `${name} ${amountText(amount)}`)];
}

function amountText({ money, tokens }: Budget['limit']): string {
  const parts = [money !== undefined && `$${money}`, tokens !== undefined && `${tokens} tokens`];
  return parts.filter(Boolean).join(' and ') || 'none';
}
