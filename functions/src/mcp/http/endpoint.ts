/** HTTP endpoint of MCP, as a list of steps. Source: docs/semantics.md#the-endpoint. */

import { Catalogs } from '../catalog.ts';
import { presentableError, requestTimeLeft } from '../toolResponse.ts';
import { body, bodyHeaders, message } from './body.ts';
import { authenticate, challenge, toolsets } from './credential.ts';
import { type EndpointDependencies, Pipeline } from './pipeline.ts';
import { context, events, mcp, page, rpc } from './protocols.ts';
import { HttpRejection, rejectionOf } from './rejection.ts';
import type { Endpoint } from './request.ts';
import { sendRejection } from './response.ts';
import { contentType, method, origin, preflight, route } from './route.ts';

/** `add` adds data for later steps, `check` may reject, `respond` may respond. The body is read after all checks. */
const answer = Pipeline.start()
  .add(route)
  .check(origin)
  .respond(preflight)
  .check(bodyHeaders)
  .add(challenge)
  .add(authenticate)
  .check(method)
  .check(contentType)
  .check(toolsets)
  .add(context)
  .respond(events)
  .respond(page)
  .add(body)
  .respond(rpc)
  .add(message)
  .respond(mcp)
  .end();

export function createEndpoint(deployment: EndpointDependencies): Endpoint {
  const { log, randomness } = deployment;
  const catalogs = new Catalogs(deployment.toolsets);
  return async (request, response) => {
    const requestId = randomness.uuid();
    const timeLeft = requestTimeLeft();
    try {
      await answer({ request, response, requestId, timeLeft, deployment, catalogs });
    } catch (error) {
      if (!(error instanceof HttpRejection)) {
        return sendRejection(request, response, rejectionOf(presentableError(error, requestId, 'request', log)));
      }
      // A rejected request is not logged as a call, so it gets its own log entry.
      log.info('request_refused', { requestId, status: error.status, why: error.message });
      sendRejection(request, response, error);
    }
  };
}
