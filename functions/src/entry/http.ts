/**
 * HTTP functions. The functions framework and the emulator process requests before the function does, and have no
 * option to turn this off. The code below prevents this processing (docs/decisions/0052-request-pipeline.md). Source:
 * @google-cloud/functions-framework, src/server.ts and src/function_wrappers.ts; firebase-tools,
 * src/emulator/functionsEmulatorRuntime.ts.
 */
import { subscribe } from 'node:diagnostics_channel';
import { IncomingMessage, Server } from 'node:http';
import { type HttpsFunction, onRequest } from 'firebase-functions/https';
import { app, endpoint, flushCallMetrics, loadServices } from '../app.ts';
import * as config from '../config.ts';

/**
 * Headers by which the framework detects a body, and Node detects a client that waits for `100 Continue`. Node reads
 * the headers before Muster removes them. Source: type-is, `hasBody`; Node, lib/_http_server.js.
 */
const BODY_HEADERS = ['content-length', 'transfer-encoding', 'expect'];

/** The MCP endpoint. Cloud Run lets everyone call it, because the endpoint authenticates every request itself. */
export const mcp = onRequest(
  {
    ...config.globalOptions,
    invoker: 'public',
    // The endpoint handles CORS itself. Without this option, the emulator would allow every web page.
    cors: false,
    concurrency: config.concurrency,
    memory: '512MiB',
    timeoutSeconds: config.TIMEOUT_SECONDS,
    minInstances: config.minInstances,
    maxInstances: config.maxInstances,
    secrets: [...config.gitHubSecrets, ...config.modelSecrets],
  },
  (request, response) => {
    beforeShutdown(flushCallMetrics);
    return endpoint()(request, response);
  },
);

/** Receives webhooks from GitHub. Merged pull requests complete tasks, and failed checks are stored with tasks. */
export const githubWebhook = onRequest(
  { ...config.globalOptions, invoker: 'public', cors: false, timeoutSeconds: 30, secrets: config.gitHubWebhookSecrets },
  async (request, response) => (await app()).gitHubWebhook(request, response),
);

const { FUNCTION_TARGET: target, PORT: port } = process.env;
// If the process has no target function, it may also serve other functions, which need their bodies.
if (target === 'mcp' || target === 'githubWebhook') {
  // In production mode, the error pages of Express contain no stack traces.
  process.env['NODE_ENV'] ??= 'production';
  subscribe('http.server.request.start', requestStart(port, target === 'mcp' ? mcp : githubWebhook));
  // An instance that is kept ready loads the code of its services now. Firebase cannot load a module that waits here.
  if (config.minInstances.value() > 0) loadServices().catch(() => undefined); // The next request loads it again.
}

/**
 * Returns a function that runs before each request. It hides the body from the framework's parsers, so that the
 * function can check everything else first and then read the body (mcp/http/request.ts). The requests of the server at
 * the platform's port also bypass Express, and the domain in which the framework runs each request. Both cost more than
 * a cheap call, because a domain makes Node track every promise. The emulator's server listens at a path.
 */
export function requestStart(platformPort: string | undefined, serve: HttpsFunction): (event: unknown) => void {
  let known: unknown;
  return (event) => {
    if (typeof event !== 'object' || event === null || !('request' in event) || !('server' in event)) return;
    if (event.request instanceof IncomingMessage) hideBody(event.request);
    if (event.server === known || !(event.server instanceof Server)) return;
    known = event.server;
    const address = event.server.address();
    if (typeof address !== 'object' || String(address?.port) !== platformPort) return;
    event.server.removeAllListeners('request').on('request', async (request, response) => {
      try {
        // The type requires the objects of Express, but the function uses only what they inherit from Node.
        await Reflect.apply(serve, undefined, [request, response]);
      } catch {
        // Firebase has logged the error, and then tried to respond with methods of Express.
        if (response.headersSent) response.destroy();
        else response.writeHead(500).end();
      }
    });
  };
}

/** Makes a request look as if it had no body, and makes its URL valid for the framework's router. */
export function hideBody(request: IncomingMessage): void {
  for (const name of BODY_HEADERS) delete request.headers[name];
  const { url = '/' } = request;
  const [path = '/'] = url.split('?', 1);
  try {
    decodeURIComponent(path);
  } catch {
    request.url = path.replaceAll('%', '%25') + url.slice(path.length);
  }
}

let isPending = false;

/**
 * Runs a task before the platform stops the instance. Only the first call has an effect. On SIGTERM, the framework
 * exits immediately, although Cloud Run allows ten seconds. Must be called during a request, because the framework
 * has installed its handlers by then. Source: @google-cloud/functions-framework, src/invoker.ts; Cloud Run,
 * "Container runtime contract", "Instance shutdown".
 */
export function beforeShutdown(task: () => Promise<void>): void {
  if (isPending) return;
  isPending = true;
  const others = process.listeners('SIGTERM');
  process.removeAllListeners('SIGTERM');
  process.once('SIGTERM', (signal) => {
    void task().finally(() => {
      for (const other of others) process.on('SIGTERM', other);
      process.kill(process.pid, signal);
    });
  });
}
