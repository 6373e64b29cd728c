/** Finds the messages in the bytes of a gRPC stream. Source: gRPC over HTTP2, "Length-Prefixed-Message". */

/** One byte that tells of compression, four with the length. */
const PREFIX_LENGTH = 5;

export class GrpcMessages {
  private readonly found: (message: Uint8Array) => void;
  private rest = Buffer.alloc(0);

  constructor(found: (message: Uint8Array) => void) {
    this.found = found;
  }

  add(bytes: Buffer): void {
    this.rest = Buffer.concat([this.rest, bytes]);
    while (this.rest.length >= PREFIX_LENGTH) {
      if (this.rest.readUInt8(0) !== 0)
        throw new Error('The messages are compressed, which this meter cannot read.');
      const end = PREFIX_LENGTH + this.rest.readUInt32BE(1);
      if (this.rest.length < end) return;
      this.found(this.rest.subarray(PREFIX_LENGTH, end));
      this.rest = this.rest.subarray(end);
    }
  }
}
