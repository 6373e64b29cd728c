/** HTTP endpoint and services of this instance, created on first use. The code of the services is loaded then, too. */
import { Addresses } from './access/rules/addresses.ts';
import type { createAnswers, createInstance, FrontSettings } from './composition/instance.ts';
import { allowedOrigins, functionUrl, mountPath, publicUrl, signInSettings, trustedProxies } from './config.ts';
import { TOOLSETS } from './identity/rules/principal.ts';
import { lazy, loadedOnce } from './kernel/memoCache.ts';
import { cloudLog, readAsset, systemRandomness } from './kernel/platform.ts';
import { createEndpoint } from './mcp/http/endpoint.ts';
import type { MaybeAsync } from './mcp/http/pipeline.ts';
import type { Endpoint } from './mcp/http/request.ts';
import { toolsetsAt } from './mcp/urlSelection.ts';
import { createSignInEndpoint, signInPathOf } from './signin/http/signIn.ts';

/** Returns the HTTP endpoint for all requests except GitHub's webhooks. @param load returns what needs services */
export function createAppEndpoint(
  settings: FrontSettings,
  load: () => MaybeAsync<ReturnType<typeof createAnswers>>,
): Endpoint {
  const mcp = createEndpoint(settings, load);
  const signIn = createSignInEndpoint(
    {
      ...settings,
      asset: (name) => readAsset(`signin/${name}`),
      toolsetsAt: (below) => toolsetsAt(below, settings.toolsetNames),
    },
    load,
  );
  return (request, response) =>
    signInPathOf(request.url ?? '/') === undefined ? mcp(request, response) : signIn(request, response);
}

const settings = lazy((): FrontSettings => {
  const addresses = new Addresses({ publicUrl: publicUrl(), functionUrl: functionUrl() });
  if (publicUrl() !== undefined && addresses.main === undefined)
    cloudLog.warn('public_url_unusable', { publicUrl: publicUrl(), effect: 'people cannot sign in' });
  return {
    addresses,
    log: cloudLog,
    randomness: systemRandomness,
    toolsetNames: TOOLSETS,
    firebase: signInSettings(),
    allowedOrigins: allowedOrigins(),
    mountPath: mountPath(),
    trustedProxies: trustedProxies(),
  };
});

let instance: ReturnType<typeof createInstance> | undefined;

/** Loads the code of the services. */
export const loadServices = () => import('./composition/instance.ts');

/** Returns the services of this instance; a promise while they are loading. */
export const app = loadedOnce(async () => {
  const { createInstance } = await loadServices();
  instance = createInstance(settings());
  return instance;
});

/** Returns the HTTP endpoint of this instance. */
export const endpoint = lazy(() => createAppEndpoint(settings(), app));

/** Stores the counts of the calls that this instance has run, if any. */
export async function flushCallMetrics(): Promise<void> {
  await instance?.limits.callMetrics.flush();
}
