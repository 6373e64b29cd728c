/** Splits a gRPC stream into messages. Source: gRPC over HTTP2, "Length-Prefixed-Message". */

/** Header of a message: one byte that states whether it is compressed, four bytes for the length. */
const PREFIX_LENGTH = 5;

export class GrpcMessages {
  private readonly found: (message: Uint8Array) => void;
  private rest = Buffer.alloc(0);
  private count = 0;

  constructor(found: (message: Uint8Array) => void) {
    this.found = found;
  }

  add(bytes: Buffer): void {
    this.rest = Buffer.concat([this.rest, bytes]);
    while (this.rest.length >= PREFIX_LENGTH) {
      if (this.rest.readUInt8(0) !== 0) throw new Error('The meter cannot read compressed messages.');
      const end = PREFIX_LENGTH + this.rest.readUInt32BE(1);
      if (this.rest.length < end) return;
      this.read(this.rest.subarray(PREFIX_LENGTH, end));
      this.rest = this.rest.subarray(end);
    }
  }

  private read(message: Buffer): void {
    try {
      this.found(message);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      const what = `message ${this.count} of ${message.length} bytes, ${message.toString('base64')}`;
      throw new Error(`${reason} in ${what}`, { cause: error });
    }
    this.count++;
  }
}
