/**
 * A proxy between a Firestore client and the emulator. It records the writes of each commit, and can lose a commit:
 * it drops either the request, or the response after the emulator has executed the commit.
 */
import {
  type ClientHttp2Session,
  connect,
  constants,
  createServer,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
  type ServerHttp2Stream,
} from 'node:http2';
import protos from '@google-cloud/firestore-api/protos';
import { listen, portOf } from '../listening.ts';

const { CommitRequest } = protos.google.firestore.v1;

export type Write = protos.google.firestore.v1.IWrite;

/** Statuses that a client gets if a commit's response is lost. The client retries the commit or reports the error. */
export const LOST = { UNAVAILABLE: 14, RESOURCE_EXHAUSTED: 8, ABORTED: 10, DEADLINE_EXCEEDED: 4 } as const;
export type LostStatus = keyof typeof LOST;

export interface Loss {
  /** Number of the commit to lose. The first commit after `begin` is 1. */
  readonly commit: number;
  readonly status: LostStatus;
  /** `answer`: loses the response, after the emulator has executed the commit. `request`: loses the request. */
  readonly what: 'answer' | 'request';
  /** Number of consecutive losses. If greater than 1, retries of the client are lost as well. */
  readonly times?: number;
}

/** Decides by the bytes of a commit whether the commit counts, because other code may use the same client. */
export type Concern = (request: Buffer) => boolean;

export interface Seen {
  /** Writes of all executed commits, in the order of the emulator's responses. */
  readonly applied: readonly Write[];
  /** Number of commits sent, retries included. */
  readonly sent: number;
  readonly lost: number;
}

interface Watch {
  readonly loss: Loss | undefined;
  readonly concerns: Concern;
  readonly applied: Write[];
  sent: number;
  lost: number;
}

/** Length of the prefix of a gRPC message: one byte for compression, four bytes for the message's length. */
const PREFIX_LENGTH = 5;
const COMMIT = '/google.firestore.v1.Firestore/Commit';

/** Other methods that write. The proxy cannot lose such writes, so it rejects them. */
const OTHER_WRITES = ['/google.firestore.v1.Firestore/BatchWrite', '/google.firestore.v1.Firestore/Write'];

export class LossyProxy {
  private readonly upstream: ClientHttp2Session;
  private readonly server = createServer();
  private watch: Watch = newWatch(undefined, everything);

  private constructor(emulator: string) {
    this.upstream = connect(`http://${emulator}`);
    this.server.on('stream', (stream, headers) => this.serve(stream, headers));
  }

  static async open(emulator: string): Promise<LossyProxy> {
    const proxy = new LossyProxy(emulator);
    await listen(proxy.server);
    return proxy;
  }

  /** Value for the variable `FIRESTORE_EMULATOR_HOST`. */
  get host(): string {
    return `127.0.0.1:${portOf(this.server)}`;
  }

  /** Starts counting and recording commits, and arranges the given loss. */
  begin(loss?: Loss, concerns: Concern = everything): void {
    this.watch = newWatch(loss, concerns);
  }

  /** The commits since the last call of `begin`. */
  get seen(): Seen {
    return this.watch;
  }

  close(): void {
    this.server.close();
    this.upstream.destroy();
  }

  private serve(stream: ServerHttp2Stream, headers: IncomingHttpHeaders): void {
    const path = String(headers[':path']);
    if (OTHER_WRITES.includes(path)) throw new Error(`The proxy does not support ${path}.`);
    if (path === COMMIT) this.commit(stream, headers).catch(() => stream.destroy());
    else forward(this.upstream, stream, headers);
  }

  private async commit(stream: ServerHttp2Stream, headers: IncomingHttpHeaders): Promise<void> {
    const body = await wholeOf(stream);
    const { watch } = this;
    const isOurs = watch.concerns(body);
    const loss = isOurs ? this.lossOf(watch) : undefined;
    if (loss?.what === 'request') return refuse(stream, loss.status);
    const { response, answer, trailers } = await this.ask(headers, body);
    const { 'grpc-status': status = response['grpc-status'] } = trailers;
    if (isOurs && status === '0') watch.applied.push(...CommitRequest.decode(body.subarray(PREFIX_LENGTH)).writes);
    if (loss !== undefined) return refuse(stream, loss.status);
    if (stream.destroyed) return;
    if (answer.length === 0) return stream.respond({ ...response, ...trailers }, { endStream: true });
    stream.respond(response, { waitForTrailers: true });
    stream.on('wantTrailers', () => stream.sendTrailers(trailers));
    stream.end(answer);
  }

  /** Counts the commit and returns its loss, if any. */
  private lossOf(watch: Watch): Loss | undefined {
    const { loss } = watch;
    watch.sent += 1;
    if (loss === undefined) return undefined;
    const { commit, times = 1 } = loss;
    if (watch.sent < commit || watch.sent >= commit + times) return undefined;
    watch.lost += 1;
    return loss;
  }

  /** Sends a complete request and returns the complete response. */
  private async ask(headers: IncomingHttpHeaders, body: Buffer) {
    const call = this.upstream.request(headers);
    let response: OutgoingHttpHeaders = {};
    let trailers: OutgoingHttpHeaders = {};
    call.on('response', (sent) => {
      response = sent;
    });
    call.on('trailers', (sent) => {
      trailers = sent;
    });
    call.end(body);
    return { answer: await wholeOf(call), response, trailers };
  }
}

function newWatch(loss: Loss | undefined, concerns: Concern): Watch {
  return { loss, concerns, applied: [], sent: 0, lost: 0 };
}

function everything(): boolean {
  return true;
}

async function wholeOf(stream: AsyncIterable<unknown>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) if (Buffer.isBuffer(chunk)) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** Responds with the error that a client reports if no response arrives. */
function refuse(stream: ServerHttp2Stream, status: LostStatus): void {
  if (stream.destroyed) return;
  const headers = {
    ':status': 200,
    'content-type': 'application/grpc',
    'grpc-status': String(LOST[status]),
    'grpc-message': `lost by the test: ${status}`,
  };
  stream.respond(headers, { endStream: true });
}

function forward(upstream: ClientHttp2Session, stream: ServerHttp2Stream, headers: IncomingHttpHeaders): void {
  const call = upstream.request(headers);
  let trailers: IncomingHttpHeaders = {};
  stream.pipe(call);
  call.on('response', (answer, flags) => {
    const isWhole = (flags & constants.NGHTTP2_FLAG_END_STREAM) !== 0;
    if (stream.destroyed) return;
    stream.respond(answer, isWhole ? { endStream: true } : { waitForTrailers: true });
  });
  call.on('trailers', (sent) => {
    trailers = sent;
  });
  stream.on('wantTrailers', () => stream.sendTrailers(trailers));
  call.on('data', (bytes: Buffer) => stream.write(bytes));
  call.on('end', () => stream.end());
  call.on('error', () => stream.destroy());
  stream.on('error', () => call.close(constants.NGHTTP2_CANCEL));
  stream.on('aborted', () => call.close(constants.NGHTTP2_CANCEL));
}
