/** The tool system.getSystemStatus, called on an instance whose Realtime Database becomes unreachable. */
import assert from 'node:assert/strict';
import { z } from 'zod';
import { addAgents, addCallers, type Caller, newProject } from '../../bench/seed.ts';
import { type FunctionServer, musterFunction, serveFunction } from '../../bench/servers/functionServer.ts';
import { type Server, startServer } from '../../rtdb-lite/src/server.ts';
import { succeed } from './support/calls.ts';
import { type Connection, connect } from './support/clients.ts';

const status = z.object({
  status: z.string(),
  version: z.string(),
  services: z.object({
    firebase: z.object({
      status: z.string(),
      latency: z.number(),
      firestore: z.object({ status: z.string(), latency: z.number() }),
      realtimeDatabase: z.object({ status: z.string(), latency: z.number() }),
    }),
    github: z.object({ status: z.string() }),
  }),
  metrics: z.object({
    activeAgents: z.int(),
    tasksInQueue: z.int(),
    uptime: z.int(),
    memoryUsage: z.number(),
    cpuUsage: z.number(),
  }),
  alerts: z.array(z.object({ level: z.string(), message: z.string(), timestamp: z.iso.datetime() })),
  dependencies: z.record(z.string(), z.string()),
});

describe('system.getSystemStatus', () => {
  let database: Server;
  let instance: FunctionServer;
  let agent: Caller;
  let connection: Connection;

  const project = newProject('status');

  before(async () => {
    await addAgents(project, 2); // Two agents, of which one is active.
    const [caller] = await addCallers(project, 'worker');
    assert.ok(caller);
    agent = caller;
    database = await startServer();
  });
  beforeEach(async () => {
    instance = await serveFunction({
      ...musterFunction,
      env: { ...project.env, FIREBASE_DATABASE_EMULATOR_HOST: `127.0.0.1:${database.port}`, FUNCTIONS_EMULATOR: '' },
    });
    connection = await connect('client 2026-07-28', instance.url, agent.credential);
    await succeed(connection, 'coordination_get_status'); // From here on, the instance knows the response time of every database.
  });
  afterEach(async () => {
    await connection?.close();
    await instance?.end();
  });
  after(async () => {
    await database?.close();
    await project.firestore.terminate();
  });

  const look = async () =>
    status.parse(await succeed(connection, 'system_getSystemStatus', { includeDependencies: true }));

  it('reports the status healthy, and metrics, while all databases respond', async () => {
    const { services, metrics, alerts, dependencies, ...rest } = await look();
    assert.equal(rest.status, 'healthy');
    assert.deepEqual([services.firebase.status, services.firebase.realtimeDatabase.status], ['healthy', 'healthy']);
    assert.deepEqual(alerts, []);
    assert.equal(metrics.activeAgents, 1);
    assert.ok(metrics.memoryUsage > 20 && metrics.memoryUsage < 4000, `${metrics.memoryUsage} MiB`);
    assert.ok(metrics.cpuUsage > 0);
    assert.match(dependencies['node'] ?? '', /^22\./);
  });

  it('reports the status degraded if the Realtime Database is unreachable; other calls succeed', async () => {
    await database.close();
    const answer = await look();
    assert.equal(answer.status, 'degraded');
    assert.equal(answer.services.firebase.status, 'degraded');
    assert.equal(answer.services.firebase.firestore.status, 'healthy');
    assert.equal(answer.services.firebase.realtimeDatabase.status, 'unavailable');
    const levels = answer.alerts.map(({ level }) => level);
    assert.deepEqual(levels, ['warning']);
    assert.match(answer.alerts[0]?.message ?? '', /Realtime Database/);
    await succeed(connection, 'coordination_register_agent', { agent_id: agent.agentId, role: 'worker' });
  });
});
