/**
 * Whether the services that Muster stands on answer.
 * Source: spec/network.md, system.getSystemStatus; docs/semantics.md#network.
 */
import type { SweepState } from '../../../kernel/sweep.ts';
import { inTime } from '../../../kernel/waiting.ts';
import type { RateLimit } from '../../github/index.ts';
import type { SystemPorts } from './metrics.ts';
import type { TaskOverview } from './queue.ts';

/** What is asked for its health. */
const SERVICES = ['firestore', 'realtimeDatabase', 'github'] as const;

type Service = (typeof SERVICES)[number];

/** One look at a service. */
export interface Reading {
  readonly isUp: boolean;
  /** Until it answered, or until it was given up. */
  readonly milliseconds: number;
  readonly at: Date;
  readonly rateLimit?: RateLimit;
}

export type Readings = Partial<Readonly<Record<Service, Reading>>>;

type SystemHealth = 'healthy' | 'degraded' | 'critical';

interface Workload {
  readonly activeAgents: number;
  readonly tasksInQueue: number;
}

/**
 * How long a service is waited for. The Realtime Database answers at once or not at all, and others wait for
 * it too before a call is answered.
 */
const PATIENCE_MILLISECONDS: Readonly<Record<Service, number>> = {
  firestore: 2000,
  realtimeDatabase: 1000,
  github: 2000,
};

/** How long one look is good for. */
const KEPT_MILLISECONDS = 15_000;

export class SystemStatus {
  private readonly ports: SystemPorts;
  private readonly tasks: Pick<TaskOverview, 'stats'>;
  private kept: { readonly until: number; readonly readings: Promise<Readings> } | undefined;
  /** Probes that have not ended: a service that is away is not asked ever more. */
  private readonly pending = new Map<Service, Promise<RateLimit | undefined>>();

  constructor(ports: SystemPorts, tasks: Pick<TaskOverview, 'stats'>) {
    this.ports = ports;
    this.tasks = tasks;
  }

  /** All services at once; one look serves all callers for a while. */
  readings(): Promise<Readings> {
    const now = this.ports.clock.now().getTime();
    if (this.kept === undefined || this.kept.until <= now) {
      this.kept = { until: now + KEPT_MILLISECONDS, readings: this.probeAll() };
    }
    return this.kept.readings;
  }

  now(): Date {
    return this.ports.clock.now();
  }

  /** What there is to do, and who is there to do it; undefined where Firestore does not tell in time. */
  async workload(workspace: string): Promise<Workload | undefined> {
    const { directory } = this.ports;
    const counted = Promise.all([directory.registered(), this.tasks.stats(workspace)]);
    const known = inTime(counted, PATIENCE_MILLISECONDS.firestore, 'Firestore');
    return known.then(
      ([{ active }, { total }]) => ({ activeAgents: active, tasksInQueue: total }),
      () => undefined,
    );
  }

  /** What the sweep has not got done; nothing where Firestore does not tell in time. */
  async sweepAlerts(): Promise<readonly Alert[]> {
    const { sweepRecord } = this.ports;
    const state = inTime(sweepRecord.read(), PATIENCE_MILLISECONDS.firestore, 'Firestore');
    return state.then(
      ({ behind }) => behindAlerts(behind, this.now()),
      () => [],
    );
  }

  /** The stored documents that could not be read in the last hour; undefined where nobody tells in time. */
  async unreadable(): Promise<readonly string[] | undefined> {
    const known = inTime(
      this.ports.unreadable.recent(),
      PATIENCE_MILLISECONDS.realtimeDatabase,
      'The Realtime Database',
    );
    return known.catch(() => undefined);
  }

  private async probeAll(): Promise<Readings> {
    const { gitHub } = this.ports;
    const present = SERVICES.filter((service) => service !== 'github' || gitHub.configured);
    const readings = await Promise.all(present.map((service) => this.probe(service)));
    return Object.fromEntries(present.map((service, index) => [service, readings[index]]));
  }

  private async probe(service: Service): Promise<Reading> {
    const { clock } = this.ports;
    const started = performance.now();
    const outcome = await inTime(this.ask(service), PATIENCE_MILLISECONDS[service], service).then(
      (rateLimit) => ({ isUp: true, ...(rateLimit && { rateLimit }) }),
      () => ({ isUp: false }),
    );
    return { ...outcome, milliseconds: Math.round(performance.now() - started), at: clock.now() };
  }

  private ask(service: Service): Promise<RateLimit | undefined> {
    const asked = this.pending.get(service);
    if (asked !== undefined) return asked;
    const asking = this.probeOnce(service).finally(() => this.pending.delete(service));
    this.pending.set(service, asking);
    return asking;
  }

  private async probeOnce(service: Service): Promise<RateLimit | undefined> {
    const { probes, gitHub } = this.ports;
    if (service === 'github') return gitHub.rateLimit();
    await probes[service]();
    return undefined;
  }
}

/** Without Firestore nothing works; without the others, some things do not. */
export function healthOf(readings: Readings): SystemHealth {
  if (readings.firestore?.isUp === false) return 'critical';
  return SERVICES.some((service) => readings[service]?.isUp === false) ? 'degraded' : 'healthy';
}

interface Alert {
  readonly level: 'warning' | 'critical';
  readonly message: string;
  readonly at: Date;
}

const WITHOUT: Readonly<Record<Service, Pick<Alert, 'level' | 'message'>>> = {
  firestore: {
    level: 'critical',
    message: 'Firestore does not answer: tasks, agents and to-dos cannot be read or changed.',
  },
  realtimeDatabase: {
    level: 'warning',
    message:
      'The Realtime Database does not answer: presence, live events and rate limits are suspended; tasks go on.',
  },
  github: { level: 'warning', message: 'GitHub does not answer: the github tools fail until it does.' },
};

/** A part of the sweep that is behind for longer does not catch up in the next one. */
const BEHIND_MILLISECONDS = 3 * 60_000;

/** What the sweep has not got done for a while. */
function behindAlerts(behind: SweepState['behind'], now: Date): readonly Alert[] {
  const late = Object.entries(behind).filter(
    ([, { since }]) => now.getTime() - since.getTime() >= BEHIND_MILLISECONDS,
  );
  return late.map(([part, { since }]) => ({
    level: 'warning',
    message: `The sweep has been behind with its part "${part}" since ${since.toISOString()}; it goes on every minute.`,
    at: since,
  }));
}

/** GitHub is as good as away when less than this share of the hour's requests is left. */
const LOW_SHARE = 0.05;

/** Says of which collections they are, and not which: they may be anybody's. */
export function unreadableAlert(paths: readonly string[], at: Date): readonly Alert[] {
  if (paths.length === 0) return [];
  const collections = [...new Set(paths.map((path) => path.split('/')[0]))].join(', ');
  const count = paths.length === 1 ? '1 stored document' : `${paths.length} stored documents`;
  const message = `${count} could not be read in the last hour and were left out, of: ${collections}. The log names each, at document_unreadable.`;
  return [{ level: 'warning', message, at }];
}

/** What is wrong, worst first. */
export function alertsOf(readings: Readings): readonly Alert[] {
  const down = SERVICES.flatMap((service): Alert[] => {
    const reading = readings[service];
    return reading?.isUp === false ? [{ ...WITHOUT[service], at: reading.at }] : [];
  });
  const { github } = readings;
  if (github?.rateLimit === undefined) return down;
  const { limit, remaining, reset } = github.rateLimit;
  if (remaining >= limit * LOW_SHARE) return down;
  const message = `GitHub allows ${remaining} of ${limit} requests until ${reset.toISOString()}.`;
  return [...down, { level: 'warning', message, at: github.at }];
}
