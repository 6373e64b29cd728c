/** What a month of many agents costs, from what one agent's day was measured to take. */
import type { DayBill } from '../simulation/day.ts';
import { FREE, PRICES } from './prices.ts';

const DAYS = 30;
const GIB = 2 ** 30;

/** What is measured elsewhere, or chosen. */
export const ASSUMED = {
  /** Of the processor, for each call: twice what `overhead` measures, for the network's share. */
  cpuSecondsACall: 0.0013,
  /** For each invocation that follows a document. */
  cpuSecondsATrigger: 0.003,
  /** How long a call is open, most of it waiting for Firestore. */
  openSecondsACall: 0.06,
  /** How much of an instance's processor is used before Cloud Run starts another. Source: Cloud Run, "About instance autoscaling". */
  utilisation: 0.6,
  /** Gibibytes of an instance. */
  memory: 0.5,
  /** Hours in which a team works. */
  hours: 8,
  /** Of an entry of the log around what Muster says, and of Cloud Run's own entry for each request, unless it is excluded. */
  envelopeBytes: 600,
  requestLogBytes: 1100,
  /** Of a small answer with its headers. */
  answerBytes: 700,
  /** Reads of one check of a credential. */
  checkReads: 4,
} as const;

export interface Month {
  readonly agents: number;
  readonly callsASecond: number;
  readonly instances: number;
  readonly parts: Readonly<
    Record<'Firestore' | 'Cloud Run' | 'Realtime Database' | 'Logging' | 'Egress' | 'Fixed', number>
  >;
  readonly total: number;
  /** What Cloud Run's own log of requests would add. */
  readonly requestLog: number;
}

/** @param day of one agent */
export function monthOf(day: DayBill, agents: number): Month {
  const daily = (each: number) => each * agents * DAYS;
  const callsASecond = (day.calls * agents) / (ASSUMED.hours * 3600);
  const triggersASecond = (day.triggers * agents) / (ASSUMED.hours * 3600);
  const mcp = load(callsASecond, ASSUMED.cpuSecondsACall, ASSUMED.openSecondsACall);
  const triggers = load(triggersASecond, ASSUMED.cpuSecondsATrigger, ASSUMED.openSecondsACall);
  // Each instance looks each caller up once an hour, unless it is called there more seldom than that.
  const checksADay = Math.min(day.calls, Math.max(day.checks, mcp.instances * ASSUMED.hours));
  const sweeps = 1440 * DAYS;
  const instanceSeconds = (mcp.seconds + triggers.seconds) * DAYS + sweeps;
  const reads =
    daily(day.firestore.reads + (checksADay - day.checks) * ASSUMED.checkReads) +
    sweeps * day.idleSweep.reads +
    polls(mcp.seconds);
  const logGib = (daily(day.logged.bytes) + daily(day.logged.entries) * ASSUMED.envelopeBytes) / GIB;
  const parts = {
    Firestore:
      beyond(reads, FREE.firestore.read) * PRICES.firestore.read +
      beyond(daily(day.firestore.writes), FREE.firestore.write) * PRICES.firestore.write +
      beyond(daily(day.firestore.deletes), FREE.firestore.delete) * PRICES.firestore.delete,
    'Cloud Run':
      beyond(instanceSeconds, FREE.run.vcpuSecond) * PRICES.run.vcpuSecond +
      beyond(instanceSeconds * ASSUMED.memory, FREE.run.gibSecond) * PRICES.run.gibSecond +
      beyond(daily(day.calls + day.triggers) + 2 * sweeps, FREE.run.request) * PRICES.run.request,
    'Realtime Database': beyond(daily(day.realtime.bytesDown) / GIB, FREE.realtimeGib) * PRICES.realtimeGib,
    Logging: beyond(logGib, FREE.loggingGib) * PRICES.loggingGib,
    Egress: beyond((daily(day.calls) * ASSUMED.answerBytes) / GIB, FREE.egressGib) * PRICES.egressGib,
    Fixed: PRICES.fixedMonthly,
  };
  const total = Object.values(parts).reduce((sum, part) => sum + part, 0);
  const requestLog = ((daily(day.calls + day.triggers) * ASSUMED.requestLogBytes) / GIB) * PRICES.loggingGib;
  return { agents, callsASecond, instances: mcp.instances, parts, total, requestLog };
}

/** How many instances that takes, and how many seconds of theirs a day: one that has a request open is paid for. */
function load(aSecond: number, cpuSeconds: number, openSeconds: number) {
  const instances = Math.max(1, Math.ceil((aSecond * cpuSeconds) / ASSUMED.utilisation));
  const busy = Math.min(1, aSecond * openSeconds);
  return { instances, seconds: instances * busy * ASSUMED.hours * 3600 };
}

/** Each instance asks once in five seconds, while it is called, what has changed. */
function polls(instanceSecondsADay: number): number {
  return (instanceSecondsADay / 5) * DAYS;
}

function beyond(amount: number, free: number): number {
  return Math.max(0, amount - free);
}

/** What one idle caller costs a month that keeps a request open all day and night, where nobody shares its instance. */
export function openAllMonth(): number {
  const seconds = 86_400 * DAYS;
  return (
    beyond(seconds, FREE.run.vcpuSecond) * PRICES.run.vcpuSecond +
    beyond(seconds * ASSUMED.memory, FREE.run.gibSecond) * PRICES.run.gibSecond
  );
}
