/** The composition root. Everything is made once per instance, on first use. */
import {
  codingPorts,
  codingServices,
  coordinationPorts,
  coordinationServices,
  firebasePorts,
  firebaseServices,
  type GitHubBindings,
  gitHubPorts,
  gitHubServices,
  type OrchestrationBindings,
  onboardingPorts,
  onboardingServices,
  orchestrationPorts,
  orchestrationServices,
  systemPorts,
  systemServices,
} from './composition/features.ts';
import {
  type AccessBindings,
  accessPorts,
  accessServices,
  composeFoundation,
  type FoundationBindings,
} from './composition/foundation.ts';
import { composePush, type TodoBindings, todoPorts, todoServices } from './composition/todo.ts';
import { allowedOrigins, clockFile, mountPath, publicUrl, rateLimit, STREAMS, VERSION } from './config.ts';
import { movableClock, systemClock } from './kernel/platform.ts';
import { realtimeDatabase } from './kernel/realtime/database.ts';
import { expiryPart } from './kernel/sweep.ts';
import { createEndpoint } from './mcp/http/endpoint.ts';
import type { Endpoint } from './mcp/http/http.ts';
import { createDeliveryEndpoint } from './mcp/http/requestBody.ts';
import { OpenStreams } from './mcp/http/streams.ts';
import { DatabaseCommitProofs } from './toolsets/firebase/store/watcherLeases.ts';
import { toolsets } from './toolsets/index.ts';
import { Sweep } from './toolsets/system/rules/sweeper.ts';

/** What is not read from the environment. Tests bind a clock of their own. */
export type Bindings = FoundationBindings &
  AccessBindings &
  TodoBindings &
  OrchestrationBindings &
  GitHubBindings;

/** Builds the features over their ports: everything but the HTTP endpoint. */
export function compose(bindings: Bindings) {
  const foundation = composeFoundation(bindings);
  const ports = {
    ...foundation,
    ...accessPorts(foundation, bindings),
    ...coordinationPorts(foundation),
    ...todoPorts(foundation, bindings),
    ...firebasePorts(foundation),
    ...orchestrationPorts(foundation, bindings),
    ...codingPorts(foundation),
    ...gitHubPorts(foundation, bindings),
    ...systemPorts(foundation),
    ...onboardingPorts(foundation),
  };
  const access = accessServices(ports);
  const below = {
    ...access,
    ...coordinationServices(ports, access.liveness),
    ...systemServices(ports),
  };
  const services = {
    ...below,
    ...todoServices(ports),
    ...firebaseServices(ports),
    ...orchestrationServices(ports, below),
    ...codingServices(ports, below),
    ...gitHubServices(ports),
    ...onboardingServices(ports, below),
  };
  const expiring = [
    ...Object.values(ports.ledgers),
    services.subscriptions,
    ports.deliveries,
    new DatabaseCommitProofs(realtimeDatabase, ports.clock),
    ports.unreadable,
  ];
  const sweep = new Sweep(
    [
      ...services.taskSweep.parts,
      services.liveness.part,
      services.orchestration.runs.part,
      services.archiveClearing.part,
      ...expiring.map(expiryPart),
    ],
    ports,
  );
  return { ports, services, sweep, gitHubWebhook: createDeliveryEndpoint(services.webhook) };
}

export type Composition = ReturnType<typeof compose>;

/** The MCP endpoint over a composition. */
function composeEndpoint({ ports, services }: Composition): Endpoint {
  return createEndpoint({
    ...ports,
    toolsets,
    services: () => services,
    authenticator: services.authenticator,
    streams: STREAMS,
    openStreams: new OpenStreams(),
    allowedOrigins: allowedOrigins(),
    publicUrl: publicUrl(),
    mountPath: mountPath(),
    version: VERSION,
  });
}

type Instance = Composition & { readonly endpoint: Endpoint };

let instance: Instance | undefined;

/** This instance's parts. */
export function app(): Instance {
  if (instance === undefined) {
    const file = clockFile();
    const clock = file === undefined ? systemClock : movableClock(file);
    const composition = compose({ clock, rateLimit: rateLimit(), push: composePush() });
    instance = { ...composition, endpoint: composeEndpoint(composition) };
  }
  return instance;
}
