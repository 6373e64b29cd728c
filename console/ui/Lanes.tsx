/**
 * Bars on a line of time, one lane for each agent or step: a run as a waterfall, a day of agents. Each bar has a
 * name for screen readers.
 */
import { type ComponentChildren, Fragment } from 'preact';
import type { Tone } from './Meter.tsx';
import type { Tick } from './ticks.ts';

export interface Bar {
  readonly tone: Tone;
  /** Start and end as shares of the line, from 0 to 1. */
  readonly from: number;
  readonly to: number;
  /** Short words in the bar or next to it; if there is no room, they are in its title. */
  readonly words?: string;
  /** Text for screen readers, and on hover. */
  readonly title: string;
  readonly href?: string;
}

export interface Lane {
  readonly key: string;
  readonly name: ComponentChildren;
  readonly isDeep?: boolean;
  readonly bars: readonly Bar[];
  /** Times of waiting between bars, drawn as a dotted line. */
  readonly lulls?: readonly (readonly [from: number, to: number])[];
}

interface LanesProps {
  readonly label: string;
  /** Head of the names; absent if the lanes have none. */
  readonly head?: string;
  readonly ticks: readonly Tick[];
  readonly lanes: readonly Lane[];
  /** Share of the line at which the present is; absent if it is elsewhere. */
  readonly now?: number | undefined;
}

/** Space that a letter takes, as a share of a line of typical width. */
const LETTER = 0.0095;
const GAP = 0.006;
const percent = (share: number) => `${(100 * share).toFixed(2)}%`;

export function Lanes({ label, head, ticks, lanes, now }: LanesProps) {
  const grid = ticks.map(({ at }) => <line key={at} class="grid" x1={percent(at)} x2={percent(at)} y2="100%" />);
  const present = now !== undefined && <line class="now" x1={percent(now)} x2={percent(now)} y2="100%" />;
  return (
    // biome-ignore lint/a11y/useSemanticElements: it groups lanes, not the fields of a form.
    <div class={head === undefined ? 'time single' : 'time'} role="group" aria-label={label}>
      {head !== undefined && <div class="axis name">{head}</div>}
      <div class="axis lane" aria-hidden="true">
        <svg aria-hidden="true">
          {ticks.map((tick) => (
            <text key={tick.at} class="tick" x={percent(tick.at + GAP)} y="20">
              {tick.label}
            </text>
          ))}
          {grid}
          {present}
        </svg>
      </div>
      {lanes.map(({ key, name, isDeep = false, bars, lulls = [] }) => (
        <Fragment key={key}>
          {head !== undefined && <div class={isDeep ? 'name deep' : 'name'}>{name}</div>}
          <div class="lane">
            {/* biome-ignore lint/a11y/noSvgWithoutTitle: each bar has its own name. */}
            <svg>
              {grid}
              {lulls.map(([from, to]) => (
                <line key={from} class="lull" x1={percent(from)} x2={percent(to)} y1="19" y2="19" />
              ))}
              {bars.map((bar, index) => (
                <Drawn key={`${bar.from} ${bar.title}`} bar={bar} next={bars[index + 1]?.from ?? 1} />
              ))}
              {present}
            </svg>
          </div>
        </Fragment>
      ))}
    </div>
  );
}

function Drawn({
  bar: { tone, from, to, words = '', title, href },
  next,
}: {
  readonly bar: Bar;
  readonly next: number;
}) {
  const room = words.length * LETTER + 2 * GAP;
  const fits = to - from >= room;
  const fitsBeside = !fits && next - to >= room;
  const drawn = (
    <>
      <title>{title}</title>
      <rect class={`f-${tone}`} x={percent(from)} y="10" width={`max(3px, ${percent(to - from)})`} height="18" rx="4" />
      {words !== '' && (fits || fitsBeside) && (
        <text class={fits ? 'in-bar' : ''} x={percent((fits ? from : to) + GAP)} y="23">
          {words}
        </text>
      )}
    </>
  );
  return href === undefined ? (
    // biome-ignore lint/a11y/noInteractiveElementToNoninteractiveRole: a group of shapes is not interactive.
    <g role="img" aria-label={title}>
      {drawn}
    </g>
  ) : (
    <a href={href} aria-label={title}>
      {drawn}
    </a>
  );
}
