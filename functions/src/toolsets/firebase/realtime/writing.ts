/** Writes with the caller's rights. Source: https://firebase.google.com/docs/database/rest/save-data */
import type { App } from 'firebase-admin/app';
import { z } from 'zod';
import { IDEMPOTENCY_HOURS } from '../../../kernel/commit.ts';
import { connectionError, keyReused } from '../../../kernel/errors.ts';
import type { JsonValue } from '../../../kernel/json.ts';
import { systemClock } from '../../../kernel/platform.ts';
import { realtimeCommitPath } from '../../../kernel/realtime/database.ts';
import type { DataPath, Repetition, WriteOutcome, WriteRequest } from '../rules/databaseAccess.ts';
import { invalidDataType, overwrittenWrite, pathNotFound, unknownWriteOutcome } from '../rules/dataErrors.ts';
import { entriesOf } from './order.ts';
import { type CallerRest, NOTHING_ETAG } from './rest.ts';
import { notAtVersion, type RestRequest } from './transport.ts';
import { checkedChildren, checkWritable, hasIncrement, holds, incremented, isNothing } from './writable.ts';

type Children = Readonly<Record<string, JsonValue>>;

/** Matches valid ETags. `*` is excluded because it matches every ETag. No other text must get into an HTTP header. */
const ETAG = /^(?!\*$)[\x21-\x7e]{1,200}$/;

export class Writing {
  private readonly rest: CallerRest;
  private readonly path: DataPath;
  private readonly request: WriteRequest;
  private readonly marker: WriteMarker;
  /** An earlier call with the same idempotency key has already made this write. */
  private isRepetition = false;

  constructor(rest: CallerRest, path: DataPath, request: WriteRequest) {
    this.rest = rest;
    this.path = path;
    this.request = request;
    this.marker = new WriteMarker(rest, request.repetition);
  }

  /** @throws MusterError as toolsets/firebase/rules/dataErrors.ts creates them */
  async perform(): Promise<WriteOutcome> {
    const { operation, data } = this.request;
    const { clock } = this.rest.ports;
    if (operation === 'push') return { key: await this.push(), timestamp: clock.now() };
    if (operation === 'set') checkWritable(this.path, data);
    const etag = await (operation === 'update' ? this.update() : this.replace(operation === 'set' ? data : null));
    const version = etag === NOTHING_ETAG ? undefined : etag;
    return { version, timestamp: clock.now(), isRepetition: this.isRepetition };
  }

  private async push(): Promise<string> {
    const { path } = this;
    const { data, repetition } = this.request;
    checkWritable({ ...path, segments: [...path.segments, 'key'] }, data);
    if (isNothing(data))
      throw invalidDataType('data', 'Nothing to push: the database does not store null or empty values.');
    const key = repetition?.id ?? (await newKey(this.rest.ports.app()));
    await this.marker.perform(path.text, { [`${path.text}/${key}`]: data });
    return key;
  }

  /** Writes a value, or deletes it if the new value is null. Returns the new ETag if it is known. */
  private async replace(data: JsonValue): Promise<string | undefined> {
    const { text: path } = this.path;
    const { transaction, repetition } = this.request;
    if (transaction) return this.replaceOver(data);
    if (repetition === undefined && !hasIncrement(data)) return this.send(replacing(path, data));
    this.isRepetition = await this.marker.perform(path, { [path]: data });
    if (isNothing(data)) return undefined;
    // Another caller may have replaced the value in the meantime, so the ETag is used only if the data is the same.
    const there = await this.rest.read({ path, wantsEtag: true }).catch(() => undefined);
    return there !== undefined && holds(there.data, data) ? there.etag : undefined;
  }

  private async update(): Promise<string | undefined> {
    const { text: path } = this.path;
    const { data, transaction, repetition } = this.request;
    const children = checkedChildren(this.path, data);
    if (transaction) return this.updateOver(children);
    if (!(await this.rest.exists(path))) {
      if (repetition && (await this.marker.find())) {
        this.isRepetition = true;
        return undefined;
      }
      throw pathNotFound(path);
    }
    if (repetition !== undefined || hasIncrement(children)) {
      const writes = Object.entries(children).map(([key, child]) => [`${path}/${key}`, child] as const);
      this.isRepetition = await this.marker.perform(path, Object.fromEntries(writes));
    } else {
      await this.send({ method: 'PATCH', path, data: children });
    }
    return undefined;
  }

  /** Sends a write. After a lost response, sends it again, which may overwrite a newer write of another caller. */
  private async send(request: RestRequest): Promise<string | undefined> {
    const { etag, refusal, isRepeated } = await this.rest.send(request);
    if (refusal === undefined) return etag;
    // After a lost response, the first request may have been carried out, even if the rules reject the second one.
    throw isRepeated ? unknownWriteOutcome(refusal) : refusal;
  }

  // A transaction is a conditional request: it writes only if the data still has the ETag that was read before. If
  // the response is lost, the data is read again to see whether the write was carried out. If another caller has
  // written the same content, the ETags are equal, because an ETag is a hash of the content.

  private async replaceOver(data: JsonValue): Promise<string | undefined> {
    const expected = this.expectedEtag();
    if (expected !== undefined && !hasIncrement(data)) return this.putOver(await this.marker.begin(expected), data);
    return this.writeOver(
      (stored) => incremented(data, stored),
      (stored) => holds(stored, data),
    );
  }

  /** Writes the whole node with the changed children, because REST has no conditional update of single children. */
  private updateOver(children: Children): Promise<string | undefined> {
    const named = Object.entries(children);
    return this.writeOver(
      (stored) => {
        if (stored === null) throw pathNotFound(this.path.text);
        const before = new Map(entriesOf(stored));
        const changed = named.map(([key, child]) => [key, incremented(child, before.get(key) ?? null)] as const);
        return Object.fromEntries([...before, ...changed]);
      },
      (stored) => {
        const there = new Map(entriesOf(stored));
        return named.every(([key, child]) => holds(there.get(key) ?? null, child));
      },
    );
  }

  /** @param isThere returns whether an earlier attempt of this write can have led to the stored value */
  private async writeOver(
    written: (stored: JsonValue) => JsonValue,
    isThere: (stored: JsonValue) => boolean,
  ): Promise<string | undefined> {
    const current = await this.current();
    const started = await this.marker.begin(this.expectedEtag() ?? current.etag);
    if (current.etag === started.over) return this.putOver(started, written(current.data));
    this.isRepetition = started.isRepeated && isThere(current.data);
    if (this.isRepetition) return current.etag;
    throw started.isRepeated ? overwrittenWrite(this.path.text) : notAtVersion(this.path.text);
  }

  private async putOver(
    { over, isRepeated: mayBeWritten }: StartedWrite,
    data: JsonValue,
  ): Promise<string | undefined> {
    const { text: path } = this.path;
    const { etag, refusal, isRepeated } = await this.rest.send(replacing(path, data, over));
    if (refusal === undefined) return etag;
    if (!isRepeated && !mayBeWritten) throw refusal;
    const after = await this.current().catch((error) => {
      throw unknownWriteOutcome(error);
    });
    this.isRepetition = !isRepeated;
    if (holds(after.data, data)) return after.etag;
    throw overwrittenWrite(path, refusal);
  }

  private async current(): Promise<{ readonly data: JsonValue; readonly etag: string }> {
    const { data, etag } = await this.rest.read({ path: this.path.text, wantsEtag: true });
    if (etag === undefined) throw connectionError('a response without its ETag');
    return { data, etag };
  }

  /** Returns the ETag that the caller expects the data to have. */
  private expectedEtag(): string | undefined {
    const { expectedVersion } = this.request;
    if (expectedVersion === null) return NOTHING_ETAG;
    if (expectedVersion === undefined || ETAG.test(expectedVersion)) return expectedVersion;
    throw notAtVersion(this.path.text);
  }
}

function replacing(path: string, data: JsonValue, ifMatch?: string): RestRequest {
  if (isNothing(data)) return { method: 'DELETE', path, ifMatch };
  return { method: 'PUT', path, data, ifMatch, wantsEtag: true };
}

/** Returns a unique key in the format of the database's own clients. Such keys sort by time. */
async function newKey(app: App): Promise<string> {
  const { getDatabase } = await import('firebase-admin/database');
  const { key } = getDatabase(app).ref().push();
  if (key === null) throw new Error('A pushed reference must have a key.');
  return key;
}

/** Hours for which a marker without an idempotency key is kept. After a lost response, seconds would be enough. */
const UNKEYED_MARKER_HOURS = 1;
const ID_LENGTH = 20;

export const markerValue = z.object({
  arguments_hash: z.string().optional(),
  expires_at: z.number(),
  over: z.string().optional(),
});

interface StartedWrite {
  /** ETag of the data to replace. */
  readonly over: string;
  /** Whether an earlier attempt has started and may have written the data. */
  readonly isRepeated: boolean;
}

/**
 * The commit marker of a caller's write, `commits/{id}`. One request contains the write and its marker, and the rules
 * reject a second marker with the same id. If a repeated request is rejected, the marker shows that the first request
 * succeeded. A transaction cannot contain its marker, so the marker is written first, with the ETag of the data to
 * replace. Markers expire by the real time, as in Firestore.
 */
class WriteMarker {
  private readonly rest: CallerRest;
  private readonly repetition: Repetition | undefined;
  private readonly path: string;

  constructor(rest: CallerRest, repetition: Repetition | undefined) {
    this.rest = rest;
    this.repetition = repetition;
    this.path = realtimeCommitPath(repetition?.id ?? rest.ports.randomness.letters(ID_LENGTH));
  }

  /**
   * Sends all writes and the marker in one request, so that the writes are made exactly once.
   * @param named path in the caller's arguments, for error messages
   * @param writes new values by path
   * @returns whether an earlier call has already made the writes
   */
  async perform(named: string, writes: Children): Promise<boolean> {
    const data = { ...writes, [this.path]: this.value() };
    const { refusal, isRepeated } = await this.rest.send({ method: 'PATCH', path: '', named, data });
    if (refusal === undefined) return false;
    if (this.repetition === undefined && !isRepeated) throw refusal;
    const proof = await this.find().catch((error) => {
      throw isRepeated ? unknownWriteOutcome(error) : error;
    });
    if (proof === undefined) throw refusal;
    return !isRepeated;
  }

  /** Stores the ETag of the data to replace, or returns the ETag that the transaction's first attempt stored. */
  async begin(over: string): Promise<StartedWrite> {
    if (this.repetition === undefined) return { over, isRepeated: false };
    let before = await this.find();
    if (before?.over === undefined) {
      const data = { ...this.value(), over };
      const { refusal } = await this.rest.send({ method: 'PUT', path: this.path, data });
      if (refusal === undefined) return { over, isRepeated: false };
      before = await this.find();
      if (before?.over === undefined) throw refusal;
    }
    return { over: before.over, isRepeated: true };
  }

  /** Returns the marker of an earlier attempt. @throws MusterError CONFLICT if another call used the same key */
  async find(): Promise<z.output<typeof markerValue> | undefined> {
    const { data } = await this.rest.read({ path: this.path });
    if (data === null) return undefined;
    const found = markerValue.parse(data);
    if (found.expires_at <= systemClock.now().getTime()) return undefined;
    if (found.arguments_hash !== this.repetition?.argumentsHash) throw keyReused();
    return found;
  }

  private value() {
    const hours = this.repetition === undefined ? UNKEYED_MARKER_HOURS : IDEMPOTENCY_HOURS;
    return {
      uid: this.rest.caller.principal.uid,
      expires_at: systemClock.now().getTime() + hours * 3_600_000,
      ...(this.repetition && { arguments_hash: this.repetition.argumentsHash }),
    };
  }
}
