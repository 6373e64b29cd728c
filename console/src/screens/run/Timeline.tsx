/** Attempts of each step as bars: wait, duration and outcome. */
import { duration } from '../../parts/dates.ts';
import { Card } from '../../parts/Notice.tsx';
import { Status } from '../../parts/Status.tsx';
import { UserText } from '../../parts/UserText.tsx';
import { addressOf } from '../../router.ts';
import type { Attempt, RunResponse, Step } from './response.ts';

interface TimelineProps {
  readonly answer: RunResponse;
  readonly runStart: Date;
}

export function Timeline({ answer: { steps, running, attempts }, runStart }: TimelineProps) {
  const end = Math.max(runStart.getTime() + 1, ...steps.map(({ settledAt }) => timeOf(settledAt) ?? 0));
  const longest = Math.max(1, ...steps.map(({ name }) => lengthOf(attempts.filter((one) => one.step === name))));
  return (
    <Card title="Steps" count={steps.length}>
      <ol class="plain rows">
        {steps.map((step) => (
          <li key={`${step.name} ${step.iteration}`}>
            <p>
              <Status of={step.status} /> <strong>{step.name}</strong>{' '}
              <span class="soft">
                {step.role}
                {step.iteration > 1 && `, round ${step.iteration}`}, by <UserText text={step.agent} />
              </span>
              {step.taskId !== undefined && (
                <>
                  {' '}
                  <a href={addressOf(['t', step.taskId])}>its task</a>
                </>
              )}
            </p>
            <Span step={step} from={runStart.getTime()} to={end} />
            <Lanes attempts={attempts.filter((one) => one.step === step.name)} longest={longest} />
            {step.explanation !== undefined && (
              <p>
                <UserText text={step.explanation} />
              </p>
            )}
            {step.error !== undefined && (
              <p class="error">
                <UserText text={step.error} />
              </p>
            )}
            {step.results.map((result, index) => (
              <details key={`${index} ${result.agent}`}>
                <summary>
                  <UserText text={result.agent} />
                  {result.error !== undefined && (
                    <span class="error">
                      {' '}
                      <UserText text={result.error} limit={200} />
                    </span>
                  )}
                </summary>
                {result.output !== undefined && (
                  <pre class="text">
                    <UserText text={result.output} links />
                  </pre>
                )}
              </details>
            ))}
          </li>
        ))}
        {running.map((name) => (
          <li key={`running ${name}`}>
            <Status of="running" /> <strong>{name}</strong>
          </li>
        ))}
      </ol>
    </Card>
  );
}

/** Position of a step on the run's timeline. */
function Span({ step, from, to }: { readonly step: Step; readonly from: number; readonly to: number }) {
  const [started, settled] = [timeOf(step.startedAt), timeOf(step.settledAt)];
  if (started === undefined || settled === undefined) return null;
  const share = (time: number) => (100 * Math.max(0, Math.min(time, to) - from)) / (to - from);
  const words = `begun after ${duration(started - from)}, took ${duration(settled - started)}`;
  return (
    <div class="span">
      <div class="line" aria-hidden="true">
        <span style={{ marginLeft: `${share(started)}%`, width: `max(2px, ${share(settled) - share(started)}%)` }} />
      </div>
      <span class="soft">{words}</span>
    </div>
  );
}

function timeOf(instant: string | undefined): number | undefined {
  return instant === undefined ? undefined : new Date(instant).getTime();
}

/** One row for each agent, with the agent's attempts one after the other. */
function Lanes({ attempts, longest }: { readonly attempts: readonly Attempt[]; readonly longest: number }) {
  const agents = [...new Set(attempts.map(({ agent }) => agent))];
  return (
    <ul class="plain lanes">
      {agents.map((agent) => (
        <li key={agent}>
          <span class="lane">
            <UserText text={agent} />
          </span>
          <span class="bars">
            {attempts
              .filter((one) => one.agent === agent)
              .map((one, index) => (
                <Bar key={`${index} ${one.milliseconds}`} attempt={one} longest={longest} />
              ))}
          </span>
        </li>
      ))}
    </ul>
  );
}

function Bar({ attempt, longest }: { readonly attempt: Attempt; readonly longest: number }) {
  const share = (milliseconds: number) => `${(100 * milliseconds) / longest}%`;
  const isAnswer = attempt.outcome === 'answered';
  const words = `${attempt.outcome.replaceAll('_', ' ')}, ${duration(attempt.milliseconds)}`;
  return (
    <>
      {attempt.waited > 0 && <span class="waited" style={{ width: share(attempt.waited) }} />}
      <span
        class={isAnswer ? 'attempt' : 'attempt missed'}
        style={{ minWidth: share(attempt.milliseconds) }}
        title={`${attempt.model}: ${attempt.reason ?? words}`}
      >
        {words}
      </span>
    </>
  );
}

/** Duration of the slowest agent. */
function lengthOf(attempts: readonly Attempt[]): number {
  const lengths = new Map<string, number>();
  for (const { agent, waited, milliseconds } of attempts)
    lengths.set(agent, (lengths.get(agent) ?? 0) + waited + milliseconds);
  return Math.max(0, ...lengths.values());
}
