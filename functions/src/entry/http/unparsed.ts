/**
 * The functions framework and the emulator parse a JSON body before the function runs, and answer one that
 * is not JSON with a page of HTML, outside production with a stack trace in it. MCP wants a JSON-RPC error.
 * There is no option for it, so the content type is hidden from their parser, which then leaves the bytes in
 * `rawBody`; the endpoint reads the type that was sent from `rawHeaders`.
 * Source: @google-cloud/functions-framework, src/server.ts; Node.js, "diagnostics_channel", HTTP.
 */
import { subscribe } from 'node:diagnostics_channel';
import { IncomingMessage } from 'node:http';

/** Runs once as the function is loaded, which in either host is before it takes requests. */
export function leaveBodiesUnparsed(): void {
  // Other functions may share the process while they are being discovered; only this one is meant.
  if (process.env['FUNCTION_TARGET'] !== 'mcp') return;
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
