import { z } from 'zod';
import { roleIn } from '../../../identity/rules/principal.ts';
import type { Counts } from '../../../limits/rules/callMetrics.ts';
import { optionalFields } from '../../../mcp/tool.ts';
import type { SystemServices } from '../create.ts';
import { type CallHistory, mostFailing, successRate, WINDOW_MS } from '../rules/metrics.ts';
import { alertsOf, healthOf, type Reading, type Readings, unreadableAlert } from '../rules/status.ts';
import { defineTool } from './systemPages.ts';

/** Maximum number of listed tools. More than a deployment has, so that tools can be added. */
const MAX_TOOLS = 100;
const latency = z.number().describe('Milliseconds until the response or the timeout.');
const part = optionalFields({ status: z.string(), latency });

const firebase = optionalFields({
  status: z.string().describe('healthy, degraded (Realtime Database down) or critical (Firestore down).'),
  latency: z.number().describe('Firestore latency, in milliseconds.'),
  errors: z.int().describe('Calls of the last hour that failed with FIREBASE_ERROR.'),
  unreadableDocuments: z
    .int()
    .describe('Stored documents that were skipped in the last hour because they could not be read.'),
  firestore: part,
  realtimeDatabase: part,
});

const github = optionalFields({
  status: z.string().describe('healthy, unavailable, or not configured.'),
  rateLimit: optionalFields({ limit: z.int(), remaining: z.int(), reset: z.iso.datetime() }).describe(
    'Remaining GitHub requests.',
  ),
  latency,
});

const rate = z.number().describe('Share of calls with this error: 0 to 1.');
const errorsShape = z.record(z.string(), z.object({ count: z.int(), rate }));

const callsShape = z
  .object({
    windowSeconds: z.int().describe('Period of the counts, in seconds.'),
    total: z.int(),
    failed: z.int(),
    errors: errorsShape.describe('By error code, for all calls.'),
    tools: z
      .array(
        z.object({
          tool: z.string(),
          calls: z.int(),
          failed: z.int(),
          errorRate: z.number().describe("Share of the tool's calls that failed: 0 to 1."),
          avgResponseTime: z.number().describe('Milliseconds.'),
          errors: errorsShape,
        }),
      )
      .describe(`Called tools, most failures first, at most ${MAX_TOOLS}.`),
  })
  .describe('Calls of the last hour and their failures; absent if no calls were made.');

const metricsShape = optionalFields({
  activeAgents: z.int().describe('Agents of this workspace that are online.'),
  tasksInQueue: z.int().describe("Open tasks in this workspace's queue."),
  avgResponseTime: z.number().describe("Average duration of the last hour's calls, in milliseconds."),
  successRate: z.number().describe("Share of the last hour's calls that succeeded: 0 to 1."),
  uptime: z.int().describe('Seconds since the responding instance started.'),
  memoryUsage: z.number().describe('Resident memory of the responding instance, in MiB.'),
  cpuUsage: z.number().describe('CPU usage since the previous status request, in percent of one processor.'),
  calls: callsShape.optional(),
});

const alertShape = optionalFields({
  level: z.string().describe('warning or critical.'),
  message: z.string(),
  timestamp: z.iso.datetime(),
});

export const getSystemStatus = defineTool({
  name: 'getSystemStatus',
  title: 'System status',
  description: "Returns the deployment's health: its services, load and call metrics.",
  details:
    'Checks Firestore, the Realtime Database and GitHub, each for at most 2 seconds; caches results up to 15 seconds. critical: Firestore is down. degraded: another service is down.',
  rare: ['includeDependencies'],
  input: z.strictObject({
    includeServices: z.boolean().default(true).describe('Include services'),
    includeMetrics: z.boolean().default(true).describe('Include load and calls'),
    includeDependencies: z.boolean().default(false).describe('Include versions'),
  }),
  output: z.object({
    status: z.enum(['healthy', 'degraded', 'critical']),
    timestamp: z.iso.datetime(),
    version: z.string().optional(),
    services: optionalFields({ firebase, github }).optional(),
    metrics: metricsShape.optional(),
    alerts: z.array(alertShape).optional(),
    dependencies: z.record(z.string(), z.string()).optional(),
  }),
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: true },
  role: 'viewer',
  // All callers may see the deployment's health. Callers without a role in the workspace do not see its workload.
  scope: 'owner',
  example: { includeDependencies: true },
  handler: async ({ services, principal, workspace }, { includeServices, includeMetrics, includeDependencies }) => {
    const { system } = services;
    const isIn = roleIn(principal, workspace) !== undefined;
    const [readings, warnAboutSweep, unreadable, workload, history] = await Promise.all([
      system.status.readings(),
      system.status.warnAboutSweep(),
      system.status.unreadable(),
      includeMetrics && isIn ? system.status.workload(workspace) : undefined,
      includeServices || includeMetrics ? system.recentCalls.lastHour() : undefined,
    ]);
    const now = system.status.now();
    const alerts = [...alertsOf(readings), ...warnAboutSweep, ...unreadableAlert(unreadable ?? [], now)];
    return {
      status: healthOf(readings),
      timestamp: now,
      version: system.version,
      ...(includeServices && { services: servicesResponse(readings, history, unreadable?.length) }),
      ...(includeMetrics && { metrics: { ...workload, ...callsResponse(history), ...instanceResponse(system) } }),
      ...(includeDependencies && { dependencies: { ...system.gauge.versions() } }),
      alerts: alerts.map(({ at, ...alert }) => ({ ...alert, timestamp: at })),
    };
  },
});

function servicesResponse({ github: hub, ...firebase }: Readings, history?: CallHistory, unreadable?: number) {
  const { firestore, realtimeDatabase } = firebase;
  return {
    firebase: {
      status: healthOf(firebase),
      latency: firestore?.milliseconds,
      firestore: firestore && serviceResponse(firestore),
      realtimeDatabase: realtimeDatabase && serviceResponse(realtimeDatabase),
      errors: history && (history.all.errors.get('FIREBASE_ERROR') ?? 0),
      unreadableDocuments: unreadable,
    },
    github: hub ? serviceResponse(hub) : { status: 'not configured' },
  };
}

function serviceResponse({ isUp, milliseconds: latency, rateLimit }: Reading) {
  return { status: isUp ? 'healthy' : 'unavailable', latency, rateLimit };
}

/** Returns the metrics of the last hour's calls. Without calls, the object is empty. */
function callsResponse(history: CallHistory | undefined): z.input<typeof metricsShape> {
  const rate = history && successRate(history.all);
  if (history === undefined || rate === undefined) return {};
  return {
    successRate: rate,
    avgResponseTime: averageOf(history.all),
    calls: {
      windowSeconds: WINDOW_MS / 1000,
      total: history.all.calls,
      failed: history.all.failures,
      errors: errorsResponse(history.all),
      tools: mostFailing(history.tools, MAX_TOOLS).map(([tool, counts]) => ({
        tool,
        calls: counts.calls,
        failed: counts.failures,
        errorRate: counts.failures / counts.calls,
        avgResponseTime: averageOf(counts),
        errors: errorsResponse(counts),
      })),
    },
  };
}

function averageOf({ milliseconds, calls }: Counts): number {
  return Math.round(milliseconds / calls);
}

function errorsResponse({ errors, calls }: Counts): z.output<typeof errorsShape> {
  const codes = [...errors].sort(([, one], [, other]) => other - one);
  return Object.fromEntries(codes.map(([code, count]) => [code, { count, rate: count / calls }]));
}

function instanceResponse({ gauge }: SystemServices['system']): z.input<typeof metricsShape> {
  const { uptimeSeconds, memoryMebibytes, cpuPercent } = gauge.measure();
  return { uptime: uptimeSeconds, memoryUsage: memoryMebibytes, cpuUsage: cpuPercent };
}
