/**
 * Fetches the documents that describe OAuth clients. Anyone can choose the URL of such a document, so only small
 * documents from public addresses over HTTPS are read. Source: draft-ietf-oauth-client-id-metadata-document, sections
 * 4.3 and 6.5; OWASP, "Server-Side Request Forgery Prevention".
 */
import { lookup as systemLookup } from 'node:dns/promises';
import type { IncomingMessage } from 'node:http';
import { type RequestOptions, request } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';

const MAX_BYTES = 5 * 1024;
const TIMEOUT_MS = 5000;

interface Network {
  readonly resolve: (host: string) => Promise<readonly { readonly address: string; readonly family: number }[]>;
  readonly isPublic: (address: string) => boolean;
  readonly options: RequestOptions;
}

const PUBLIC_NETWORK: Network = {
  resolve: (host) => systemLookup(host, { all: true, order: 'verbatim' }),
  isPublic: isPublicAddress,
  options: {},
};

/** Returns whether an IP address is public: it is not local or private, and not of a cloud service or relay. */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  return ipaddr.process(address).range() === 'unicast';
}

interface Fetched {
  readonly text: string;
  readonly maxAgeSeconds: number | undefined;
}

export class HttpsClientDocuments {
  private readonly copies: string | undefined;
  private readonly network: Network;

  /** @param copies URL of local copies of documents, by host name; only for the emulators */
  constructor(copies?: string, network: Network = PUBLIC_NETWORK) {
    this.copies = copies;
    this.network = network;
  }

  /** Fetches a document. @throws Error with the reason as a message for the developer of the client */
  async fetch(url: URL): Promise<Fetched> {
    const copy = this.copies === undefined ? undefined : await fetchCopy(this.copies, url);
    return copy ?? this.fetchHttps(url);
  }

  private async fetchHttps(url: URL): Promise<Fetched> {
    const { network } = this;
    // An IP address in the URL would bypass the check of resolved addresses. Documents must have a host name.
    if (url.protocol !== 'https:' || isIP(url.hostname.replace(/^\[|\]$/g, '')) !== 0)
      throw new Error('the URL must use https and a host name');
    if (url.port !== '' && network.options.port === undefined) throw new Error('the port must be 443');
    const addresses = await network.resolve(url.hostname).catch(() => {
      throw new Error('the host name does not resolve');
    });
    if (addresses.length === 0 || !addresses.every(({ address }) => network.isPublic(address)))
      throw new Error('the host is not a public server');
    const response = await this.connect(url, pinnedTo(addresses));
    if (response.statusCode !== 200) throw abortedError(response, `the server returned ${response.statusCode}`);
    if (!/^application\/(?:[\w.-]+\+)?json\b/i.test(response.headers['content-type'] ?? ''))
      throw abortedError(response, 'the content type is not application/json');
    return { text: await textOf(response), maxAgeSeconds: maxAgeOf(response.headers['cache-control'] ?? '') };
  }

  /** Sends the request. Redirects are not followed, because they would bypass the checks. */
  private connect(url: URL, lookup: LookupFunction): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const signal = AbortSignal.timeout(TIMEOUT_MS);
      const headers = { accept: 'application/json', 'user-agent': 'Muster' };
      const sent = request(url, { agent: false, lookup, signal, headers, ...this.network.options }, resolve);
      sent.once('error', (cause) => reject(new Error('the server cannot be reached', { cause })));
      sent.end();
    });
  }
}

/** Returns a lookup that yields the checked addresses, even if the host name later resolves to other addresses. */
function pinnedTo(addresses: readonly { readonly address: string; readonly family: number }[]): LookupFunction {
  return (_host, { all }, done) => {
    const [first] = addresses;
    if (all) done(null, [...addresses]);
    else if (first === undefined) done(new Error('No address.'), '', 0);
    else done(null, first.address, first.family);
  };
}

function abortedError(response: IncomingMessage, why: string): Error {
  response.destroy();
  return new Error(why);
}

async function textOf(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of response) {
      length += chunk.length;
      if (length > MAX_BYTES) break;
      chunks.push(chunk);
    }
  } catch (cause) {
    throw new Error('the server did not send the document in time', { cause });
  }
  if (length > MAX_BYTES) throw abortedError(response, `the document exceeds ${MAX_BYTES} bytes`);
  return Buffer.concat(chunks).toString('utf8');
}

/** Returns the cache lifetime in seconds: undefined if the header states none, 0 if caching is forbidden. */
function maxAgeOf(cacheControl: string): number | undefined {
  if (/\bno-(?:store|cache)\b/i.test(cacheControl)) return 0;
  const [, seconds] = /\bmax-age=(\d{1,9})\b/i.exec(cacheControl) ?? [];
  return seconds === undefined ? undefined : Number(seconds);
}

/** Returns the local copy of a document; undefined if there is no copy. */
async function fetchCopy(base: string, { host, pathname, search }: URL): Promise<Fetched | undefined> {
  const response = await fetch(`${base}/${host}${pathname}${search}`, {
    signal: AbortSignal.timeout(TIMEOUT_MS),
  }).catch(() => undefined);
  if (response?.status !== 200) return undefined;
  return { text: await response.text(), maxAgeSeconds: undefined };
}
