/** Services and HTTP endpoint of this instance, created on first use. */

import { Addresses } from './access/rules/addresses.ts';
import { type Composition, compose } from './composition/compose.ts';
import { externalServices } from './composition/externalServices.ts';
import {
  allowedOrigins,
  functionUrl,
  mountPath,
  publicUrl,
  STREAMS,
  signInSettings,
  trustedProxies,
  VERSION,
} from './config.ts';
import { readAsset } from './kernel/platform.ts';
import { createEndpoint } from './mcp/http/endpoint.ts';
import type { Endpoint } from './mcp/http/request.ts';
import { OpenStreams } from './mcp/http/streams.ts';
import { toolsetsAt } from './mcp/urlSelection.ts';
import { createSignInEndpoint, signInPathOf } from './signin/http/signIn.ts';
import type { FirebaseSettings } from './signin/http/signInRequest.ts';
import { toolsets } from './toolsets/index.ts';

type Instance = Composition & { readonly endpoint: Endpoint };

let instance: Instance | undefined;

interface AppSettings {
  readonly addresses: Addresses;
  readonly firebase: FirebaseSettings;
  readonly allowedOrigins: readonly string[];
  readonly mountPath: string | undefined;
  readonly trustedProxies: number;
}

/** Returns the HTTP endpoint for all requests except GitHub's webhooks. */
export function createAppEndpoint({ services, calls }: Composition, front: AppSettings): Endpoint {
  const existing = toolsets.map(({ name }) => name);
  const mcp = createEndpoint({
    ...calls,
    ...front,
    streams: STREAMS,
    openStreams: new OpenStreams(),
    version: VERSION,
  });
  const signIn = createSignInEndpoint(
    {
      ...calls,
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

/** Returns the services and the endpoint of this instance. */
export function app(): Instance {
  if (instance !== undefined) return instance;
  const addresses = new Addresses({ publicUrl: publicUrl(), functionUrl: functionUrl() });
  const baseUrl = addresses.main?.mcp ?? functionUrl();
  const composition = compose(externalServices(), baseUrl);
  if (publicUrl() !== undefined && addresses.main === undefined)
    composition.kernel.log.warn('public_url_unusable', { publicUrl: publicUrl(), effect: 'people cannot sign in' });
  const endpoint = createAppEndpoint(composition, {
    addresses,
    firebase: signInSettings(),
    allowedOrigins: allowedOrigins(),
    mountPath: mountPath(),
    trustedProxies: trustedProxies(),
  });
  instance = { ...composition, endpoint };
  return instance;
}
