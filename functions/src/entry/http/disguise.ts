import type { IncomingMessage } from 'node:http';

/**
 * By these the parsers in front know that a request has a body, and Node that its client waits to be told to
 * send it. Node itself has read the framing by then. Source: type-is, `hasBody`; Node, lib/_http_server.js.
 */
const SIGNS_OF_A_BODY = ['content-length', 'transfer-encoding', 'expect'];

/** Makes a request one that has no body and an address that can be decoded, which the router in front does. */
export function disguise(request: IncomingMessage): void {
  for (const name of SIGNS_OF_A_BODY) delete request.headers[name];
  const { url = '/' } = request;
  const [path = '/'] = url.split('?', 1);
  if (!isDecodable(path)) request.url = path.replaceAll('%', '%25') + url.slice(path.length);
}

function isDecodable(path: string): boolean {
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
}
