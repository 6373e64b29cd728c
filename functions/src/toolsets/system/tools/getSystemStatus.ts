import { z } from 'zod';
import { roleIn } from '../../../identity/rules/principal.ts';
import type { Counts } from '../../../limits/rules/callMetrics.ts';
import { partial } from '../../../mcp/tool.ts';
import type { SystemServices } from '../create.ts';
import { type CallHistory, mostFailing, successRate, WINDOW_MILLISECONDS } from '../rules/metrics.ts';
import { alertsOf, healthOf, type Reading, type Readings, unreadableAlert } from '../rules/status.ts';
import { defineTool } from './systemPages.ts';

/** More tools than there are, but for those that somebody adds. */
const MAX_TOOLS = 100;

const latency = z.number().describe('Milliseconds until it answered, or until it was given up.');

const part = partial({ status: z.string(), latency });

const firebase = partial({
  status: z.string().describe('healthy; degraded without the Realtime Database; critical without Firestore.'),
  latency: z.number().describe("Firestore's, in milliseconds."),
  errors: z.int().describe('Calls of the last hour that failed with FIREBASE_ERROR.'),
  unreadableDocuments: z
    .int()
    .describe('Stored documents that could not be read in the last hour, and were left out.'),
  firestore: part,
  realtimeDatabase: part,
});

const github = partial({
  status: z.string().describe('healthy, unavailable, or not configured.'),
  rateLimit: partial({ limit: z.int(), remaining: z.int(), reset: z.iso.datetime() }).describe(
    'What GitHub still allows.',
  ),
  latency,
});

const rate = z.number().describe('Share of the calls that failed so: 0 to 1.');

const errorsShape = z.record(z.string(), z.object({ count: z.int(), rate }));

const callsShape = z
  .object({
    windowSeconds: z.int().describe('How far back calls are counted here.'),
    total: z.int(),
    failed: z.int(),
    errors: errorsShape.describe('By error code, of all calls.'),
    tools: z
      .array(
        z.object({
          tool: z.string(),
          calls: z.int(),
          failed: z.int(),
          errorRate: z.number().describe('Share of its calls that failed: 0 to 1.'),
          avgResponseTime: z.number().describe('Milliseconds.'),
          errors: errorsShape,
        }),
      )
      .describe(`Of each tool that was called; most failures first, at most ${MAX_TOOLS}.`),
  })
  .describe('The calls of the last hour and how they failed; absent where there were none.');

const metricsShape = partial({
  activeAgents: z.int().describe('Agents of this workspace that are online.'),
  tasksInQueue: z.int().describe("Tasks of this workspace's queue that are not closed."),
  avgResponseTime: z.number().describe('Milliseconds a call, on average of the last hour.'),
  successRate: z.number().describe('Share of the calls of the last hour that succeeded: 0 to 1.'),
  uptime: z.int().describe('Seconds since the instance that answers began.'),
  memoryUsage: z.number().describe('MiB of resident memory of that instance.'),
  cpuUsage: z.number().describe('Percent of one processor that it has used since it was last asked.'),
  calls: callsShape.optional(),
});

const alertShape = partial({
  level: z.string().describe('warning or critical.'),
  message: z.string(),
  timestamp: z.iso.datetime(),
});

export const getSystemStatus = defineTool({
  name: 'getSystemStatus',
  title: 'System status',
  description: 'Tells whether the deployment is well: its services, its load and how calls go.',
  details:
    'Firestore, the Realtime Database and GitHub are asked, each for 2 seconds at most; an answer may be 15 seconds old. critical: Firestore does not answer. degraded: another one does not.',
  input: z.strictObject({
    includeServices: z.boolean().default(true).describe('Include services'),
    includeMetrics: z.boolean().default(true).describe('Include load and calls'),
    includeDependencies: z.boolean().default(false).describe('Include versions'),
  }),
  output: z.object({
    status: z.enum(['healthy', 'degraded', 'critical']),
    timestamp: z.iso.datetime(),
    version: z.string().optional(),
    services: partial({ firebase, github }).optional(),
    metrics: metricsShape.optional(),
    alerts: z.array(alertShape).optional(),
    dependencies: z.record(z.string(), z.string()).optional(),
  }),
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: true },
  role: 'viewer',
  // Whether the deployment is well is no secret of a workspace's; what there is to do in one is.
  scope: 'owner',
  example: { includeDependencies: true },
  handler: async (
    { services, principal, workspace },
    { includeServices, includeMetrics, includeDependencies },
  ) => {
    const { system } = services;
    const isIn = roleIn(principal, workspace) !== undefined;
    const [readings, sweepAlerts, unreadable, workload, history] = await Promise.all([
      system.status.readings(),
      system.status.sweepAlerts(),
      system.status.unreadable(),
      includeMetrics && isIn ? system.status.workload(workspace) : undefined,
      includeServices || includeMetrics ? system.recentCalls.lastHour() : undefined,
    ]);
    const now = system.status.now();
    const alerts = [...alertsOf(readings), ...sweepAlerts, ...unreadableAlert(unreadable ?? [], now)];
    return {
      status: healthOf(readings),
      timestamp: now.toISOString(),
      version: system.version,
      ...(includeServices && { services: servicesAnswer(readings, history, unreadable?.length) }),
      ...(includeMetrics && { metrics: { ...workload, ...callsAnswer(history), ...instanceAnswer(system) } }),
      ...(includeDependencies && { dependencies: { ...system.gauge.versions() } }),
      alerts: alerts.map(({ at, ...alert }) => ({ ...alert, timestamp: at.toISOString() })),
    };
  },
});

function servicesAnswer({ github: hub, ...firebase }: Readings, history?: CallHistory, unreadable?: number) {
  const { firestore, realtimeDatabase } = firebase;
  return {
    firebase: {
      status: healthOf(firebase),
      latency: firestore?.milliseconds,
      firestore: firestore && partAnswer(firestore),
      realtimeDatabase: realtimeDatabase && partAnswer(realtimeDatabase),
      errors: history && (history.all.errors.get('FIREBASE_ERROR') ?? 0),
      unreadableDocuments: unreadable,
    },
    github: hub ? partAnswer(hub) : { status: 'not configured' },
  };
}

function partAnswer({ isUp, milliseconds: latency, rateLimit }: Reading) {
  const allowed = rateLimit && { ...rateLimit, reset: rateLimit.reset.toISOString() };
  return { status: isUp ? 'healthy' : 'unavailable', latency, rateLimit: allowed };
}

/** Nothing where nobody has called. */
function callsAnswer(history: CallHistory | undefined): z.input<typeof metricsShape> {
  const rate = history && successRate(history.all);
  if (history === undefined || rate === undefined) return {};
  return {
    successRate: rate,
    avgResponseTime: averageOf(history.all),
    calls: {
      windowSeconds: WINDOW_MILLISECONDS / 1000,
      total: history.all.calls,
      failed: history.all.failures,
      errors: errorsAnswer(history.all),
      tools: mostFailing(history.tools, MAX_TOOLS).map(([tool, counts]) => ({
        tool,
        calls: counts.calls,
        failed: counts.failures,
        errorRate: counts.failures / counts.calls,
        avgResponseTime: averageOf(counts),
        errors: errorsAnswer(counts),
      })),
    },
  };
}

function averageOf({ milliseconds, calls }: Counts): number {
  return Math.round(milliseconds / calls);
}

function errorsAnswer({ errors, calls }: Counts): z.output<typeof errorsShape> {
  const codes = [...errors].sort(([, one], [, other]) => other - one);
  return Object.fromEntries(codes.map(([code, count]) => [code, { count, rate: count / calls }]));
}

function instanceAnswer({ gauge }: SystemServices['system']): z.input<typeof metricsShape> {
  const { uptimeSeconds, memoryMebibytes, cpuPercent } = gauge.measure();
  return { uptime: uptimeSeconds, memoryUsage: memoryMebibytes, cpuUsage: cpuPercent };
}
