/**
 * Proxy between a function and the Firestore emulator. It counts the operations in the gRPC messages, so that the
 * built function is measured with its real client and caches.
 */
import {
  type ClientHttp2Session,
  connect,
  constants,
  createServer,
  type IncomingHttpHeaders,
  type ServerHttp2Stream,
} from 'node:http2';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from '../../scripts/emulators/ports.mjs';
import {
  type Bill,
  billAnswer,
  billRequest,
  documentsAskedFor,
  KNOWN_METHODS,
  minimumBill,
  NOTHING,
  plus,
} from './bill.ts';
import { GrpcMessages } from './grpcMessages.ts';

export interface MeteredCall {
  readonly method: string;
  readonly documents: readonly string[];
  /** @throws Error if the call's cost is unknown */
  readonly bill: Bill;
  /** Bytes of the request and of the response, without HTTP headers. */
  readonly bytes: number;
  /** Values of performance.now(). `ended` is undefined if the response is incomplete. */
  readonly began: number;
  readonly ended: number | undefined;
}

export interface Meter {
  /** Value of `FIRESTORE_EMULATOR_HOST`. */
  readonly host: string;
  /** Returns the calls since the previous `take`, in the order of their start. */
  take(): readonly MeteredCall[];
  /** Resolves when no call is in progress, except listeners. A response can precede the end of a query. */
  idle(): Promise<void>;
  close(): void;
}

interface Reading {
  readonly method: string;
  documents: readonly string[];
  bill: Bill;
  bytes: number;
  readonly began: number;
  ended: number | undefined;
  /** Reason why the cost is unknown. */
  fault: string | undefined;
}

export async function openMeter(emulator: string): Promise<Meter> {
  const upstream = connect(`http://${emulator}`);
  const server = createServer();
  let readings: Reading[] = [];
  server.on('stream', (stream, headers) => {
    const method = String(headers[':path']).split('/').at(-1) ?? '';
    const began = performance.now();
    const unread = { documents: [], bill: NOTHING, bytes: 0, ended: undefined, fault: undefined };
    const reading: Reading = { method, began, ...unread };
    readings.push(reading);
    forward(upstream, stream, headers, reading);
  });
  const port = await freePort();
  await new Promise<void>((resolve) => {
    server.listen(port, '127.0.0.1', resolve);
  });
  return {
    host: `127.0.0.1:${port}`,
    take() {
      const taken = readings;
      readings = [];
      return taken.map(metered);
    },
    async idle() {
      while (readings.some(({ method, ended }) => method !== 'Listen' && ended === undefined)) await delay(1);
    },
    close() {
      server.close();
      upstream.close();
    },
  };
}

function metered(reading: Reading): MeteredCall {
  const { method, documents, bytes, began, ended } = reading;
  return {
    method,
    documents,
    bytes,
    began,
    ended,
    get bill() {
      return billOf(reading);
    },
  };
}

function billOf({ method, bill, fault }: Reading): Bill {
  if (fault !== undefined) throw new Error(`The cost of a call to ${method} is unknown: ${fault}`);
  if (!KNOWN_METHODS.includes(method)) throw new Error(`${method} has no known cost. Add it to bench/wire/bill.ts.`);
  return bill.reads === 0 ? plus(bill, minimumBill(method)) : bill;
}

/**
 * Forwards unreadable data too, and reports it when the cost is read. The Firestore emulator has sent two messages of
 * a Listen after the length of only one, as if two threads had written at the same time. An error that is thrown
 * here, in an event handler, would end the process and all other measurements.
 */
function read(reading: Reading, messages: GrpcMessages, bytes: Buffer): void {
  reading.bytes += bytes.length;
  if (reading.fault !== undefined) return;
  try {
    messages.add(bytes);
  } catch (error) {
    reading.fault = error instanceof Error ? error.message : String(error);
  }
}

function forward(
  upstream: ClientHttp2Session,
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  reading: Reading,
): void {
  const call = upstream.request(headers);
  let awaited = NOTHING;
  const asked = new GrpcMessages((message) => {
    reading.documents = [...reading.documents, ...documentsAskedFor(reading.method, message)];
    awaited = plus(awaited, billRequest(reading.method, message));
  });
  const answered = new GrpcMessages((message) => {
    reading.bill = plus(reading.bill, plus(awaited, billAnswer(reading.method, message)));
    awaited = NOTHING;
  });
  stream.on('data', (bytes: Buffer) => read(reading, asked, bytes));
  stream.pipe(call);
  call.on('response', (answer, flags) => {
    const isWhole = (flags & constants.NGHTTP2_FLAG_END_STREAM) !== 0;
    if (stream.destroyed) return;
    stream.respond(answer, isWhole ? { endStream: true } : { waitForTrailers: true });
  });
  let trailers: IncomingHttpHeaders = {};
  call.on('trailers', (sent) => {
    trailers = sent;
  });
  stream.on('wantTrailers', () => stream.sendTrailers(trailers));
  call.on('data', (bytes: Buffer) => {
    read(reading, answered, bytes);
    stream.write(bytes);
  });
  call.on('end', () => {
    reading.ended = performance.now();
    stream.end();
  });
  // A call that is aborted has no end.
  call.on('close', () => {
    reading.ended ??= performance.now();
  });
  call.on('error', () => stream.destroy());
  stream.on('error', () => call.close(constants.NGHTTP2_CANCEL));
  stream.on('aborted', () => call.close(constants.NGHTTP2_CANCEL));
}
