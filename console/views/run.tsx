/** View of a run that get_run has returned: its steps with their agents and durations, and its cost. */
import { kinds } from '../text/common.ts';
import { runs as runTexts } from '../text/runs.ts';
import { runView as text } from '../text/views.ts';
import { costOf, duration, fill, money, number, plural } from '../ui/format.ts';
import { Meter } from '../ui/Meter.tsx';
import { type Fields, fieldsOf, listOf, numberOf, textOf } from './shared/host.ts';
import { Agent, Facts, Head, Section, Sign, Words } from './shared/parts.tsx';
import { startView } from './shared/view.tsx';

/** Maximum number of requests shown for a step. The last ones decided it. */
const MAX_ATTEMPTS = 4;

interface AttemptProps {
  readonly attempt: Fields;
  /** Milliseconds of the longest request of the run. */
  readonly longest: number;
}

/** One request to an agent, with a bar whose length is relative to the longest request. */
function Attempt({ attempt: { agent, outcome, reason, milliseconds }, longest }: AttemptProps) {
  const isAnswer = outcome === 'answered';
  const end = runTexts.outcomes[textOf(outcome)] ?? textOf(outcome);
  return (
    <li>
      <Agent id={textOf(agent)} />
      <span class={isAnswer ? 'soft' : 'bad'}>
        <Words text={end} max={40} />
      </span>
      <Meter fine parts={[[isAnswer ? 'good' : 'bad', numberOf(milliseconds) / longest]]} />
      <span class="soft num">{duration(numberOf(milliseconds))}</span>
      {textOf(reason) !== '' && (
        <span class="hint">
          <Words text={textOf(reason)} max={100} />
        </span>
      )}
    </li>
  );
}

function stepRow(step: Fields, attempts: readonly Fields[], longest: number) {
  const { name, iteration, role, agent, status, explanation, error, output } = step;
  const own = attempts.filter((attempt) => attempt['step'] === name).slice(-MAX_ATTEMPTS);
  const [begin, end] = [step['startedAt'], step['settledAt']].map((instant) => Date.parse(textOf(instant)));
  const time = duration((end ?? 0) - (begin ?? 0));
  const shown = [error, explanation, output].map(textOf).find((words) => words !== '') ?? '';
  return (
    <li key={`${textOf(name)} ${numberOf(iteration)}`} class="row">
      <div class="grow">
        <p class="line">
          <Sign of={textOf(status)} />
          <b>
            <Words text={textOf(name)} max={60} />
          </b>
          <span class="faint">
            <Words text={textOf(role)} max={40} />
          </span>
          {Number.isNaN(end) || Number.isNaN(begin) || <span class="soft num push">{time}</span>}
        </p>
        {shown !== '' && (
          <p class="hint">
            <Words text={shown} max={140} />
          </p>
        )}
        {own.length === 0 && textOf(agent) !== '' && (
          <p class="hint">
            <Words text={textOf(agent)} max={80} />
          </p>
        )}
        {own.length > 0 && (
          <ul class="attempts">
            {own.map((attempt, index) => (
              // The requests of a step only become more.
              <Attempt key={index} attempt={attempt} longest={longest} />
            ))}
          </ul>
        )}
      </div>
    </li>
  );
}

function cost(answer: Fields): readonly string[] {
  const { inputTokens, outputTokens, costUsd, unpricedTokens } = fieldsOf(answer['usage']);
  const time = numberOf(fieldsOf(answer['metadata'])['duration']);
  const limits = listOf(answer['budgets']).map((budget) => {
    const { money: dollars, tokens } = fieldsOf(budget['left']);
    const left = dollars === undefined ? plural(numberOf(tokens), text.tokens) : money(numberOf(dollars));
    const kind = textOf(budget['kind']);
    return fill(text.left, { left, kind: kinds[kind]?.[0] ?? kind });
  });
  return [
    time > 0 ? duration(time) : '',
    costOf(costUsd === undefined ? undefined : numberOf(costUsd), numberOf(unpricedTokens)),
    plural(numberOf(inputTokens) + numberOf(outputTokens), text.tokens),
    ...limits,
  ];
}

const isOpen = (answer: Fields) => ['pending', 'running', 'waiting'].includes(textOf(answer['status']));

startView({
  toolset: 'orchestration',
  tool: 'get_run',
  isOpen,
  // Without waitMs, get_run returns immediately. The view repeats this call at intervals.
  refreshArguments: ({ runId }) => ({ runId }),
  draw: (answer, person) => {
    const runId = textOf(answer['runId']);
    const workflow = textOf(fieldsOf(answer['metadata'])['workflow']);
    const attempts = listOf(answer['attempts']);
    const longest = Math.max(1, ...attempts.map(({ milliseconds }) => numberOf(milliseconds)));
    const running = Array.isArray(answer['running']) ? answer['running'].map(textOf) : [];
    const steps = listOf(answer['steps']);
    const message = textOf(fieldsOf(answer['error'])['message']);
    const result = textOf(answer['result']);
    return (
      <>
        <Head title={runTexts.workflows[workflow] ?? (workflow || runTexts.run)} state={textOf(answer['status'])}>
          {message !== '' && <Words text={message} max={300} />}
        </Head>
        <Facts of={cost(answer)} />
        <Section
          title={runTexts.steps}
          count={number(steps.length + running.length)}
          rows={[
            ...running.map((name) => (
              <li key={`running ${name}`} class="row">
                <p class="line grow">
                  <Sign of="running" />
                  <b>
                    <Words text={name} max={60} />
                  </b>
                </p>
              </li>
            )),
            ...steps.map((step) => stepRow(step, attempts, longest)),
          ]}
        />
        {result !== '' && (
          <section>
            <div class="head">
              <h2>{runTexts.result}</h2>
              <span class="hint">{runTexts.generated}</span>
            </div>
            <div class="block">
              <Words text={result} max={600} />
            </div>
          </section>
        )}
        {isOpen(answer) &&
          person.confirmed({
            label: runTexts.cancel,
            question: `${runTexts.cancelTitle} ${runTexts.cancelHint}`,
            keep: runTexts.keep,
            act: () => person.act('cancel_run', { runId }, `cancelled the run ${runId}`),
          })}
      </>
    );
  },
});
