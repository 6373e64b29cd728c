/**
 * What the functions framework and the emulator do in front of every function and the MCP endpoint needs
 * otherwise. Neither has an option for it. Source: @google-cloud/functions-framework, src/server.ts and
 * src/function_wrappers.ts; firebase-tools, src/emulator/functionsEmulatorRuntime.ts.
 */
import { subscribe } from 'node:diagnostics_channel';
import { IncomingMessage } from 'node:http';
import { disguise } from './disguise.ts';

/**
 * They unpack, buffer and parse a body of up to 1 GiB before the function runs, and answer what they cannot
 * read with a page of HTML, outside production with a stack trace in it. Here every body is kept from them, so
 * that the function can look at all else first and then read the body itself (mcp/requestBody.ts). To be called
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
 * The framework runs each request in a domain, Node's deprecated way to catch what is thrown in callbacks.
 * A domain is told of each promise, which costs the endpoint a quarter of its throughput, and it has no
 * callbacks that throw.
 */
export function leaveDomain(): void {
  const active: unknown = Reflect.get(process, 'domain');
  if (typeof active !== 'object' || active === null || !('exit' in active)) return;
  if (typeof active.exit === 'function') active.exit();
}
