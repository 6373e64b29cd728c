/** Calls, errors, latency and cost of the whole deployment, over time and by tool. Only for its leaders. */
import { useSignal } from '@preact/signals';
import { errorWords, metrics as text } from '../../../text/metrics.ts';
import { shell } from '../../../text/shell.ts';
import { Chart, type ChartProps } from '../../../ui/Chart.tsx';
import { dayOf, fill, money, number, percent, timeOfDay } from '../../../ui/format.ts';
import { metricsNode } from '../../live/documents.ts';
import { useLive } from '../../live/live.ts';
import { latestDays, latestMinutes } from '../../live/queries.ts';
import { node } from '../../live/sources.ts';
import { calm } from '../../live/time.ts';
import { Bones } from '../../parts/Bones.tsx';
import { Choices } from '../../parts/Choices.tsx';
import { Empty, Section, Shown } from '../../parts/Notice.tsx';
import { Page } from '../../parts/Page.tsx';
import { type Counts, errorRate, type Point, pointsOf, quantile, type Span, sumOf, toolsOf } from './points.ts';

const SPANS = [
  ['hour', text.hour],
  ['day', text.day],
  ['fortnight', text.fortnight],
] as const satisfies readonly (readonly [Span, string])[];

export function Metrics() {
  const span = useSignal<Span>('hour');
  const minutes = useLive(node(latestMinutes(span.value === 'day' ? 1440 : 60), metricsNode));
  const days = useLive(node(latestDays(14), metricsNode));
  const live = span.value === 'fortnight' ? days : minutes;
  const costs = pointsOf('fortnight', ('value' in days ? days.value : undefined) ?? {}, calm.value);
  return (
    <Page
      title={shell.metrics}
      actions={
        <Choices legend={text.span} options={SPANS} chosen={span.value} choose={(name) => (span.value = name)} />
      }>
      <Shown live={live} what={shell.metrics.toLowerCase()} bones={<Bones lines={6} />}>
        {(stored = {}) => <Charts points={pointsOf(span.value, stored, calm.value)} span={span.value} costs={costs} />}
      </Shown>
    </Page>
  );
}

interface ChartsProps {
  readonly points: readonly Point[];
  readonly span: Span;
  /** The latest days, because each day has its cost. */
  readonly costs: readonly Point[];
}

const LABELS = { hour: text.perMinute, day: text.perHour, fortnight: text.perDay } as const;

const COLUMNS: readonly (readonly [label: string, show: (counts: Counts) => string])[] = [
  [text.calls, ({ calls }) => number(calls)],
  [text.errors, (counts) => percent(errorRate(counts))],
  ['p50', (counts) => latencyWords(quantile(counts, 0.5))],
  ['p95', (counts) => latencyWords(quantile(counts, 0.95))],
];

function Charts({ points, span, costs }: ChartsProps) {
  const all = sumOf(points.map(({ counts }) => counts));
  const dollars = costs.map((one) => one.dollars);
  if (all.calls === 0) return <Empty icon="metrics" title={text.none} hint={text.noneHint} />;
  const times = points.map(({ at }) => (span === 'fortnight' ? dayOf(at, 'UTC') : timeOfDay(at)));
  const milliseconds = (value: number) => fill(text.milliseconds, { n: number(Math.round(value)) });
  const tiles = [
    [text.calls, number(all.calls)],
    [text.errorRate, percent(errorRate(all))],
    [text.p50, latencyWords(quantile(all, 0.5))],
    [text.p95, latencyWords(quantile(all, 0.95))],
    span === 'fortnight'
      ? [text.cost, money(dollars.reduce((sum, one) => sum + one, 0))]
      : [text.costToday, money(dollars.at(-1) ?? 0)],
  ] as const;
  return (
    <>
      <dl class="card tiles">
        {tiles.map(([name, value]) => (
          <div key={name}>
            <dt class="eyebrow">{name}</dt>
            <dd class="big">{value}</dd>
          </div>
        ))}
      </dl>
      <div class="charts">
        <Card
          label={LABELS[span]}
          kind="bars"
          points={times}
          series={[
            { name: text.succeeded, tone: 'busy', values: points.map(({ counts }) => counts.calls - counts.failures) },
            { name: text.failed, tone: 'bad', values: points.map(({ counts }) => counts.failures) },
          ]}
          show={number}
        />
        <Card
          label={text.errorRate}
          kind="lines"
          points={times}
          series={[
            {
              name: text.errorRate,
              tone: 'bad',
              values: points.map(({ counts }) => (counts.calls === 0 ? undefined : errorRate(counts))),
            },
          ]}
          leastEnd={0.04}
          show={percent}
        />
        <Card
          label={text.latency}
          kind="lines"
          points={times}
          series={[
            { name: 'p95', tone: 'wait', values: points.map(({ counts }) => quantile(counts, 0.95)?.value) },
            { name: 'p50', tone: 'lead', values: points.map(({ counts }) => quantile(counts, 0.5)?.value) },
          ]}
          show={milliseconds}
        />
        <Card
          label={text.costPerDay}
          kind="bars"
          points={costs.map(({ at }) => dayOf(at, 'UTC'))}
          series={[{ name: text.cost, tone: 'good', values: dollars }]}
          show={money}
        />
      </div>
      <Section title={text.byTool} isCard>
        <table class="list">
          <thead>
            <tr>
              <th scope="col">{text.tool}</th>
              {COLUMNS.map(([name]) => (
                <th key={name} scope="col" class="right">
                  {name}
                </th>
              ))}
              <th scope="col">{text.why}</th>
            </tr>
          </thead>
          <tbody>
            {toolsOf(points).map(([name, counts]) => (
              <tr key={name}>
                <th scope="row" class="title">
                  <code>{name}</code>
                </th>
                {COLUMNS.map(([label, show]) => (
                  <td key={label} class="right num" data-label={label}>
                    {show(counts)}
                  </td>
                ))}
                <td>
                  {Object.entries(counts.errors).map(([code, n]) => (
                    <span key={code} class="tag" title={code}>{`${errorWords[code] ?? code} ${number(n)}`}</span>
                  ))}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </Section>
    </>
  );
}

function Card(chart: ChartProps) {
  return (
    <Section title={chart.label} isCard>
      <Chart {...chart} />
    </Section>
  );
}

function latencyWords(found: { readonly value: number; readonly isAtLeast: boolean } | undefined): string {
  if (found === undefined) return '–';
  const n = number(Math.round(found.value));
  return fill(found.isAtLeast ? text.more : text.milliseconds, { n });
}
