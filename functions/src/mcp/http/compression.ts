/**
 * Compresses answers for who accepts it. Cloud Run and the front end before it do not: what an instance sends
 * goes to the client as it is. Source: RFC 9110, section 12.5.3, "Accept-Encoding".
 */
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';

/** Below, the headers are as long as what would be saved. */
export const MIN_COMPRESSED_BYTES = 1024;

/** In the order in which they are taken where the client likes both: gzip costs the instance less. */
const ENCODINGS = ['gzip', 'br'] as const;

type Encoding = (typeof ENCODINGS)[number];

/** The encoding that a client likes best, of those that there are; undefined where it wants none of them. */
export function encodingFor(acceptEncoding: string | undefined): Encoding | undefined {
  if (acceptEncoding === undefined) return undefined;
  const weights = new Map(acceptEncoding.split(',').map(weightOf));
  const weight = (name: string) => weights.get(name) ?? weights.get('*') ?? 0;
  const liked = ENCODINGS.filter(
    (name) => weight(name) > 0 && weight(name) >= (weights.get('identity') ?? 0),
  );
  return liked.sort((left, right) => weight(right) - weight(left))[0];
}

/** `gzip;q=0.5` gives its name and its weight. A weight that is none counts as 0. */
function weightOf(part: string): readonly [name: string, weight: number] {
  const [name = '', ...parameters] = part.split(';').map((text) => text.trim().toLowerCase());
  const given = parameters.find((text) => text.startsWith('q='))?.slice('q='.length);
  const weight = given === undefined ? 1 : Number(given);
  return [name, weight >= 0 && weight <= 1 ? weight : 0];
}

const compress = { gzip: promisify(gzip), br: promisify(brotliCompress) };

/** Higher ones take longer and make answers hardly shorter. */
const BROTLI_QUALITY = 1;

/** Compresses on another thread. */
export function compressed(answer: string | Buffer, encoding: Encoding): Promise<Buffer> {
  if (encoding === 'gzip') return compress.gzip(answer, { level: constants.Z_BEST_SPEED });
  return compress.br(answer, { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } });
}
