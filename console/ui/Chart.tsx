/** Bars or lines over time, with axes. Hover and focus show the numbers of a point; screen readers get a table. */
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import type { Tone } from './Meter.tsx';
import { niceEnd } from './ticks.ts';

interface Series {
  readonly name: string;
  readonly tone: Tone;
  /** One value for each point; undefined if the point has no measurement. */
  readonly values: readonly (number | undefined)[];
}

export interface ChartProps {
  readonly label: string;
  readonly kind: 'bars' | 'lines';
  /** Time of each point, in words. */
  readonly points: readonly string[];
  /** Bars of several series are stacked, the first one at the bottom. */
  readonly series: readonly Series[];
  /** Smallest value at the top of the axis. */
  readonly leastEnd?: number;
  /** Returns a value with its unit. */
  show(value: number): string;
}

const WIDTH = 600;
const HEIGHT = 100;
const STEPS = 4;
const SHOWN_TIMES = 5;

export function Chart({ label, kind, points, series, leastEnd = 0, show }: ChartProps) {
  const chosen = useSignal<number | undefined>(undefined);
  const totals = points.map((_point, index) => {
    const values = series.map(({ values: all }) => all[index] ?? 0);
    return kind === 'bars' ? values.reduce((sum, one) => sum + one, 0) : Math.max(0, ...values);
  });
  const { end, step } = niceEnd(Math.max(leastEnd, ...totals), STEPS);
  const width = WIDTH / Math.max(1, points.length);
  const y = (value: number) => HEIGHT - (HEIGHT * value) / end;
  const at = chosen.value;
  const words = (index: number) =>
    [points[index], ...series.map(({ name, values }) => `${name} ${shown(values[index], show)}`)].join(', ');

  function byKeys(event: KeyboardEvent) {
    const move = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (move === undefined) return;
    event.preventDefault();
    chosen.value = Math.max(0, Math.min(points.length - 1, (at ?? points.length) + move));
  }

  return (
    <figure class="chart">
      {series.length > 1 && (
        <ul class="legend" aria-hidden="true">
          {series.map(({ name, tone }) => (
            <li key={name}>
              <span class={`key f-${tone}`} />
              {name}
            </li>
          ))}
        </ul>
      )}
      <div class="y" aria-hidden="true">
        {Array.from({ length: STEPS + 1 }, (_none, index) => (
          <span key={index}>{show(end - index * step)}</span>
        ))}
      </div>
      <div class="plot">
        <svg
          viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
          preserveAspectRatio="none"
          role="img"
          aria-label={label}
          // biome-ignore lint/a11y/noNoninteractiveTabindex: the arrow keys go from point to point.
          tabIndex={0}
          onKeyDown={byKeys}
          onPointerMove={(event) => {
            const { left, width: whole } = event.currentTarget.getBoundingClientRect();
            chosen.value = Math.max(
              0,
              Math.min(points.length - 1, Math.floor(((event.clientX - left) / whole) * points.length)),
            );
          }}
          onPointerLeave={() => (chosen.value = undefined)}
          onBlur={() => (chosen.value = undefined)}>
          {Array.from({ length: STEPS + 1 }, (_none, index) => (
            <line key={index} x1="0" x2={WIDTH} y1={(index * HEIGHT) / STEPS} y2={(index * HEIGHT) / STEPS} />
          ))}
          {at !== undefined && <rect class="chosen" x={at * width} y="0" width={width} height={HEIGHT} />}
          {kind === 'bars'
            ? points.map((point, index) => <Stack key={point} series={series} index={index} width={width} y={y} />)
            : series.map((one) => <Line key={one.name} of={one} width={width} y={y} />)}
        </svg>
        {at !== undefined && (
          <p class="reading" role="status">
            {words(at)}
          </p>
        )}
      </div>
      <div class="x" aria-hidden="true">
        {axisTimes(points).map((time) => (
          <span key={time}>{time}</span>
        ))}
      </div>
      <table class="away">
        <caption>{label}</caption>
        <tbody>
          {points.map((point, index) => (
            <tr key={point}>
              <th scope="row">{point}</th>
              {series.map(({ name, values }) => (
                <td key={name}>{`${name} ${shown(values[index], show)}`}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </figure>
  );
}

interface StackProps {
  readonly series: readonly Series[];
  readonly index: number;
  readonly width: number;
  y(value: number): number;
}

function Stack({ series, index, width, y }: StackProps): ComponentChildren {
  let below = 0;
  return series.map(({ name, tone, values }) => {
    const from = below;
    below += values[index] ?? 0;
    const top = y(below);
    return (
      <rect
        key={name}
        class={`f-${tone}`}
        x={(index + 0.15) * width}
        y={top}
        width={0.7 * width}
        height={y(from) - top}
      />
    );
  });
}

interface LineProps extends Pick<StackProps, 'width' | 'y'> {
  readonly of: Series;
}

/** A line with gaps for points without a measurement. */
function Line({ of: { tone, values }, width, y }: LineProps) {
  const parts: string[][] = [[]];
  for (const [index, value] of values.entries()) {
    const isAlone = values[index - 1] === undefined && values[index + 1] === undefined;
    if (value !== undefined) {
      const point = `${((index + 0.5) * width).toFixed(1)},${y(value).toFixed(1)}`;
      // A line needs two points. Two equal ones are drawn as a dot.
      parts.at(-1)?.push(point, ...(isAlone ? [point] : []));
    } else if (parts.at(-1)?.length !== 0) parts.push([]);
  }
  return (
    <g class={`f-${tone}`}>
      {parts.map((part) => (
        <polyline key={part[0]} class={part.length === 2 && part[0] === part[1] ? 'dot' : ''} points={part.join(' ')} />
      ))}
    </g>
  );
}

const shown = (value: number | undefined, show: (value: number) => string): string =>
  value === undefined ? '–' : show(value);

/** Returns the times under the axis: at most five, evenly spaced, with the first and the last. */
function axisTimes(points: readonly string[]): readonly string[] {
  if (points.length <= SHOWN_TIMES) return points;
  const last = points.length - 1;
  return Array.from(
    { length: SHOWN_TIMES },
    (_none, index) => points[Math.round((index * last) / (SHOWN_TIMES - 1))] ?? '',
  );
}
