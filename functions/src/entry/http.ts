/**
 * The HTTP functions, and what the functions framework and the emulator do in front of them and must leave alone:
 * neither has an option for it. Source: @google-cloud/functions-framework, src/server.ts and
 * src/function_wrappers.ts; firebase-tools, src/emulator/functionsEmulatorRuntime.ts.
 */
import { subscribe } from 'node:diagnostics_channel';
import { IncomingMessage } from 'node:http';
import { onRequest } from 'firebase-functions/https';
import { app } from '../app.ts';
import {
  concurrency,
  everywhere,
  gitHubSecrets,
  gitHubWebhookSecrets,
  maxInstances,
  minInstances,
  modelSecrets,
  TIMEOUT_SECONDS,
} from '../config.ts';

/**
 * By these the parsers in front know that a request has a body, and Node that its client waits to be told to
 * send it. Node itself has read the framing by then. Source: type-is, `hasBody`; Node, lib/_http_server.js.
 */
const SIGNS_OF_A_BODY = ['content-length', 'transfer-encoding', 'expect'];

leaveBodiesUnread();

/** The MCP endpoint. It is public for Cloud Run and checks every credential itself. */
export const mcp = onRequest(
  {
    ...everywhere,
    invoker: 'public',
    // The endpoint answers CORS itself. Saying nothing would let the emulator allow every page.
    cors: false,
    concurrency,
    memory: '512MiB',
    timeoutSeconds: TIMEOUT_SECONDS,
    minInstances,
    maxInstances,
    secrets: [...gitHubSecrets, ...modelSecrets],
  },
  (request, response) => {
    leaveDomain();
    beforeEnding(() => app().limits.callMetrics.flush());
    return app().endpoint(request, response);
  },
);

/** GitHub's deliveries: merged pull requests close tasks, failed checks are recorded on them. */
export const githubWebhook = onRequest(
  { ...everywhere, invoker: 'public', cors: false, timeoutSeconds: 30, secrets: gitHubWebhookSecrets },
  (request, response) => app().gitHubWebhook(request, response),
);

/**
 * They unpack, buffer and parse a body of up to 1 GiB before the function runs, and answer what they cannot
 * read with a page of HTML, outside production with a stack trace in it. Here every body is kept from them, so
 * that the function can look at all else first and then read the body itself (mcp/http/body.ts). To be called
 * as the function is loaded, which is before it takes requests.
 */
export function leaveBodiesUnread(): void {
  // Other functions may share the process where none is named as its target.
  if (!/^(mcp|githubWebhook)$/.test(process.env['FUNCTION_TARGET'] ?? '')) return;
  // Express shows stack traces in its own error pages unless told that it is in production.
  process.env['NODE_ENV'] ??= 'production';
  subscribe('http.server.request.start', (event) => {
    if (typeof event !== 'object' || event === null || !('request' in event)) return;
    if (event.request instanceof IncomingMessage) disguise(event.request);
  });
}

/**
 * The framework runs each request in a domain, Node's deprecated way to catch what callbacks throw, and here none does.
 * It is told of each promise, which costs the endpoint a quarter of its throughput.
 */
export function leaveDomain(): void {
  const active: unknown = Reflect.get(process, 'domain');
  if (typeof active !== 'object' || active === null || !('exit' in active)) return;
  if (typeof active.exit === 'function') active.exit();
}

/** Makes a request one that has no body and an address that can be decoded, which the router in front does. */
export function disguise(request: IncomingMessage): void {
  for (const name of SIGNS_OF_A_BODY) delete request.headers[name];
  const { url = '/' } = request;
  const [path = '/'] = url.split('?', 1);
  try {
    decodeURIComponent(path);
  } catch {
    request.url = path.replaceAll('%', '%25') + url.slice(path.length);
  }
}

let isAwaited = false;

/**
 * Has something done before the platform ends the instance; only the first call counts. The framework ends
 * the process as soon as it is told to, and Cloud Run gives it ten seconds. To be called when a request has
 * come: the framework has put up its own handlers by then. Source: @google-cloud/functions-framework,
 * src/invoker.ts; Cloud Run, "Container runtime contract", "Instance shutdown".
 */
export function beforeEnding(task: () => Promise<void>): void {
  if (isAwaited) return;
  isAwaited = true;
  const others = process.listeners('SIGTERM');
  process.removeAllListeners('SIGTERM');
  process.once('SIGTERM', (signal) => {
    void task().finally(() => {
      for (const other of others) process.on('SIGTERM', other);
      process.kill(process.pid, signal);
    });
  });
}
