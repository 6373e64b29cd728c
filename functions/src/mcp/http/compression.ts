/**
 * Compresses answers for who accepts it. Cloud Run and the front end before it do not: what an instance sends
 * goes to the client as it is. Source: RFC 9110, section 12.5.3, "Accept-Encoding".
 */
import { promisify } from 'node:util';
import { brotliCompress, constants, crc32, deflateRaw, gzip } from 'node:zlib';

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

/** Compresses on another thread. */
export async function compressed(answer: string | PackedAnswer, encoding: Encoding): Promise<Buffer> {
  if (encoding === 'gzip') {
    const packed = answer instanceof PackedAnswer ? await answer.gzipped() : undefined;
    return packed ?? compress.gzip(bytesOf(answer), { level: constants.Z_BEST_SPEED });
  }
  const params = { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY };
  return compress.br(bytesOf(answer), { params });
}

/** Higher ones take longer and make answers hardly shorter. */
const BROTLI_QUALITY = 1;

function bytesOf(answer: string | PackedAnswer): string | Buffer {
  return answer instanceof PackedAnswer ? answer.bytes() : answer;
}

// A long text that many answers have in them, encoded and compressed once. Each answer is put together
// around it, compressed too, without compressing anything anew. Source: RFC 1951, section 3.2.4,
// "Non-compressed blocks"; RFC 1952, section 2.3, "Member format".

const deflate = promisify(deflateRaw);

export class PackedText {
  readonly bytes: Buffer;
  #blocks: Promise<Buffer> | undefined;

  constructor(text: string) {
    this.bytes = Buffer.from(text);
  }

  /** As blocks of a deflate stream that goes on after them. They refer to nothing before them. */
  deflated(): Promise<Buffer> {
    this.#blocks ??= deflate(this.bytes, {
      level: constants.Z_BEST_COMPRESSION,
      finishFlush: constants.Z_SYNC_FLUSH,
    }).catch((error: unknown) => {
      // An instance that was short of memory once tries again with the next answer.
      this.#blocks = undefined;
      throw error;
    });
    return this.#blocks;
  }
}

/** The most that a block which is not compressed can hold. */
const MAX_STORED_BYTES = 65_535;

const GZIP_HEADER = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff]);

/** An answer with a packed text in it. */
export class PackedAnswer {
  readonly #before: Buffer;
  readonly #packed: PackedText;
  readonly #after: Buffer;

  constructor(before: string, packed: PackedText, after: string) {
    this.#before = Buffer.from(before);
    this.#packed = packed;
    this.#after = Buffer.from(after);
  }

  get length(): number {
    return this.#before.length + this.#packed.bytes.length + this.#after.length;
  }

  bytes(): Buffer {
    return Buffer.concat([this.#before, this.#packed.bytes, this.#after]);
  }

  /** @returns undefined where what is around the packed text is longer than such an answer can be in earnest */
  async gzipped(): Promise<Buffer | undefined> {
    const [before, packed, after] = [this.#before, this.#packed.bytes, this.#after];
    if (before.length > MAX_STORED_BYTES || after.length > MAX_STORED_BYTES) return undefined;
    const blocks = [stored(before, false), await this.#packed.deflated(), stored(after, true)];
    const trailer = Buffer.alloc(8);
    trailer.writeUInt32LE(checksumOf([before, packed, after]));
    trailer.writeUInt32LE(this.length, 4);
    return Buffer.concat([GZIP_HEADER, ...blocks.flat(), trailer]);
  }
}

/** Over the parts in turn. An empty one would have Node's `crc32` begin anew. */
function checksumOf(parts: readonly Buffer[]): number {
  return parts.reduce((sum, part) => (part.length === 0 ? sum : crc32(part, sum)), 0);
}

/** A block of a deflate stream that holds the bytes as they are. */
function stored(bytes: Buffer, isLast: boolean): Buffer[] {
  const head = Buffer.alloc(5);
  head.writeUInt8(isLast ? 1 : 0);
  head.writeUInt16LE(bytes.length, 1);
  head.writeUInt16LE(bytes.length ^ 0xffff, 3);
  return [head, bytes];
}
