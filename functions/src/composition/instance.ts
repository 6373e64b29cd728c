/** Services of an instance, and the functions that respond to requests with them. */
import { functionUrl, STREAMS, VERSION } from '../config.ts';
import type { FrontDependencies } from '../mcp/http/pipeline.ts';
import { createAnswer } from '../mcp/http/protocols.ts';
import { OpenStreams } from '../mcp/http/streams.ts';
import { toolsetsAt } from '../mcp/urlSelection.ts';
import { AuthorizationPage } from '../signin/http/authorize.ts';
import { TokenEndpoints } from '../signin/http/endpoints.ts';
import type { FirebaseSettings } from '../signin/http/signInRequest.ts';
import { type Composition, compose } from './compose.ts';
import { externalServices } from './externalServices.ts';

export type FrontSettings = FrontDependencies & { readonly firebase: FirebaseSettings };

/** Returns the functions that respond to those requests that need services. */
export function createAnswers({ services, calls }: Composition, settings: FrontSettings) {
  const ports = {
    ...calls,
    ...services.signIn,
    ...settings,
    toolsetsAt: (below: string) => toolsetsAt(below, settings.toolsetNames),
  };
  return {
    answerMcp: createAnswer({ ...calls, streams: STREAMS, openStreams: new OpenStreams(), version: VERSION }),
    authorizationPage: new AuthorizationPage(ports),
    tokenEndpoints: new TokenEndpoints(ports),
  };
}

/** Creates the services with the settings of the environment. */
export function createInstance(settings: FrontSettings) {
  const composition = compose(externalServices(), settings.addresses.main?.mcp ?? functionUrl());
  return { ...composition, ...createAnswers(composition, settings) };
}
