/**
 * HTTP endpoint of MCP, as two lists of steps. The steps here need no services, so that a new instance refuses a request
 * without a credential before it has loaded them. protocols.ts has the other steps. Source:
 * docs/semantics.md#the-endpoint.
 */
import { requestTimeLeft } from '../../kernel/concurrency.ts';
import { validTraceparent, withTraces } from '../../kernel/trace.ts';
import { presentableError } from '../callContext.ts';
import { type Answer, challenge, credential } from './credential.ts';
import { after, type FrontDependencies, type MaybeAsync, Pipeline, type PipelineRequest } from './pipeline.ts';
import { HttpRejection, rejectionOf } from './rejection.ts';
import type { Endpoint } from './request.ts';
import { sendRejection } from './response.ts';
import { bodyHeaders, origin, preflight, route } from './route.ts';

interface Arrived extends PipelineRequest {
  /** Returns the function that runs the other steps; a promise while it is loading. */
  load(): MaybeAsync<{ readonly answerMcp: Answer }>;
}

/** `add` adds data for later steps, `check` may reject, `respond` may respond. The body is read after all checks. */
const answer = Pipeline.start<Arrived>()
  .add(route)
  .check(origin)
  .respond(preflight)
  .check(bodyHeaders)
  .add(challenge)
  .add(credential)
  .end((exchange) => after(exchange.load(), ({ answerMcp }) => answerMcp(exchange)));

export function createEndpoint(front: FrontDependencies, load: Arrived['load']): Endpoint {
  const { log, randomness } = front;
  const respond: Endpoint = async (request, response) => {
    const requestId = randomness.uuid();
    const timeLeft = requestTimeLeft();
    try {
      await answer({ request, response, requestId, timeLeft, front, load });
    } catch (error) {
      if (!(error instanceof HttpRejection))
        return sendRejection(request, response, rejectionOf(presentableError(error, requestId, 'request', log)));
      // A rejected request is not logged as a call, so it gets its own log entry.
      log.info('request_refused', { requestId, status: error.status, why: error.message });
      sendRejection(request, response, error);
    }
  };
  return (request, response) => {
    const { traceparent } = request.headers;
    if (traceparent === undefined) return respond(request, response);
    return withTraces({ http: validTraceparent(traceparent) }, () => respond(request, response));
  };
}
