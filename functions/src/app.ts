/** The composition root. Everything is made once per instance, on first use. */

import { Addresses } from './access/rules/addresses.ts';
import { type Bindings, composePorts, composePush } from './composition/ports.ts';
import { composeServices } from './composition/services.ts';
import {
  allowedOrigins,
  clockFile,
  functionUrl,
  mountPath,
  publicUrl,
  rateLimit,
  STREAMS,
  signInSettings,
  trustedProxies,
  VERSION,
} from './config.ts';
import { cloudLog, movableClock, readAsset, systemClock } from './kernel/platform.ts';
import { realtimeDatabase } from './kernel/realtime/database.ts';
import { expiryPart } from './kernel/sweep.ts';
import { ApprovedCalls } from './mcp/approvedCalls.ts';
import { createEndpoint } from './mcp/http/endpoint.ts';
import type { Endpoint } from './mcp/http/request.ts';
import { OpenStreams } from './mcp/http/streams.ts';
import { createWebhookEndpoint } from './mcp/http/webhook.ts';
import { served } from './mcp/tool.ts';
import { toolsetsAt } from './mcp/urlSelection.ts';
import { createSignIn, signInPathOf } from './signin/http/signIn.ts';
import type { FirebaseSettings } from './signin/http/visit.ts';
import { DatabaseCommitProofs } from './toolsets/firebase/store/watcherLeases.ts';
import { toolsets } from './toolsets/index.ts';
import { sweep } from './toolsets/system/rules/sweeper.ts';

export type { Bindings };

/** Builds the features over their ports: everything but the HTTP endpoint. */
export function compose(bindings: Bindings) {
  const ports = composePorts(bindings);
  const services = composeServices(ports, (call) => approvedCalls.make(call));
  const { authenticator, approvals } = services;
  const view = async (name: string) => (await readAsset(`views/${name}.html`)).toString();
  const calls = { ...ports, ...served(toolsets, services), authenticator, approvals, view };
  const approvedCalls = new ApprovedCalls(calls, bindings.baseUrl ?? '');
  const expiring = [
    ...Object.values(ports.ledgers),
    services.subscriptions,
    ports.deliveries,
    new DatabaseCommitProofs(realtimeDatabase, ports.clock),
    ports.unreadable,
  ];
  const parts = [
    ...services.taskSweep.parts,
    services.stuckTasks.part,
    services.liveness.part,
    services.accountSweep.part,
    services.budgetSweep.part,
    services.orchestration.runs.part,
    services.coordination.archives.part,
    services.inbox.answers.part,
    services.approvedCalls.part,
    ...expiring.map(expiryPart),
    ...services.retention.parts,
    ...ports.recordRetention,
    ports.relayPart(services.relayEvent),
    ports.repeatPart(services),
  ];
  return {
    ports,
    services,
    /** What answers calls of tools. */
    calls,
    sweep: () => sweep(parts, ports),
    gitHubWebhook: createWebhookEndpoint(services.webhook),
  };
}

export type Composition = ReturnType<typeof compose>;

type Instance = Composition & { readonly endpoint: Endpoint };

let instance: Instance | undefined;

/** What is known of a deployment from outside. */
interface Front {
  readonly addresses: Addresses;
  readonly firebase: FirebaseSettings;
  readonly allowedOrigins: readonly string[];
  readonly mountPath: string | undefined;
  readonly trustedProxies: number;
}

/** Everything that is answered over HTTP, but for webhooks. */
export function createFront({ ports, services, calls }: Composition, front: Front): Endpoint {
  const existing = toolsets.map(({ name }) => name);
  const mcp = createEndpoint({
    ...calls,
    ...front,
    streams: STREAMS,
    openStreams: new OpenStreams(),
    version: VERSION,
  });
  const signIn = createSignIn(
    {
      ...ports,
      ...services.signIn,
      firebase: front.firebase,
      trustedProxies: front.trustedProxies,
      asset: (name) => readAsset(`signin/${name}`),
      toolsetsAt: (below) => toolsetsAt(below, existing),
    },
    front.addresses,
  );
  return (request, response) =>
    signInPathOf(request.url ?? '/') === undefined ? mcp(request, response) : signIn(request, response);
}

/** This instance's parts. */
export function app(): Instance {
  if (instance !== undefined) return instance;
  const file = clockFile();
  const clock = file === undefined ? systemClock : movableClock(file);
  const addresses = new Addresses({ publicUrl: publicUrl(), functionUrl: functionUrl() });
  const baseUrl = addresses.main?.mcp ?? functionUrl();
  const composition = compose({ clock, rateLimit: rateLimit(), push: composePush(), baseUrl });
  if (publicUrl() !== undefined && addresses.main === undefined)
    cloudLog.warn('public_url_unusable', { publicUrl: publicUrl(), effect: 'nobody can sign in' });
  const endpoint = createFront(composition, {
    addresses,
    firebase: signInSettings(),
    allowedOrigins: allowedOrigins(),
    mountPath: mountPath(),
    trustedProxies: trustedProxies(),
  });
  instance = { ...composition, endpoint };
  return instance;
}
