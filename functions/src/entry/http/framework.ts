/**
 * What the functions framework and the emulator do in front of every function and the MCP endpoint needs
 * otherwise. Neither has an option for it. Source: @google-cloud/functions-framework, src/server.ts and
 * src/function_wrappers.ts; firebase-tools, src/emulator/functionsEmulatorRuntime.ts.
 */
import { subscribe } from 'node:diagnostics_channel';
import { IncomingMessage } from 'node:http';

/**
 * They parse a JSON body before the function runs, and answer one that is not JSON with a page of HTML,
 * outside production with a stack trace in it, where MCP wants a JSON-RPC error. Here the content type is
 * hidden from their parser, which then leaves the bytes in `rawBody`; the endpoint reads the type that was
 * sent from `rawHeaders`. To be called as the function is loaded, which is before it takes requests.
 */
export function leaveBodiesUnparsed(): void {
  // Other functions may share the process where none is named as its target.
  if (!/^(mcp|githubWebhook)$/.test(process.env['FUNCTION_TARGET'] ?? '')) return;
  // Express shows stack traces in its own error pages unless told that it is in production.
  process.env['NODE_ENV'] ??= 'production';
  subscribe('http.server.request.start', (event) => {
    if (typeof event !== 'object' || event === null || !('request' in event)) return;
    const { request } = event;
    if (request instanceof IncomingMessage && request.headers['content-type'] !== undefined) {
      request.headers['content-type'] = 'application/octet-stream';
    }
  });
}

/**
 * The framework runs each request in a domain, Node's deprecated way to catch what is thrown in callbacks.
 * A domain is told of each promise, which costs the endpoint a quarter of its throughput, and it has no
 * callbacks that throw.
 */
export function leaveDomain(): void {
  const active: unknown = Reflect.get(process, 'domain');
  if (typeof active !== 'object' || active === null || !('exit' in active)) return;
  if (typeof active.exit === 'function') active.exit();
}
