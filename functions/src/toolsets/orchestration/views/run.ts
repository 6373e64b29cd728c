/** View of a run that get_run has returned: its steps with their agents and durations, and its cost. */
import { boundedText, type Child, make, rows, state, toneOf } from '../../../mcp/views/elements.ts';
import { type Fields, fieldsOf, listOf, numberOf, textOf } from '../../../mcp/views/host.ts';
import { startView } from '../../../mcp/views/view.ts';

function seconds(milliseconds: unknown): string {
  const whole = numberOf(milliseconds) / 1000;
  return whole < 60 ? `${whole.toFixed(1)} s` : `${Math.floor(whole / 60)} min ${Math.floor(whole % 60)} s`;
}

function usd(amount: unknown): string {
  return `$${numberOf(amount).toFixed(numberOf(amount) < 1 ? 4 : 2)}`;
}

/** Draws one request to an agent, as a bar whose length is relative to the longest request. */
function attemptBar(attempt: Fields, longest: number): HTMLElement {
  const outcome = textOf(attempt['outcome']);
  const tone = toneOf(outcome) === 'quiet' ? 'bad' : toneOf(outcome);
  const filled = make(`i.${tone}`);
  filled.style.flexGrow = String(numberOf(attempt['milliseconds']) / longest);
  const rest = make('span');
  rest.style.flexGrow = String(1 - numberOf(attempt['milliseconds']) / longest);
  const bar = make('div.bar', filled, rest);
  bar.setAttribute('aria-hidden', 'true');
  const reason = textOf(attempt['reason']);
  const who = boundedText(textOf(attempt['agent']), 60);
  const line = make('div.quiet', who, ' ', state(outcome, tone), ` in ${seconds(attempt['milliseconds'])}`);
  if (reason !== '') line.append(': ', boundedText(reason, 100));
  return make('div', line, bar);
}

function stepRow(step: Fields, attempts: readonly Fields[], longest: number): HTMLElement {
  const { name, agent, status, explanation, error, output } = step;
  const own = attempts.filter((attempt) => attempt['step'] === name);
  const shown = [error, explanation, output].map(textOf).find((text) => text !== '') ?? '';
  return make(
    'li',
    boundedText(textOf(name), 60),
    ' ',
    state(textOf(status), toneOf(textOf(status))),
    own.length === 0 && make('div.quiet', boundedText(textOf(agent), 80)),
    shown !== '' && make('div.quiet', boundedText(shown, 140)),
    ...own.slice(-4).map((attempt) => attemptBar(attempt, longest)),
  );
}

function cost(answer: Fields): HTMLElement {
  const { inputTokens, outputTokens, costUsd } = fieldsOf(answer['usage']);
  const tokens = numberOf(inputTokens) + numberOf(outputTokens);
  const spent = `${seconds(fieldsOf(answer['metadata'])['duration'])}, ${usd(costUsd)}, ${tokens} tokens`;
  const limits = listOf(answer['budgets']).map((budget) => {
    const { money, tokens: max } = fieldsOf(budget['left']);
    const left = money === undefined ? `${numberOf(max)} tokens` : usd(money);
    return ` · ${left} left in the ${textOf(budget['kind'])} budget`;
  });
  return make('p.quiet', spent, ...limits);
}

function outcome(answer: Fields): Child {
  const message = textOf(fieldsOf(answer['error'])['message']);
  if (message !== '') return make('p', boundedText(message, 300));
  const result = textOf(answer['result']);
  return result !== '' && make('pre', boundedText(result, 600));
}

const isOpen = (answer: Fields) => ['pending', 'running', 'waiting'].includes(textOf(answer['status']));

startView({
  toolset: 'orchestration',
  tool: 'get_run',
  isOpen,
  // Without waitMs, get_run returns immediately. The view repeats this call at intervals.
  refreshArguments: ({ runId }) => ({ runId }),
  draw: (answer, person) => {
    const status = textOf(answer['status']);
    const runId = textOf(answer['runId']);
    const attempts = listOf(answer['attempts']);
    const longest = Math.max(1, ...attempts.map(({ milliseconds }) => numberOf(milliseconds)));
    const running = Array.isArray(answer['running']) ? answer['running'].map(textOf) : [];
    const steps = listOf(answer['steps']).map((step) => stepRow(step, attempts, longest));
    const cancel = () => person.act('cancel_run', { runId }, `cancelled the run ${runId}`);
    return [
      make(
        'h1',
        boundedText(textOf(fieldsOf(answer['metadata'])['workflow']) || 'Run', 80),
        ' ',
        state(status, toneOf(status)),
      ),
      cost(answer),
      outcome(answer),
      rows('Steps', [
        ...running.map((name) => make('li', boundedText(name, 60), ' ', state('running', 'busy'))),
        ...steps,
      ]),
      isOpen(answer) &&
        person.confirmed('Cancel the run', 'Cancel this run? Finished steps and their costs are kept.', cancel),
    ];
  },
});
