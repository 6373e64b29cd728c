/**
 * A long text that many answers have in them, encoded and compressed once. Each answer is put together around
 * it, compressed too, without compressing anything anew.
 * Source: RFC 1951, section 3.2.4, "Non-compressed blocks"; RFC 1952, section 2.3, "Member format".
 */
import { promisify } from 'node:util';
import { constants, crc32, deflateRaw } from 'node:zlib';

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
