/** The billing meter is a gRPC proxy that counts the Firestore operations that Google would bill. */
import assert from 'node:assert/strict';
import { type ClientHttp2Session, connect, createServer, type Http2Server } from 'node:http2';
import protos from '@google-cloud/firestore-api/protos';
import fc from 'fast-check';
import { GrpcMessages } from '../../../bench/wire/grpcMessages.ts';
import { type Meter, openMeter } from '../../../bench/wire/meter.ts';
import { listen, portOf } from '../../support/listening.ts';
import { forAll } from '../../support/properties.ts';

const v1 = protos.google.firestore.v1;

const framed = (message: Uint8Array): Buffer => {
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(message.length, 1);
  return Buffer.concat([prefix, message]);
};

/** Yields the bytes in consecutive parts that have these lengths. */
function* cut(bytes: Buffer, lengths: readonly number[]): Generator<Buffer> {
  let at = 0;
  for (let turn = 0; at < bytes.length; turn++) {
    const length = lengths[turn % lengths.length] ?? bytes.length;
    yield bytes.subarray(at, at + length);
    at += length;
  }
}

describe('messages of a gRPC stream', () => {
  it('are recognized however the stream is divided into chunks', () => {
    const messages = fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 20 });
    const lengths = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1 });
    forAll(messages, lengths, (sent, cuts) => {
      const found: Buffer[] = [];
      const reader = new GrpcMessages((message) => found.push(Buffer.from(message)));
      for (const part of cut(Buffer.concat(sent.map(framed)), cuts)) reader.add(part);
      assert.deepEqual(found, sent.map(Buffer.from));
    });
  });
});

describe('billing meter', () => {
  const answer: { bytes: Buffer; cuts: readonly number[] } = { bytes: Buffer.alloc(0), cuts: [1] };
  let server: Http2Server;
  let meter: Meter;
  let client: ClientHttp2Session;

  before(async () => {
    server = createServer();
    server.on('stream', (stream) => {
      stream.resume().on('end', () => {
        stream.respond({ ':status': 200 }, { waitForTrailers: true });
        stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
        for (const part of cut(answer.bytes, answer.cuts)) stream.write(part);
        stream.end();
      });
    });
    await listen(server);
    meter = await openMeter(`127.0.0.1:${portOf(server)}`);
    client = connect(`http://${meter.host}`);
  });
  after(() => {
    client.destroy();
    meter.close();
    server.close();
  });

  async function call(method: string, body: Buffer): Promise<Buffer> {
    const stream = client.request({ ':method': 'POST', ':path': `/google.firestore.v1.Firestore/${method}` });
    stream.end(body);
    const parts: Buffer[] = [];
    for await (const part of stream) parts.push(part);
    return Buffer.concat(parts);
  }

  const found = (text: string) => ({ found: { name: 'a/b', fields: { text: { stringValue: text } } } });
  const documents = (...texts: string[]): Buffer =>
    Buffer.concat(texts.map((text) => framed(v1.BatchGetDocumentsResponse.encode(found(text)).finish())));
  const asked = framed(v1.BatchGetDocumentsRequest.encode({ documents: ['a/b'] }).finish());

  it('counts messages that are divided within the prefix, within the length or across frames', async () => {
    answer.bytes = documents('short', 'x'.repeat(70_000), '', 'y'.repeat(16_384));
    answer.cuts = [1, 2, 3, 16_384, 7];
    assert.deepEqual(await call('BatchGetDocuments', asked), answer.bytes);
    const writes = Array.from({ length: 3 }, (_, number) => ({ delete: `a/${number}` }));
    answer.bytes = framed(v1.CommitResponse.encode({}).finish());
    await call('Commit', framed(v1.CommitRequest.encode({ writes }).finish()));
    const rows = meter.take().map(({ method, bill }) => ({ method, ...bill }));
    assert.deepEqual(rows, [
      { method: 'BatchGetDocuments', reads: 4, writes: 0, deletes: 0 },
      { method: 'Commit', reads: 0, writes: 0, deletes: 3 },
    ]);
  });

  it('does not count the writes of a refused commit', async () => {
    answer.bytes = Buffer.alloc(0);
    await call('Commit', framed(v1.CommitRequest.encode({ writes: [{ delete: 'a/b' }] }).finish()));
    const bills = meter.take().map(({ bill }) => bill);
    assert.deepEqual(bills, [{ reads: 0, writes: 0, deletes: 0 }]);
  });

  it('forwards an unreadable message, and reports an error when the counts are read', async () => {
    const unreadable = Buffer.from([0x7f]); // The schema has no field 15, and the wire type 7 is invalid.
    answer.bytes = Buffer.concat([framed(unreadable), documents('after it')]);
    answer.cuts = [4];
    assert.deepEqual(await call('BatchGetDocuments', asked), answer.bytes);
    assert.throws(
      () => meter.take().map(({ bill }) => bill),
      /cost of a call to BatchGetDocuments is unknown: invalid wire type 7 .* in message 0 of 1 bytes, fw==/,
    );
    answer.bytes = documents('another');
    await call('BatchGetDocuments', asked);
    assert.equal(meter.take().at(-1)?.bill.reads, 1);
  });
});
