/** HTTP endpoint of MCP, as the list of steps of each request. Source: docs/semantics.md#the-endpoint. */

import { presentable, timeLeftOfRequest } from '../answer.ts';
import { Catalogues } from '../catalogue.ts';
import { body, bodyHeaders, message } from './body.ts';
import { authenticate, challenge, toolsets } from './credential.ts';
import { type EndpointDependencies, Pipeline } from './pipeline.ts';
import { context, events, mcp, page, rpc } from './protocols.ts';
import { Refusal, refusalOf } from './refusal.ts';
import type { Endpoint } from './request.ts';
import { sendRefusal } from './response.ts';
import { contentType, method, origin, preflight, route } from './route.ts';

/** `add` provides data for later steps, `check` may refuse, `answer` may respond. Checks precede the body. */
const answer = Pipeline.start()
  .add(route)
  .check(origin)
  .answer(preflight)
  .check(bodyHeaders)
  .add(challenge)
  .add(authenticate)
  .check(method)
  .check(contentType)
  .check(toolsets)
  .add(context)
  .answer(events)
  .answer(page)
  .add(body)
  .answer(rpc)
  .add(message)
  .answer(mcp)
  .end();

export function createEndpoint(deployment: EndpointDependencies): Endpoint {
  const { log, randomness } = deployment;
  const catalogues = new Catalogues(deployment.toolsets);
  return async (request, response) => {
    const requestId = randomness.uuid();
    const timeLeft = timeLeftOfRequest();
    try {
      await answer({ request, response, requestId, timeLeft, deployment, catalogues });
    } catch (error) {
      if (!(error instanceof Refusal)) {
        return sendRefusal(request, response, refusalOf(presentable(error, requestId, 'request', log)));
      }
      // No call was logged for this request.
      log.info('request_refused', { requestId, status: error.status, why: error.message });
      sendRefusal(request, response, error);
    }
  };
}
