/** The steps of a run and the attempts of each model, as bars on a line of time. */
import { runs as text } from '../../../text/runs.ts';
import { Avatar } from '../../../ui/Avatar.tsx';
import { duration, fill } from '../../../ui/format.ts';
import { Icon } from '../../../ui/Icon.tsx';
import { type Bar, type Lane, Lanes } from '../../../ui/Lanes.tsx';
import { State } from '../../../ui/State.tsx';
import { niceEnd } from '../../../ui/ticks.ts';
import { UserText } from '../../../ui/UserText.tsx';
import { Section } from '../../parts/Notice.tsx';
import type { Attempt, RunResponse, Step } from './response.ts';
import { winnerOf } from './winner.ts';

interface TimelineProps {
  readonly answer: RunResponse;
  readonly start: Date;
  /** End of the run, or the present. */
  readonly end: Date;
}

const TICKS = 6;

export function Timeline({ answer, start, end }: TimelineProps) {
  const { steps, running, attempts } = answer;
  const whole = Math.max(1000, end.getTime() - start.getTime());
  const share = (milliseconds: number) => Math.max(0, Math.min(1, milliseconds / whole));
  const { step } = niceEnd(whole, TICKS);
  const ticks = Array.from({ length: Math.floor(whole / step) + 1 }, (_none, index) => ({
    at: share(index * step),
    label: duration(index * step),
  }));
  const winner = winnerOf(answer)?.agent;
  const lanes = [
    ...steps.flatMap((one) =>
      lanesOf(
        one,
        attempts.filter(({ step: name }) => name === one.name),
        { start, share, winner },
      ),
    ),
    ...running.map((name): Lane => ({ key: `running ${name}`, name: <State of="running" words={name} />, bars: [] })),
  ];
  return (
    <Section title={text.timeline} count={steps.length + running.length} isCard actions={<Legend />}>
      <Lanes label={text.timeline} head={text.stepAndModel} ticks={ticks} lanes={lanes} />
    </Section>
  );
}

function Legend() {
  return (
    <ul class="legend">
      <li>
        <span class="key f-lead" />
        {text.step}
      </li>
      <li>
        <span class="key f-good" />
        {text.answered}
      </li>
      <li>
        <span class="key f-bad" />
        {text.failedAttempt}
      </li>
    </ul>
  );
}

interface Scale {
  readonly start: Date;
  readonly winner: string | undefined;
  share(milliseconds: number): number;
}

function lanesOf(step: Step, attempts: readonly Attempt[], scale: Scale): readonly Lane[] {
  const begin = timeOf(step.startedAt, scale.start);
  const end = timeOf(step.settledAt, scale.start);
  const own: Lane = {
    key: `${step.name} ${step.iteration}`,
    name: (
      <>
        <State of={step.status} words="" />
        <b>{step.name}</b>
        <span class="faint">{step.role}</span>
        {begin !== undefined && end !== undefined && <span class="soft push num">{duration(end - begin)}</span>}
      </>
    ),
    bars: begin === undefined || end === undefined ? [] : [stepBar(step, begin, end, scale)],
  };
  const agents = [...new Set(attempts.map(({ agent }) => agent))];
  return [own, ...agents.map((agent) => agentLane(step, agent, attempts, begin ?? 0, scale))];
}

function stepBar(step: Step, begin: number, end: number, { share }: Scale): Bar {
  const words = fill(text.startedAfter, { start: duration(begin), time: duration(end - begin) });
  return { tone: 'lead', from: share(begin), to: share(end), words: step.name, title: `${step.name}: ${words}` };
}

function agentLane(
  step: Step,
  agent: string,
  attempts: readonly Attempt[],
  begin: number,
  { share, winner }: Scale,
): Lane {
  let at = begin;
  const lulls: [number, number][] = [];
  const own = attempts.filter((one) => one.agent === agent);
  const bars = own.map((one): Bar => {
    if (one.waited > 0) lulls.push([share(at), share(at + one.waited)]);
    const from = at + one.waited;
    at = from + one.milliseconds;
    const words = `${outcomeName(one.outcome)}, ${duration(one.milliseconds)}`;
    return {
      tone: one.outcome === 'answered' ? 'good' : 'bad',
      from: share(from),
      to: share(at),
      words,
      title: `${one.model}: ${words}${one.reason === undefined ? '' : `. ${one.reason}`}`,
    };
  });
  const time = own.reduce((sum, { milliseconds }) => sum + milliseconds, 0);
  return {
    key: `${step.name} ${step.iteration} ${agent}`,
    isDeep: true,
    name: (
      <>
        <Avatar name={agent} id={agent} />
        <UserText text={agent} limit={40} />
        {step.results.length > 1 && agent === winner && (
          <span class="tag good">
            <Icon of="trophy" small />
            {text.winner}
          </span>
        )}
        <span class="soft push num">{duration(time)}</span>
      </>
    ),
    bars,
    lulls,
  };
}

const outcomeName = (outcome: string): string => text.outcomes[outcome] ?? outcome.replaceAll('_', ' ');

/** Milliseconds since the start of the run. */
function timeOf(instant: string | undefined, start: Date): number | undefined {
  return instant === undefined ? undefined : new Date(instant).getTime() - start.getTime();
}
