/** Monthly cost of many agents, from the measured day of one agent. */
import type { DayBill } from '../simulation/day.ts';
import { FREE, PRICES } from './prices.ts';

const DAYS = 30;
const GIB = 2 ** 30;

/** Values that are assumed or measured elsewhere. */
export const ASSUMED = {
  /** CPU seconds per call: twice the time that `overhead` measures, because that time excludes the network. */
  cpuSecondsACall: 0.0013,
  cpuSecondsATrigger: 0.003,
  /** Seconds for which a call's request is open. Most of that time, the call waits for Firestore. */
  openSecondsACall: 0.06,
  /** CPU utilization at which Cloud Run starts another instance. Source: Cloud Run, "About instance autoscaling". */
  utilization: 0.6,
  /** GiB of memory per instance. */
  memory: 0.5,
  hours: 8,
  /** Bytes that Cloud Logging adds to an entry, and bytes of the log entry that Cloud Run writes per request. */
  envelopeBytes: 600,
  requestLogBytes: 1100,
  /** Bytes of a small response with its headers. */
  answerBytes: 700,
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
  /** Cost of Cloud Run's request log, which `total` does not include. */
  readonly requestLog: number;
}

/** @param day average costs of one agent per day */
export function monthOf(day: DayBill, agents: number): Month {
  const daily = (each: number) => each * agents * DAYS;
  const callsASecond = (day.calls * agents) / (ASSUMED.hours * 3600);
  const triggersASecond = (day.triggers * agents) / (ASSUMED.hours * 3600);
  const mcp = load(callsASecond, ASSUMED.cpuSecondsACall, ASSUMED.openSecondsACall);
  const triggers = load(triggersASecond, ASSUMED.cpuSecondsATrigger, ASSUMED.openSecondsACall);
  // Each instance checks each caller's credential once an hour, or once per call if there are fewer calls.
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

/** Returns the number of instances and their billed seconds per day. Time without an open request is not billed. */
function load(aSecond: number, cpuSeconds: number, openSeconds: number) {
  const instances = Math.max(1, Math.ceil((aSecond * cpuSeconds) / ASSUMED.utilization));
  const busy = Math.min(1, aSecond * openSeconds);
  return { instances, seconds: instances * busy * ASSUMED.hours * 3600 };
}

/** Returns the monthly reads of access changes. An instance with an open request reads them every five seconds. */
function polls(instanceSecondsADay: number): number {
  return (instanceSecondsADay / 5) * DAYS;
}

function beyond(amount: number, free: number): number {
  return Math.max(0, amount - free);
}

/** Returns the monthly cost of an instance that only holds one request open for the whole month. */
export function openAllMonth(): number {
  const seconds = 86_400 * DAYS;
  return (
    beyond(seconds, FREE.run.vcpuSecond) * PRICES.run.vcpuSecond +
    beyond(seconds * ASSUMED.memory, FREE.run.gibSecond) * PRICES.run.gibSecond
  );
}
