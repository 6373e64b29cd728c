/**
 * Reads documents that clients name, from servers that anybody may choose: so only by https, from public addresses, and
 * a little of it. Source: draft-ietf-oauth-client-id-metadata-document, sections 4.3 and 6.5; OWASP, "Server-Side
 * Request Forgery Prevention".
 */
import { lookup as systemLookup } from 'node:dns/promises';
import type { IncomingMessage } from 'node:http';
import { type RequestOptions, request } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';

const MOST_BYTES = 5 * 1024;

const MOST_MILLISECONDS = 5000;

interface Network {
  readonly resolve: (
    host: string,
  ) => Promise<readonly { readonly address: string; readonly family: number }[]>;
  readonly isPublic: (address: string) => boolean;
  readonly options: RequestOptions;
}

const INTERNET: Network = {
  resolve: (host) => systemLookup(host, { all: true, order: 'verbatim' }),
  isPublic: isPublicAddress,
  options: {},
};

/** Whether an address leads to the internet: to no machine, network, cloud or relay behind it. */
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

  /** @param copies where copies of some documents are, below the names of their hosts; in the emulators alone */
  constructor(copies?: string, network: Network = INTERNET) {
    this.copies = copies;
    this.network = network;
  }

  /** @throws Error whose message says why it was not read, for whoever wrote the client */
  async fetch(url: URL): Promise<Fetched> {
    const copy = this.copies === undefined ? undefined : await fetchCopy(this.copies, url);
    return copy ?? this.fetchHttps(url);
  }

  private async fetchHttps(url: URL): Promise<Fetched> {
    const { network } = this;
    // An address by number would be connected to without a look at it; nobody's document is there.
    if (url.protocol !== 'https:' || isIP(url.hostname.replace(/^\[|\]$/g, '')) !== 0)
      throw new Error('it must be at a name, by https');
    if (url.port !== '' && network.options.port === undefined) throw new Error('it must be at the port 443');
    const addresses = await network.resolve(url.hostname).catch(() => {
      throw new Error('its host has no address');
    });
    if (addresses.length === 0 || !addresses.every(({ address }) => network.isPublic(address)))
      throw new Error('its host is not on the internet');
    const response = await this.connect(url, pinnedTo(addresses));
    if (response.statusCode !== 200) throw abandoned(response, `its server answered ${response.statusCode}`);
    if (!/^application\/(?:[\w.-]+\+)?json\b/i.test(response.headers['content-type'] ?? ''))
      throw abandoned(response, 'it is not sent as application/json');
    return { text: await textOf(response), maxAgeSeconds: maxAgeOf(response.headers['cache-control'] ?? '') };
  }

  /** Redirects are not followed: they would lead past every look. */
  private connect(url: URL, lookup: LookupFunction): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const signal = AbortSignal.timeout(MOST_MILLISECONDS);
      const headers = { accept: 'application/json', 'user-agent': 'Muster' };
      const sent = request(url, { agent: false, lookup, signal, headers, ...this.network.options }, resolve);
      sent.once('error', (cause) => reject(new Error('its server cannot be reached', { cause })));
      sent.end();
    });
  }
}

/** Connects to what was looked at, whatever the name leads to a moment later. */
function pinnedTo(
  addresses: readonly { readonly address: string; readonly family: number }[],
): LookupFunction {
  return (_host, { all }, done) => {
    const [first] = addresses;
    if (all) done(null, [...addresses]);
    else if (first === undefined) done(new Error('There is no address.'), '', 0);
    else done(null, first.address, first.family);
  };
}

function abandoned(response: IncomingMessage, why: string): Error {
  response.destroy();
  return new Error(why);
}

async function textOf(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of response) {
      length += chunk.length;
      if (length > MOST_BYTES) break;
      chunks.push(chunk);
    }
  } catch (cause) {
    throw new Error('its server did not send all of it in time', { cause });
  }
  if (length > MOST_BYTES) throw abandoned(response, `it has more than ${MOST_BYTES} bytes`);
  return Buffer.concat(chunks).toString('utf8');
}

/** In seconds; undefined where it is not said, 0 where it may not be kept. */
function maxAgeOf(cacheControl: string): number | undefined {
  if (/\bno-(?:store|cache)\b/i.test(cacheControl)) return 0;
  const [, seconds] = /\bmax-age=(\d{1,9})\b/i.exec(cacheControl) ?? [];
  return seconds === undefined ? undefined : Number(seconds);
}

/** Undefined if there is no copy of it. */
async function fetchCopy(base: string, { host, pathname, search }: URL): Promise<Fetched | undefined> {
  const response = await fetch(`${base}/${host}${pathname}${search}`, {
    signal: AbortSignal.timeout(MOST_MILLISECONDS),
  }).catch(() => undefined);
  if (response?.status !== 200) return undefined;
  return { text: await response.text(), maxAgeSeconds: undefined };
}
