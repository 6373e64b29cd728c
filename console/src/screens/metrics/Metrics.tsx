/** Calls of the last hour in the whole deployment, per minute and by tool. Only for leaders of the deployment. */
import type { z } from 'zod/mini';
import { type countsNode, metricsNode } from '../../live/documents.ts';
import { useLive } from '../../live/live.ts';
import { latestMinutes } from '../../live/queries.ts';
import { node } from '../../live/sources.ts';
import { timeOfDay } from '../../parts/dates.ts';
import { Card, Empty, Shown } from '../../parts/Notice.tsx';
import { ScrollArea } from '../../parts/ScrollArea.tsx';

type Counts = z.output<typeof countsNode>;
type Minutes = z.output<typeof metricsNode>;

export function Metrics() {
  const live = useLive(node(latestMinutes(), metricsNode));
  return (
    <>
      <h1>Metrics</h1>
      <Shown live={live}>
        {(minutes) =>
          minutes === undefined ? <Empty title="No calls in the last hour." /> : <Hour minutes={minutes} />
        }
      </Shown>
    </>
  );
}

function Hour({ minutes }: { readonly minutes: Minutes }) {
  const all = sumOf(Object.values(minutes).flatMap((minute) => minute.all ?? []));
  return (
    <>
      <Card title="Calls by the minute">
        <Bars minutes={minutes} />
        <p class="soft">
          {`${all.calls.toLocaleString()} calls, ${percentage(all)} refused or failed, ${meanOf(all)} ms each.`}
        </p>
      </Card>
      <Card title="By tool">
        <ScrollArea class="scrolled" label="Calls by tool">
          <table class="metrics">
            <thead>
              <tr>
                <th scope="col">Tool</th>
                <th scope="col">Calls</th>
                <th scope="col">Refused or failed</th>
                <th scope="col">Milliseconds each</th>
                <th scope="col">Errors</th>
              </tr>
            </thead>
            <tbody>
              {toolsOf(minutes).map(([name, counts]) => (
                <tr key={name}>
                  <th scope="row">
                    <code>{name}</code>
                  </th>
                  <td>{counts.calls.toLocaleString()}</td>
                  <td>{percentage(counts)}</td>
                  <td>{meanOf(counts)}</td>
                  <td>
                    {Object.entries(counts.errors)
                      .map(([code, count]) => `${code} ${count}`)
                      .join(', ')}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </ScrollArea>
      </Card>
    </>
  );
}

const WIDTH = 600;
const HEIGHT = 80;
const SHOWN_MINUTES = 60;

function Bars({ minutes }: { readonly minutes: Minutes }) {
  const rows = Object.entries(minutes).slice(-SHOWN_MINUTES);
  const highest = Math.max(1, ...rows.map(([, { all }]) => all?.calls ?? 0));
  const width = WIDTH / SHOWN_MINUTES;
  const words = rows.map(([minute, { all }]) => `${timeOfMinute(minute)}: ${all?.calls ?? 0} calls`);
  return (
    <svg
      class="minutes"
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      role="img"
      aria-label={`At most ${highest} calls in a minute`}
    >
      {rows.map(([minute, { all }], index) => {
        const height = (HEIGHT * (all?.calls ?? 0)) / highest;
        const failed = (HEIGHT * (all?.failures ?? 0)) / highest;
        const x = index * width;
        return (
          <g key={minute}>
            <title>{words[index]}</title>
            <rect class="calls" x={x} y={HEIGHT - height} width={width - 1} height={height} />
            <rect class="failures" x={x} y={HEIGHT - failed} width={width - 1} height={failed} />
          </g>
        );
      })}
    </svg>
  );
}

/** Parses a key such as `202611220124`, which is in UTC. Source: functions/src/kernel/realtime/database.ts. */
function timeOfMinute(key: string): string {
  const [, year, month, day, hour, minute] = /^(....)(..)(..)(..)(..)$/.exec(key) ?? [];
  return timeOfDay(new Date(`${year}-${month}-${day}T${hour}:${minute}:00Z`));
}

/** Returns the tools with the number of their calls, most frequently called first. */
function toolsOf(minutes: Minutes): readonly (readonly [name: string, counts: Counts])[] {
  const byTool = new Map<string, Counts[]>();
  for (const { tools } of Object.values(minutes))
    for (const [key, counts] of Object.entries(tools)) {
      const name = nameOf(key);
      byTool.set(name, [...(byTool.get(name) ?? []), counts]);
    }
  return [...byTool]
    .map(([name, counts]) => [name, sumOf(counts)] as const)
    .sort(([, one], [, other]) => other.calls - one.calls);
}

/** Decodes a key of the Realtime Database, which cannot contain dots. */
function nameOf(key: string): string {
  return key.replace(/%([0-9A-F]{2})/g, (_all, code) => String.fromCharCode(Number.parseInt(code, 16)));
}

function sumOf(all: readonly Counts[]): Counts {
  const sum: Counts = { calls: 0, failures: 0, milliseconds: 0, errors: {} };
  for (const { calls, failures, milliseconds, errors } of all) {
    sum.calls += calls;
    sum.failures += failures;
    sum.milliseconds += milliseconds;
    for (const [code, count] of Object.entries(errors)) sum.errors[code] = (sum.errors[code] ?? 0) + count;
  }
  return sum;
}

function percentage({ calls, failures }: Counts): string {
  return calls === 0 ? '0 %' : `${((100 * failures) / calls).toFixed(1)} %`;
}

function meanOf({ calls, milliseconds }: Counts): number {
  return calls === 0 ? 0 : Math.round(milliseconds / calls);
}
