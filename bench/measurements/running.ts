/** Computes the cost of running Muster from a simulated day, for the tables of docs/guides/operations.md. */
import { table } from '../documentation.ts';
import type { Measurement } from '../measurement.ts';
import { ASSUMED, type Month, monthOf, openAllMonth } from '../pricing/model.ts';
import { DAY, type DayBill, measureDay } from '../simulation/day.ts';

const SIZES = [10, 1000, 20_000, 100_000];

/** Target: per month, 20,000 agents with 20 tasks a day cost at most this many US dollars. */
const TARGET = { agents: 20_000, dollars: 500 };

export interface RunningMeasurement extends Measurement {
  readonly page: string;
}

export async function measureRunning(): Promise<RunningMeasurement> {
  const day = await measureDay();
  const months = SIZES.map((agents) => monthOf(day, agents));
  const { total } = monthOf(day, TARGET.agents);
  return {
    name: 'running',
    title: `Cost per month of ${TARGET.agents} agents with ${DAY.tasksEach} tasks a day, compared with $${TARGET.dollars}`,
    ratio: { min: total / TARGET.dollars, median: total / TARGET.dollars, max: total / TARGET.dollars },
    target: { kind: 'at most', value: 1 },
    figures: {
      'US dollars per month': total,
      'documents that an agent reads per day': day.firestore.reads,
      'documents that an agent writes per day': day.firestore.writes,
      'Realtime Database writes of an agent per day': day.realtime.writes,
      'documents that the median claim reads': day.claimReads,
    },
    page: [daySection(day), '### A month', monthTable(months)].join('\n\n'),
  };
}

function daySection(day: DayBill): string {
  const { firestore, realtime, logged, idleSweep } = day;
  const rows: [string, string][] = [
    ['calls', `${whole(day.calls)}, of them ${whole(day.beats)} heartbeats`],
    ['documents read', whole(firestore.reads)],
    ['documents written', whole(firestore.writes)],
    ['documents deleted', whole(firestore.deletes)],
    ['calls of triggers', `${whole(day.triggers)}, whose reads and writes are included above`],
    ['documents that the median claim reads', whole(day.claimReads)],
    ['writes to the Realtime Database', whole(realtime.writes)],
    ['bytes from the Realtime Database', whole(realtime.bytesDown)],
    ['log entries', `${whole(logged.entries)}, ${whole(logged.bytes)} bytes`],
  ];
  return [
    `Measured over a day of ${DAY.agents} agents, each with ${DAY.tasksEach} tasks of ${DAY.minutesATask} minutes and one heartbeat per minute. Each task is created, claimed, started and completed, and the queue grows all day. On average, one agent needs per day:`,
    table(['what', 'amount'], rows),
    `A sweep that finds nothing to do reads ${whole(idleSweep.reads)} documents, once per minute, for any number of agents.`,
  ].join('\n\n');
}

function monthTable(months: readonly Month[]): string {
  const parts = Object.keys(months[0]?.parts ?? {});
  const dollars = (amount: number): string => `$${amount < 10 ? amount.toFixed(2) : whole(amount)}`;
  const rows = [
    ...parts.map((part) => [
      part,
      ...months.map((month) => {
        const amount = Object.entries(month.parts).find(([name]) => name === part)?.[1] ?? 0;
        return dollars(amount);
      }),
    ]),
    ['**total**', ...months.map(({ total }) => `**${dollars(total)}**`)],
    ['calls per second', ...months.map(({ callsASecond }) => callsASecond.toFixed(1))],
    ['instances of `mcp`', ...months.map(({ instances }) => String(instances))],
    ["Cloud Run's request log, unless it is excluded", ...months.map(({ requestLog }) => dollars(requestLog))],
  ];
  return [
    table(['list price per month', ...months.map(({ agents }) => `${agents.toLocaleString('en')} agents`)], rows),
    `Computed from the day above, for ${ASSUMED.hours} hours per day, minus the free quota. Some values are assumed, so measure them in your deployment: ${ASSUMED.cpuSecondsACall * 1000} ms of CPU time per call, ${ASSUMED.cpuSecondsATrigger * 1000} ms of CPU time per trigger, and requests that are open for ${ASSUMED.openSecondsACall * 1000} ms. An instance that has an open request at all times costs ${dollars(openAllMonth())} per month. Waiting runners, \`pollEvents\` in a loop, and streams keep requests open. For that price, one instance can have \`CONCURRENCY\` open requests.`,
  ].join('\n\n');
}

function whole(amount: number): string {
  return Math.round(amount).toLocaleString('en');
}
