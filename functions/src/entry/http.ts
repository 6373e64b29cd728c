/**
 * HTTP functions. This file keeps the functions framework and the emulator from processing requests first, for which
 * they have no option. Source: @google-cloud/functions-framework, src/server.ts and src/function_wrappers.ts;
 * firebase-tools, src/emulator/functionsEmulatorRuntime.ts.
 */
import { subscribe } from 'node:diagnostics_channel';
import { IncomingMessage } from 'node:http';
import { onRequest } from 'firebase-functions/https';
import { app } from '../app.ts';
import {
  concurrency,
  gitHubSecrets,
  gitHubWebhookSecrets,
  globalOptions,
  maxInstances,
  minInstances,
  modelSecrets,
  TIMEOUT_SECONDS,
} from '../config.ts';

/**
 * Headers by which the framework's parsers detect a body, and Node a client that waits for `100 Continue`. Node has
 * read the framing before. Source: type-is, `hasBody`; Node, lib/_http_server.js.
 */
const BODY_HEADERS = ['content-length', 'transfer-encoding', 'expect'];

skipBodyParsers();

/** The MCP endpoint. It is public for Cloud Run and authenticates every request itself. */
export const mcp = onRequest(
  {
    ...globalOptions,
    invoker: 'public',
    // The endpoint handles CORS itself. Without this option, the emulator would allow every page.
    cors: false,
    concurrency,
    memory: '512MiB',
    timeoutSeconds: TIMEOUT_SECONDS,
    minInstances,
    maxInstances,
    secrets: [...gitHubSecrets, ...modelSecrets],
  },
  (request, response) => {
    exitDomain();
    beforeShutdown(() => app().limits.callMetrics.flush());
    return app().endpoint(request, response);
  },
);

/** Receives GitHub's deliveries: merged pull requests complete tasks, and failed checks are recorded on tasks. */
export const githubWebhook = onRequest(
  { ...globalOptions, invoker: 'public', cors: false, timeoutSeconds: 30, secrets: gitHubWebhookSecrets },
  (request, response) => app().gitHubWebhook(request, response),
);

/**
 * Hides request bodies from the framework's parsers, so that the function can check everything else first and then
 * read the body (mcp/http/body.ts). The parsers would unpack, buffer and parse up to 1 GiB before the function runs,
 * and respond to invalid bodies with an HTML page, outside production with a stack trace. Call it when the function
 * is loaded, before it receives requests.
 */
export function skipBodyParsers(): void {
  // Other functions may share the process if it has no target function.
  if (!/^(mcp|githubWebhook)$/.test(process.env['FUNCTION_TARGET'] ?? '')) return;
  // In production mode, Express shows no stack traces on its error pages.
  process.env['NODE_ENV'] ??= 'production';
  subscribe('http.server.request.start', (event) => {
    if (typeof event !== 'object' || event === null || !('request' in event)) return;
    if (event.request instanceof IncomingMessage) hideBody(event.request);
  });
}

/**
 * Exits the framework's domain. Domains, Node's deprecated way to catch callback errors, are not needed. A
 * domain tracks each promise, which costs the endpoint a quarter of its throughput.
 */
export function exitDomain(): void {
  const active: unknown = Reflect.get(process, 'domain');
  if (typeof active !== 'object' || active === null || !('exit' in active)) return;
  if (typeof active.exit === 'function') active.exit();
}

/** Makes a request look as if it had no body, and makes its URL decodable for the framework's router. */
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
 * Runs a task before the platform stops the instance; only the first call has an effect. On SIGTERM the framework
 * exits at once, but Cloud Run allows ten seconds. Call it during a request, because the framework has installed its
 * handlers by then. Source: @google-cloud/functions-framework, src/invoker.ts; Cloud Run, "Container runtime
 * contract", "Instance shutdown".
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
